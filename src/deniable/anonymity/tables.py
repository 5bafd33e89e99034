"""Tables of any kind, as integer codes: what checking and anonymizing work on.

A table is a PyArrow, pandas or Polars frame, a DuckDB relation, or the path of a Parquet or CSV
file. What goes out is of the kind that came in (PyArrow for relations and files).
"""

from __future__ import annotations

import atexit
import glob
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from deniable.errors import BadParameter, MissingExtra, UnknownName

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Frame: TypeAlias = "pa.Table | pd.DataFrame | pl.DataFrame"
Codes: TypeAlias = NDArray[np.int64]

# Up to so many possible keys are counted in an array with a place for each; more are sorted.
_DENSE = 1 << 24
_WIDEST = 1 << 62


@dataclass(frozen=True, kw_only=True)
class Coded:
    """A column as codes into its sorted distinct values; NULL is a value, the last one."""

    name: str
    values: pa.Array = field(repr=False)
    codes: Codes = field(repr=False)
    ordered: bool

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.values)

    def numbers(self) -> NDArray[np.float64]:
        """The values of an ordered column as numbers (dates as days); NULL is NaN."""
        return numbers(self.values)


def arrow(table: object) -> pa.Table:
    """The whole table in memory, as PyArrow."""
    pa = _pyarrow()
    if isinstance(table, pa.Table):
        return table
    if _is_of(table, "pandas"):
        return pa.Table.from_pandas(table, preserve_index=False)
    if _is_of(table, "polars"):
        return table.to_arrow()
    return relation(table).to_arrow_table()


def relation(table: object) -> Any:
    """The table as a DuckDB relation, not yet read."""
    pa = _pyarrow()
    if _is_of(table, "duckdb"):
        return table
    engine = _engine().cursor()
    if isinstance(table, pa.Table):
        return engine.from_arrow(table)
    if _is_of(table, "pandas"):
        return engine.from_df(table)
    if _is_of(table, "polars"):
        return engine.from_arrow(table.to_arrow())
    if isinstance(table, str | Path):
        name = str(table).lower()
        if name.endswith(".parquet"):
            return engine.read_parquet(glob.escape(str(table)))
        if name.endswith((".csv", ".csv.gz", ".tsv")):
            return engine.read_csv(glob.escape(str(table)))
    raise BadParameter.of(
        "table",
        table,
        must="a PyArrow, pandas or Polars frame, a DuckDB relation, or a path to Parquet or CSV",
    )


def rebuilt(
    table: object, read: pa.Table, changes: Mapping[str, pa.Array | None], rows: Codes
) -> Frame:
    """The chosen rows, in that order, with some columns changed (None: left out).

    `changes` hold one value for each chosen row. pandas frames keep their other columns' types and
    get a fresh index: the old one would say which row was which.
    """
    gone = [name for name, column in changes.items() if column is None]
    new = {name: column for name, column in changes.items() if column is not None}
    if _is_of(table, "pandas"):
        frame = table.iloc[rows].reset_index(drop=True).drop(columns=gone)
        return frame.assign(**{n: c.to_pandas() for n, c in new.items()})
    if _is_of(table, "polars"):
        import polars as pl

        chosen = table.drop(gone)[rows]
        return chosen.with_columns(**{n: pl.from_arrow(c) for n, c in new.items()})
    kept = read.drop_columns([*changes]).take(rows)
    order = [name for name in read.column_names if name not in gone]
    return _pyarrow().table({n: new[n] if n in new else kept[n] for n in order})


def check_columns(columns: object, known: Iterable[str], *, what: str) -> list[str]:
    """The names of columns, each of them there, none twice."""
    names = [columns] if isinstance(columns, str) else columns
    if not isinstance(names, Sequence) or not names:
        raise BadParameter.of(what, columns, must="a list of at least one column name")
    known = list(known)
    for name in names:
        if name not in known:
            raise UnknownName.of("column", str(name), known=known)
    if len(set(names)) < len(names):
        raise BadParameter.of(what, columns, must="a list of different column names")
    return list(names)


def encoded(table: pa.Table, name: str) -> Coded:
    """One column as codes into its sorted distinct values."""
    import pyarrow.compute as pc

    pa = _pyarrow()
    column = table[name].combine_chunks()
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_nested(kind):
        raise BadParameter(
            f"`{name}` holds lists or records, which cannot be compared as one value",
            fix="take it apart into plain columns first",
        )
    coded = pc.dictionary_encode(column, null_encoding="encode")
    order = pc.sort_indices(coded.dictionary)  # NULL comes last
    places = np.empty(len(order), np.int64)
    places[order.to_numpy()] = np.arange(len(order))
    return Coded(
        name=name,
        values=coded.dictionary.take(order),
        codes=places[coded.indices.to_numpy(zero_copy_only=False)],
        ordered=_is_ordered(kind),
    )


def persons(table: pa.Table, name: str) -> Coded:
    """The column that says whose each row is; refused where it says nobody.

    Nobody may be any of the others: counted as one more person, they would hide somebody alone.
    """
    import pyarrow.compute as pc

    if pc.any(pc.is_null(table[name], nan_is_null=True)).as_py():
        raise BadParameter(
            f"`{name}` is missing in some rows, so it does not identify everyone",
            why="such a row may belong to a person who also has other rows, so people cannot "
            "be counted",
            fix="leave those rows out",
        )
    return encoded(table, name)


def joined(parts: Sequence[tuple[Codes, int]]) -> tuple[Codes, int]:
    """Several columns of codes as one, and how many codes are possible: a mixed-radix number."""
    key, domain = parts[0]
    for codes, size in parts[1:]:
        if domain * size >= _WIDEST:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            domain = int(key.max(initial=0)) + 1
        key, domain = key * size + codes, domain * size
    return key, domain


def grouped(key: Codes, domain: int) -> tuple[Codes, Codes]:
    """For each distinct key, ascending, the place of one row that has it; and each row's group."""
    if domain <= min(_DENSE, max(1 << 16, 64 * key.size)):
        place = np.full(domain, -1, np.int64)
        place[key] = np.arange(key.size)
        firsts = place[place >= 0]
        place[key[firsts]] = np.arange(firsts.size)
        return firsts, place[key]
    _, firsts, groups = np.unique(key, return_index=True, return_inverse=True)
    return firsts.astype(np.int64), groups.astype(np.int64)


def classes_of(columns: Sequence[Coded]) -> tuple[Codes, Codes]:
    """Rows that agree in all the columns: the place of one row of each class, each row's class."""
    return grouped(*joined([(column.codes, column.size) for column in columns]))


def numbers(values: pa.Array) -> NDArray[np.float64]:
    """Numbers as floats, dates as days, times as seconds; NULL as NaN."""
    pa = _pyarrow()
    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        moments = values.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False)
        days = moments.astype("datetime64[us]").astype(np.int64) / 86_400e6
        return np.where(np.isnat(moments), math.nan, days)
    return np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))


def _is_ordered(kind: Any) -> bool:
    types = _pyarrow().types
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_date)
    return any(test(kind) for test in (*tests, types.is_timestamp))


def _is_of(table: object, library: str) -> TypeGuard[Any]:
    """Whether it is a table of that library, which need not be installed to ask."""
    return type(table).__module__.split(".")[0].lstrip("_") == library


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra.of("PyArrow, which holds the table,", extra="frames") from None
    return pa


@cache
def _engine() -> Any:
    """One embedded engine for the process: opening one costs more than checking a small table."""
    from deniable.query.backends.private_files import own_duckdb

    held = ExitStack()
    atexit.register(held.close)
    return held.enter_context(own_duckdb())
