"""What a session and the engines may ask of a source, whichever kind it is.

A kind is one file of this folder: a subclass of `Source`, and a function that describes what was
given from public facts alone:

    look(given, name, schema) -> list[TableOutline]

It is known to everybody else by one line in the table of `deniable.session.sources`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, Self, TypeVar

from deniable.errors import BadParameter, UnknownName
from deniable.schema import Schema
from deniable.session.tables import TableOutline, check_names, is_zoned, type_of

T = TypeVar("T")

KINDS: Final = (
    "a path or glob (.csv, .parquet), a pandas, Polars, PyArrow, Spark or Ibis table, a DuckDB, "
    'Postgres or Ibis connection, postgresql://..., or {"people": ..., "visits": ...}'
)


@dataclass(frozen=True, kw_only=True)
class Source:
    """What holds the rows of a table.

    `held` is the frame, the connection, its address or the paths. Only `load`, and what it calls,
    reads rows: an engine calls it after the charge.
    """

    held: Any = field(repr=False, compare=False)

    kind: ClassVar[str]
    engine: ClassVar[str] = "DuckDB"
    """The engine that reads it."""
    typed: ClassVar[bool] = True
    """Whether its columns have types of their own."""
    complete: ClassVar[bool] = True
    """Whether every row is read, whatever its values."""
    replaced: ClassVar[str] = ""
    """What the engine's reader puts in place of bytes that are not text."""

    @property
    def place(self) -> Any:
        """The only place that can read it, such as a connection; None if any can."""
        return None

    def only(self, columns: Sequence[str]) -> Self:
        """The same source with only these columns; with any one column if none is named."""
        return self

    def declared(self, found: TableOutline, facts: Schema | None) -> TableOutline:
        """What was found, completed by what only the schema can say about its columns."""
        return found

    def doubt(self, column: str, kind: str | None) -> str:
        """A column's type if different values of it may compare equal; empty if they cannot."""
        return ""

    def is_table(self, node: Any) -> bool:
        """Whether an Ibis table node refers to this very table."""
        return False

    # ---- how DuckDB reads it

    @property
    def file_size(self) -> int:
        """The size in bytes of the files that the engine scans in place."""
        return 0

    def spills(self) -> set[str]:
        """Folders to which the user's own connections write rows that do not fit in memory."""
        return set()

    def unchanged(self, table: str, connection: Any, describe: Callable[[], T]) -> T:
        """The result of `describe`; an error if files have changed since they were opened."""
        return describe()

    def in_place(self, connection: Any) -> str | None:
        """What to write after FROM; None if rows are loaded after the charge."""
        return None

    def stored(self, connection: Any, types: Mapping[str, str]) -> dict[str, str]:
        """The column types that DuckDB reports, with the collations that it does not report."""
        return dict(types)

    def none(self) -> Source:
        """The same columns without rows; no row is read."""
        raise AssertionError("read in place")

    def announce(self, connection: Any, view: str) -> None:
        """Make the columns known under a name, without rows; `load` takes its place."""
        connection.register(view, self.none().rows())

    def rows(self) -> Any:
        """All rows, as an Arrow table or a stream of batches."""
        raise AssertionError("read in place")

    def load(self, connection: Any, view: str, folder: Path) -> None:
        """Make the rows available under a name; temporary files go into `folder`."""
        rows = self.rows()
        if not hasattr(rows, "read_next_batch"):
            connection.register(view, rows)
            return
        # A stream is read once, and our SQL reads twice.
        connection.register(f"{view}_stream", rows)
        connection.execute(f"CREATE TEMP TABLE {view} AS FROM {view}_stream")
        connection.unregister(f"{view}_stream")


@dataclass(frozen=True, kw_only=True)
class Named(Source):
    """A table of a database: `inner` is its name, `within` its schema, or catalog and schema."""

    inner: str
    within: tuple[str, ...] = ()

    @property
    def place(self) -> Any:
        return self.held


def outline(source: Source, name: str | None, columns: Iterable[Any], **more: Any) -> TableOutline:
    """A table with its columns and their types, as they are spelled where it is held."""
    called, pairs = name or "data", list(columns)
    names = check_names([column for column, _ in pairs], table=called)
    spelled = {column: str(kind) for column, (_, kind) in zip(names, pairs, strict=True)}
    types = {column: type_of(kind) for column, kind in spelled.items()}
    zoned = frozenset(column for column, kind in spelled.items() if is_zoned(kind))
    facts: dict[str, Any] = {"types": types, "spelled": spelled, "zoned": zoned}
    return TableOutline(name=called, source=source, **facts | more)


def quoted(*names: str) -> str:
    """A name in SQL, or several within one another."""
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def chosen(tables: Sequence[str], name: str | None, schema: Schema | None) -> Sequence[str]:
    """Which tables of a connection are meant: the one named, those of the schema, or all."""
    if not tables:
        raise BadParameter("this connection has no tables")
    wanted = [name] if name is not None else list(schema.tables) if schema is not None else []
    for each in wanted:
        if each not in tables:
            raise UnknownName.of("table", each, known=tables)
    return wanted or tables
