"""One cell of each column is on: columns of keys, and numbers in bins."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from .spaces import THETA, WEIGHT, Features, Floats, Integers, chunks, up

Number = TypeVar("Number", np.int64, np.float64)

_JOINT: Final = 1 << 14
"""Tables of so many numbers stay in a processor's cache."""


@dataclass(frozen=True)
class Cells:
    """One cell of each column is on. x has a line per block: a number for all of its columns.

    A block is a few columns whose cells together have at most 2¹⁴ combinations. Margins are looked
    up, and residuals added up, by combination: one pass over the rows for several columns.

    >>> space = Cells(sizes=(2, 3))
    >>> x = space.packed([np.array([0, 1, 1]), np.array([2, 2, 0])])
    >>> x.tolist()
    [[2, 5, 3]]
    >>> space.total([(x, np.array([1.0, 10.0, 100.0]))]).tolist()
    [1, 110, 100, 0, 11]
    """

    sizes: tuple[int, ...]

    @property
    def dimension(self) -> int:
        """All cells of all columns."""
        return sum(self.sizes)

    axis = 1
    exponent = -THETA
    unit = 1

    @property
    def norm(self) -> float:
        """√columns, as a row has a one in each column."""
        return up(math.sqrt(len(self.sizes)))

    def moment_unit(self, *, weighted: bool) -> int:
        """Rows are counted, or their weights are added up."""
        return 1 << WEIGHT if weighted else 1

    @property
    def moments_l2(self) -> float:
        """√(columns + pairs): one 1 in the counts of each column, and in each pair's table."""
        columns = len(self.sizes)
        return up(math.sqrt(columns * (columns + 1) / 2))

    @property
    def moments_size(self) -> int:
        """Two cells of one column are never on together: those moments are known to be 0."""
        return self.dimension + sum(self.sizes[a] * self.sizes[b] for a, b in self._pairs)

    @cached_property
    def _pairs(self) -> list[tuple[int, int]]:
        columns = range(len(self.sizes))
        return [(a, b) for a in columns for b in columns if a < b]

    @cached_property
    def starts(self) -> list[int]:
        """The number of the first cell of each column."""
        return [sum(self.sizes[:place]) for place in range(len(self.sizes))]

    def __reduce__(self) -> tuple[type[Cells], tuple[tuple[int, ...]]]:
        return Cells, (self.sizes,)  # executors make the tables themselves

    # ---- rows

    @cached_property
    def _blocks(self) -> list[list[int]]:
        """Columns in order, as many together as fit."""
        made: list[list[int]] = []
        count = 0
        for column, size in enumerate(self.sizes):
            if not made or count * size > _JOINT:
                made.append([])
                count = 1
            made[-1].append(column)
            count *= size
        return made

    @cached_property
    def _digits(self) -> list[list[NDArray[np.int32]]]:
        """For each column of each block, its code in every combination of the block's cells."""
        made = []
        for block in self._blocks:
            shape = [self.sizes[column] for column in block]
            made.append([each.ravel().astype(np.int32) for each in np.indices(shape)])
        return made

    def packed(self, codes: list[Integers]) -> Features:
        """x, packed from one code per column; codes out of range are clipped."""
        lines = []
        for block in self._blocks:
            joint = np.zeros(len(codes[block[0]]), dtype=np.int64)
            for column in block:
                joint *= self.sizes[column]
                joint += np.clip(codes[column], 0, self.sizes[column] - 1)
            lines.append(joint)
        small = max(len(digits[0]) for digits in self._digits) <= 1 << 16
        return np.array(lines, dtype=np.uint16 if small else np.int32)

    def codes(self, x: Features) -> list[NDArray[np.int32]]:
        """The code of each column again."""
        return [
            digit.take(line)
            for line, digits in zip(x, self._digits, strict=True)
            for digit in digits
        ]

    # ---- sums

    def linear(self, theta: NDArray[Number]) -> Callable[[Features], NDArray[Number]]:
        """The sum of the parameters of the cells that are on."""
        starts = iter(self.starts)
        tables = [
            reduce(operator.add, (theta[next(starts) + digit] for digit in digits))
            for digits in self._digits
        ]

        def found(x: Features) -> Any:
            total = np.zeros((x.shape[1], *theta.shape[1:]), dtype=theta.dtype)
            for line, table in zip(x, tables, strict=True):
                total += table.take(line, axis=0, mode="clip")
            return total

        return found

    def total(
        self, parts: Iterable[tuple[Features, Floats]], columns: tuple[int, ...] = ()
    ) -> Integers:
        """Residuals added up by combination of cells, then by cell."""
        counts = [len(digits[0]) for digits in self._digits]
        found = [np.zeros((*columns, count)) for count in counts]
        for x, residuals in parts:
            lines = np.ascontiguousarray(residuals.T)
            for line, sums, count in zip(x, found, counts, strict=True):
                for place in np.ndindex(columns):
                    sums[place] += np.bincount(line, lines[place], count)
        made = [
            [np.bincount(digit, sums[place]) for place in np.ndindex(columns)]
            for digits, sums in zip(self._digits, found, strict=True)
            for digit in digits
        ]
        joined = np.concatenate([np.array(each).T for each in made])
        return joined.reshape(self.dimension, *columns).astype(np.int64)

    def moments(self, x: Features, weights: Integers | None) -> Integers:
        """How often each cell is on, and each pair of cells of two columns."""
        singles = [np.zeros(size) for size in self.sizes]
        joint = [np.zeros(self.sizes[a] * self.sizes[b]) for a, b in self._pairs]
        for part in chunks(x.shape[1]):
            codes = self.codes(x[:, part])
            some = None if weights is None else weights[part]
            for place, code in enumerate(codes):
                singles[place] += np.bincount(code, some, self.sizes[place])
            for place, (a, b) in enumerate(self._pairs):
                both = codes[a] * self.sizes[b] + codes[b]
                joint[place] += np.bincount(both, some, len(joint[place]))
        return np.concatenate([*singles, *joint]).astype(np.int64)

    def matrix(self, moments: Floats) -> Floats:
        """The tables of pairs around the diagonal of counts."""
        made = np.diag(moments[: self.dimension].astype(np.float64))
        place = self.dimension
        for a, b in self._pairs:
            shape = (self.sizes[a], self.sizes[b])
            table = moments[place : place + shape[0] * shape[1]].reshape(shape)
            rows = slice(self.starts[a], self.starts[a] + shape[0])
            columns = slice(self.starts[b], self.starts[b] + shape[1])
            made[rows, columns], made[columns, rows] = table, table.T
            place += shape[0] * shape[1]
        return made

    def lengths(self, x: Features) -> Floats | float:
        """All rows are alike."""
        del x
        return self.norm


@dataclass(frozen=True, kw_only=True, eq=False)
class EqualCells:
    """Real features in cells of equal width between public bounds.

    `bins` cells per feature, and one for NaN; values outside are in the outermost cells.
    """

    low: Floats
    high: Floats
    bins: int

    @cached_property
    def space(self) -> Cells:
        """A feature per cell."""
        return Cells(sizes=(self.bins + 1,) * len(self.low))

    def coded(self, X: Any) -> Features:
        """The cells of each row, as `Cells` packs them; each value by itself."""
        codes = []
        for column, low, high in zip(np.asarray(X).T, self.low, self.high, strict=True):
            kept = np.clip(column.astype(np.float64), low, high)
            width = (high - low) or 1.0
            places = np.floor((np.where(np.isnan(kept), low, kept) - low) / width * self.bins)
            inside = np.minimum(places, self.bins - 1).astype(np.int64)
            codes.append(np.where(np.isnan(kept), self.bins, inside))
        return self.space.packed(codes)
