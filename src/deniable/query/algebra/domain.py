"""What a value may be, as far as the public can know: kind, range, list, whether missing.

A Domain is a promise about every row: it follows from the schema and from what operators do, never
from data. It is kept because columns are sanitised when they are read: cast to their kind, NaN made
missing, moved into their bounds, values off their list made missing.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import math
from dataclasses import dataclass
from typing import Any, Final

from deniable.schema import Column as Facts
from deniable.schema.columns import DROP

Scalar = bool | int | float | str | dt.date | dt.datetime
Number = int | float

# Whole numbers up to here are exact in float64 on every engine.
EXACT: Final = 2**53


class Kind(enum.StrEnum):
    """The six kinds of value."""

    INT = "int"
    FLOAT = "float"
    TEXT = "text"
    BOOL = "bool"
    DATE = "date"
    TIMESTAMP = "timestamp"


NUMBERS: Final = frozenset({Kind.INT, Kind.FLOAT})
TIMES: Final = frozenset({Kind.DATE, Kind.TIMESTAMP})


@dataclass(frozen=True, kw_only=True)
class Domain:
    """The public facts about a value.

    `low` and `high` are inclusive; None means that nothing is known on that side (a float may then
    be infinite). `values` lists all that a value which is not missing can be. `nullable`: it may be
    missing. `ruled` is False where missing values come from a column whose schema does not say what
    they count as; else a row without a value does not count.

    >>> Domain(kind=Kind.INT, low=0, high=125, nullable=False)
    int 0..125
    """

    kind: Kind
    low: Scalar | None = None
    high: Scalar | None = None
    values: tuple[Scalar, ...] | None = None
    nullable: bool = True
    ruled: bool = True

    @property
    def bounded(self) -> bool:
        """Both ends are known."""
        return self.low is not None and self.high is not None

    @property
    def bounds(self) -> tuple[Number, Number]:
        """From where to where a number lies; both ends must be known."""
        assert isinstance(self.low, Number)
        assert isinstance(self.high, Number)
        return self.low, self.high

    @property
    def ends(self) -> tuple[Number, Number]:
        """The same, with infinities for what is not known."""
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        assert isinstance(low, Number)
        assert isinstance(high, Number)
        return low, high

    @property
    def moments(self) -> tuple[dt.date | None, dt.date | None]:
        """The first and the last date or timestamp; None for what is not known."""
        assert self.low is None or isinstance(self.low, dt.date)
        assert self.high is None or isinstance(self.high, dt.date)
        return self.low, self.high

    @property
    def numeric(self) -> bool:
        """A whole number or a float."""
        return self.kind in NUMBERS

    def but(self, **changes: Any) -> Domain:
        """The same facts except for some."""
        return dataclasses.replace(self, **changes)

    def __repr__(self) -> str:
        text = self.kind.value
        if self.low is not None or self.high is not None:
            low, high = ("" if end is None else f"{end}" for end in (self.low, self.high))
            text += f" {low}..{high}"
        if self.values is not None:
            text += f" of {len(self.values)} values"
        return text + (" or missing" if self.nullable else "")


def domain_of_column(facts: Facts) -> Domain:
    """What reading a column gives, after its values were made to keep the schema's word."""
    # A list of dates also has a first and a last.
    days = [key for key in facts.keys or () if isinstance(key, dt.date)]
    low, high = facts.bounds or ((min(days), max(days)) if days else (None, None))
    return Domain(
        kind=Kind(facts.type),
        low=low,
        high=high,
        values=facts.keys,
        nullable=facts.missing is None or facts.missing == DROP,
        ruled=facts.missing is not None,
    )


# A truth value is also a whole number, and a timestamp a date: the first that fits.
_KINDS: Final[dict[type, Kind]] = {
    bool: Kind.BOOL,
    int: Kind.INT,
    float: Kind.FLOAT,
    str: Kind.TEXT,
    dt.datetime: Kind.TIMESTAMP,
}


def domain_of_value(value: Scalar) -> Domain:
    """A constant is known entirely.

    >>> domain_of_value(3)
    int 3..3 of 1 values
    """
    kind = next((kind for type_, kind in _KINDS.items() if isinstance(value, type_)), Kind.DATE)
    end = value if kind in NUMBERS | TIMES else None
    return Domain(kind=kind, low=end, high=end, values=(value,), nullable=False)
