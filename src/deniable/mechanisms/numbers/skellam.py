"""Skellam noise: whole-number noise that several parties can add in shares."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from deniable import parameters
from deniable.calibration import calibrate
from deniable.errors import BadParameter
from deniable.losses import Loss, Pure, rounding
from deniable.losses.pairs import GaussianPair, Pairs, SkellamPair
from deniable.losses.pairs.skellam import gaussian_bound
from deniable.mechanisms._mechanism import Norm
from deniable.sampling.bessel import LARGEST_VARIANCE, BesselWeights, checked, skellam

from ._additive import Integers, WholeNoise


@dataclass(frozen=True, kw_only=True)
class SkellamNoise(WholeNoise):
    """What the two Skellam mechanisms share: noise, ±, and the Gaussian bound on their loss."""

    variance: float
    sensitivity: float = 1

    @classmethod
    @parameters.called("dp.Skellam.calibrate(to=dp.epsilon(1, delta=1e-6))")
    def calibrate(cls, *, to: Loss, sensitivity: float = 1) -> Self:
        """The least variance that loses no more than `to`, to a relative 10⁻⁶."""
        spread = calibrate(
            lambda s: cls.within_reach(s * s, sensitivity, to=to), to=to, relative=1e-6
        )
        return cls.within_reach(spread * spread, sensitivity, to=to)

    @classmethod
    def within_reach(cls, variance: float, sensitivity: float, *, to: Loss) -> Self:
        """The noise of a variance that a loss calls for; refused in terms of that loss."""
        if variance > LARGEST_VARIANCE:
            raise BadParameter(
                f"no Skellam noise achieves {to}",
                why="it always needs a δ above 0, and its variance is limited to 2²²",
                fix=f"dp.epsilon({to.epsilon:g}, delta=1e-6)"
                if isinstance(to, Pure)
                else "spend more, or count in coarser units",
            )
        return cls(variance=max(variance, parameters.SMALLEST), sensitivity=sensitivity)

    def gdp(self) -> float:
        """Δ times the bound of one step: steps compose, and so do numbers that move together."""
        return rounding.product(self.sensitivity, _gaussian_bound(self.variance))

    def zcdp(self) -> float:
        return rounding.product(self.gdp(), self.gdp(), 0.5)

    def _noise(self, count: int) -> Integers:
        return skellam(Fraction(self.variance), count)

    def quantile(self, tail: float) -> float:
        """The least k with P(|X| > k) ≤ tail, from the certified weights of the law."""
        pairs, rest = BesselWeights(variance=Fraction(self.variance)).bounds(96)
        above = np.cumsum([float(hi) for _, hi in pairs][::-1])[::-1] + rest
        return float(np.count_nonzero(above > tail * (1 - 1e-12) * above[0]) - 1)


@parameters.made("dp.Skellam(variance=20) or dp.Skellam.calibrate(to=dp.epsilon(1, delta=1e-6))")
@dataclass(frozen=True, kw_only=True)
class Skellam(SkellamNoise):
    """Skellam: add the difference of two Poisson numbers to a whole number, or to each of an array.

    Releases   f(x) + X, X = N₁ − N₂ with N₁, N₂ Poisson of mean v/2                     [Ske46]
    Privacy    (ε, δ) by the exact loss of one number moved by Δ₁, which dominates every vector
               that moves by Δ₁ in L1; also Δ₁μ-GDP, μ the largest step of Φ⁻¹ ∘ F        [DRS22]
    Error      |X| ≤ k with probability 1 − β, k from the sum over whole numbers
    Assumes    f is in whole numbers and Δ₁ ≥ max ‖f(x) − f(x′)‖₁ over neighbours
    Numerics   drawn exactly; variances up to 2²²

    Sums of independent Skellam numbers are Skellam numbers, so parties who trust nobody can each
    add a share of the noise [AKL21]: see `SkellamShares`.

    >>> round(Skellam(variance=10.0).epsilon_at(1e-6), 3)
    1.166
    """

    name: ClassVar[str] = "skellam"
    norm: ClassVar[Norm] = "l1"

    variance: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        _set_variance(self)
        self._canonical(sensitivity=parameters.whole)

    def renyi(self, order: float) -> float:
        """The smaller of its own divergence and of the Gaussian bound's."""
        known = rounding.up(order * self.zcdp())
        return min(known, self.pairs().divergence(order))

    def pairs(self) -> Pairs:
        """The law against itself moved by Δ₁: see `SkellamPair` for vectors."""
        return Pairs.symmetric(SkellamPair(variance=self.variance, shift=self.sensitivity))


@parameters.made("dp.SkellamL2(variance=20) or dp.SkellamL2.calibrate(to=dp.rho(0.1))")
@dataclass(frozen=True, kw_only=True)
class SkellamL2(SkellamNoise):
    """Skellam noise for vectors of whole numbers that one unit moves by Δ₂ in Euclidean norm.

    Releases   f(x) + X, X of independent Skellam numbers of variance v                  [Ske46]
    Privacy    Δ₂μ-GDP, μ the largest step of Φ⁻¹ ∘ F: about 1/√v, and never below it     [DRS22]
    Error      |X| ≤ k with probability 1 − β, per coordinate
    Assumes    f is in whole numbers and Δ₂ ≥ max ‖f(x) − f(x′)‖₂ over neighbours
    Numerics   drawn exactly; variances up to 2²²

    An entry that moves by d is d moves by 1, hence dμ-GDP; independent entries compose to √(Σd²)·μ.

    >>> round(SkellamL2(variance=100.0, sensitivity=2.0).gdp(), 4)
    0.2003
    """

    name: ClassVar[str] = "skellam_l2"
    norm: ClassVar[Norm] = "l2"

    variance: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        _set_variance(self)
        self._canonical(sensitivity=parameters.positive)

    def renyi(self, order: float) -> float:
        return rounding.up(order * self.zcdp())

    def pairs(self) -> Pairs:
        """Two normal laws μ apart."""
        return Pairs.symmetric(GaussianPair(mu=self.gdp()))


def _set_variance(noise: SkellamNoise) -> None:
    variance = parameters.positive("variance", noise.variance)
    checked(variance)
    object.__setattr__(noise, "variance", variance)


@functools.lru_cache(maxsize=64)
def _gaussian_bound(variance: float) -> float:
    return gaussian_bound(math.nextafter(variance, 0.0))
