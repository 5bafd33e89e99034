"""What a schema still lacks, and what in it is dangerous to publish, each with a proposed fix.

Everything in a schema is published as it stands, and noise is sized by it. A finding is therefore a
question that would be refused, noise that would drown every answer, or a fact that looks as if it
had been read from the rows. Only the schema is looked at, never the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from deniable.errors import BadParameter, MissingBounds, UnknownKeys
from deniable.fixes import Fix
from deniable.units import Unit

from .columns import Column
from .tables import Schema

_DIGITS: Final = 3
"""Bounds and sizes with more significant digits than these are rarely anyone's guess."""
_WIDE: Final = 1e9
_ROWS: Final = 1000
_PLAUSIBLE: Final = {
    "int": ("0", "100"),
    "float": ("0", "100"),
    "date": ("2000-01-01", "2030-01-01"),
    "timestamp": ("2000-01-01", "2030-01-01"),
}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A fact that is missing, or one that is dangerous; `column` is empty if it is the table's."""

    code: str
    column: str
    what: str
    danger: bool = False
    fixes: tuple[Fix, ...] = ()
    """`fields` are those of a form (type, low, high, keys, missing, size), `command` the options
    of `deniable set`."""


def lint(table: Schema, *, unit: Unit | None, typed: bool = True) -> list[Finding]:
    """What to mend in the facts about one table, dangerous facts first.

    `typed` says whether the rows carry types of their own; those of a CSV do not.
    """
    if table.public:
        return []
    found = list(_of_table(table, unit))
    for name, facts in table.columns.items():
        identifies = unit is not None and name == unit.column
        found += _of_person(name, facts) if identifies else _of_column(name, facts, typed=typed)
    return sorted(found, key=lambda each: not each.danger)


def _of_table(table: Schema, unit: Unit | None) -> Iterator[Finding]:
    size = table.size
    if size is not None and unit is not None and unit.sides == 1:  # their number is private
        rounded = _rounded(size)
        if rounded != size:
            yield Finding(
                code=BadParameter.code,
                column="",
                what=f"the size {size:,} is published to its last digit, which shows whether one "
                "person was counted; round it, unless it was public before",
                danger=True,
                fixes=(
                    Fix(f"size={rounded:.0f}", command=f"--size {rounded:.0f}",
                        fields={"size": f"{rounded:.0f}"}),
                ),
            )  # fmt: skip
    if unit is not None and unit.rows > _ROWS:
        yield Finding(
            code=BadParameter.code,
            column="",
            what=f"one person counts for up to {unit.rows:,} rows, so a count has noise of at "
            f"least ± {3 * unit.rows:,} at ε 1",
        )


def _of_person(name: str, column: Column) -> Iterator[Finding]:
    if column.keys is not None:
        yield Finding(
            code=UnknownKeys.code,
            column=name,
            what="this column identifies people, and its list of values publishes who is there",
            danger=True,
            fixes=(Fix(f'dp.column("{column.type}")', fields={"keys": "", "missing": ""}),),
        )


def _of_column(name: str, column: Column, *, typed: bool) -> Iterator[Finding]:
    if column.keys is None and column.low is None:
        if column.type in ("int", "float"):
            yield _no_bounds(name, column.type)
        elif column.type in ("date", "timestamp"):
            yield _no_days(name, column.type)
        elif column.type == "text":
            yield _no_keys(name, typed=typed)
        return
    if column.numeric_bounds is not None:
        yield from _of_bounds(name, *column.numeric_bounds)


def _no_bounds(name: str, type_: str) -> Finding:
    low, high = _PLAUSIBLE[type_]
    return Finding(
        code=MissingBounds.code,
        column=name,
        what=f"no bounds, so it cannot be summed or averaged; replace {low} and {high} by "
        "plausible bounds, without looking at the data",
        fixes=(_bounding(low, high),),
    )


def _no_days(name: str, type_: str) -> Finding:
    first, last = _PLAUSIBLE[type_]
    return Finding(
        code=UnknownKeys.code,
        column=name,
        what="no bounds, so its days, months and years must be selected privately; replace "
        f"{first} and {last} by plausible bounds, without looking at the data",
        fixes=(_bounding(first, last, moment=type_),),
    )


def _no_keys(name: str, *, typed: bool) -> Finding:
    """Text without a list of keys; in a CSV it may be something else."""
    listed = Fix('dp.keys(["A", "B", "C"])', command="--keys A,B,C", fields={"keys": "A\nB\nC"})
    truth = Fix('dp.column("bool")', command="--type bool", fields={"type": "bool", "keys": ""})
    bounds = _bounding(*_PLAUSIBLE["float"], type="float")
    dates = _bounding(*_PLAUSIBLE["date"], moment="date", options="--type date ", type="date")
    return Finding(
        code=UnknownKeys.code,
        column=name,
        what="no public list of values, so its groups must be selected privately"
        + ("" if typed else "; if it is a number or a date, state its bounds; or its type"),
        fixes=(listed,) if typed else (listed, bounds, dates, truth),
    )


def _of_bounds(name: str, low: float, high: float) -> Iterator[Finding]:
    ends = [_rounded(low, math.floor), _rounded(high, math.ceil)]
    if ends != [low, high]:
        shown = (f"{each:.0f}" if each.is_integer() else f"{each:g}" for each in ends)
        yield Finding(
            code=MissingBounds.code,
            column=name,
            what=f"the bounds {low:.17g} and {high:.17g} look like values of people; state round "
            "ones, without looking at the data",
            danger=True,
            fixes=(_bounding(*shown),),
        )
    if max(abs(low), abs(high)) > _WIDE:
        yield Finding(
            code=MissingBounds.code,
            column=name,
            what="the bounds are so wide that noise, which grows with them, may drown every sum; "
            "state narrower ones, and values beyond them are clipped",
        )


def _bounding(low: str, high: str, *, moment: str = "", options: str = "", **fields: str) -> Fix:
    """These bounds as people state them; `moment` is the type if they are dates or timestamps."""
    ends = f'"{low}", "{high}", type="{moment}"' if moment else f"{low}, {high}"
    return Fix(
        f"dp.bounds({ends})",
        command=f"{options}--bounds {low} {high}",
        fields={**fields, "low": low, "high": high},
    )


def _rounded(number: float, to: Callable[[float], float] = round) -> float:
    """The number with three significant digits, away from zero for the ends of bounds.

    >>> _rounded(48842), _rounded(17.25, math.floor), _rounded(125)
    (48800.0, 17.2, 125.0)
    """
    if number == 0:
        return 0.0
    power = math.floor(math.log10(abs(number))) - _DIGITS + 1
    return float(f"{to(float(f'{number / 10.0**power:.9g}'))}e{power}")
