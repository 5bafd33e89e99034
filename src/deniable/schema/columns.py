"""What is known of one column without looking: type, bounds, keys, rule for missing values.

    >>> bounds(0, 125)
    bounds(0.0, 125.0)
    >>> keys(["HS-grad", "Masters"])
    keys(['HS-grad', 'Masters'])
    >>> column("timestamp")
    column('timestamp')

Types are total: a value that is not of the column's type counts as missing, so that no row can make
a question fail.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, Final, TypeGuard, cast

from deniable import parameters
from deniable.errors import BadParameter
from deniable.fixes import Fix

Scalar = bool | int | float | str | dt.date | dt.datetime

DROP: Final = "drop"
TYPES: Final = ("int", "float", "text", "bool", "date", "timestamp")
_ALSO_CALLED: Final = {
    **dict.fromkeys(("str", "string", "object", "varchar", "category"), "text"),
    **dict.fromkeys(("integer", "int64", "int32", "bigint"), "int"),
    **dict.fromkeys(("double", "number", "float64", "float32", "numeric", "real"), "float"),
    **dict.fromkeys(("boolean", "bool_"), "bool"),
    **dict.fromkeys(("datetime", "datetime64"), "timestamp"),
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Column:
    """The public facts of one column.

    `missing` says what a NULL, a NaN or a value of another type counts as: "drop" leaves the row
    out of the answer, a value stands in for it, None means that nobody said. With `keys` it also
    covers values that are not on the list.
    """

    type: str
    low: Scalar | None = None
    high: Scalar | None = None
    keys: tuple[Scalar, ...] | None = None
    missing: Scalar | None = None

    def __post_init__(self) -> None:
        parameters.one_of("type", self.type, TYPES)
        if (self.low is None) != (self.high is None):
            raise BadParameter("a column has both bounds or none", fix="dp.bounds(LOW, HIGH)")
        if self.low is not None:
            _check_bounds(self)
        if self.keys is not None:
            _check_keys(self.keys, self.type)
        if self.missing is None and (self.low is not None or self.keys is not None):
            object.__setattr__(self, "missing", DROP)
        if self.missing is not None and self.missing != DROP:
            _check_missing(self)

    @property
    def bounds(self) -> tuple[Scalar, Scalar] | None:
        """The range values are clipped to; a list of numeric keys is one, too."""
        if self.low is not None and self.high is not None:
            return self.low, self.high
        if self.keys is not None and self.type == "int":
            numbers = [k for k in self.keys if isinstance(k, int)]
            return min(numbers), max(numbers)
        return None

    @property
    def numeric_bounds(self) -> tuple[int | float, int | float] | None:
        """The bounds that were stated, if they are numbers."""
        if isinstance(self.low, int | float) and isinstance(self.high, int | float):
            return self.low, self.high
        return None

    def __repr__(self) -> str:
        return self.shown(most=3)

    def shown(self, *, most: int) -> str:
        """As one would write it, with so many of its keys."""
        if self.keys is not None:
            more = f", … {len(self.keys) - most} more" if len(self.keys) > most else ""
            text = f"keys([{', '.join(map(repr, self.keys[:most]))}{more}]"
        elif self.low is not None:
            kind = "" if self.type == "float" else f", type={self.type!r}"
            text = f"bounds({_end_shown(self.low)}, {_end_shown(self.high)}{kind}"
        else:
            return f"column({self.type!r}{_missing_shown(self, default=None)})"
        return f"{text}{_missing_shown(self, default=DROP)})"


def _end_shown(end: object) -> str:
    """A bound as one would write it: a date as text, midnight as its date."""
    if isinstance(end, dt.datetime) and end.time() == dt.time():
        end = end.date()
    return repr(end.isoformat()) if isinstance(end, dt.date) else repr(end)


@parameters.called('dp.bounds(0, 100) or dp.bounds(0, 100, type="int")')
def bounds(low: object, high: object, *, type: str = "float", missing: object = DROP) -> Column:
    """Values lie in [low, high]; values outside are clipped."""
    _check_type(type, [t for t in TYPES if t not in ("text", "bool")])
    return Column(
        type=type,
        low=_of_type("low", _moment(low, type), type),
        high=_of_type("high", _moment(high, type), type),
        missing=_rule(missing, type),
    )


@parameters.called('dp.keys(["a", "b"])')
def keys(values: Iterable[object], *, missing: object = DROP) -> Column:
    """The values there can be, as a public list; others count as missing."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise BadParameter.of("keys", values, must="a list of values", fix='dp.keys(["a", "b"])')
    if getattr(getattr(values, "dtype", None), "kind", "") in _ARRAYS and hasattr(values, "tolist"):
        values = values.tolist()  # what an array holds, as plain Python values
    listed = tuple(values)
    if not listed:
        raise BadParameter("a list of keys needs at least one value", fix='dp.keys(["a", "b"])')
    kind = _key_type(listed[0])
    if _are(listed, kind):
        checked = listed
    else:
        checked = tuple(_of_type(f"keys[{i}]", k, kind) for i, k in enumerate(listed))
    return Column(type=kind, keys=checked, missing=_rule(missing, kind))


