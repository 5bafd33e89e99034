"""DuckDB: files, frames and DuckDB's own tables."""

from __future__ import annotations

import contextlib
import glob
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from sqlglot import exp

from deniable.query.compile import Dialect, Stored
from deniable.query.compile import nodes as sql
from deniable.query.compile.duckdb import DuckDB as DuckDBDialect
from deniable.session.tables import Table

from . import csv_files
from .engine import Engine, Found, check_settings
from .frames import scanned, settled
from .ibis import fetched

# What text means, how moments are read, that floats are IEEE's, that the values in a column of
# Python objects are not looked at to guess its type, and that the engine, which does so in
# notebooks and by `python -c`, draws no bar on the standard output to show how far it is.
SETTINGS: Final = {
    "default_collation": "",
    "TimeZone": "UTC",
    "ieee_floating_point_ops": "true",
    "integer_division": "false",
    "pandas_analyze_sample": "0",
    "enable_progress_bar": "false",
}
_FRAMES: Final = frozenset({"pandas", "polars", "arrow"})
_numbers = itertools.count()


class DuckDB(Engine):
    """A connection of our own, or a cursor of the user's."""

    dialect: ClassVar[Dialect] = DuckDBDialect()
    kinds: ClassVar = _FRAMES | {"csv", "parquet", "duckdb", "duckdb_relation", "ibis"}

    def __init__(self, tables: Sequence[Table]) -> None:
        import duckdb

        shared: Any = next((t.source for t in tables if t.kind == "duckdb"), None)
        self._connection = duckdb.connect() if shared is None else shared.cursor()
        self._tables = {table.name: table for table in tables}
        self._views: list[str] = []
        self._held = contextlib.ExitStack()
        self._pin(ours=shared is None)

    def _pin(self, *, ours: bool) -> None:
        for name, value in SETTINGS.items():
            self._connection.execute(f"SET {name} = '{value}'")
        if ours:
            self._connection.execute("SET preserve_insertion_order = false")
        asked = ", ".join(f"current_setting('{name}')::VARCHAR" for name in SETTINGS)
        found = self._connection.execute(f"SELECT {asked}").fetchall()[0]
        check_settings(SETTINGS, dict(zip(SETTINGS, found, strict=True)))

    @staticmethod
    def places(tables: Sequence[Table]) -> set[object]:
        """Connections of the user's; files and frames come to any."""
        return {id(table.source) for table in tables if table.kind == "duckdb"}

    def stored(self) -> Mapping[str, Stored]:
        """From DESCRIBE, which reads no rows."""
        made = {}
        for name, table in self._tables.items():
            source = self._source(table)
            text = self.dialect.write(exp.Select().select("*").from_(source))
            columns = self._connection.execute(f"DESCRIBE {text}").fetchall()
            types = {c: kind for c, kind, *_ in columns}
            if table.kind == "duckdb":
                types |= self._collated(source, [c for c in types if types[c] == "VARCHAR"])
            replaced = "?" if table.kind == "parquet" else ""
            made[name] = Stored(source=source, types=types, replaced=replaced)
        return made

    def _collated(self, source: Any, texts: Sequence[str]) -> dict[str, str]:
        """Which columns have a collation of their own: nothing says so but that they do not mix."""
        import duckdb

        other = "VARCHAR COLLATE other"
        same = [sql.eq(self.dialect.column(name, other), sql.name(name)) for name in texts]
        asked = exp.Select().select(*same).from_(sql.copy(source))
        try:
            if texts:
                self._connection.execute(f"DESCRIBE {self.dialect.write(asked)}")
        except duckdb.BinderException:
            if len(texts) == 1:
                return {texts[0]: other}
            half = len(texts) // 2
            return self._collated(source, texts[:half]) | self._collated(source, texts[half:])
        return {}

    def _source(self, table: Table) -> Any:
        match table.kind:
            case "parquet" if not self._stops(table):
                return _called("read_parquet", table.source, **_parquet_options())
            case "csv":
                paths, options = csv_files.reading(table, held=self._held)
                return _called("read_csv", paths, **options)
            case "duckdb":
                return self._held_there(table)
        view = f"deniable_{next(_numbers)}"
        frame: Any = table.source
        match table.kind:
            case "duckdb_relation":
                frame = frame.to_arrow_table()
            case "polars":
                whole = frame.collect() if hasattr(frame, "collect") else frame
                frame = settled(whole.to_arrow())
            case "ibis":
                frame = settled(fetched(frame))
            case "parquet":
                frame = settled(scanned(frame, columns=table.header))
            case _:
                frame = settled(frame)
        self._connection.register(view, frame)
        self._views.append(view)
        if hasattr(frame, "read_next_batch"):  # a stream is read once, and our SQL reads twice
            self._connection.execute(f"CREATE TEMP TABLE {view}_rows AS FROM {view}")
            return sql.table(f"{view}_rows")
        return sql.table(view)

    def _stops(self, table: Table) -> bool:
        """Whether the reader of Parquet stops where a value is out of range.

        It does for times, and for moments in milliseconds, which reach farther than microseconds.
        """
        asked = (
            "SELECT 1 FROM parquet_schema(?) WHERE list_contains(?, name) AND (num_children > 0 OR "
            "converted_type IN ('TIME_MILLIS', 'TIME_MICROS', 'TIMESTAMP_MILLIS') OR "
            "logical_type LIKE 'TimeType%' OR logical_type LIKE 'TimestampType%(MILLIS=M%')"
        )
        paths = [glob.escape(path) for path in table.source]  # type: ignore[attr-defined]
        found = self._connection.execute(asked, [paths, list(table.header)])
        return bool(found.fetchall())

    def _held_there(self, table: Table) -> Any:
        """A table of the user's; floats of a view, or from elsewhere, as no statistics know them.

        What is behind may be Parquet, whose statistics leave NaN out: DuckDB then takes x < 2 and
        even ISNAN(x) as known for all rows. NEXTAFTER(x, x) is x, and nothing is known of it.
        """
        asked = (
            "SELECT 1 FROM duckdb_tables() t JOIN duckdb_databases() d USING (database_oid) "
            "WHERE d.type = 'duckdb' AND [t.database_name, t.schema_name, t.table_name] = ?"
        )
        source = sql.table(table.inner, within=table.within)
        if self._connection.execute(asked, [[*table.within, table.inner]]).fetchall():
            return source
        view = self.dialect.write(source)
        columns = self._connection.execute(f"DESCRIBE FROM {view}").fetchall()
        made = [
            sql.aliased(sql.function("NEXTAFTER", sql.name(c), sql.name(c)), c)
            if kind in ("FLOAT", "DOUBLE")
            else sql.name(c)
            for c, kind, *_ in columns
        ]
        select = exp.Select().select(*made).from_(source)
        return exp.Subquery(this=select, alias=exp.TableAlias(this=exp.to_identifier("held")))

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
        self._held.close()


def _called(reader: str, paths: Any, **options: Any) -> Any:
    """A table function over paths, each of which is that of one file, whatever its letters."""
    listed = exp.Array(expressions=[sql.text(glob.escape(path)) for path in paths])
    named = [exp.PropertyEQ(this=exp.to_identifier(k), expression=v) for k, v in options.items()]
    return exp.Table(this=sql.function(reader, listed, *named))


def _parquet_options() -> dict[str, Any]:
    """No column from a path; statistics leave NaN out; text that is not UTF-8 stops nobody."""
    return {
        "hive_partitioning": exp.false(),
        "can_have_nan": exp.true(),
        "utf8_validation": sql.text("replace"),
    }
