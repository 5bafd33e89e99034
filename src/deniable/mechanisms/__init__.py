"""Mechanisms: randomised algorithms with proved privacy, a file each.

numbers     Laplace · Gaussian · DiscreteLaplace · DiscreteGaussian · Staircase
selection   Exponential · IntervalExponential · NoisyMax · PermuteAndFlip · TopK · BestOf
            QuantileSearch
streams     AboveThreshold · SparseVector
frameworks  ProposeTestRelease · SmoothNoise · Catastrophe
local       RandomizedResponse
keys        PartitionSelection · LaplaceThreshold · GaussianThreshold
counting    BinaryTreeCounter · ToeplitzCounter
combine     Composed · Sampled · SampledWithoutReplacement · Parallel · Shuffled
"""

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
