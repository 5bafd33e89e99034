"""How far one unit can move a statistic on data near these: local sensitivity at distance k.

A `Statistic` is a function f of sorted numbers in [low, high] with bounds A_k(x) such that
- one unit moves f by at most A_k(x) on any data within k units of x, and
- A_k(x) ≤ A_{k+1}(x′) for neighbours x, x′.
`smooth` and `propose_test` build on these two facts alone. To add a statistic, write f and A_k,
and prove them.

Each row is one unit, added or removed, and its value is clipped to [low, high]; a row without
a number is left out. Sorted values are padded with `low` below and `high` above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters

from .columns import Floats, floats, middle

Integers = NDArray[np.int64]


class Statistic(Protocol):
    """A function of sorted numbers in [low, high] and a proved bound on its local sensitivity."""

    def value(self, data: Floats, low: float, high: float) -> float:
        """f, right to 2⁻⁵⁰ of max(|low|, |high|) in floats."""

    def at_distance(self, data: Floats, distances: Integers, low: float, high: float) -> Floats:
        """A_k for each k in `distances`."""


def sorted_within(values: ArrayLike, low: float, high: float) -> Floats:
    """The numbers, clipped and in order, without NaN."""
    array = floats(values)
    return np.sort(np.clip(array[~np.isnan(array)], low, high))


def bounds_at(
    statistic: Statistic, data: Floats, distances: Integers, low: float, high: float
) -> Floats:
    """A_k, and room for the rounding of f: the same for all data, which keeps the second fact."""
    return statistic.at_distance(data, distances, low, high) + room(low, high)


def room(low: float, high: float) -> float:
    """What f may be off in floats, for two of its values and twice over."""
    return 2.0**-48 * max(abs(low), abs(high))


@dataclass(frozen=True, kw_only=True)
class Mean:
    """The average; the middle of the range of no data.

    Removing a row of n moves it by at most (u − l)/n, adding one by (u − l)/(n + 1); data within k
    units have at least n − k rows: A_k = (u − l)/max(1, n − k).
    """

    def value(self, data: Floats, low: float, high: float) -> float:
        """The average of the clipped data."""
        return math.fsum(data) / data.size if data.size else middle(low, high)

    def at_distance(self, data: Floats, distances: Integers, low: float, high: float) -> Floats:
        """(u − l)/max(1, n − k)."""
        return (high - low) / np.maximum(1, data.size - distances)


@dataclass(frozen=True, kw_only=True)
class Quantile:
    """The ⌈qn⌉-th smallest value; the median at q = ½.

    With a rows added and b removed, a + b ≤ k, it lies between x₍ₘ₋ₐ₎ and x₍ₘ₊ᵦ₎, where
    m = ⌈q(n + a − b)⌉, and each end is reached (add at the far bound, remove from the near one).
    A_k is the width of the range over all data within k + 1 units: a ball around x lies in a
    larger one around x′.
    """

    q: float = 0.5

    def __post_init__(self) -> None:
        parameters.probability("q", self.q)

    def value(self, data: Floats, low: float, high: float) -> float:
        """The quantile of the clipped data."""
        rank = max(int(self._rank(np.array(data.size))), 1)
        return float(data[rank - 1]) if data.size else middle(low, high)

    def at_distance(self, data: Floats, distances: Integers, low: float, high: float) -> Floats:
        """The value at the highest rank less that at the lowest rank within k + 1 units."""
        reach, n = distances + 1, data.size
        more, fewer = self._rank(n + reach), self._rank(n - reach)
        # m + b and m − a are extreme at a = k + 1 or at b = k + 1. One rank further on either side,
        # as `value` holds its rank in [1, n].
        top = np.maximum(more, fewer + reach) + 1
        bottom = np.minimum(more - reach, fewer) - 1
        return _padded(data, top, low, high) - _padded(data, bottom, low, high)

    def _rank(self, n: Integers) -> Integers:
        """⌈qn⌉ in whole numbers: in floats neighbouring sizes could be rounded apart."""
        exact = Fraction(self.q).limit_denominator(10**6)
        rank: Integers = -(-exact.numerator * n // exact.denominator)
        return rank


@dataclass(frozen=True, kw_only=True)
class TrimmedMean:
    """The average of what is left when the `trim` smallest and largest rows are set aside.

    Adding or removing a row adds or removes one value of the middle, and that value lies between
    x₍ₜ₎ and x₍ₙ₋ₜ₊₁₎; k units move those ends to x₍ₜ₋ₖ₎ and x₍ₙ₋ₜ₊₁₊ₖ₎ at most, and leave at least
    N − k of the N = n − 2·trim rows. So A_k = (x₍ₙ₋ₜ₊₁₊ₖ₎ − x₍ₜ₋ₖ₎)/(N − k), or high − low where
    N − k ≤ 1.
    """

    trim: int

    def __post_init__(self) -> None:
        parameters.whole("trim", self.trim, least=0)

    def value(self, data: Floats, low: float, high: float) -> float:
        """The trimmed mean of the clipped data."""
        kept = data[self.trim : data.size - self.trim]
        return math.fsum(kept) / kept.size if kept.size else middle(low, high)

    def at_distance(self, data: Floats, distances: Integers, low: float, high: float) -> Floats:
        """The width of the middle, over the rows left."""
        left = data.size - 2 * self.trim - distances
        top = _padded(data, data.size - self.trim + 1 + distances, low, high)
        bottom = _padded(data, self.trim - distances, low, high)
        return np.where(left <= 1, high - low, (top - bottom) / np.maximum(1, left))


def _padded(data: Floats, rank: Integers, low: float, high: float) -> Floats:
    """The value of a rank counted from 1, `low` below the first and `high` above the last."""
    inside = np.clip(rank - 1, 0, max(data.size - 1, 0))
    found = data[inside] if data.size else np.full(rank.shape, high)
    return np.where(rank < 1, low, np.where(rank > data.size, high, found))
