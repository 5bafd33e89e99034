"""Mechanisms made of mechanisms: composed, sampled, on disjoint parts, shuffled."""

from .composed import Composed
from .parallel import Parallel
from .sampled import Sampled, SampledWithoutReplacement
from .shuffled import Shuffled

__all__ = ["Composed", "Parallel", "Sampled", "SampledWithoutReplacement", "Shuffled"]
