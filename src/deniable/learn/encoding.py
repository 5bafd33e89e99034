"""Features from the schema of a table: cells of columns, the same in engine and frame.

Keys are one cell per value; numbers are in the cells that the schema's bounds make (20 of equal
width, or half-octaves where the bounds span several orders of magnitude); what is missing or not
listed has a cell of its own, so no row is lost. Bins let a linear model follow any curve.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeGuard

import numpy as np
from numpy.typing import NDArray

from deniable.errors import MissingBounds
from deniable.query.algebra import Aggregate, Expression, Function, Kind, call, literal
from deniable.query.bind.bins import cell_of
from deniable.query.rows import Matrix, Number, Rows
from deniable.schema import Column
from deniable.schema.arrays import column_of, floats, step_of
from deniable.schema.binning import Intervals, Listed
from deniable.schema.columns import DROP
from deniable.schema.edges import HALF_OCTAVES, binning_of, stating
from deniable.session import Session
from deniable.statistics.building import About, ask

from .engine.cells import Cells
from .engine.spaces import Features, Floats

_MOST: Final = 1_500
_PARTS: Final = 16
_OCTAVES: Final = 20
"""Floats that are 2²⁰ times smaller than the largest count as 0, as in half-octaves."""


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """Columns as cells, in order. Made of public facts alone, and kept with the model."""

    names: tuple[str, ...]
    bins: tuple[Listed | Intervals, ...] = field(repr=False)

    @cached_property
    def space(self) -> Cells:
        """A feature per cell."""
        return Cells(sizes=tuple(each.count for each in self.bins))

    @property
    def labels(self) -> list[str]:
        """What each feature means: column = cell."""
        pairs = zip(self.names, self.bins, strict=True)
        return [f"{name} = {label}" for name, cells in pairs for label in cells.labels]

    def packed(self, frame: Any) -> Features:
        """The cells of a frame's rows: pandas, Polars, Arrow or a dict of columns."""
        codes = [
            cells.encode(column_of(frame, name))
            for name, cells in zip(self.names, self.bins, strict=True)
        ]
        return self.space.packed(codes)

    def margins(self, frame: Any, theta: Floats) -> Floats:
        """The sum of the parameters of each row's cells."""
        return self.space.linear(theta)(self.packed(frame))


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Columns as real numbers, in order."""

    names: tuple[str, ...]

    def matrix(self, frame: Any) -> Floats:
        """The numbers of a frame's rows; NaN where there is none."""
        return np.stack([floats(column_of(frame, name)) for name in self.names], axis=1)


def encoded(about: About, features: Sequence[str]) -> Encoding:
    """The cells of these columns; an error where the schema says too little.

    Columns over several orders of magnitude are there twice: in half-octaves, which hold enough
    rows to be learnt under much noise, and in sixteenths of an octave, which tell nearby amounts
    apart where there are rows enough. Not if that made more features than `_MOST`.
    """
    columns = [(name, about.source.column(name)) for name in features]
    coarse = [(name, cells_of(column, name)) for name, column in columns]
    fine = [(name, found) for name, column in columns for found in finer(column)]
    if sum(cells.count for _, cells in [*coarse, *fine]) > _MOST:
        fine = []
    names, bins = zip(*coarse, *fine, strict=True)
    return Encoding(names=names, bins=bins)


def finer(column: Column) -> list[Intervals]:
    """Sixteenths of an octave, of a column in half-octaves; none of another."""
    if column.low is None or column.high is None or column.type not in ("int", "float"):
        return []
    own = _own(column)
    if binning_of(column, null=own) != binning_of(column, bins=HALF_OCTAVES, null=own):
        return []
    low, high = step_of(column.low, column.type), step_of(column.high, column.type)
    whole = column.type == "int"
    top = math.log2(max(abs(low), abs(high)))
    least = 0.0 if whole else top - _OCTAVES
    powers = [2 ** (least + k / _PARTS) for k in range(math.ceil((top - least) * _PARTS))]
    sides = [(1 - math.ceil(p), math.ceil(p)) if whole else (-p, p) for p in powers]
    inner = sorted({edge for pair in sides for edge in pair if low < edge < high})
    made = binning_of(column, bins=[low, *inner, high], null=own)
    assert isinstance(made, Intervals)
    return [made]


def cells_of(column: Column, name: str, *, role: str = "a feature") -> Listed | Intervals:
    """The cells of a column, with one for what is missing unless a value stands in for it."""
    if column.keys is None and column.low is None and column.type != "bool":
        raise MissingBounds(
            f"`{name}` has neither bounds nor keys, so it cannot be {role}",
            why="cells made from the data would reveal people's values",
            fix=(
                f'schema=dp.Schema(columns={{"{name}": {stating(column.type)}}})',
                *(["features=[...] without it"] if role == "a feature" else []),
            ),
        )
    return binning_of(column, null=_own(column))


