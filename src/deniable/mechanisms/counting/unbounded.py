"""Counting over time, for as long as it takes, by one factor of the running sum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np

from deniable import parameters
from deniable.mechanisms.numbers.gaussian import Gaussian

from ._factored import ABOVE, Factored
from ._online import inverse
from ._stream import Floats
from .square_root import square_root

_SLOPE: Final = 0.3
_POWER: Final = 1.2
_SUMMED: Final = 1024  # terms of ‖c‖² that are added up; the rest is bounded by an integral
_LISTED: Final = 2**20  # steps whose errors are computed; those of later ones are extrapolated


@dataclass(frozen=True, kw_only=True)
class UnboundedCounter(Factored):
    """Unbounded counter: running totals of a stream whose length nobody knows.

    Releases   B(Cx + z), z ~ N(0, σ²‖c‖²) rounded to a lattice, with BC the matrix of running sums
               and cₖ = C(2k, k)/4ᵏ·(1 + 0.3·ln(1 + k))^−0.6: the square root of running sums, that
               falls so much faster that ‖c‖ is 1.7 however long the stream gets, up to 2⁴⁰ steps
    Privacy    μ-GDP, μ = Δ₁/σ, whenever it ends: that of Gaussian noise on Cx, of which the answer
               is a function; values may follow answers                     [DMRST22, Thm 2.1]
    Error      normal with standard deviation σ·‖c‖·‖(b₀, …, b_{t−1})‖: 1.37 to 1.46 times
               (0.846 + ln(t)/π)·σ for t = 64 … 2²⁰, and more before. What is close to that figure
               at one t only, for a known length, cannot be close to it at every t
    Assumes    one unit moves the whole stream by at most Δ₁ in all
    Numerics   c is rounded down to whole multiples of 2⁻ᶠ and *those* are used: Cx is exact. ‖c‖²
               is at most Σ cₖ² over k < 1024 plus an integral, as C(2k, k)/4ᵏ < (π(k + ¼))^−½. B is
               in floats, after the noise. Values beyond 2⁵⁰ are clipped. O(log² t) per step

    >>> counter = UnboundedCounter(sigma=2.0)
    >>> counter.gdp(), [round(counter.error(step=t), 1) for t in (10, 1000, 100_000)]
    (0.5, [9.8, 16.5, 24.2])
    """

    name: ClassVar[str] = "unbounded_counter"

    sigma: float
    sensitivity: float = 1.0
    steps: int = 2**40

    def _column(self, steps: int) -> Floats:
        return np.asarray(np.floor(np.ldexp(_factor(steps), self.digits)))

    def _weight(self, _step: int) -> int:
        return 1

    def _spread(self, _step: int) -> float:
        return math.ldexp(self.sigma * _norm(self.steps), self.digits)

    def deviations(self, steps: int) -> Floats:
        """The standard deviation of the noise in each of the first totals, or a little more."""
        listed = self._listed(min(steps, _LISTED))[:steps]
        if steps > _LISTED:
            listed = np.concatenate([listed, self._later(np.arange(_LISTED + 1.0, steps + 1))])
        return np.asarray(listed * self._noise)

    def deviation(self, step: int) -> float:
        """The standard deviation of the noise in one total, or a little more."""
        at = parameters.whole("step", step)
        if at > _LISTED:
            return float(self._later(np.array([float(at)]))[0]) * self._noise
        return float(self._listed(at)[at - 1]) * self._noise

    def _listed(self, steps: int) -> Floats:
        """‖b‖ after each of so many steps, and of more: few lists are computed, and agree."""
        return _decoder_norms(1 << max(10, (steps - 1).bit_length()), self.digits)

    @property
    def _noise(self) -> float:
        """The standard deviation of z, rounding included."""
        return math.sqrt((self.sigma * _norm(self.steps)) ** 2 + 4.0**-self.digits / 12)

    def _later(self, steps: Floats) -> Floats:
        """Beyond 2²⁰ steps ‖b‖² grows by 0.98 times (1 + 0.3·ln k)^1.2/(πk), or a little more."""
        known = float(_decoder_norms(_LISTED, self.digits)[-1]) ** 2
        power = 1 + _POWER
        grown = _log(steps) ** power - _log(np.array([float(_LISTED)])) ** power
        return np.asarray(np.sqrt(known + grown / (power * _SLOPE * math.pi)))

    def error(self, confidence: float = 0.95, *, step: int | None = None) -> float:
        """Half-width of the interval around the total after a step; by default after the last."""
        tail = 1 - parameters.confidence("confidence", confidence)
        at = self.deviation(self.steps if step is None else step)
        return Gaussian(sigma=at).quantile(tail) * ABOVE


def _log(k: Floats) -> Floats:
    return np.asarray(1 + _SLOPE * np.log1p(k))


def _factor(steps: int) -> Floats:
    return np.asarray(square_root(steps) * _log(np.arange(float(steps))) ** (-_POWER / 2))


@lru_cache(maxsize=16)
def _norm(steps: int) -> float:
    """At least ‖(c₀, …, c_{T−1})‖.

    For k ≥ K: cₖ² ≤ (1 + s·ln(1 + k))^−p/(π(k + ¼)), and 1/(k + ¼) ≤ (1 + ¾/(K + ¼))/(k + 1). The
    sum of (1 + s·ln(1 + k))^−p/(k + 1) over k ≥ K is at most its integral from K − 1 on.
    """
    head = float(np.square(_factor(min(steps, _SUMMED))).sum())
    if steps <= _SUMMED:
        return math.sqrt(head) * ABOVE
    ends = _log(np.array([_SUMMED - 1.0, float(steps)])) ** (1 - _POWER)
    rest = float(ends[0] - ends[1]) / (_SLOPE * (_POWER - 1))
    return math.sqrt(head + rest * (1 + 0.75 / (_SUMMED + 0.25)) / math.pi) * ABOVE


@lru_cache(maxsize=16)
def _decoder_norms(steps: int, digits: int) -> Floats:
    """‖(b₀, …, b_{t−1})‖ for each t, of B = (running sums)·C⁻¹."""
    column = np.ldexp(np.floor(np.ldexp(_factor(steps), digits)), -digits)
    return np.asarray(np.sqrt(np.cumsum(np.square(np.cumsum(inverse(column))))))
