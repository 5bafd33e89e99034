"""Mechanisms: randomised algorithms with proved privacy, one file each.

numbers     Laplace · Gaussian · DiscreteLaplace · DiscreteGaussian · Staircase
selection   Exponential · IntervalExponential · NoisyMax · PermuteAndFlip · TopK · BestOf
            QuantileSearch
streams     AboveThreshold · SparseVector
frameworks  ProposeTestRelease · SmoothNoise · Catastrophe
local       RandomizedResponse
keys        PartitionSelection · LaplaceThreshold · GaussianThreshold
counting    BinaryTreeCounter · ToeplitzCounter
combine     Composed · Sampled · SampledWithoutReplacement · Parallel · Shuffled
_mechanism  the interface of every mechanism; Step
_priced     mechanisms priced by reduction to another
interactive  mechanisms that answer many queries for one price
"""

from typing import TYPE_CHECKING

from deniable.loading import on_first_use

if TYPE_CHECKING:
    from ._mechanism import Mechanism, Step
    from .combine import Composed, Parallel, Sampled, SampledWithoutReplacement, Shuffled
    from .counting import BinaryTreeCounter, ToeplitzCounter
    from .frameworks import Catastrophe, ProposeTestRelease, SmoothNoise
    from .keys import GaussianThreshold, LaplaceThreshold, PartitionSelection
    from .local import RandomizedResponse
    from .numbers import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Staircase
    from .selection import (
        BestOf,
        Exponential,
        IntervalExponential,
        NoisyMax,
        PermuteAndFlip,
        QuantileSearch,
        TopK,
    )
    from .streams import AboveThreshold, SparseVector
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "_mechanism": "Mechanism Step",
            "combine": "Composed Parallel Sampled SampledWithoutReplacement Shuffled",
            "counting": "BinaryTreeCounter ToeplitzCounter",
            "frameworks": "Catastrophe ProposeTestRelease SmoothNoise",
            "keys": "GaussianThreshold LaplaceThreshold PartitionSelection",
            "local": "RandomizedResponse",
            "numbers": "DiscreteGaussian DiscreteLaplace Gaussian Laplace Staircase",
            "selection": "BestOf Exponential IntervalExponential NoisyMax PermuteAndFlip "
            "QuantileSearch TopK",
            "streams": "AboveThreshold SparseVector",
        },
    )

__all__ = [
    "AboveThreshold",
    "BestOf",
    "BinaryTreeCounter",
    "Catastrophe",
    "Composed",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "Gaussian",
    "GaussianThreshold",
    "IntervalExponential",
    "Laplace",
    "LaplaceThreshold",
    "Mechanism",
    "NoisyMax",
    "Parallel",
    "PartitionSelection",
    "PermuteAndFlip",
    "ProposeTestRelease",
    "QuantileSearch",
    "RandomizedResponse",
    "Sampled",
    "SampledWithoutReplacement",
    "Shuffled",
    "SmoothNoise",
    "SparseVector",
    "Staircase",
    "Step",
    "ToeplitzCounter",
    "TopK",
]
