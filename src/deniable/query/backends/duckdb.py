"""DuckDB: files, frames and DuckDB's own tables."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial, wraps
from typing import Any, ClassVar, Final, ParamSpec, TypeVar

from sqlglot import exp

from deniable.query.compile import Dialect, Stored
from deniable.query.compile import nodes as sql
from deniable.query.compile.duckdb import DuckDB as DuckDBDialect
from deniable.session.tables import Table

from .engine import AnswerRows, Engine, EngineError, check_settings
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
# it draws none, and refuses the setting.
MANNERS: Final = {"enable_progress_bar": "false"}
# DuckDB finds groups without hashing where statistics say that few numbers are possible: it then
# has a slot for each in an array per thread. This is what a slot takes, and what all may take.
_SLOT: Final = 64
_SLOTS: Final = 2**27
_numbers = itertools.count()

P = ParamSpec("P")
T = TypeVar("T")


def _interruptible(call: Callable[P, T]) -> Callable[P, T]:
    """Raise KeyboardInterrupt where DuckDB has made an error of its own of one.

    That happens where a signal meets DuckDB while it computes, or while it reads a Python object.
    """

    @wraps(call)
    def interruptible(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return call(*args, **kwargs)
        except Exception as error:
            if not _is_interrupt(error):
                raise
        raise KeyboardInterrupt  # out here, so that the engine's own words do not travel with it

    return interruptible


def _is_interrupt(error: Exception) -> bool:
    import duckdb

    if isinstance(error, duckdb.InvalidInputException):  # "... failed: KeyboardInterrupt: "
        return str(error).rstrip(": \n").endswith("KeyboardInterrupt")
    return type(error) is RuntimeError and str(error) == "Query interrupted"


class DuckDB(Engine):
    """A connection of our own, or a cursor of the user's."""

    name: ClassVar = "DuckDB"
    advice: ClassVar = "the files and tables are still there and readable"
    dialect: ClassVar[Dialect] = DuckDBDialect()

    @_interruptible
    def __init__(self, tables: Sequence[Table]) -> None:
        places = (table.source.place for table in tables)
        shared: Any = next((place for place in places if place is not None), None)
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
            for place in {place for table in tables for place in table.source.spills()}:
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

    @_interruptible
    def stored(self) -> Mapping[str, Stored]:
        """From DESCRIBE, which reads no rows."""
        made = {}
        for name, table in self._tables.items():
            held, describe = table.source, partial(self._described, table)
            source, types = held.unchanged(name, self._connection, describe)
            stored = held.stored(self._connection, types)
            made[name] = Stored(source=source, types=stored, replaced=held.replaced)
        return made

    @_interruptible
    def _described(self, table: Table) -> tuple[Any, dict[str, str]]:
        """What to put after FROM, and the columns; of rows that are loaded later, a view."""
        text = table.source.in_place(self._connection)
        if text is not None:
            return exp.Table(this=exp.Var(this=text)), self._types(text)
        view = f"deniable_{next(_numbers)}"
        table.source.announce(self._connection, view)
        self._views.append(view)
        types = self._types(view)
        self._later[view] = table, types
        return sql.table(view), types

    def _types(self, source: str) -> dict[str, str]:
        columns = self._connection.execute(f"DESCRIBE FROM {source}").fetchall()
        return {c: kind for c, kind, *_ in columns}

    @_interruptible
    def check(self, statements: Sequence[str]) -> None:
        """By DESCRIBE, which binds a statement, but neither plans nor runs it."""
        for text in statements:
            self._connection.execute(f"DESCRIBE {text}").fetchall()

    def _load(self) -> None:
        """Frames, streams and CSV files take the places that were described."""
        for view, (table, types) in self._later.items():
            self._connection.unregister(view)
            table.source.load(self._connection, view, self._folder)
            if self._types(view) != types:
                raise EngineError(f"the columns of {table.name} are not as they were described")
        self._later.clear()

    @_interruptible
    def run(self, statements: Sequence[str]) -> list[AnswerRows]:
        """In one transaction: one state of DuckDB's own tables."""
        with self._one_state():
            return [self._connection.execute(text).fetchall() for text in statements]

    @_interruptible
    def table(self, statement: str, names: Sequence[str]) -> Any:
        """Without Python's objects in between."""
        with self._one_state():
            return self._connection.sql(statement).to_arrow_table().rename_columns(list(names))

    def batches(
        self, statement: str, names: Sequence[str], *, rows: int
    ) -> Generator[Any, None, None]:
        """As the engine finds them, so that all of them are never in memory at once."""
        import pyarrow as pa

        with self._one_state(), self._reader(statement, rows) as reader:
            yield reader.schema.empty_table().rename_columns(list(names))
            for batch in iter(partial(_interruptible(next), reader, None), None):
                yield pa.Table.from_batches([batch]).rename_columns(list(names))

    @_interruptible
    def _reader(self, statement: str, rows: int) -> Any:
        return self._connection.sql(statement).to_arrow_reader(rows)

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
        size = sum(table.source.file_size for table in self._tables.values())
        if self._ours and size > _SLOT << 12:
            ((threads,),) = self._connection.execute("SELECT current_setting('threads')").fetchall()
            slots = max(min(size, _SLOTS // threads) // _SLOT, 1 << 12)
            self._connection.execute(f"SET perfect_ht_threshold = {slots.bit_length() - 1}")

    @_interruptible
    def close(self) -> None:
        """Forget the frames and remove our files; the user's connection stays open."""
        with self._held:
            for view in self._views:
                self._connection.unregister(view)
