"""Counting over time by the square root of the running sum."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.mechanisms.numbers._additive import ratio_up
from deniable.mechanisms.numbers.gaussian import Gaussian

from ._online import Online, inverse
from ._stream import Counter, Floats

LARGEST_SIGMA = 2.0**38
_GUARD = 64


@dataclass(frozen=True, kw_only=True)
class ToeplitzCounter(Counter):
    """Toeplitz counter: running totals whose noise is correlated by the square root of summation.

    Releases   B(Cx + z), z ~ N(0, σ²)ᵀ rounded to a lattice, with BC the matrix of running sums
               and C its square root: cₖ = cₖ₋₁·(1 − 1/2k), c₀ = 1          [FHU23]
    Privacy    μ-GDP, μ = Δ₁·‖c‖/σ, ‖c‖² = Σ cₖ² ≈ 1.07 + ln(T)/π: that of Gaussian noise on Cx, of
               which the answer is a function; values may follow answers    [DMRST22, Thm 2.1]
    Error      normal with standard deviation σ·‖b‖, the worst at the last step; at T = 1024 and
               μ = 1 a variance of 10.7, against 110 for the binary tree
    Assumes    one unit moves the whole stream by at most Δ₁ in all
    Numerics   c is rounded to whole multiples of 2⁻ᶠ and *that* matrix is used: Cx is exact on a
               lattice, its column norm is computed in integers and rounded up. B is in floats,
               after the noise. A step takes O(log² t), on average

    >>> counter = ToeplitzCounter(steps=1024, sigma=1.0)
    >>> round(counter.variance * counter.gdp() ** 2, 1)
    10.7
    """

    name: ClassVar[str] = "toeplitz_counter"

    steps: int
    sigma: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "sigma", parameters.positive("sigma", self.sigma))
        object.__setattr__(
            self, "sensitivity", parameters.positive("sensitivity", self.sensitivity)
        )
        if not 1 / LARGEST_SIGMA <= self.sigma <= LARGEST_SIGMA:
            raise BadParameter.of("sigma", self.sigma, must="between 2⁻³⁸ and 2³⁸")

    @classmethod
    def calibrate(
        cls,
        *,
        steps: int,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        mu: float | None = None,
        sensitivity: float = 1.0,
    ) -> ToeplitzCounter:
        """The least noise that meets (ε, δ), ρ or μ over all steps."""
        moved = cls(steps=steps, sigma=1.0, sensitivity=sensitivity).priced_as.sensitivity
        noise = Gaussian.calibrate(epsilon=epsilon, delta=delta, rho=rho, mu=mu, sensitivity=moved)
        # Where σ is small or large the digits of c change with it, and its norm by 2⁻¹⁶ at most.
        sigma = noise.sigma
        while (made := cls(steps=steps, sigma=sigma, sensitivity=sensitivity)).gdp() > noise.gdp():
            sigma = math.nextafter(sigma * made.gdp() / noise.gdp(), math.inf)
        return made

    @property
    def digits(self) -> int:
        """f: c is known to 2⁻ᶠ, and σ is at most 2⁵⁵ steps of that lattice."""
        return min(40, 55 - max(0, math.frexp(self.sigma)[1]))

    @property
    def priced_as(self) -> Gaussian:
        """Gaussian noise on Cx, which one unit moves by at most Δ₁ times the longest column."""
        longest = _column_norm(self.steps, self.digits)
        moved = Fraction(longest, 1 << (_GUARD + self.digits)) * Fraction(self.sensitivity)
        return Gaussian(sigma=self.sigma, sensitivity=ratio_up(moved.numerator, moved.denominator))

    @property
    def variance(self) -> float:
        """Of the noise in the last total, which is the largest."""
        return float(np.sum(_decoder(self.steps, self.digits) ** 2)) * self.sigma**2

    def deviations(self, steps: int) -> Floats:
        """σ·‖b‖ over the steps so far."""
        squares = np.square(_decoder(self.steps, self.digits)[:steps])
        return np.asarray(self.sigma * np.sqrt(np.cumsum(squares)))

    def error(self, confidence: float = 0.95) -> float:
        """Half-width of the interval around the last total, the widest."""
        tail = 1 - parameters.confidence("confidence", confidence)
        rounding = float(np.abs(_decoder(self.steps, self.digits)).sum()) * 2.0 ** -(
            self.digits + 1
        )
        spread = math.sqrt(self.variance)
        return Gaussian(sigma=spread).quantile(tail) + rounding

    def totals(self) -> Callable[[int], float]:
        """Encoded exactly, with noise on the lattice, and decoded."""
        encode = Online(_square_root(self.steps, self.digits), exact=True)
        decode = Online(_decoder(self.steps, self.digits).tolist(), exact=False)
        lattice_noise = Gaussian(sigma=math.ldexp(self.sigma, self.digits))

        def total(number: int) -> float:
            exact = encode(number)  # private, as is all that `encode` keeps
            noise = lattice_noise.draw(0)
            assert isinstance(noise, int)
            return float(decode((exact + noise) / (1 << self.digits)))

        return total


@lru_cache(maxsize=16)
def _square_root(steps: int, digits: int) -> tuple[int, ...]:
    """c₀, …, in whole multiples of 2⁻ᶠ. Any whole numbers would do: the price is that of these."""
    wide = 1 << (digits + _GUARD)
    column = []
    for k in range(1, steps + 1):
        column.append(wide >> _GUARD)
        wide = wide * (2 * k - 1) // (2 * k)
    return tuple(column)


@lru_cache(maxsize=64)
def _column_norm(steps: int, digits: int) -> int:
    """‖c‖ in multiples of 2⁻ᶠ⁻⁶⁴, rounded up."""
    return math.isqrt(sum(c * c for c in _square_root(steps, digits)) << 2 * _GUARD) + 1


@lru_cache(maxsize=16)
def _decoder(steps: int, digits: int) -> Floats:
    """The first column of B = (running sums)·C⁻¹: cₖ itself, but for the rounding of C.

    C·b = 1, so that b is the running sum of the first column of C⁻¹.
    """
    column = np.array([math.ldexp(c, -digits) for c in _square_root(steps, digits)])
    return np.cumsum(inverse(column))
