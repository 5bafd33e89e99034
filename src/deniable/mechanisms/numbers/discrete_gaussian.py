"""The discrete Gaussian mechanism: normal-shaped noise on whole numbers."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, ClassVar, Self

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.forms import Form
from deniable.losses import rounding
from deniable.losses.pairs import DiscreteGaussianPair, Pairs
from deniable.mechanisms._mechanism import Norm
from deniable.sampling.gaussian import discrete_gaussian

from ._additive import Floats, Integers, WholeNoise, as_numbers, ratio_up


@parameters.made("dp.DiscreteGaussian(sigma=2) or dp.DiscreteGaussian.calibrate(rho=0.1)")
@dataclass(frozen=True, kw_only=True)
class DiscreteGaussian(WholeNoise):
    """Discrete Gaussian: add normal-shaped whole noise to a whole number or to each of an array.

    Releases   f(x) + Z, P(Z = z) ∝ exp(−z²/2σ²)
    Privacy    ρ-zCDP, ρ = Δ₂²/2σ²                                          [CKS20]
               (ε, δ) by its own sum over whole numbers; it is not μ-GDP
    Error      |Z| ≤ k with probability 1 − β, k from the sum over whole numbers
    Assumes    f is in whole numbers and Δ₂ ≥ max ‖f(x) − f(x′)‖₂ over neighbours; an array is taken
               at Δ₂ = 1 only, where one unit moves one number by one
    Numerics   drawn exactly                                                [CKS20]

    An array moved by more is refused, because the curve of one number moved by Δ does not dominate
    it: four numbers moved by 1 have, for small σ, up to four times the δ of one moved by 2.
    `Gaussian` answers whole numbers in whole numbers too, and has one price for all of them.

    >>> DiscreteGaussian(sigma=2.0).zcdp()
    0.125
    """

    name: ClassVar[str] = "discrete_gaussian"
    norm: ClassVar[Norm] = "l2"

    sigma: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        self._canonical(sigma=parameters.positive, sensitivity=parameters.whole)

    @classmethod
    @parameters.called("dp.DiscreteGaussian.calibrate(rho=0.1)")
    def calibrate(cls, *, rho: float, sensitivity: int = 1) -> Self:
        """The least noise that is ρ-zCDP for whole numbers that one unit moves by at most Δ₂."""
        rho = parameters.positive("rho", rho)
        sensitivity = parameters.whole("sensitivity", sensitivity)
        sigma = sensitivity / math.sqrt(2 * rho)
        while cls(sigma=sigma, sensitivity=sensitivity).zcdp() > rho:
            sigma = math.nextafter(sigma, math.inf)
        return cls(sigma=sigma, sensitivity=sensitivity)

    def zcdp(self) -> float:
        """Δ₂²/2σ²: the least float that is not below it."""
        exact = (self.sensitivity / Fraction(self.sigma)) ** 2 / 2
        return ratio_up(exact.numerator, exact.denominator)

    def renyi(self, order: float) -> float:
        return rounding.up(order * self.zcdp())

    def pairs(self) -> Pairs | None:
        """The law against itself moved by Δ₂; smaller moves are dominated, as it is log-concave.

        None where σ is so large that its sum has too many terms: ρ is all but tight there.
        """
        with contextlib.suppress(BadParameter):
            return Pairs.symmetric(DiscreteGaussianPair(sigma=self.sigma, shift=self.sensitivity))
        return None

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """Whole numbers, and one only if it may move by more than 1."""
        self._check_size(form.size)
        return super().reading(form)

    def draw(self, value: object) -> int | float | Integers | Floats:
        """The value plus noise, in whole numbers."""
        self._check_size(np.size(as_numbers(value)))
        return super().draw(value)

    def _check_size(self, size: int) -> None:
        if self.sensitivity > 1 and size != 1:
            raise BadParameter(
                f"DiscreteGaussian(sensitivity={self.sensitivity}) takes one number at a time",
                why="its price does not cover arrays of which one unit moves several numbers",
                fix="dp.Gaussian(sigma=..., sensitivity=...), which answers in whole numbers too",
            )

    def _noise(self, count: int) -> Integers:
        return discrete_gaussian(Fraction(self.sigma), count)

    def quantile(self, tail: float) -> float:
        """Summed if terms are few; else by P(|Z| ≥ k + 1) ≤ P(|N| ≥ k)  [CKS20]."""
        reach = -self.sigma * NormalDist().inv_cdf(tail / 2)
        if self.sigma > 1e4:
            return float(math.ceil(reach) + 1)
        size = math.ceil(reach + 10 * self.sigma) + 2
        weights = np.exp(-((np.arange(size) / self.sigma) ** 2) / 2)
        weights[1:] *= 2
        beyond = np.cumsum(weights[::-1])[::-1]  # of |Z| ≥ k, from the small end: no digit is lost
        inside = beyond > tail * beyond[0]
        return float(np.count_nonzero(inside) - 1)
