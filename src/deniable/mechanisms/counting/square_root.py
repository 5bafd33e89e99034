"""Counting over a known number of steps by the square root of the running sum, evened out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from deniable import parameters
from deniable.mechanisms.numbers.gaussian import Gaussian

from ._factored import ABOVE, WEIGHT, Factored
from ._online import inverse
from ._places import after_each
from ._stream import Floats, Integers


@dataclass(frozen=True, kw_only=True)
class SquareRootCounter(Factored):
    """Square-root counter: running totals whose largest error is below 0.846 + ln(T)/π.

    Releases   B(C·D·x + z), zₜ ~ N(0, σₜ²) rounded to a lattice, with B·C·D the matrix of running
               sums and C its square root: cₖ = cₖ₋₁·(1 − 1/2k), c₀ = 1      [FHU23]
    Privacy    μ-GDP, μ = Δ₁/σ: D makes the columns of C·D, each row divided by its σₜ/σ, equally
               long, at most 1; values may follow answers              [HKU25; DMRST22, Thm 2.1]
    Error      normal; with σₜ ∝ (t/T)⁻ᵍ·(1 − t/T)⁻ʰ, g = 1/(1 + ln T), h = min(g, ¼), the standard
               deviation of every total is below (0.846 + ln(T)/π)·σ from T = 10 on. Up to T = 8
               no noise achieves that: the least possible is 1.51·σ at T = 8, and 0.846 + ln(8)/π
               is 1.508
    Assumes    one unit moves the whole stream by at most Δ₁ in all
    Numerics   c and d are rounded to whole numbers and *those* are used, so that C·D·x is exact. B
               is in floats, after the noise. Values beyond 2⁵⁰ are clipped. O(log² t) per step

    >>> counter = SquareRootCounter(steps=1024, sigma=1.0)
    >>> counter.gdp(), round(float(counter.deviations(1024).max()), 2)
    (1.0, 3.02)
    """

    name: ClassVar[str] = "square_root_counter"

    steps: int
    sigma: float
    sensitivity: float = 1.0

    def _column(self, steps: int) -> Floats:
        return _shape(self.steps, self.digits)[0][:steps]

    def _weight(self, step: int) -> int:
        return int(_shape(self.steps, self.digits)[1][step])

    def _spread(self, step: int) -> float:
        return float(self.sigma * _shape(self.steps, self.digits)[2][step])

    def deviations(self, steps: int) -> Floats:
        """The standard deviation of the noise in each of the first totals, or a little more."""
        least = self.sigma * float(_shape(self.steps, self.digits)[2].min())
        rounded = math.sqrt(1 + 1 / (12 * least**2))  # of real noise to the lattice
        wide = math.ldexp(self.sigma, -self.digits) * rounded
        return np.asarray(_unit_deviations(self.steps, self.digits)[1 : steps + 1] * wide)

    def error(self, confidence: float = 0.95) -> float:
        """Half-width of the interval around the total whose interval is the widest."""
        tail = 1 - parameters.confidence("confidence", confidence)
        return Gaussian(sigma=float(self.deviations(self.steps).max())).quantile(tail) * ABOVE


def square_root(steps: int) -> Floats:
    """cₖ: the square root of the matrix of running sums is Toeplitz, with these in its columns."""
    return np.concatenate([[1.0], np.cumprod(1 - 1 / (2 * np.arange(1, steps)))])


def row_weights(steps: int) -> Floats:
    """σ/σₜ, up to a factor: errors are even over the steps where the ends get more noise."""
    g = 1 / (1 + math.log(steps))
    t = np.arange(steps)
    return np.asarray(((t + 1) / steps) ** g * ((steps - t) / steps) ** min(g, 0.25))


def column_squares(column: Floats, rows: Floats) -> Floats:
    """Σₜ (cₜ₋ⱼ·rowₜ)² for each j. By the fast Fourier transform: errors are below 2⁻³⁰ of c₀²."""
    n = len(column)
    length = _doubled(n)
    product = np.fft.rfft(np.square(column), n=length) * np.fft.rfft(
        np.square(rows[::-1]), n=length
    )
    return np.asarray(np.fft.irfft(product, n=length)[:n][::-1])


@lru_cache(maxsize=16)
def _shape(steps: int, digits: int) -> tuple[Floats, Integers, Floats]:
    """c in multiples of 2⁻ᶠ, d, and σₜ/σ in multiples of 2⁻ᶠ."""
    column = np.rint(np.ldexp(square_root(steps), digits))
    rows = row_weights(steps)
    squares = column_squares(column, rows)
    even = np.sqrt(squares.min() / squares)
    weights = np.maximum(np.rint(WEIGHT * even), 1).astype(np.int64)
    longest = math.sqrt(float((weights**2 * squares).max())) * ABOVE
    return column, weights, longest / rows


@lru_cache(maxsize=16)
def _unit_deviations(steps: int, digits: int) -> Floats:
    """Of the totals after 0, 1, … steps, if σ were 2ᶠ."""
    column, weights, spreads = _shape(steps, digits)
    length = _doubled(steps)
    turned = np.fft.rfft(inverse(np.ldexp(column, -digits)), n=length)

    def variances(places: Integers) -> Floats:
        """Σᵢ (C⁻ᵀ·D⁻¹·(1, …, 1, 0, …, 0))ᵢ²·σᵢ²: turned around, C⁻ᵀ is C⁻¹."""
        found = []
        for b in places.tolist():
            marked = np.zeros(steps)
            marked[steps - b :] = 1 / weights[:b][::-1]
            back = np.fft.irfft(turned * np.fft.rfft(marked, n=length), n=length)[:steps]
            found.append(float(np.square(back[::-1] * spreads).sum()))
        return np.array(found)

    return np.asarray(np.sqrt(after_each(steps, variances)))


def _doubled(steps: int) -> int:
    """The least power of two on which products of so many numbers do not overlap."""
    return 1 << (2 * steps - 1).bit_length()
