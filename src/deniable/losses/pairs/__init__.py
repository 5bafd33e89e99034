"""Dominating pairs of distributions: the exact shape of a mechanism's privacy loss.

One pair (P, Q) stands for a mechanism if no test can tell two neighbouring inputs apart better
than it tells P from Q. Pairs compose by products, so a list of mechanisms fixed in advance is
priced by the sum of independent losses ln(P/Q) under P  [ZDW22, Thm 10].
"""

from ._pair import Pair, Pairs
from .branched import BranchedPair
from .continuous import BoundedRangePair, GaussianPair, LaplacePair
from .discrete import (
    ApproxPair,
    AtomicPair,
    AtomsPair,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    ResponsePair,
    StaircasePair,
)
from .sampled import SampledPair, sampled

__all__ = [
    "ApproxPair",
    "AtomicPair",
    "AtomsPair",
    "BoundedRangePair",
    "BranchedPair",
    "DiscreteGaussianPair",
    "DiscreteLaplacePair",
    "GaussianPair",
    "LaplacePair",
    "Pair",
    "Pairs",
    "ResponsePair",
    "SampledPair",
    "StaircasePair",
    "sampled",
]
