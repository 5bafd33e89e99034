"""Dominating pairs of distributions: the exact shape of a mechanism's privacy loss.

One pair (P, Q) stands for a mechanism if no test can distinguish two neighbouring inputs better
than P from Q. Pairs compose by products, so a list of mechanisms fixed in advance is priced by the
sum of independent losses ln(P/Q) under P  [ZDW22, Thm 10].

    _pair          the interface of every pair, and the two directions in which one is needed
    continuous     Gaussian, Laplace, and bounded range
    discrete       randomized response, lattice noise, black boxes
    skellam        differences of Poisson numbers
    branched       mechanisms that first flip a public coin
    sampled        mechanisms on a random sample of the units
    replaced       sampled mechanisms when a unit is replaced
    mixture        the moments of a sampled Gaussian's loss
    exponential    the moments of sampled Laplace and bounded-range losses
    quadrature     moments by quadrature with a proved error
    transform      Fourier sums at many points, with a proved error
    atoms          the atoms of a composed loss that matter at one tilt
    upper          rare losses
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
from .skellam import SkellamPair

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
    "SkellamPair",
    "StaircasePair",
    "sampled",
]
