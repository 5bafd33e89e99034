"""Bounds found privately, when nobody can say what is plausible.

Two ways, both algorithms for a session to run, both O(rows) and well under a second on millions:
- `bounds_by_magnitude`: a noisy histogram of powers of two, both ends at once, any scale;
- `upper_bound`: the first of a public list of candidates that leaves only a small share of rows
  above it, by AboveThreshold. The list may be linear (`linear`) or double at each step
  (`doubling`).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters, units
from deniable.errors import BadParameter
from deniable.mechanisms import AboveThreshold, Laplace, Step
from deniable.schema.binning import Binning
from deniable.schema.edges import magnitudes
from deniable.sensitive import Sensitive

from .clip import mean
from .columns import check_column, floats

Integers = NDArray[np.int64]
_FALSE_ALARM = 1e-6  # the chance that noise alone makes an empty bin count


def bounds_by_magnitude(
    values: ArrayLike, *, epsilon: float
) -> Generator[Step[Integers], Integers, tuple[float, float]]:
    """(low, high) that hold nearly all values, as powers of two: from a histogram of magnitudes.

    Each row falls in one bin, [2ᵏ, 2ᵏ⁺¹) or its negative or the one around 0, so one row moves
    one count by 1. A bin counts if its noisy count passes a threshold that an empty bin passes
    with a chance of 10⁻⁶ in all; the bounds are the outer edges of the bins that count.
    """
    check_column(values)
    cells = magnitudes()
    edges, bins = cells.edges, cells.count
    mechanism = Laplace.calibrate(epsilon=epsilon, sensitivity=1.0)
    histogram = Sensitive(
        lambda: _histogram(values, cells), l1=1, whole=True, shape=bins, unit=units.rows()
    )
    counts = yield mechanism.on(histogram)
    threshold = mechanism.error(1 - 2 * _FALSE_ALARM, coordinates=bins)
    kept = np.flatnonzero(np.asarray(counts) > threshold)
    if kept.size == 0:
        return -edges[bins // 2 + 1], edges[bins // 2 + 1]
    # The bin around 0 is an edge of its own only where values on both sides of it are not.
    return edges[kept[0]], edges[kept[-1] + 1]


def upper_bound(
    values: ArrayLike, candidates: Sequence[float], *, epsilon: float, share: float = 0.99
) -> Generator[Step[list[int]], int | None, float]:
    """The first candidate that about `share` of the rows do not exceed; the last if none is.

    The query at candidate c is den·#{x ≤ c} − num·#{x}, share = num/den: 0 where the share is
    reached, and one row moves it by at most max(num, den − num).
    """
    check_column(values)
    exact = Fraction(parameters.confidence("share", share)).limit_denominator(1000)
    num, den = exact.numerator, exact.denominator
    ordered = [parameters.real("candidates", c) for c in candidates]
    if not ordered or sorted(ordered) != ordered:
        raise BadParameter("candidates must be a list of numbers in increasing order")

    def queries() -> list[int]:
        array = floats(values)
        data = np.sort(array[~np.isnan(array)])
        below = np.searchsorted(data, ordered, side="right")
        return [den * int(b) - num * data.size for b in below]

    moved = max(num, den - num)
    mechanism = AboveThreshold(epsilon=epsilon, sensitivity=moved, threshold=0.0)
    asked = Sensitive(queries, linf=moved, shape=len(ordered), unit=units.rows())
    found = yield mechanism.on(asked)
    return ordered[-1 if found is None else found]


def linear(*, step: float, count: int) -> list[float]:
    """Candidates step, 2·step, …"""
    return [
        parameters.positive("step", step) * i
        for i in range(1, parameters.whole("count", count) + 1)
    ]


def doubling(*, first: float, count: int) -> list[float]:
    """Candidates first, 2·first, 4·first, …"""
    return [
        math.ldexp(parameters.positive("first", first), i)
        for i in range(parameters.whole("count", count))
    ]


def automatic_mean(
    values: ArrayLike, *, epsilon: float
) -> Generator[Step[Integers] | Step[int], Integers | int, float]:
    """The average of a column of any scale; a quarter of ε pays for finding its bounds."""
    quarter = parameters.positive("epsilon", epsilon) / 4
    low, high = yield from bounds_by_magnitude(values, epsilon=quarter)
    answer: float = yield from mean(values, low=low, high=high, epsilon=epsilon - quarter)
    return answer


def _histogram(values: ArrayLike, cells: Binning) -> Integers:
    """Rows by cell; those without a number are in none."""
    codes = cells.encode(values)
    return np.bincount(codes[codes >= 0], minlength=cells.count).astype(np.int64)
