"""Intervals for averages and variances made of noisy sums and counts, by inverting exact tests.

With y = x − centre the truth satisfies, whatever the group's size n = Σ1, S = Σy, Q = Σy²,

    average    S − θ·n = 0                          θ the mean of y
    variance   Q − 2m·S + m²·n − v·(n − less) = 0   m the mean of y, v its variance, less 0 or 1

so the same expression of the noisy numbers is noise alone, of a known law, at the true θ or v. All
θ at which it is not larger than noise usually is make the interval [Fie54]: it covers as often as
it says for groups of any size, also where noise drowns the count and a ± of a ratio means nothing.
For the variance m is not known either: m̂ is used, and m̂ = m + d adds exactly n·d² to the
expression, so the low end is moved down by the square of how far m̂ may be off, times n/(n − less).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.workload.tails import Law, tail

Floats = NDArray[np.float64]
Test = Callable[[Floats], tuple[Floats, ...]]
"""From a possible truth of every group to the factors of count, sum, sum of squares and 1."""
Confidence = float | Floats
"""One, or a column of several: then ends are tables with a row for each."""

_HALVINGS = 30  # to a billionth of what is possible, outwards


@dataclass(frozen=True, kw_only=True)
class Sums:
    """Noisy count, sum and (for variances) sum of squares of centred values, one of each a group.

    In units of the column. `mixture` tells how they err: a row for each, with how much of every one
    of some independent noises is in it. Values are in [−reach, reach].
    """

    law: Law
    count: Floats
    total: Floats
    squares: Floats | None
    mixture: Floats
    reach: float

    def mean(self) -> Floats:
        """The estimate of the average of centred values, within reach."""
        return np.clip(self.total / np.maximum(self.count, 1.0), -self.reach, self.reach)

    def variance(self) -> Floats:
        """The estimate of the variance: at least 0, at most that of values at both ends."""
        assert self.squares is not None
        many = np.maximum(self.count, 1.0)
        return np.clip(self.squares / many - self.mean() ** 2, 0.0, self.reach**2)

    def mean_interval(self, confidence: Confidence) -> tuple[Floats, Floats]:
        """Where the average of centred values may be."""
        return self._inverted(_average, confidence, -self.reach, self.reach)

    def drowned(self, confidence: float) -> NDArray[np.bool_]:
        """Where the average may be anything."""
        ends = np.broadcast_to([[-self.reach], [self.reach]], (2, *self.count.shape))
        low, high = self._refuted(_average, ends, np.array([1 - confidence]))
        free: NDArray[np.bool_] = ~(low | high)
        return free

    def variance_interval(self, confidence: Confidence, *, less: int = 0) -> tuple[Floats, Floats]:
        """Where the variance may be: squares over n − `less`, at least 1."""
        mean, many = self.mean(), np.maximum(self.count, 1.0 + less)

        def test(theta: Floats) -> tuple[Floats, ...]:
            one = np.ones_like(theta)
            return mean**2 - theta, -2 * mean * one, one, less * theta

        low, high = self._inverted(test, confidence, 0.0, (1 + less) * self.reach**2)
        ends = self.mean_interval(confidence)
        off = np.maximum(mean - ends[0], ends[1] - mean)
        return np.maximum(low - off**2 * many / (many - less), 0.0), high

    def _inverted(
        self, test: Test, confidence: Confidence, least: float, most: float
    ) -> tuple[Floats, Floats]:
        """The ends of the truths that are not refuted.

        What is seen less what noise reaches is concave in the truth (linear less a norm), so
        between a refuted and an accepted end there is one crossing, found by halving.
        """
        alpha = 1 - np.asarray(confidence)[..., None]
        shape = (*alpha.shape[:-2], 2, *self.count.shape)
        start = np.broadcast_to([[least], [most]], shape)
        out, inside = start, start[..., ::-1, :]
        free = ~self._refuted(test, out, alpha)
        for _ in range(_HALVINGS):
            middle = (out + inside) / 2
            bad = self._refuted(test, middle, alpha)
            out, inside = np.where(bad, middle, out), np.where(bad, inside, middle)
        ends = np.where(free, start, out)
        return ends[..., 0, :], ends[..., 1, :]

    def _refuted(self, test: Test, theta: Floats, alpha: Floats) -> NDArray[np.bool_]:
        """Whether noise is hardly ever as large as what is seen, at low ends and at high ends."""
        factors = test(theta)
        seen = _combined(factors, (self.count, self.total, self.squares, 1.0))
        scales = [np.abs(_combined(factors, noise)) for noise in self.mixture.T]
        sign = np.array([[1.0], [-1.0]])
        refuted: NDArray[np.bool_] = (sign * seen > 0) & (tail(self.law, seen, scales) < alpha)
        return refuted


def _average(theta: Floats) -> tuple[Floats, ...]:
    return -theta, np.ones_like(theta)


def _combined(factors: tuple[Floats, ...], numbers: Sequence[Any]) -> Floats:
    total: Floats = sum(f * n for f, n in zip(factors, numbers, strict=False))
    return total
