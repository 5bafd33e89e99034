"""Mechanisms that pick: the best of public candidates by private scores."""

from .best_of import BestOf
from .exponential import Exponential
from .interval import IntervalExponential
from .noisy_max import NoisyMax
from .permute_and_flip import PermuteAndFlip
from .quantile_search import QuantileSearch
from .top_k import TopK

__all__ = [
    "BestOf",
    "Exponential",
    "IntervalExponential",
    "NoisyMax",
    "PermuteAndFlip",
    "QuantileSearch",
    "TopK",
]
