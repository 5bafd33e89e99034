"""Mechanisms made of mechanisms: composed, sampled, on disjoint parts, shuffled."""

from typing import TYPE_CHECKING

from deniable.loading import on_first_use

if TYPE_CHECKING:
    from .composed import Composed
    from .parallel import Parallel
    from .sampled import Sampled, SampledWithoutReplacement
    from .shuffled import Shuffled
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "composed": "Composed",
            "parallel": "Parallel",
            "sampled": "Sampled SampledWithoutReplacement",
            "shuffled": "Shuffled",
        },
    )

__all__ = ["Composed", "Parallel", "Sampled", "SampledWithoutReplacement", "Shuffled"]
