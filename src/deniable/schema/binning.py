"""One column divided into numbered cells: from values to cells and back.

A histogram, a quantile, a marginal, a synthetic row and a learner's features all speak of cells of
the same column. They agree because each takes them from one `Binning`:

    Listed       one cell per value of a public list
    Intervals    numbers, dates or timestamps between public edges, told apart by comparison
    Grid         so many cells of equal width that no engine could compare with each edge: told
                 apart by arithmetic, the same in NumPy and in every engine

All are made from public facts. `encode` is total: a value outside the bounds is in the outermost
cell, and whatever is missing or of another type has the code `missing`: −1 (the row is dropped),
the cell of the value that stands in for it, or a cell of its own, which is then the last.
"""

from __future__ import annotations

import datetime as dt
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import BadParameter

from . import arrays
from .arrays import MOMENTS, Floats, Integers, Values
from .columns import Scalar

DROPPED = -1


@dataclass(frozen=True, kw_only=True)
class Binning(ABC):
    """The cells of one column of a given schema type."""

    type: str
    missing: int = DROPPED

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of cells that hold values: all except one for what is missing."""

    @property
    @abstractmethod
    def ordered(self) -> bool:
        """Whether later cells hold larger values; otherwise their order means nothing."""

    @abstractmethod
    def _places(self, column: Values) -> Integers:
        """The cell of each value; −1 where there is none."""

    @abstractmethod
    def _drawn(self, codes: Integers, draws: Floats) -> NDArray[Any]:
        """A value from each cell."""

    @abstractmethod
    def _names(self) -> list[str]:
        """The labels of the cells that hold values."""

    @property
    def count(self) -> int:
        """The number of cells."""
        return self.size + (self.missing == self.size)

    @property
    def labels(self) -> list[str]:
        """What each cell holds, in words; no two are alike."""
        names = self._names()
        label = "missing"
        while label in names:
            label = f"({label})"
        return names + [label] * (self.count - self.size)

    def encode(self, column: Values) -> Integers:
        """The cell of each value of a column, from 0 to `count` − 1; −1 for a dropped row."""
        places = self._places(column)
        return np.where(places < 0, np.int64(self.missing), places)

    def decode(self, codes: ArrayLike, draws: ArrayLike) -> NDArray[Any]:
        """A value from each cell, in the column's type: `encode` gives the codes back.

        `draws` are uniform numbers in [0, 1), one per code, that choose where in its cell a value
        lies. The cell of what is missing becomes NaN, NaT or None.
        """
        places = self._checked(codes, least=0)
        uniform = np.asarray(draws, dtype=np.float64)
        if uniform.shape != places.shape or not ((uniform >= 0) & (uniform < 1)).all():
            raise BadParameter("draws must be numbers from 0 to below 1, one per code")
        gone = places == self.size
        found = self._drawn(np.where(gone, 0, places), uniform)
        if self.count == self.size:
            return found
        if found.dtype.kind not in "fM":
            found = found.astype(object)
            found[gone] = None
        else:
            found[gone] = np.array("NaT", found.dtype) if found.dtype.kind == "M" else math.nan
        return found

    def one_hot(self, codes: ArrayLike) -> Floats:
        """A column of zeros and ones per cell, a row per code; a dropped row is all zeros."""
        places = self._checked(codes, least=DROPPED)
        hot: Floats = (places[:, None] == np.arange(self.count)).astype(np.float64)
        return hot

    def _checked(self, codes: ArrayLike, *, least: int) -> Integers:
        places = np.asarray(codes)
        fits = places.ndim == 1 and (places.dtype.kind in "iu" or places.size == 0)
        if not fits or ((places < least) | (places >= self.count)).any():
            raise BadParameter(f"codes must be whole numbers from {least} to {self.count - 1}")
        return places.astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class Listed(Binning):
    """One cell per value of a public list, in its order.

    >>> Listed(type="text", keys=("HS-grad", "Masters")).encode(["Masters", "Doctorate"]).tolist()
    [1, -1]
    """

    keys: tuple[Scalar, ...]

    @property
    def size(self) -> int:
        """The number of listed values."""
        return len(self.keys)

    @property
    def ordered(self) -> bool:
        """Numbers and dates that are listed in increasing order are ordered; text is not."""
        return self.type in ("int", *MOMENTS) and list(self.keys) == sorted(self.keys)

    def _places(self, column: Values) -> Integers:
        if self.type == "text":
            place = {key: i for i, key in enumerate(self.keys)}
            found = [place.get(v, -1) if isinstance(v, str) else -1 for v in arrays.texts(column)]
            return np.array(found, dtype=np.int64)
        numbers, known = arrays.integers(column, self.type)
        steps = np.array([arrays.step_of(key, self.type) for key in self.keys], dtype=np.int64)
        order = np.argsort(steps)
        near = order[np.searchsorted(steps[order], numbers).clip(max=len(order) - 1)]
        return np.where(known & (steps[near] == numbers), near, -1)

    def _drawn(self, codes: Integers, draws: Floats) -> NDArray[Any]:
        del draws
        kinds = {"int": "int64", "bool": "bool", "text": "object", **MOMENTS}
        return np.array(self.keys, dtype=kinds[self.type])[codes]

    def _names(self) -> list[str]:
        return [str(key) for key in self.keys]


@dataclass(frozen=True, kw_only=True)
class Ranged(Binning):
    """Values from `low` to `high` in increasing cells; dates and timestamps as numbers.

    What cells hold is read off `_cell` itself, by bisection, so `decode` agrees with `encode`
    whatever rounding there is in it.
    """

    low: int | float
    high: int | float

    @property
    def ordered(self) -> bool:
        """Numbers and dates always are."""
        return True

    @abstractmethod
    def _cell(self, numbers: Floats | Integers) -> Integers:
        """The cell of each number; increasing."""

    @abstractmethod
    def _ends(self) -> Sequence[float]:
        """The edges, one more than there are cells."""

    @cached_property
    def spans(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The least and the largest value of each cell; of an empty cell, a value next to it."""
        cells = np.arange(self.size)
        first, last = (_rank(np.array([end], self._kind)) for end in (self.low, self.high))
        low, high = first.repeat(self.size), last.repeat(self.size)
        for _ in range(64):  # halvings, to the least value that is in no earlier cell
            middle = (low & high) + ((low ^ high) >> 1)
            later = self._cell(_ranked(middle, self._kind)) >= cells
            low = np.where(later | (low == high), low, middle + 1)
            high = np.where(later, middle, high)
        least, reached = _ranked(low, self._kind), self._cell(_ranked(high, self._kind)) >= cells
        before_next = np.append(np.where(reached, low - 1, last)[1:], last)
        most = _ranked(before_next, self._kind)
        return least, np.where(self._cell(least) == cells, most, least)

    @property
    def filled(self) -> bool:
        """Whether there is a value in every cell."""
        return bool((self._cell(self.spans[0]) == np.arange(self.size)).all())

    @property
    def _kind(self) -> str:
        return "float64" if self.type == "float" else "int64"

    def _places(self, column: Values) -> Integers:
        if self.type == "float":
            numbers: Floats | Integers = arrays.floats(column)
            known = ~np.isnan(numbers)
        else:
            numbers, known = arrays.integers(column, self.type)
        least, most = (np.array(end, self._kind) for end in (self.low, self.high))
        kept = np.where(known, np.clip(numbers, least, most), least)
        return np.where(known, self._cell(kept), -1)

    def _drawn(self, codes: Integers, draws: Floats) -> NDArray[Any]:
        first, last = (ends[codes] for ends in self.spans)
        if self.type == "float":
            real: Floats = first * (1 - draws) + last * draws  # the width may be beyond the floats
            held: Floats = np.clip(real, first, last)
            return held
        # In uint64, where the distance of any two whole numbers of 64 bits fits.
        wide = last.view(np.uint64) - first.view(np.uint64)
        steps = np.minimum(np.floor(draws * (wide.astype(np.float64) + 1)).astype(np.uint64), wide)
        whole: NDArray[Any] = (first.view(np.uint64) + steps).view(np.int64)
        return whole.astype(MOMENTS.get(self.type, "int64"))

    def _names(self) -> list[str]:
        if self.type != "float" and self.filled:
            first, last = self.spans
            return [self._name(a, b) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
        shown = _shown(self._ends())
        closing = [")"] * (self.size - 1) + ["]"]
        return [f"[{a}, {b}{c}" for a, b, c in zip(shown, shown[1:], closing, strict=False)]

    def _name(self, first: int, last: int) -> str:
        low, high = (cast("object", arrays.value_of(end, self.type)) for end in (first, last))
        if isinstance(low, dt.datetime) and isinstance(high, dt.datetime):
            low, high = _calendar(low, high)
        return str(low) if low == high else f"{low} to {high}"


@dataclass(frozen=True, kw_only=True)
class Intervals(Ranged):
    """Cell i is [edges[i], edges[i+1]), the last one with its end.

    Whole edges are compared with whole numbers exactly, others as float64, as engines do. `zero`:
    the cell around 0 is for what counts as 0, and decodes to it.

    >>> ages = Intervals(type="int", edges=(0, 18, 65, 126), low=0, high=125)
    >>> ages.labels, ages.encode([17, 18, 125, 999, None]).tolist()
    (['0 to 17', '18 to 64', '65 to 125'], [0, 1, 2, 2, -1])
    >>> ages.decode([0, 2], draws=[0.5, 0.999]).tolist()
    [9, 125]
    """

    edges: tuple[float, ...]
    zero: bool = False

    @property
    def size(self) -> int:
        """One less than there are edges."""
        return len(self.edges) - 1

    def _ends(self) -> Sequence[float]:
        return self.edges

    @property
    def cuts(self) -> tuple[Scalar, ...]:
        """The edges in the column's type: dates and timestamps are not numbers there."""
        if self.type not in MOMENTS:
            return self.edges
        inner = (arrays.value_of(edge, self.type) for edge in self.edges[1:-1])
        low, high = (arrays.value_of(end, self.type) for end in (self.low, self.high))
        return (low, *inner, high)

    def _cell(self, numbers: Floats | Integers) -> Integers:
        return np.searchsorted(self._inner, numbers.astype(self._inner.dtype), side="right")

    @cached_property
    def _inner(self) -> Floats | Integers:
        whole = self.type != "float" and all(isinstance(edge, int) for edge in self.edges)
        return np.array(self.edges[1:-1], dtype="int64" if whole else "float64")

    @cached_property
    def spans(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The ends of each cell; of the one around 0, if it is for what counts as 0, that alone."""
        first, last = super().spans
        if self.zero:
            (place,) = self._cell(np.zeros(1, self._kind))
            first[place] = last[place] = 0
        return first, last


@dataclass(frozen=True, kw_only=True)
class Grid(Ranged):
    """Cell ⌊(x − low)·factor⌋ of `cells` between low and high, computed in float64.

    `whole`: cell i holds the whole number low + i alone. A number next to an edge may be in either
    of its neighbours; which one is the same everywhere.

    >>> Grid(type="float", low=0.0, high=8.0, cells=4).edges.tolist()
    [0.0, 2.0, 4.0, 6.0, 8.0]
    """

    cells: int
    whole: bool = False

    @property
    def size(self) -> int:
        """The number of cells of equal width."""
        return self.cells

    @property
    def edges(self) -> Floats:
        """The ends of cells, one more than there are cells."""
        low, high = float(self.low), float(self.high)
        if self.whole:
            return low + np.arange(self.cells + 1, dtype=np.float64)
        steps = np.arange(self.cells + 1) / self.cells
        return np.clip(low + steps * (high - low), low, high)

    def _ends(self) -> Sequence[float]:
        ends: list[float] = self.edges.tolist()
        return ends

    @property
    def factor(self) -> float:
        """Cells per unit of the value."""
        width = float(self.high) - float(self.low)
        return 1.0 if self.whole or width == 0 else self.cells / width

    def _cell(self, numbers: Floats | Integers) -> Integers:
        scaled = (numbers.astype(np.float64) - float(self.low)) * self.factor
        return np.clip(np.floor(scaled), 0, self.cells - 1).astype(np.int64)


def _calendar(low: dt.datetime, high: dt.datetime) -> tuple[object, object]:
    """Whole days by their dates; whole minutes without seconds; other times as they are.

    >>> from datetime import datetime
    >>> _calendar(datetime(2025, 1, 1), datetime(2025, 1, 1, 23, 59, 59, 999_999))
    (datetime.date(2025, 1, 1), datetime.date(2025, 1, 1))
    >>> _calendar(datetime(2025, 1, 1, 7), datetime(2025, 1, 1, 7, 59, 59, 999_999))
    ('2025-01-01 07:00', '2025-01-01 07:59')
    """
    if low.time() == dt.time.min and high.time() == dt.time.max:
        return low.date(), high.date()
    ends = low.time().replace(hour=0, minute=0), high.time().replace(hour=23, minute=59)
    if ends == (dt.time.min, dt.time.max):
        return f"{low:%Y-%m-%d %H:%M}", f"{high:%Y-%m-%d %H:%M}"
    return low, high


# ---- numbers in their order, one rank after the other


def _rank(numbers: Floats | Integers) -> Integers:
    """Whole numbers as they are; of floats, the place in the order of all floats (0 is at 0)."""
    if numbers.dtype.kind == "i":
        return numbers.astype(np.int64)
    bits = numbers.view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def _ranked(ranks: Integers, kind: str) -> Floats | Integers:
    """The numbers with these ranks."""
    if kind == "int64":
        return ranks
    return np.where(ranks < 0, np.int64(-(2**63)) - ranks, ranks).view(np.float64)


def _shown(ends: Sequence[float]) -> list[str]:
    """Edges in six digits; in all of theirs where that would make two alike, or need an exponent.

    >>> _shown([0.0, 2**0.5, 0.1 + 0.2 + 2]), _shown([1.0, 1.0000001])
    (['0', '1.41421', '2.3'], ['1', '1.0000001'])
    """
    exact = [repr(float(end)).removesuffix(".0") for end in ends]
    short = [f"{end:.6g}" for end in ends]
    shown = [
        a if float(end).is_integer() or "e" in a + b else b
        for a, b, end in zip(exact, short, ends, strict=True)
    ]
    return shown if len(set(shown)) == len(shown) else exact