def _own(column: Column) -> Literal["own"] | None:
    """A cell for what is missing, unless a value stands in for it."""
    return "own" if column.missing in (None, DROP) else None


def all_features(about: About, target: str | None, session: Session) -> list[str]:
    """Every column with bounds or keys except the target and who a row belongs to."""
    columns = about.source.columns
    out = {target, session.unit.column}
    found = [
        name
        for name, column in columns.items()
        if name not in out and (column.keys is not None or column.low is not None)
    ]
    if not found:
        raise MissingBounds(
            "no column has bounds or keys, so there are no features",
            why="cells made from the data would reveal people's values",
            fix='schema=dp.Schema(columns={"age": dp.bounds(0, 125)})',
        )
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Read:
    """How the whole numbers of bounded rows become cells, or other columns: public facts."""

    numbers: tuple[Number, ...]
    columns: dict[str, tuple[int, ...]]
    """Where each column is: the number of its cell; or its value, and 1 where it is missing."""

    def number(self, matrix: Matrix, place: int) -> Floats:
        """One column of the rows, in its own units."""
        number = self.numbers[place]
        found = matrix.points[:, place].astype(np.float64) * float(number.worth)
        return np.asarray(found + number.centre, dtype=np.float64)

    def whole(self, matrix: Matrix, place: int) -> NDArray[np.int64]:
        """One column of the rows, as whole numbers."""
        return np.rint(self.number(matrix, place)).astype(np.int64)

    def values(self, matrix: Matrix, name: str) -> Floats:
        """A column of numbers; NaN where it is missing."""
        place, *flag = self.columns[name]
        found = self.number(matrix, place)
        return np.where(self.number(matrix, flag[0]) > 0, np.nan, found) if flag else found

    def all_values(self, matrix: Matrix, names: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]:
        """Columns of numbers side by side, and which rows have all of them."""
        found = [self.values(matrix, name) for name in names]
        table = np.stack(found, axis=1) if found else np.zeros((len(matrix.points), 0))
        return table, np.asarray(np.isfinite(table).all(axis=1), dtype=np.bool_)

    def cells(self, matrix: Matrix, encoding: Encoding) -> Features:
        """The cells of each row, as the encoding's space packs them."""
        codes = [
            cells.encode(self.values(matrix, name))
            if by_value(cells)
            else self.whole(matrix, self.columns[name][0])
            for name, cells in zip(encoding.names, encoding.bins, strict=True)
        ]
        return encoding.space.packed(codes)


def by_value(cells: Listed | Intervals) -> TypeGuard[Intervals]:
    """Whether rows bring the value itself, to be put in cells here: quicker than in SQL."""
    return isinstance(cells, Intervals) and cells.type in ("int", "float")


def read_rows(
    about: About,
    columns: Mapping[str, Listed | Intervals],
    more: Sequence[Expression] = (),
    *,
    numbers: Mapping[str, Expression] | None = None,
) -> tuple[Rows, Read]:
    """The bounded rows of a table: these columns, in cells or as numbers, then `more`, in order."""
    wanted: list[Expression] = []
    places: dict[str, tuple[int, ...]] = {}
    for name, cells in columns.items():
        if not by_value(cells):
            places[name] = (len(wanted),)
            wanted.append(cell_of(about.column(name), cells))
            continue
        number = about.number(name, what="learning")
        places[name] = _placed(wanted, number, drops=drops(about, name))
    for name, number in (numbers or {}).items():
        places[name] = _placed(wanted, number, drops=drops(about, name))
    wanted += more
    asked = [
        Aggregate(name=f"v{i}", function=Function.SUM, argument=each)
        for i, each in enumerate(wanted)
    ]
    rows = ask(about, *asked, text="learn").rows()
    assert len(rows.numbers) == len(wanted), "two columns are one"
    return rows, Read(numbers=rows.numbers, columns=places)


def drops(about: About, name: str) -> bool:
    """Whether the schema leaves out rows where this column is missing; else it has a stand-in."""
    return about.source.column(name).missing in (None, DROP)


def _placed(wanted: list[Expression], number: Expression, *, drops: bool) -> tuple[int, ...]:
    """Where a number will be: its value, and where nothing stands in, 1 if it is missing."""
    place = len(wanted)
    wanted += [_filled(number), _missing(number)] if drops else [number]
    return (place, place + 1) if drops else (place,)


def _filled(number: Expression) -> Expression:
    """A number, in the middle of its bounds where it is missing."""
    low, high = bounds_of(number)
    middle = low / 2 + high / 2
    return call("coalesce", number, literal(round(middle) if number.kind is Kind.INT else middle))


def bounds_of(number: Expression) -> tuple[float, float]:
    """The bounds of a number."""
    low, high = number.domain.low, number.domain.high
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    return float(low), float(high)


def _missing(number: Expression) -> Expression:
    return call("case", call("is_null", number), literal(1), literal(0))
