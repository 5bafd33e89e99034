"""Columns that travel: from an engine that Ibis speaks to the embedded DuckDB.

The engine only hands over columns. None of its arithmetic, casts or rules about NULL and NaN can
matter: those begin where the columns arrive. What an expression of the curator does before is the
curator's word, like a view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from .ibis_tables import IbisTable, made_known, plain_cursor
from .source import quoted

_ROWS: Final = 1 << 16
_EXACT: Final = 2**53


def fetched(remote: IbisTable) -> Any:
    """All rows of the columns, as an Arrow table or a stream of Arrow batches."""
    expression = remote.held
    engine = expression.get_backend()
    if engine.name not in _READERS:
        return engine.to_pyarrow_batches(expression)
    made_known(engine, expression)
    return _READERS[engine.name](engine, remote)


def described(remote: IbisTable) -> Any:
    """An Arrow table without rows, in the types that `fetched` brings; no row is fetched."""
    engine = remote.held.get_backend()
    if engine.name == "polars":
        made_known(engine, remote.held)
        return engine.compile(remote.held).clear().collect().to_arrow()
    found = fetched(replace(remote, held=remote.held.limit(0)))
    return found.read_all() if hasattr(found, "read_all") else found


def _from_polars(engine: Any, remote: IbisTable) -> Any:
    return engine.compile(remote.held).collect().to_arrow()


def _from_duckdb(engine: Any, remote: IbisTable) -> Any:
    return engine.con.sql(engine.compile(remote.held)).to_arrow_table()


def _from_sqlite(engine: Any, remote: IbisTable) -> Any:
    """Any column of SQLite can hold anything: what is not of its column's type is missing.

    Text comes as bytes, because the client stops at text that is not Unicode.
    """
    import pyarrow as pa

    ((encoding,),) = plain_cursor(engine).execute("PRAGMA encoding").fetchall()
    rules = [_rule(pa, kind, encoding) for kind in remote.types.values()]
    schema = pa.schema([(n, rule[0]) for n, rule in zip(remote.types, rules, strict=True)])
    batches = [
        pa.record_batch(
            [_array(pa, [row[i] for row in rows], *rule) for i, rule in enumerate(rules)],
            schema=schema,
        )
        for rows in _rows(engine, remote)
    ]
    return pa.Table.from_batches(batches, schema=schema)


def _rows(engine: Any, remote: IbisTable) -> Iterator[list[tuple[Any, ...]]]:
    columns = ", ".join(
        f"CASE typeof({c}) WHEN 'text' THEN CAST({c} AS BLOB) WHEN 'blob' THEN NULL ELSE {c} END"
        for c in map(quoted, remote.types)
    )
    cursor = plain_cursor(engine)
    cursor.execute(f"SELECT {columns} FROM ({engine.compile(remote.held)})")
    while rows := cursor.fetchmany(_ROWS):
        yield rows


Rule = tuple[Any, type, Callable[[Any], Any]]
"""As what a column arrives, the values that are so already, and how all others become so."""


def _rule(pa: Any, kind: str | None, encoding: str) -> Rule:
    """The schema's word on a column comes later, as for every engine."""
    match kind:
        case "int" | "bool":
            return pa.int64(), int, _whole
        case "float":
            return pa.float64(), float, _real
    return pa.string(), str, partial(_text, encoding=encoding)


def _array(pa: Any, values: list[Any], stored: Any, own: type, read: Any) -> Any:
    if set(map(type, values)) <= {own, type(None)}:
        return pa.array(values, stored)
    return pa.array([read(value) for value in values], stored)


def _whole(value: Any) -> int | None:
    """Nothing for numbers that are not whole.

    >>> [_whole(value) for value in (7, 7.0, 7.5, 1e300, b"7", None)]
    [7, 7, None, None, None, None]
    """
    if isinstance(value, float) and value.is_integer() and -(2.0**63) <= value < 2.0**63:
        return int(value)
    return value if isinstance(value, int) else None


def _real(value: Any) -> float | None:
    """Whole numbers that a float does not hold exactly are missing: they could be two persons' ids.

    >>> [_real(value) for value in (7, 0.1, 2**53 + 1, b"7", None)]
    [7.0, 0.1, None, None, None]
    """
    if isinstance(value, int) and abs(value) <= _EXACT:
        return float(value)
    return value if isinstance(value, float) else None


def _text(value: Any, encoding: str) -> str | None:
    r"""Text; numbers as they are written; no text that is not Unicode.

    >>> [_text(value, "UTF-8") for value in ("é".encode(), 7, 0.1, b"\xff", None)]
    ['é', '7', '0.1', None, None]
    """
    if not isinstance(value, bytes):
        return None if value is None else repr(value)
    try:
        return value.decode(encoding)
    except UnicodeDecodeError:
        return None


_READERS: Final[dict[str, Callable[[Any, IbisTable], Any]]] = {
    "polars": _from_polars,
    "duckdb": _from_duckdb,
    "sqlite": _from_sqlite,
}
