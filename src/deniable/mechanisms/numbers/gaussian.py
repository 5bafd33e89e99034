"""The Gaussian mechanism: real normal noise, rounded to a lattice."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, ClassVar, Self

from deniable import parameters
from deniable.calibration import analytic_gaussian_sigma
from deniable.errors import BadParameter
from deniable.losses import Approx, Gdp, Loss, Zcdp, rounding
from deniable.mechanisms._mechanism import Norm
from deniable.sampling import lazy
from deniable.sampling.gaussian import rounded_gaussian

from ._additive import Floats, Integers, RealNoise, ratio_up

if TYPE_CHECKING:
    from deniable.losses.pairs import Pairs


@parameters.made("dp.Gaussian(sigma=2.0) or dp.Gaussian.calibrate(epsilon=1, delta=1e-6)")
@dataclass(frozen=True, kw_only=True)
class Gaussian(RealNoise):
    """Gaussian: add normal noise to a number or to each number of an array.

    Releases   f(x) + N(0, σ²)ᵈ, rounded to a lattice
    Privacy    μ-GDP, μ = Δ₂/σ                                              [DRS22, Thm 2.7]
               ρ-zCDP, ρ = Δ₂²/2σ²                                          [BS16, Prop. 1.6]
               (ε, δ)-DP iff Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) ≤ δ, for any ε   [BW18, Thm 8]
    Error      |noise| ≤ σ·Φ⁻¹(1 − β/2) with probability 1 − β, per coordinate
    Assumes    Δ₂ ≥ max ‖f(x) − f(x′)‖₂ over neighbours
    Numerics   whole numbers stay whole; floats lie on a lattice of width 2ᵏ ≈ 2⁻²⁰·σ. The
               continuous distribution is rounded exactly, so its privacy guarantee carries
               over                                                            [Mir12, CKS20]

    >>> m = Gaussian.calibrate(epsilon=1.0, delta=1e-6)
    >>> round(m.sigma, 5), m.epsilon_at(1e-6) <= 1.0
    (4.22468, True)
    >>> Gaussian.calibrate(rho=0.5, sensitivity=3)
    Gaussian(sigma=3.0, sensitivity=3.0)
    """

    name: ClassVar[str] = "gaussian"
    norm: ClassVar[Norm] = "l2"

    sigma: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        self._canonical(sigma=parameters.positive, sensitivity=parameters.positive)

    @classmethod
    @parameters.called("dp.Gaussian.calibrate(epsilon=1, delta=1e-6)")
    def calibrate(
        cls,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        mu: float | None = None,
        sensitivity: float = 1.0,
    ) -> Self:
        """The least noise that meets (ε, δ), ρ or μ where one unit moves values by at most Δ₂."""
        sensitivity = parameters.positive("sensitivity", sensitivity)
        given = {
            name
            for name, v in zip(_TARGETS, (epsilon, delta, rho, mu), strict=True)
            if v is not None
        }
        if given not in ({"epsilon", "delta"}, {"rho"}, {"mu"}):
            raise BadParameter(
                "Gaussian.calibrate takes epsilon and delta, or rho, or mu",
                why="Gaussian noise is never ε-DP with δ = 0",
                fix="dp.Gaussian.calibrate(epsilon=1, delta=1e-6, sensitivity=1)",
            )
        if mu is not None:
            return cls(
                sigma=ratio_up(sensitivity, parameters.positive("mu", mu)), sensitivity=sensitivity
            )
        if rho is not None:
            rho = parameters.positive("rho", rho)
            start = sensitivity / math.sqrt(2 * rho)
            return cls._first(start, sensitivity, lambda m: m.zcdp() <= rho)
        epsilon = parameters.positive("epsilon", epsilon)
        delta = parameters.confidence("delta", delta)
        start = analytic_gaussian_sigma(epsilon, delta=delta, sensitivity=sensitivity)
        return cls._first(
            start,
            sensitivity,
            lambda m: m.delta_at(epsilon) <= delta and m.epsilon_at(delta) <= epsilon,
        )

    @staticmethod
    def mu_within(loss: Loss) -> float | None:
        """The μ of normal noise that a loss buys, to the last roundings; None if it buys none.

        >>> Gaussian.mu_within(Zcdp(0.5)), Gaussian.mu_within(Approx(1.0, delta=0.0))
        (1.0, None)
        """
        match loss:
            case Gdp():
                return loss.mu
            case Zcdp():
                return math.sqrt(2 * loss.rho)
            case Approx() if loss.delta > 0:
                return 1 / analytic_gaussian_sigma(loss.epsilon, delta=loss.delta)
        return None

    @classmethod
    def _first(cls, start: float, sensitivity: float, meets: Callable[[Self], bool]) -> Self:
        """The formulas end within a few roundings of the least σ: step up until it is met."""
        mechanism, step = cls(sigma=start, sensitivity=sensitivity), 2.0**-52
        while not meets(mechanism):
            mechanism = cls(sigma=mechanism.sigma * (1 + step), sensitivity=sensitivity)
            step *= 2
        return mechanism

    def gdp(self) -> float:
        return ratio_up(self.sensitivity, self.sigma)

    def zcdp(self) -> float:
        """Δ₂²/2σ²: the least float that is not below it."""
        exact = (Fraction(self.sensitivity) / Fraction(self.sigma)) ** 2 / 2
        return ratio_up(exact.numerator, exact.denominator)

    def renyi(self, order: float) -> float:
        return rounding.up(order * self.zcdp())

    def pairs(self) -> Pairs:
        """N(0, 1) against N(μ, 1), also for vectors: the noise is the same in every direction."""
        from deniable.losses.pairs import GaussianPair, Pairs

        return Pairs.symmetric(GaussianPair(mu=self.gdp()))

    @property
    def _spread(self) -> float:
        return self.sigma

    def _rounded(self, spread: Fraction, rests: Floats) -> Integers:
        return rounded_gaussian(spread, rests)

    def _lazy(self) -> lazy.LazyReal:
        return lazy.Gaussian()

    @property
    def rounded_variance(self) -> float:
        """The variance of the noise on whole numbers: σ² + 1/12 unless σ is small.

        The difference is below 4·(1 + 4π²σ²)·e^(−2π²σ²), by Poisson's summation formula.
        """
        if self.sigma >= 2:
            return self.sigma**2 + 1 / 12
        return math.fsum(
            (2 * k - 1) * math.erfc((k - 0.5) / (self.sigma * math.sqrt(2))) for k in range(1, 32)
        )

    def quantile(self, tail: float) -> float:
        """σ·Φ⁻¹(1 − tail/2)."""
        return -self.sigma * NormalDist().inv_cdf(tail / 2)


_TARGETS = ("epsilon", "delta", "rho", "mu")