@parameters.called('dp.column("text")')
def column(type: str, *, missing: object = None) -> Column:
    """A column of which only the type is known: enough to filter by, not to sum or group by."""
    _check_type(type, TYPES)
    return Column(type=type, missing=None if missing is None else _rule(missing, type))


# ---- values of a type

_MUST: Final = {
    "int": "a whole number of 64 bits",
    "float": "a finite number",
    "text": "text",
    "bool": "True or False",
    "date": 'a date such as "2024-12-31"',
    "timestamp": 'a time without time zone such as "2024-12-31T23:59"',
}


def _check_type(given: object, choices: Sequence[str]) -> None:
    known = plain_type(given.__name__ if isinstance(given, type) else str(given))
    if given not in choices and known in choices:
        must = "one of " + ", ".join(map(repr, choices))
        raise BadParameter.of("type", given, must=must, fix=f'"{known}"')
    parameters.one_of("type", given, choices)


def plain_type(word: str) -> str:
    """The type that a word from elsewhere means; an unknown word as it is.

    >>> plain_type("datetime64"), plain_type("VARCHAR"), plain_type("colour")
    ('timestamp', 'text', 'colour')
    """
    lowered = word.lower()
    found = _ALSO_CALLED.get(lowered, lowered)
    return found if found in TYPES else word


def _moment(value: object, kind: str) -> object:
    """A date or time that was written as text, as ISO 8601 has it; anything else as it is."""
    reader = {"date": dt.date, "timestamp": dt.datetime}.get(kind)
    if reader is None or not isinstance(value, str):
        return value
    with suppress(ValueError):
        return reader.fromisoformat(value)
    return value


def _of_type(name: str, value: object, kind: str) -> Scalar:
    """The value in the Python type that stands for this column type."""
    match kind:
        case "float" if isinstance(value, Real):
            # Adding 0.0 turns -0.0 into 0.0: two zeros would be two spellings of one bound.
            return parameters.real(name, value) + 0.0
        case "int" if isinstance(value, Integral | float) and not isinstance(value, bool):
            whole = isinstance(value, Integral) or value.is_integer()
            if whole and -(2**63) <= int(value) < 2**63:
                return int(value)
        case "text" if isinstance(value, str):
            if not _storable(value):
                raise BadParameter(f"{name} is text that cannot be written as UTF-8")
            return str(value)
        case "bool" if _is_truth(value):
            return bool(value)
        case "date" if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
            return value
        case "timestamp" if isinstance(value, dt.datetime) and value.tzinfo is None:
            return dt.datetime.combine(value.date(), value.time().replace(fold=0))
    raise BadParameter.of(name, value, must=_MUST[kind])


_ARRAYS: Final = ("i", "u", "b", "U")


