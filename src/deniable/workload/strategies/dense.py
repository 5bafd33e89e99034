"""A strategy found numerically for any workload of up to 512 independent queries.

For Gaussian noise the best strategy A for queries W minimises tr(WᵀW·X⁻¹) over X = AᵀA with 1 on
the diagonal, a convex problem. At the optimum X = D⁻¹ᐟ²·(D¹ᐟ²·WᵀW·D¹ᐟ²)¹ᐟ²·D⁻¹ᐟ² where D is the
fixed point of d ← diag((D¹ᐟ²·WᵀW·D¹ᐟ²)¹ᐟ²) [DMRST22]. A is X's root, rounded to whole
numbers: *that* matrix is used, and the norms of its columns are computed in integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from deniable.workload.split import Vector

from ._strategy import Bounds, Strategy
from .exact import Floats, Integers, times

MOST_QUERIES: Final = 512
_ENTRY: Final = 2.0**20
_FINE_ENTRY: Final = 2.0**40
_WIDEST: Final = 36  # bits by which one unit moves the product, before some of them are dropped
_KEPT: Final = 28  # bits that are left then: 2³⁴ units still fit
_MOST_SHIFT: Final = 40
_ROUNDS: Final = 200  # a fifth of that for more than a few queries, whose rounds take longer
_FEW: Final = 128
_FACTOR: Final = 2.0**10  # factors of queries in a combination: rounding costs 0.1 % of the error
_RCOND: Final = 1e-12
_MISSED: Final = 1e-9  # of a query's length
_CLOSE: Final = 1.0001  # of squared errors, to the least there can be


@dataclass(frozen=True, kw_only=True, eq=False)
class Dense(Strategy):
    """Any matrix of whole numbers."""

    name: ClassVar[str] = "optimised matrix"

    matrix: Integers = field(repr=False)

    @cached_property
    def _norms(self) -> tuple[int, int]:
        """The longest column in L1 and, rounded up, in L2."""
        columns = np.abs(self.matrix).astype(object)
        l1 = int(columns.sum(axis=0).max())
        square = int((columns * columns).sum(axis=0).max())
        return l1, min(math.isqrt(square - 1) + 1, l1) if square else 0

    @property
    def shift(self) -> int:
        """How many bits of the product are dropped: none unless one unit moves it beyond 2³⁶."""
        moved = math.frexp(self.bounds.l1)[1] + self._norms[1].bit_length()
        return min(moved - _KEPT, _MOST_SHIFT) if moved > _WIDEST else 0

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The one product; rounding it down moves neighbours by 1 per row further apart."""
        l1, l2 = (Fraction(self.bounds.l1) * norm / 2**self.shift for norm in self._norms)
        if self.shift:
            rows = len(self.matrix)
            l1, l2 = l1 + rows, l2 + Fraction(math.isqrt(rows << 104) + 1, 2**52)
        return (Vector(l1=_up(l1), l2=_up(l2)),)

    @property
    def lengths(self) -> tuple[int, ...]:
        """One number per row of the matrix."""
        return (len(self.matrix),)

    def encode(self, _part: int, counts: Integers) -> Integers:
        """The product, exact or clipped to ±2⁶²."""
        return times(self.matrix, counts, shift=self.shift)

    def decode(self, noisy: Sequence[Floats], _deviations: Sequence[float]) -> Floats:
        return np.asarray(self._inverse @ (noisy[0] * 2.0**self.shift))

    def variance(self, weights: Floats, deviations: Sequence[float]) -> Floats:
        """σ²·‖A⁺ᵀ·weights‖²."""
        return np.asarray(np.square(weights @ self._inverse).sum(axis=-1) * self._noise(deviations))

    def _noise(self, deviations: Sequence[float]) -> float:
        return float((deviations[0] * 2.0**self.shift) ** 2)

    def cell_variances(self, deviations: Sequence[float]) -> Floats:
        return np.asarray(np.square(self._inverse).sum(axis=-1) * self._noise(deviations))

    @cached_property
    def _inverse(self) -> Floats:
        return np.asarray(np.linalg.pinv(self.matrix.astype(np.float64), rcond=_RCOND))


@dataclass(frozen=True, kw_only=True, eq=False)
class Direct(Dense):
    """The queries themselves."""

    name: ClassVar[str] = "the queries"


def optimised(queries: Floats) -> list[Integers]:
    """Matrices for Gaussian noise with the least sum of squared errors.

    One for the queries as they are, and one for queries of equal length, where lengths differ. A
    rounded matrix with fewer rows than cells may miss part of a query: combinations of the queries
    themselves, where these are whole numbers, miss nothing, and entries of 40 bits miss less than
    one part in 10⁹. What cannot answer every query is left out.
    """
    even = _even(queries)
    tried = [even]
    scaled = queries / np.abs(queries).max()
    if not np.allclose(*_extremes(scaled), rtol=0.01):
        tried.append(scaled)
    found = []
    for each in tried:
        real = _optimal(each)
        coarse, fine = (np.rint(real * entry).astype(np.int64) for entry in (_ENTRY, _FINE_ENTRY))
        for matrix in (coarse, _combined(real, queries), fine):
            if matrix is not None and serves(matrix, even):
                found.append(matrix)
                break
    return found


