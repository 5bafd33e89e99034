"""Mechanisms: randomised algorithms with proved privacy, one file each.

numbers     Laplace · Gaussian · DiscreteLaplace · DiscreteGaussian · Staircase
            Skellam · SkellamL2 · SkellamShares
selection   Exponential · IntervalExponential · NoisyMax · PermuteAndFlip · TopK · BestOf
            QuantileSearch
streams     AboveThreshold · SparseVector
frameworks  ProposeTestRelease · SmoothNoise · Catastrophe
local       RandomizedResponse · SupportResponse · UnaryResponse
keys        PartitionSelection · LaplaceThreshold · GaussianThreshold
counting    BinaryTreeCounter · ToeplitzCounter · SquareRootCounter · UnboundedCounter
            OpenEndedCounter · OpenEndedTreeCounter
combine     Composed · Sampled · SampledWithoutReplacement · Parallel · Shuffled
_mechanism  the interface of every mechanism; Step
_priced     mechanisms priced by reduction to another; prices that are remembered
interactive  mechanisms that answer many queries for one price
"""

from typing import TYPE_CHECKING

from deniable.loading import on_first_use

if TYPE_CHECKING:
    from ._mechanism import Mechanism, Step
    from .combine import Composed, Parallel, Sampled, SampledWithoutReplacement, Shuffled
    from .counting import (
        BinaryTreeCounter,
        OpenEndedCounter,
        OpenEndedTreeCounter,
        SquareRootCounter,
        ToeplitzCounter,
        UnboundedCounter,
    )
    from .frameworks import Catastrophe, ProposeTestRelease, SmoothNoise
    from .keys import GaussianThreshold, LaplaceThreshold, PartitionSelection
    from .local import RandomizedResponse, SupportResponse, UnaryResponse
    from .numbers import (
        DiscreteGaussian,
        DiscreteLaplace,
        Gaussian,
        Laplace,
        Skellam,
        SkellamL2,
        SkellamShares,
        Staircase,
    )
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
            "counting": "BinaryTreeCounter OpenEndedCounter OpenEndedTreeCounter "
            "SquareRootCounter ToeplitzCounter UnboundedCounter",
            "frameworks": "Catastrophe ProposeTestRelease SmoothNoise",
            "keys": "GaussianThreshold LaplaceThreshold PartitionSelection",
            "local": "RandomizedResponse SupportResponse UnaryResponse",
            "numbers": "DiscreteGaussian DiscreteLaplace Gaussian Laplace Skellam SkellamL2 "
            "SkellamShares Staircase",
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
    "OpenEndedCounter",
    "OpenEndedTreeCounter",
    "Parallel",
    "PartitionSelection",
    "PermuteAndFlip",
    "ProposeTestRelease",
    "QuantileSearch",
    "RandomizedResponse",
    "Sampled",
    "SampledWithoutReplacement",
    "Shuffled",
    "Skellam",
    "SkellamL2",
    "SkellamShares",
    "SmoothNoise",
    "SparseVector",
    "SquareRootCounter",
    "Staircase",
    "Step",
    "SupportResponse",
    "ToeplitzCounter",
    "TopK",
    "UnaryResponse",
    "UnboundedCounter",
]