def _are(values: tuple[object, ...], kind: str) -> TypeGuard[tuple[Scalar, ...]]:
    """Whether all values are of a type as they stand: what `_of_type` would return one by one."""
    if set(map(type, values)) != {_PYTHON.get(kind)}:
        return False
    if kind == "int":
        whole = cast("tuple[int, ...]", values)
        return min(whole) >= -(2**63) and max(whole) < 2**63
    return kind != "text" or _storable("".join(cast("tuple[str, ...]", values)))


_PYTHON: Final = {"int": int, "text": str, "bool": bool, "date": dt.date}


def _is_truth(value: object) -> bool:
    """Python's and NumPy's truth values, without loading NumPy."""
    return type(value).__name__ in ("bool", "bool_")


def _storable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return "\0" not in text


def _key_type(value: object) -> str:
    if _is_truth(value):
        return "bool"
    if isinstance(value, Integral):
        return "int"
    if isinstance(value, str):
        return "text"
    if isinstance(value, dt.datetime):
        return "timestamp"
    if isinstance(value, dt.date):
        return "date"
    raise BadParameter.of(
        "keys[0]",
        value,
        must="text, a whole number, a truth value or a date",
        why="decimals that look equal can differ, so a column of them takes bounds, not keys"
        if isinstance(value, Real)
        else "",
    )


def _rule(missing: object, kind: str) -> Scalar:
    if isinstance(missing, str) and missing == DROP:
        return DROP
    try:
        return _of_type("missing", missing, kind)
    except BadParameter:
        raise BadParameter.of("missing", missing, must=f'"{DROP}" or {_MUST[kind]}') from None


# ---- consistency


def _check_bounds(column: Column) -> None:
    low, high = column.low, column.high
    if column.type in ("text", "bool"):
        raise BadParameter(f"a column of type {column.type} has no bounds", fix="dp.keys([...])")
    if column.keys is not None:
        raise BadParameter("a column has bounds or keys, not both")
    low, high = _of_type("low", low, column.type), _of_type("high", high, column.type)
    if low == high:
        raise BadParameter(f"low must be below high; you gave {low} and {high}")
    if not _increasing(low, high):
        ends = [each.isoformat() if isinstance(each, dt.date) else each for each in (high, low)]
        kind = "" if column.type == "float" else f', type="{column.type}"'
        raise BadParameter(
            f"low must be below high; you gave {low} and {high}",
            why="they look swapped",
            fix=Fix(
                f"dp.bounds({_end_shown(high)}, {_end_shown(low)}{kind})",
                command="--bounds " + " ".join(map(str, ends)),
            ),
        )
    if isinstance(low, float) and isinstance(high, float) and math.isinf(high - low):
        raise BadParameter("bounds lie too far apart: their distance is not a finite number")


def _check_keys(listed: tuple[Scalar, ...], kind: str) -> None:
    if not listed:
        raise BadParameter("a list of keys needs at least one value", fix='dp.keys(["a", "b"])')
    if not _are(listed, kind):
        for key in listed:
            _of_type("keys", key, kind)
    if len(set(listed)) < len(listed):
        twice = next(key for key, times in Counter(listed).items() if times > 1)
        raise BadParameter(f"the key {twice!r} is listed twice")


def _check_missing(column: Column) -> None:
    missing = _of_type("missing", column.missing, column.type)
    if column.keys is not None and missing not in column.keys:
        raise BadParameter(
            f"missing={missing!r} is not among the keys",
            why="rows without a listed value would form a group that is not on the list",
            fix=f"dp.keys([..., {missing!r}], missing={missing!r})",
        )
    if column.low is not None and not _increasing(column.low, missing, column.high):
        raise BadParameter(
            f"missing={missing!r} lies outside the bounds {column.low} to {column.high}",
            why="the replacement for a missing value is clipped like any other value",
        )


def _increasing(*values: Any) -> bool:
    """Whether no value is above the next; all are of one type."""
    return all(low <= high for low, high in pairwise(values))


def _missing_shown(column: Column, *, default: str | None) -> str:
    return "" if column.missing == default else f", missing={column.missing!r}"
