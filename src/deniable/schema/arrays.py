"""A column of values as one array of numbers, read so that no row can stop the others.

Each function looks at one row at a time: whatever a row holds, it becomes one number or is missing,
and the other rows are read as if it were not there. Dates are days and timestamps are microseconds
since 1970.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import BadParameter, UnknownName
from deniable.forms import attempted

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Values = ArrayLike | Sequence[object]

NUMBERS: Final = "biuf"  # kinds of NumPy that hold numbers
OBJECTS: Final = "OUST"  # kinds whose entries are looked at one by one
MOMENTS: Final = {"date": "datetime64[D]", "timestamp": "datetime64[us]"}
_LISTED: Final = frozenset(
    ("object", "string", "str", "String", "category", "Categorical", "boolean", "Int64")
)
"""Types of pandas and Polars whose entries are looked at one by one."""
_EPOCH: Final = dt.datetime.fromisoformat("1970-01-01")  # columns have no time zone
_FIRST_DAY, _LAST_DAY = (np.datetime64(day, "D") for day in ("0001-01-01", "9999-12-31"))


def dimensions(values: Any) -> int:
    """How many there are: of an array or a frame as it says, of a list one."""
    if hasattr(values, "ndim"):
        return int(values.ndim)
    if hasattr(values, "shape"):
        return len(values.shape)
    listed = isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray)
    return int(listed or hasattr(values, "__array__"))


def column_of(frame: Any, name: str) -> Any:
    """One column of a frame, as NumPy or a list; an error with its fix if it is not there."""
    try:
        column = frame[name]
    except (KeyError, IndexError, TypeError, ValueError):
        raise UnknownName.of("column", name, known=_names(frame)) from None
    except Exception as error:  # Polars has errors of its own
        if type(error).__name__ != "ColumnNotFoundError":
            raise
        raise UnknownName.of("column", name, known=_names(frame)) from None
    if dimensions(column) != 1:
        raise BadParameter(
            f"`{name}` must be a column of values", fix=f'{{"{name}": [3, 5]}}    for example'
        )
    if hasattr(column, "to_pylist"):  # Arrow
        whole = str(column.type).startswith(("int", "uint", "float", "double"))
        plain = whole and not column.null_count
        return column.to_numpy() if plain else column.to_pylist()
    if hasattr(column, "to_list"):  # pandas and Polars: missing values stay what they are
        return column.to_list() if str(getattr(column, "dtype", "")) in _LISTED else column
    return column


def _names(frame: Any) -> list[str]:
    columns = getattr(frame, "column_names", getattr(frame, "columns", None))  # Arrow, or others
    found = frame if isinstance(frame, Mapping) else columns
    if not isinstance(found, Iterable):
        raise BadParameter(
            f"a {type(frame).__name__} has no columns with names",
            fix="a pandas, Polars or Arrow frame, or a dict of columns",
        )
    return [str(each) for each in found]


def floats(values: Values) -> Floats:
    """A column as float64: what is not a number is NaN, and one beyond float64 is infinite."""
    array = _column(values)
    if array.dtype.kind in NUMBERS:
        with np.errstate(over="ignore"):  # a warning would tell that a row is large
            return array.astype(np.float64)
    if array.dtype.kind in OBJECTS:
        return np.fromiter(map(_float, array.tolist()), np.float64, count=array.size)
    return np.full(array.shape, math.nan)


def integers(values: Values, kind: str) -> tuple[Integers, NDArray[np.bool_]]:
    """Whole numbers, truth values, dates or timestamps as int64, and which rows have one.

    >>> numbers, known = integers([1, 2.0, 2.5, None, "7", 10**30], "int")
    >>> numbers[known].tolist(), known.tolist()
    ([1, 2, 7], [True, True, False, False, True, False])
    """
    array = _column(values, exact=True)
    if array.dtype.kind in NUMBERS and kind not in MOMENTS:
        return _whole(array)
    if array.dtype.kind == "M" and kind in MOMENTS:
        return _moments(array, kind)
    if array.dtype.kind not in OBJECTS:
        return np.zeros(array.shape, np.int64), np.zeros(array.shape, np.bool_)
    found = list(map(_total(_READ[kind]), array.tolist()))
    known = np.array([each is not None for each in found], dtype=np.bool_)
    return np.array([each or 0 for each in found], dtype=np.int64), known


def texts(values: Values) -> list[object]:
    """A column of text, value by value, as it stands."""
    listed: list[object] = _column(values, exact=True).tolist()
    return listed


def step_of(value: object, kind: str) -> int | float:
    """The number that stands for a value of the schema."""
    if kind == "float":
        assert isinstance(value, SupportsFloat | str)
        return float(value)
    found = _READ[kind](value)
    assert found is not None
    return found


def value_of(number: float, kind: str) -> int | float | dt.date | dt.datetime:
    """The value that a number stands for."""
    match kind:
        case "date":
            return (_EPOCH + dt.timedelta(days=int(number))).date()
        case "timestamp":
            return _EPOCH + dt.timedelta(microseconds=int(number))
        case "int":
            return int(number)
    return float(number)


def _column(values: Any, *, exact: bool = False) -> NDArray[Any]:
    """One column as an array; empty if it is not one."""
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist()  # None where masked
    if dimensions(values) != 1:
        return np.empty(0)
    array = np.asarray(values) if hasattr(values, "__array__") else _objects(values, exact=exact)
    return array if array.ndim == 1 else np.full(array.shape[:1] or 0, None)


def _objects(values: Any, *, exact: bool) -> NDArray[Any]:
    """A list as it is: NumPy would make a table of it where each row is a list."""
    listed = list(values)
    if not exact and set(map(type, listed)) <= {int, float, bool}:
        with contextlib.suppress(OverflowError):
            return np.array(listed, dtype=np.float64)
    return np.fromiter(listed, dtype=object, count=len(listed))


def _whole(array: NDArray[Any]) -> tuple[Integers, NDArray[np.bool_]]:
    """A float is a whole number if it is one; a fraction is missing, as engines read it."""
    known = np.ones(array.shape, np.bool_)
    if array.dtype.kind == "f":
        real = array.astype(np.float64)
        known = (np.floor(real) == real) & (real >= -(2.0**63)) & (real < 2.0**63)
        array = np.where(known, real, 0.0)
    elif array.dtype.kind == "u":
        known = array <= np.uint64(2**63 - 1)
        array = np.where(known, array, 0)
    return array.astype(np.int64), known


def _moments(array: NDArray[Any], kind: str) -> tuple[Integers, NDArray[np.bool_]]:
    days = array.astype("datetime64[D]")
    known = ~np.isnat(array) & (days >= _FIRST_DAY) & (days <= _LAST_DAY)
    kept = np.where(known, array, np.array(0, dtype=array.dtype))
    return kept.astype(MOMENTS[kind]).astype(np.int64), known


def _float(value: Any) -> float:
    return value if type(value) is float else attempted(_number, value, otherwise=math.nan)


def _number(value: Any) -> float:
    """A row's number, infinite for one that is too large; NaN, or an error, if it is none."""
    if isinstance(value, np.ndarray):  # even of one number, which Python would take for it
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _total(read: Callable[[Any], int | None]) -> Callable[[Any], int | None]:
    """A reader of whole numbers that gives None where a row has none of 64 bits."""

    def known(value: Any) -> int | None:
        found = None if value is None or isinstance(value, np.ndarray) else read(value)
        return found if found is not None and -(2**63) <= found < 2**63 else None

    return partial(attempted, known, otherwise=None)


def _integer(value: Any) -> int | None:
    whole = int(value)
    return whole if isinstance(value, str) or whole == value else None


def _day(value: Any) -> int | None:
    moment = _timestamp(value)
    return None if moment is None else moment // (24 * 3600 * 10**6)


def _timestamp(value: Any) -> int | None:
    if isinstance(value, str):
        value = dt.datetime.fromisoformat(value)
    elif isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = dt.datetime.combine(value, dt.time())
    if not isinstance(value, dt.datetime) or value.tzinfo is not None:
        return None
    return (value - _EPOCH) // dt.timedelta(microseconds=1)


_READ: Final[dict[str, Callable[[Any], int | None]]] = {
    "int": _integer,
    "bool": _integer,
    "date": _day,
    "timestamp": _timestamp,
}
