"""Mechanisms that pick: the best of public candidates by private scores."""

from typing import TYPE_CHECKING

from deniable.loading import on_first_use

if TYPE_CHECKING:
    from .best_of import BestOf
    from .exponential import Exponential
    from .interval import IntervalExponential
    from .noisy_max import NoisyMax
    from .permute_and_flip import PermuteAndFlip
    from .quantile_search import QuantileSearch
    from .top_k import TopK
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "best_of": "BestOf",
            "exponential": "Exponential",
            "interval": "IntervalExponential",
            "noisy_max": "NoisyMax",
            "permute_and_flip": "PermuteAndFlip",
            "quantile_search": "QuantileSearch",
            "top_k": "TopK",
        },
    )

__all__ = [
    "BestOf",
    "Exponential",
    "IntervalExponential",
    "NoisyMax",
    "PermuteAndFlip",
    "QuantileSearch",
    "TopK",
]
