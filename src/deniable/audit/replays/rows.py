"""Arrays, lists and tables as lists of rows, and back."""

from __future__ import annotations

import datetime as dt
import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from deniable.errors import BadParameter

Row = Any
_MOST_COLUMNS = 12

ODD: Final[dict[str, tuple[object, ...]]] = {
    "float": (
        *(float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.0, 0.1, -1e6),
        *(sys.float_info.max, -sys.float_info.max, 5e-324, 2.0**53),
    ),
    "int": (0, 1, -1, 2**31, 2**63 - 1, -(2**63)),
    "text": ("", "somebody new", "\u0000", "Zoë"),
    "bool": (True, False),
    "date": (dt.date(1, 1, 1), dt.date(1970, 1, 1), dt.date(9999, 12, 31)),
    "timestamp": tuple(map(dt.datetime.fromisoformat, ("1970-01-01", "2262-01-01"))),
}
"""Values that break things, by kind of column."""


@dataclass(frozen=True, kw_only=True)
class RowList:
    """Data as a list of rows: values of an array or a list, dictionaries of a table."""

    rows: list[Row] = field(repr=False)
    build: Callable[[list[Row]], object] = field(repr=False)
    """The same kind of data with other rows."""
    kinds: dict[str, str]
    """What each column holds; one column without a name for plain values."""
    nulls: frozenset[str] = frozenset()
    """The kinds of column in which values may be missing."""

    def odd(self, kind: str) -> list[object]:
        """Values that break things in a column of this kind."""
        return [*ODD.get(kind, ()), *([None] if kind in self.nulls else [])]

    def with_value(self, row: Row, column: str, value: object) -> Row:
        """The row with one value exchanged; all of them in a row without named columns."""
        if column:
            return {**row, column: value}
        if not isinstance(row, np.ndarray):
            return value
        with np.errstate(over="ignore"):
            return np.full_like(row, _within(row.dtype, [value])[0])


def rows_of(data: object) -> RowList:
    """Rows of an array, a list, or a pandas, Polars or PyArrow table."""
    if isinstance(data, np.ndarray):
        return _of_array(data)
    if isinstance(data, list | tuple):
        kind = _kind_of(data[0]) if data else "float"
        return RowList(rows=list(data), build=type(data), kinds={"": kind})
    package = type(data).__module__.split(".")[0]
    if package not in _TABLES or not hasattr(data, "columns"):
        raise BadParameter(
            f"neighbours of a {type(data).__name__} are not known",
            fix="an array, a list, or a pandas, Polars or PyArrow table",
        )
    return _TABLES[package](data)


def _of_array(data: np.ndarray[Any, np.dtype[Any]]) -> RowList:
    kind = {"f": "float", "i": "int", "u": "int", "b": "bool", "U": "text"}.get(data.dtype.kind)
    if kind is None or data.ndim not in (1, 2):
        raise BadParameter("an array must hold numbers, truth values or text, in one or two axes")
    shape = data.shape[1:]

    def build(rows: list[Row]) -> object:
        with np.errstate(over="ignore"):
            array = np.array(_within(data.dtype, rows), dtype=data.dtype)
        return array.reshape(len(rows), *shape)

    rows = [row if shape else row.item() for row in data]
    return RowList(rows=rows, build=build, kinds={"": kind})


def _within(dtype: np.dtype[Any], rows: Sequence[Row]) -> Sequence[Row]:
    """Whole numbers held in the range of their type, as a column of that type would hold them."""
    if dtype.kind not in "iu":
        return rows
    limits = np.iinfo(dtype)
    return [r if isinstance(r, np.ndarray) else max(limits.min, min(r, limits.max)) for r in rows]


def _of_pandas(data: Any) -> RowList:
    import pandas as pd

    dtypes = dict(data.dtypes.items())
    kinds = {name: _spelled(str(dtype)) for name, dtype in dtypes.items()}

    def column(rows: list[Row], name: str) -> object:
        values = [row[name] for row in rows]
        held = _within(dtypes[name], values) if isinstance(dtypes[name], np.dtype) else values
        return pd.Series(held, dtype=dtypes[name])

    def build(rows: list[Row]) -> object:
        return pd.DataFrame({name: column(rows, name) for name in dtypes})

    return RowList(
        rows=data.to_dict("records"), build=build, kinds=_few(kinds), nulls=frozenset({"text"})
    )


def _of_polars(data: Any) -> RowList:
    import polars as pl

    kinds = {name: _spelled(str(dtype)) for name, dtype in data.schema.items()}
    build = functools.partial(pl.DataFrame, schema=data.schema)
    return _nullable(data.to_dicts(), build, kinds)


def _of_arrow(data: Any) -> RowList:
    import pyarrow as pa

    kinds = {field.name: _spelled(str(field.type)) for field in data.schema}
    build = functools.partial(pa.Table.from_pylist, schema=data.schema)
    return _nullable(data.to_pylist(), build, kinds)


def _nullable(
    rows: list[Row], build: Callable[[list[Row]], object], kinds: dict[str, str]
) -> RowList:
    """A table in which any value may be missing."""
    return RowList(rows=rows, build=build, kinds=_few(kinds), nulls=frozenset(kinds.values()))


_TABLES: Final[dict[str, Callable[[Any], RowList]]] = {
    "pandas": _of_pandas,
    "polars": _of_polars,
    "pyarrow": _of_arrow,
}


def _spelled(dtype: str) -> str:
    """What kind of values a dtype means; "other" gets no odd values."""
    word = dtype.lower()
    for kind, starts in (
        ("timestamp", ("timestamp", "datetime")),
        ("date", ("date",)),
        ("float", ("float", "double", "halffloat")),
        ("int", ("int", "uint")),
        ("bool", ("bool",)),
        ("text", ("str", "large_string", "object", "utf8", "category")),
    ):
        if word.startswith(starts):
            return kind
    return "other"


def _kind_of(value: object) -> str:
    kinds = {bool: "bool", int: "int", float: "float", str: "text"}
    return next((kind for of, kind in kinds.items() if isinstance(value, of)), "other")


def _few(kinds: dict[str, str]) -> dict[str, str]:
    """The first columns: a table of hundreds would take too long."""
    return dict(list(kinds.items())[:_MOST_COLUMNS])
