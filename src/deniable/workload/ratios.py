"""Intervals for averages, variances and covariances of noisy sums, by inverting exact tests.

With y = x − centre the truth satisfies, whatever the group's size n = Σ1, S = Σy, Q = Σy²,

    average    S − θ·n = 0                          θ the mean of y
    variance   Q − 2m·S + m²·n − v·(n − less) = 0   m the mean of y, v its variance, less 0 or 1

    covariance P − a·S′ − b·S + a·b·n − c·(n − less) = 0   P = Σy·y′, a and b the means of y and y′

so the same expression of the noisy numbers is noise alone, of a known law, at the true θ or v. All
θ at which it is not larger than noise usually is make the interval [Fie54]: it covers as often as
it says for groups of any size, also where noise drowns the count and a ± of a ratio means nothing.
For the variance m is not known either: m̂ is used, and m̂ = m + d adds exactly n·d² to the
expression, so the low end is moved down by the square of how far m̂ may be off, times n/(n − less).
For the covariance (a, b) lies in the box of both means' intervals, where the expression and each
noise in it are bilinear, so that they are extreme at corners: c is refuted where it is at all of
the box, however its noises are largest. By the union bound each mean may miss with a tenth of what
the confidence leaves, and the test with the rest. A correlation lies between the ratios of the ends
of the covariance and of both variances, each of which may miss with a third.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from deniable.workload.tails import Law, tail

Floats = NDArray[np.float64]
Test = Callable[[Floats], tuple[Floats, ...]]
"""From a possible truth of every group to the factors of count, sum, sum of squares and 1."""
Confidence = float | Floats
"""One, or a column of several: then ends are tables with a row for each."""

_HALVINGS: Final = 30  # to a billionth of what is possible, outwards
OF_A_MEAN: Final = 0.1
"""Of what the confidence of a covariance leaves, how much is for each of its means."""
_SIGNS: Final = np.array([[1.0], [-1.0]])


@dataclass(frozen=True, kw_only=True)
class Sums:
    """Noisy count, sum and (for variances) sum of squares of centred values, one each per group.

    In units of the column. `mixture` describes their errors: a row for each, with the weights of
    some independent noises in it. Values are in [−reach, reach].
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
        """The ends of the truths that are not refuted."""
        alpha = 1 - np.asarray(confidence)[..., None]
        shape = (*alpha.shape[:-2], 2, *self.count.shape)
        start = np.broadcast_to([[least], [most]], shape)
        return _crossings(lambda theta: self._refuted(test, theta, alpha), start)

    def _refuted(self, test: Test, theta: Floats, alpha: Floats) -> NDArray[np.bool_]:
        """Whether noise is hardly ever as large as what is seen, at low ends and at high ends."""
        factors = test(theta)
        seen = _combined(factors, (self.count, self.total, self.squares, 1.0))
        scales = [np.abs(_combined(factors, noise)) for noise in self.mixture.T]
        refuted: NDArray[np.bool_] = (_SIGNS * seen > 0) & (tail(self.law, seen, scales) < alpha)
        return refuted


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Noisy sums of two centred values over the same rows, and of their products.

    `mixture` has a row for the count, for either sum and for the products.
    """

    first: Sums
    second: Sums
    products: Floats
    mixture: Floats

    @property
    def reach(self) -> float:
        """The largest product of two values."""
        return self.first.reach * self.second.reach

    def covariance(self) -> Floats:
        """The estimate, within reach."""
        mean = self.products / np.maximum(self.first.count, 1.0)
        return np.clip(mean - self.first.mean() * self.second.mean(), -self.reach, self.reach)

    def covariance_interval(
        self, confidence: Confidence, *, less: int = 0
    ) -> tuple[Floats, Floats]:
        """Where the covariance may be: products over n − `less`, at least 1."""
        miss = 1 - np.asarray(confidence)
        ends = [each.mean_interval(1 - OF_A_MEAN * miss) for each in (self.first, self.second)]
        corners = [(a[..., None, :], b[..., None, :]) for a, b in product(*ends)]
        alpha = ((1 - 2 * OF_A_MEAN) * miss)[..., None]

        def refuted(theta: Floats) -> NDArray[np.bool_]:
            tests = [(a * b - theta, -b, -a, 1.0, less * theta) for a, b in corners]
            numbers = (self.first.count, self.first.total, self.second.total, self.products, 1.0)
            seen = np.min([_SIGNS * _combined(test, numbers) for test in tests], axis=0)
            scales = [
                np.max([np.abs(_combined(test, noise)) for test in tests], axis=0)
                for noise in self.mixture.T
            ]
            found: NDArray[np.bool_] = (seen > 0) & (tail(self.first.law, seen, scales) < alpha)
            return found

        most = (1 + less) * self.reach
        shape = (*alpha.shape[:-2], 2, *self.products.shape)
        return _crossings(refuted, np.broadcast_to([[-most], [most]], shape))

    def correlation(self) -> Floats:
        """The estimate, in [−1, 1]; 0 where a variance is estimated as 0."""
        scale = np.sqrt(self.first.variance() * self.second.variance())
        found = np.divide(self.covariance(), scale, out=np.zeros_like(scale), where=scale > 0)
        return np.clip(found, -1.0, 1.0)

    def correlation_interval(self, confidence: Confidence) -> tuple[Floats, Floats]:
        """Where the correlation may be."""
        each = 1 - (1 - np.asarray(confidence)) / 3
        variances = (s.variance_interval(each) for s in (self.first, self.second))
        return correlation_ends(self.covariance_interval(each), *variances)


def correlation_ends(
    covariance: tuple[Floats, Floats],
    first: tuple[Floats, Floats],
    second: tuple[Floats, Floats],
) -> tuple[Floats, Floats]:
    """The least and largest c/√(v·w) for c, v and w in intervals, within [−1, 1].

    >>> one = np.ones(1)
    >>> correlation_ends((one, 2 * one), (one, 4 * one), (4 * one, 4 * one))
    (array([0.25]), array([1.]))
    """
    (a, b), (v, w), (x, y) = covariance, first, second
    narrow, wide = np.sqrt(v * x), np.sqrt(w * y)
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(a < 0, a / narrow, a / wide)
        high = np.where(b < 0, b / wide, b / narrow)
    low, high = np.nan_to_num(low, nan=-1.0), np.nan_to_num(high, nan=1.0)
    return np.clip(low, -1.0, 1.0), np.clip(high, -1.0, 1.0)


def _crossings(
    refuted: Callable[[Floats], NDArray[np.bool_]], start: Floats
) -> tuple[Floats, Floats]:
    """The ends of the truths that are not refuted, between the least and the most there can be.

    What is seen less what noise reaches is concave in the truth (linear, or the least of linear
    functions, less a norm), so between a refuted and an accepted end there is one crossing, found
    by halving.
    """
    out, inside = start, start[..., ::-1, :]
    free = ~refuted(out)
    for _ in range(_HALVINGS):
        middle = (out + inside) / 2
        bad = refuted(middle)
        out, inside = np.where(bad, middle, out), np.where(bad, inside, middle)
    ends = np.where(free, start, out)
    return ends[..., 0, :], ends[..., 1, :]


def _average(theta: Floats) -> tuple[Floats, ...]:
    return -theta, np.ones_like(theta)


def _combined(factors: Sequence[Any], numbers: Sequence[Any]) -> Floats:
    total: Floats = sum(f * n for f, n in zip(factors, numbers, strict=False))
    return total