def serves(matrix: Integers, even: Floats) -> bool:
    """Whether every query, of length 1, is a combination of the rows of a matrix."""
    real = matrix.astype(np.float64)
    missed = even - (even @ np.linalg.pinv(real, rcond=_RCOND)) @ real
    return bool(np.square(missed).sum(axis=1).max() <= _MISSED**2)


def _even(queries: Floats) -> Floats:
    """Those that are not 0, each divided by its length."""
    tops = np.abs(queries).max(axis=1, keepdims=True)
    rows = queries[tops[:, 0] > 0] / tops[tops[:, 0] > 0]
    return np.asarray(rows / np.sqrt(np.square(rows).sum(axis=1, keepdims=True)))


def _extremes(queries: Floats) -> tuple[float, float]:
    lengths = np.sqrt(np.square(queries).sum(axis=1))
    return float(lengths.min()), float(lengths.max())


def _combined(real: Floats, queries: Floats) -> Integers | None:
    """Whole combinations of the queries near a matrix; None unless the queries are small wholes."""
    whole = np.unique(np.rint(queries), axis=0)
    if not np.array_equal(np.rint(queries), queries) or np.abs(whole).max() > _ENTRY:
        return None
    factors = real @ np.linalg.pinv(whole, rcond=_RCOND)
    factors = np.rint(factors * (_FACTOR / np.abs(factors).max()))
    return np.asarray(factors.astype(np.int64) @ whole.astype(np.int64))


def _optimal(queries: Floats) -> Floats:
    """The best matrix in real numbers; its longest column has length 1.

    With B = W·D¹ᐟ² the root of BᵀB is Bᵀ·(B·Bᵀ)⁻¹ᐟ²·B, so that A = (B·Bᵀ)⁻¹ᐟ⁴·B·D⁻¹ᐟ² will do: it
    has as many rows as there are independent queries. With r = tr (B·Bᵀ)¹ᐟ² its error is
    r·max ‖column‖², and by weak duality none is below r²/Σd: the rounds end where these are close.
    """
    compressed = _compressed(queries)
    d = np.sqrt(np.square(compressed).sum(axis=0))
    d = np.maximum(d, 1e-12 * d.max())  # a cell that no query asks for
    left = _ROUNDS if len(compressed) <= _FEW else _ROUNDS // 5
    while True:
        values, turned = _spectrum(compressed, d)
        matrix = (turned.T @ compressed) / (values**0.25)[:, None]
        lengths = np.square(matrix).sum(axis=0)
        left -= 1
        if not left or float(lengths.max()) * d.sum() < np.sqrt(values).sum() * _CLOSE:
            break
        d = np.maximum(d * lengths, 1e-12 * d.max())
    return np.asarray(matrix / np.sqrt(np.square(matrix).sum(axis=0).max()))


def _compressed(queries: Floats) -> Floats:
    """As few rows as possible with the same WᵀW."""
    small = queries @ queries.T if len(queries) <= queries.shape[1] else queries.T @ queries
    values, turned = np.linalg.eigh(small)
    kept = values > 1e-10 * values[-1]
    if len(queries) <= queries.shape[1]:
        return np.asarray(turned[:, kept].T @ queries)
    return np.asarray((turned[:, kept] * np.sqrt(values[kept])).T)


def _spectrum(compressed: Floats, d: Floats) -> tuple[Floats, Floats]:
    """The eigenvalues and eigenvectors of B·Bᵀ."""
    values, turned = np.linalg.eigh((compressed * d) @ compressed.T)
    return np.maximum(values, 1e-14 * values[-1]), turned


def of_queries(queries: Floats, bounds: Bounds) -> Dense | None:
    """The queries themselves, if they are whole numbers: for few queries over many cells."""
    whole = np.rint(queries)
    if not np.array_equal(whole, queries) or np.abs(whole).max(initial=0) > 2**31:
        return None
    matrix = np.unique(whole[np.any(whole != 0, axis=1)], axis=0).astype(np.int64)
    if len(matrix) > min(queries.shape[1], MOST_QUERIES) or not serves(matrix, _even(queries)):
        return None
    return Direct(cells=queries.shape[1], bounds=bounds, matrix=matrix)


def _up(exact: Fraction) -> float:
    """The least float that is not below a number."""
    number = float(exact)
    return number if number >= exact else math.nextafter(number, math.inf)
