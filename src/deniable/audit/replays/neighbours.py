"""Pairs of neighbouring data sets that hurt: odd values, empty data, people at their limits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from deniable import parameters, units
from deniable.errors import BadParameter, UnknownName
from deniable.units import Unit

from .rows import Row, RowList, rows_of

Where = Literal["anywhere", "end"]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two data sets that differ in what one unit contributed."""

    what: str
    kind: RowList = field(repr=False)
    shared: tuple[Row, ...] = field(repr=False)
    at: int
    """Where among the shared rows the unit's own rows stand."""
    here: tuple[Row, ...] = field(repr=False)
    """The unit's rows in the first data set."""
    there: tuple[Row, ...] = field(repr=False)
    """The unit's rows in the second."""

    @property
    def first(self) -> Any:
        """The first data set of the pair."""
        return self._with(self.here)

    @property
    def second(self) -> Any:
        """The neighbour of the first data set."""
        return self._with(self.there)

    def _with(self, own: tuple[Row, ...]) -> object:
        return self.kind.build([*self.shared[: self.at], *own, *self.shared[self.at :]])

    def __str__(self) -> str:
        shared = ", ".join(map(_short, self.shared[:4])) + (", …" if len(self.shared) > 4 else "")
        own = [", ".join(map(_short, rows)) or "nothing" for rows in (self.here, self.there)]
        return (
            f"{self.what}: {len(self.shared)} shared rows ({shared or 'none'}), "
            f"and at place {self.at} {own[0]} on one side, {own[1]} on the other"
        )


def neighbours(
    data: object, unit: Unit | None = None, *, where: Where = "anywhere"
) -> Iterator[Pair]:
    """Neighbours of `data` and of smaller data sets, with everything that tends to break.

    A unit is added, removed or (if the unit says so) replaced: with values of the data, NaN, ±∞,
    −0.0, the largest and least numbers, text nobody has; at the front, in the middle and at the
    end; next to all rows, to one, to copies of one, to two in turn, to none. A person has one row,
    as many as are allowed, or more. With `where="end"` units come and go at the end only.

    >>> pairs = list(neighbours([1.0, 2.0, 3.0]))
    >>> len(pairs), pairs[0].first, pairs[0].second
    (94, [1.0, 2.0, 3.0], [2.0, 3.0])
    """
    unit = units.rows() if unit is None else unit
    if not isinstance(unit, Unit):
        raise BadParameter.of("unit", unit, must="a unit: dp.rows() or dp.person(...)")
    parameters.one_of("where", where, ("anywhere", "end"))
    kind = rows_of(data)
    if unit.column is not None and unit.column not in kind.kinds:
        raise UnknownName.of("column", unit.column, known=[k for k in kind.kinds if k])
    for name, rows in _grounds(kind.rows):
        for pair in _around(kind, rows, unit, name):
            if where == "anywhere" or pair.at == len(pair.shared):
                yield pair


def _grounds(rows: list[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Data sets to stand on."""
    yield "", rows
    yield " to no rows", []
    if len(rows) > 1:
        yield " to one row", rows[:1]
        yield " to copies of one row", rows[:1] * min(len(rows), 8)
        yield " to two rows in turn", [rows[0], rows[-1]] * 6


def _around(kind: RowList, rows: list[Row], unit: Unit, ground: str) -> Iterator[Pair]:
    """Each way in which one unit can differ on this ground."""
    replaced = unit.sides == 2
    for what, own, rest, at in _present(rows, unit):
        if not replaced:
            yield Pair(what=what, kind=kind, shared=rest, at=at, here=own, there=())
        elif not ground:
            for odd, new in _newcomers(kind, rows, unit):
                named = f"{odd} replaces one"
                yield Pair(what=named, kind=kind, shared=rest, at=at, here=own, there=new)
    if replaced:
        return
    shared = tuple(rows)
    for odd, new in _newcomers(kind, kind.rows, unit):
        named = f"{odd} added{ground}"
        for at in dict.fromkeys((0, len(shared))) if not ground else (len(shared),):
            yield Pair(what=named, kind=kind, shared=shared, at=at, here=(), there=new)


def _present(
    rows: list[Row], unit: Unit
) -> Iterator[tuple[str, tuple[Row, ...], tuple[Row, ...], int]]:
    """Units that are there: what each has, what the others have, and where it stands."""
    if unit.column is None:
        for i in dict.fromkeys((0, len(rows) // 2, len(rows) - 1)) if rows else ():
            yield "a row removed", (rows[i],), tuple(rows[:i] + rows[i + 1 :]), i
        return
    people = list(dict.fromkeys(row[unit.column] for row in rows))
    for who in dict.fromkeys((people[0], people[-1])) if people else ():
        own = tuple(row for row in rows if row[unit.column] == who)
        rest = tuple(row for row in rows if row[unit.column] != who)
        yield from (("a person removed", own, rest, at) for at in dict.fromkeys((0, len(rest))))


def _newcomers(kind: RowList, rows: list[Row], unit: Unit) -> Iterator[tuple[str, tuple[Row, ...]]]:
    """Units that may join, in words and as rows."""
    templates = [rows[0], rows[-1]] if rows else []
    singles = [("a copy", row) for row in templates]
    for column, values in kind.kinds.items():
        if column == unit.column:
            continue
        for value in kind.odd(values):
            if column and not templates:
                continue
            row = kind.with_value(templates[0] if templates else value, column, value)
            singles.append((f"{column or 'a row'} = {value!r}", row))
    if unit.column is None:
        yield from ((name, (row,)) for name, row in singles)
        return
    stranger = _stranger(kind.kinds[unit.column], [row[unit.column] for row in kind.rows])
    owned = [(name, {**row, unit.column: stranger}) for name, row in singles]
    for name, row in owned:
        yield f"a person with {name}", (row,)
    for count in dict.fromkeys((unit.rows, 2 * unit.rows + 1)):
        for name, row in owned[:4]:
            yield f"a person with {count} rows of {name}", (row,) * count
        several = tuple(owned[i % len(owned)][1] for i in range(count))
        yield f"a person with {count} different rows", several


def _stranger(kind: str, known: list[Any]) -> object:
    """An identity that nobody has."""
    if kind in ("int", "float"):
        numbers = [who for who in known if who is not None and math.isfinite(who)]
        return next(n for n in itertools.count(len(numbers)) if n not in numbers)
    if kind != "text":
        raise BadParameter("the column that identifies people must hold text or numbers")
    return "somebody new"


def _short(row: Row) -> str:
    words = repr(row)
    return words if len(words) <= 60 else words[:57] + "…"
