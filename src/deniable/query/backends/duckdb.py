"""DuckDB: files, frames and DuckDB's own tables."""

from __future__ import annotations

import contextlib
import glob
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from sqlglot import exp

from deniable.query.compile import Dialect, Stored
from deniable.query.compile import nodes as sql
from deniable.query.compile.duckdb import DuckDB as DuckDBDialect
from deniable.session.tables import Table

from . import files
from .engine import Engine, EngineError, Found, check_settings
from .private_files import connected, private_folder, private_spills

# What our SQL relies on: what text means, how moments are read, that floats are IEEE's, that the
# values in a column of Python objects are not looked at to guess its type. Whether a setting could
# be set does not matter, only that it holds: a connection may be locked with the right ones.
SETTINGS: Final = {
    "default_collation": "",
    "TimeZone": "UTC",
    "ieee_floating_point_ops": "true",
    "integer_division": "false",
    "pandas_analyze_sample": "0",
}
# What changes no answer is asked for, and never insisted on. In notebooks and by `python -c` the
# engine draws a bar on the standard output to show how far it is; in a notebook without ipywidgets
# it draws none, and refuses to be told so.
MANNERS: Final = {"enable_progress_bar": "false"}
# DuckDB finds groups without hashing where statistics say that few numbers are possible: it then
# has a slot for each in an array per thread. This is what a slot takes, and what all may take.
_SLOT: Final = 64
_SLOTS: Final = 2**27
_FRAMES: Final = frozenset({"pandas", "polars", "arrow"})
# The types whose values DuckDB reads from Parquet whatever their bits are.
_TOTAL: Final = (
    r"BOOLEAN|U?(TINYINT|SMALLINT|INTEGER|BIGINT)|FLOAT|DOUBLE|DECIMAL\(.*\)|VARCHAR|BLOB|UUID|DATE|"
    r"INTERVAL|TIMESTAMP(_NS)?|TIMESTAMP WITH TIME ZONE|TIMESTAMPTZ_NS"
)
_numbers = itertools.count()


