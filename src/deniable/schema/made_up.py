"""Rows of the same shape as a table that belong to nobody: from its schema and a public seed."""

from __future__ import annotations

import csv
import datetime as dt
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.sampling.public import PublicRandom
from deniable.units import Unit

from .columns import Column
from .tables import Schema

_MISSING = 0.02
_WORDS = ("alpha", "beta", "gamma", "delta", "epsilon")
_DAY = dt.datetime.fromisoformat("2020-01-01")  # columns have no time zone
_SPAN = dt.timedelta(days=5 * 365)


def write(
    facts: Schema, names: Sequence[str], *, folder: Path, rows: int, seed: int
) -> dict[str, Path]:
    """One CSV a table, read back by the same schema."""
    rows = parameters.whole("rows", rows)
    public = PublicRandom(seed)
    made = {}
    for name in names:
        columns = facts.table(name).columns
        filled = [_cells(n, c, facts.unit, rows, public) for n, c in columns.items()]
        made[name] = folder / f"{name}.csv"
        with made[name].open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*filled, strict=True))
    return made


def _cells(
    name: str, column: Column, unit: Unit | None, rows: int, public: PublicRandom
) -> Sequence[object]:
    draw = public.generator
    if unit is not None and name == unit.column:
        people = max(1, rows // unit.rows)
        return [_person(int(i), column.type) for i in draw.integers(people, size=rows)]
    spread = draw.random(rows)
    cells = [_text(value) for value in _values(column, spread)]
    gone = draw.random(rows) < _MISSING
    return ["" if empty else cell for cell, empty in zip(cells, gone, strict=True)]


def _person(number: int, type_: str) -> object:
    return f"person {number}" if type_ == "text" else number


def _values(column: Column, spread: NDArray[np.float64]) -> list[object]:
    """Values that the column may hold: the first keys are commoner, numbers fill their bounds."""
    if column.keys is not None:
        places = (spread**1.5 * len(column.keys)).astype(np.int64)
        return [column.keys[place] for place in places]
    low, high = column.bounds or (None, None)
    match column.type:
        case "int" | "float":
            start, end = column.numeric_bounds or (0.0, 100.0)
            numbers = start * (1 - spread) + end * spread
            return [int(x) for x in np.rint(numbers)] if column.type == "int" else list(numbers)
        case "bool":
            return [bool(x < 0.5) for x in spread]
        case "date" | "timestamp":
            start_, end_ = (_DAY, _DAY + _SPAN) if low is None else (_moment(low), _moment(high))
            moments = [start_ + (end_ - start_) * float(x) for x in spread]
            return [m.date() for m in moments] if column.type == "date" else list(moments)
    return [_WORDS[int(x * len(_WORDS))] for x in spread]


def _moment(value: object) -> dt.datetime:
    if isinstance(value, dt.datetime):
        return value
    assert isinstance(value, dt.date)
    return dt.datetime.combine(value, dt.time())


_SPELL: dict[type, Callable[[object], str]] = {bool: lambda v: str(v).lower()}


def _text(value: object) -> str:
    return _SPELL.get(type(value), str)(value)
