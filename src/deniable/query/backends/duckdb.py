"""DuckDB: files, frames and DuckDB's own tables."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from sqlglot import exp

from deniable.query.compile import Dialect, Stored
from deniable.query.compile import nodes as sql
from deniable.query.compile.duckdb import DuckDB as DuckDBDialect
from deniable.session.tables import Table

from .engine import Engine, EngineError, Found, check_settings

# What text means, how moments are read, that floats are IEEE's, and that the values in a column of
# Python objects are not looked at to guess its type.
SETTINGS: Final = {
    "default_collation": "",
    "TimeZone": "UTC",
    "ieee_floating_point_ops": "true",
    "integer_division": "false",
    "pandas_analyze_sample": "0",
}
_FRAMES: Final = frozenset({"pandas", "polars", "arrow"})
_numbers = itertools.count()


class DuckDB(Engine):
    """A connection of our own, or a cursor of the user's."""

    dialect: ClassVar[Dialect] = DuckDBDialect()
    kinds: ClassVar = _FRAMES | {"csv", "parquet", "duckdb", "duckdb_relation"}

    def __init__(self, tables: Sequence[Table]) -> None:
        import duckdb

        held = {id(t.source): t.source for t in tables if t.kind == "duckdb"}
        if len(held) > 1:
            raise EngineError("tables of two DuckDB connections cannot be joined")
        shared: Any = next(iter(held.values()), None)
        self._connection = duckdb.connect() if shared is None else shared.cursor()
        self._tables = {table.name: table for table in tables}
        self._views: list[str] = []
        self._pin(ours=shared is None)

    def _pin(self, *, ours: bool) -> None:
        for name, value in SETTINGS.items():
            self._connection.execute(f"SET {name} = '{value}'")
        if ours:
            self._connection.execute("SET preserve_insertion_order = false")
        asked = ", ".join(f"current_setting('{name}')::VARCHAR" for name in SETTINGS)
        found = self._connection.execute(f"SELECT {asked}").fetchall()[0]
        check_settings(SETTINGS, dict(zip(SETTINGS, found, strict=True)))

    def stored(self) -> Mapping[str, Stored]:
        """From DESCRIBE, which reads no rows."""
        made = {}
        for name, table in self._tables.items():
            source = self._source(table)
            text = self.dialect.write(exp.Select().select("*").from_(source))
            columns = self._connection.execute(f"DESCRIBE {text}").fetchall()
            made[name] = Stored(source=source, types={c: kind for c, kind, *_ in columns})
        return made

    def _source(self, table: Table) -> Any:
        match table.kind:
            case "parquet":
                return _called("read_parquet", table.source, hive_partitioning=exp.false())
            case "csv":
                return _csv(table)
            case "duckdb":
                return sql.table(table.inner)
        view = f"deniable_{next(_numbers)}"
        frame: Any = table.source
        if table.kind == "duckdb_relation":
            frame = frame.to_arrow_table()
        elif table.kind == "polars" and hasattr(frame, "collect"):
            frame = frame.collect()
        self._connection.register(view, frame)
        self._views.append(view)
        return sql.table(view)

    def run(self, statements: Sequence[str]) -> list[Found]:
        """In one transaction: one state of DuckDB's own tables."""
        self._connection.execute("BEGIN TRANSACTION")
        try:
            return [self._connection.execute(text).fetchall() for text in statements]
        finally:
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Forget the frames; the user's connection stays open."""
        for view in self._views:
            self._connection.unregister(view)
        self._connection.close()


def _called(reader: str, paths: Any, **options: Any) -> Any:
    """A table function over paths."""
    listed = exp.Array(expressions=[sql.text(path) for path in paths])
    named = [exp.PropertyEQ(this=exp.to_identifier(k), expression=v) for k, v in options.items()]
    return exp.Table(this=sql.function(reader, listed, *named))


def _csv(table: Table) -> Any:
    """Every column as text, in the order of the first line; nothing is guessed.

    A line that cannot be cut into as many columns is left out: it must not stop the others.
    """
    fields = [
        exp.PropertyEQ(this=sql.text(name), expression=sql.text("VARCHAR"))
        for name in _different(table.header)
    ]
    return _called(
        "read_csv",
        table.source,
        auto_detect=exp.false(),
        header=exp.true(),
        delim=sql.text(table.delimiter),
        quote=sql.text('"'),
        escape=sql.text('"'),
        encoding=sql.text("utf-8"),
        ignore_errors=exp.true(),
        columns=exp.Struct(expressions=fields),
    )


def _different(header: Sequence[str]) -> list[str]:
    """Columns that the schema does not name may share a name or have none: they get others."""
    seen: set[str] = set()
    made = []
    for place, name in enumerate(header):
        fresh = name if name and name.lower() not in seen else f"column {place} of the file"
        seen.add(fresh.lower())
        made.append(fresh)
    return made