class DuckDB(Engine):
    """A connection of our own, or a cursor of the user's."""

    name: ClassVar = "DuckDB"
    dialect: ClassVar[Dialect] = DuckDBDialect()
    kinds: ClassVar = _FRAMES | {"csv", "parquet", "duckdb", "duckdb_relation", "ibis"}

    def __init__(self, tables: Sequence[Table]) -> None:
        shared: Any = next((t.source for t in tables if t.kind == "duckdb"), None)
        self._tables = {table.name: table for table in tables}
        self._views: list[str] = []
        self._later: dict[str, tuple[Table, dict[str, str]]] = {}
        """What is read after the charge: by view, the table and the types that were described."""
        self._held = contextlib.ExitStack()
        self._ours = shared is None
        try:
            self._folder = self._held.enter_context(private_folder())
            self._connection = connected(self._folder) if self._ours else shared.cursor()
            self._held.callback(self._connection.close)
            self._pin()
            for place in _spills(tables):
                self._held.enter_context(private_spills(place))
        except BaseException:
            self.close()
            raise

    def _pin(self) -> None:
        import duckdb

        manners = MANNERS | ({"preserve_insertion_order": "false"} if self._ours else {})
        for name, value in (SETTINGS | manners).items():
            with contextlib.suppress(duckdb.Error):
                self._connection.execute(f"SET {name} = '{value}'")
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
            source, types = files.described(table, self._described, columns=self._columns)
            if table.kind == "duckdb":
                types |= self._collated(source, [c for c in types if types[c] == "VARCHAR"])
            replaced = "?" if table.kind == "parquet" else ""
            made[name] = Stored(source=source, types=types, replaced=replaced)
        return made

    def _described(self, table: Table) -> tuple[Any, dict[str, str]]:
        view = self._view(table)
        source = self._source(table) if view is None else sql.table(view)
        types = self._types(source)
        if view is not None:
            self._later[view] = table, types
        return source, types

    def _columns(self, path: str) -> Collection[str]:
        """Those of one Parquet file."""
        return self._types(_called("read_parquet", [path], **_parquet_options()))

    def _types(self, source: Any) -> dict[str, str]:
        text = self.dialect.write(exp.Select().select("*").from_(sql.copy(source)))
        columns = self._connection.execute(f"DESCRIBE {text}").fetchall()
        return {c: kind for c, kind, *_ in columns}

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

    def _view(self, table: Table) -> str | None:
        """Where rows come from elsewhere, a view that has none yet."""
        if table.kind == "duckdb" or (table.kind == "parquet" and not self._stops(table)):
            return None
        view = f"deniable_{next(_numbers)}"
        self._connection.register(view, _described(table))
        self._views.append(view)
        return view

    def _source(self, table: Table) -> Any:
        """What to put after FROM for a table that DuckDB reads where it is."""
        if table.kind == "duckdb":
            return self._held_there(table)
        return _called("read_parquet", table.source, **_parquet_options())

    def check(self, statements: Sequence[str]) -> None:
        """By DESCRIBE, which binds a statement, but neither plans nor runs it."""
        for text in statements:
            self._connection.execute(f"DESCRIBE {text}").fetchall()

    def _load(self) -> None:
        """Frames, streams and CSV files take the places that were described."""
        for view, (table, types) in self._later.items():
            self._connection.unregister(view)
            self._fill(view, table)
            if self._types(sql.table(view)) != types:
                raise EngineError(f"the columns of {table.name} are not as they were described")
        self._later.clear()

    def _fill(self, view: str, table: Table) -> None:
        if table.kind == "csv":
            from . import csv_files

            paths, options = csv_files.reading(table, folder=self._folder)
            text = self.dialect.write(_called("read_csv", paths, **options))
            self._connection.execute(f"CREATE TEMP VIEW {view} AS FROM {text}")
            return
        frame = _rows(table)
        if not hasattr(frame, "read_next_batch"):
            self._connection.register(view, frame)
            return
        # A stream is read once, and our SQL reads twice.
        self._connection.register(f"{view}_stream", frame)
        self._connection.execute(f"CREATE TEMP TABLE {view} AS FROM {view}_stream")
        self._connection.unregister(f"{view}_stream")

    def _stops(self, table: Table) -> bool:
        """Whether DuckDB's own reader of Parquet could stop at a value of a column that is read.

        It does for times, for moments in milliseconds, which reach farther than microseconds, and
        for text and bytes that have to be of a form (JSON, geometry): so all but `_TOTAL` come by
        way of Arrow.
        """
        asked = (
            "SELECT 1 FROM parquet_schema(?) WHERE list_contains(?, name) AND "
            "(NOT regexp_full_match(duckdb_type, ?) OR converted_type = 'TIMESTAMP_MILLIS' OR "
            "logical_type LIKE 'TimestampType%(MILLIS=M%')"
        )
        paths = [glob.escape(path) for path in table.source]  # type: ignore[attr-defined]
        found = self._connection.execute(asked, [paths, list(table.header), _TOTAL])
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
        with self._one_state():
            return [self._connection.execute(text).fetchall() for text in statements]

    def table(self, statement: str, names: Sequence[str]) -> Any:
        """Without Python's objects in between."""
        with self._one_state():
            return self._connection.sql(statement).to_arrow_table().rename_columns(list(names))

    @contextlib.contextmanager
    def _one_state(self) -> Iterator[None]:
        self._load()
        self._make_room()
        self._connection.execute("BEGIN TRANSACTION")
        try:
            yield
        finally:
            self._connection.execute("ROLLBACK")

    def _make_room(self) -> None:
        """Slots for groups as large files deserve: adding up by person takes half the time.

        DuckDB's own limit of 2¹² suits small files, for which more slots would take longer to make
        than rows to read. The setting is the whole database's, so that of a user stays as it is.
        """
        paths = [p for t in self._tables.values() if t.kind == "parquet" for p in t.source]  # type: ignore[attr-defined]
        size = sum(Path(path).stat().st_size for path in paths)
        if self._ours and size > _SLOT << 12:
            ((threads,),) = self._connection.execute("SELECT current_setting('threads')").fetchall()
            slots = max(min(size, _SLOTS // threads) // _SLOT, 1 << 12)
            self._connection.execute(f"SET perfect_ht_threshold = {slots.bit_length() - 1}")

    def close(self) -> None:
        """Forget the frames and remove our files; the user's connection stays open."""
        with self._held:
            for view in self._views:
                self._connection.unregister(view)


def _spills(tables: Sequence[Table]) -> set[str]:
    """Where connections of the user's write rows that do not fit in memory."""
    asked, found = "current_setting('temp_directory')", set()
    for table in tables:
        source: Any = table.source
        if table.kind == "ibis":
            engine = source.expression.get_backend()
            if engine.name == "duckdb":
                found |= set(engine.con.sql(f"SELECT {asked}").fetchall())
        elif table.kind == "duckdb":
            found |= set(source.cursor().execute(f"SELECT {asked}").fetchall())
        elif table.kind == "duckdb_relation":  # only by an expression over it, here over no rows
            found |= set(source.limit(0).aggregate(f"{asked} || COALESCE(MAX(''), '')").fetchall())
    return {place for (place,) in found}


def _described(table: Table) -> Any:
    """An Arrow table without rows, in the types that `_rows` brings."""
    from .frames import empty, scanned

    frame: Any = table.source
    match table.kind:
        case "csv":
            from . import csv_files

            return csv_files.described(table)
        case "duckdb_relation":
            return frame.limit(0).to_arrow_table()
        case "ibis":
            from .ibis import described

            return empty(described(frame))
        case "parquet":
            return empty(scanned(frame, columns=table.header))
    return empty(frame)


def _rows(table: Table) -> Any:
    """A table that comes to DuckDB from elsewhere, as Arrow: all rows, or a stream of them."""
    from .frames import scanned, settled

    frame: Any = table.source
    match table.kind:
        case "duckdb_relation":
            return frame.to_arrow_table()
        case "polars":
            whole = frame.collect() if hasattr(frame, "collect") else frame
            return settled(whole.to_arrow())
        case "ibis":
            from .ibis import fetched

            return settled(fetched(frame))
        case "parquet":
            return settled(scanned(frame, columns=table.header))
    return settled(frame)


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
