"""Tables and connections of Ibis: where their rows are, found without reading any.

    duckdb, postgres     tables: asked by us, through our own client
    pyspark              tables and expressions: asked by us, as Spark frames
    a table in memory    the frame itself
    the rest             `IbisTable`: the columns of a question are fetched when it is paid for

An engine whose client makes Arrow of Python objects fails on a value that does not fit the type it
states: one odd row would be seen by that. So other engines are refused, and SQLite, where any
column can hold anything, is read by a reader of our own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from deniable.errors import BadParameter, UnknownName
from deniable.schema import Schema
from deniable.session.tables import Table, TableOutline, type_of

from . import postgres_tables as postgres
from .duckdb_tables import COLLATION, SPILLS, collated, temporary
from .source import Source, chosen, outline, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SENDS_ARROW: Final = frozenset({"bigquery", "databricks", "datafusion"})
_READ: Final = _SENDS_ARROW | {"duckdb", "polars", "sqlite"}
_MADE_UP: Final = "ibis_"
# How SQLite itself reads a declared type (https://www.sqlite.org/datatype3.html, 3.1).
_AFFINITIES: Final = (("INT", "int"), ("CHAR|CLOB|TEXT", "text"), ("REAL|FLOA|DOUB", "float"))


@dataclass(frozen=True, kw_only=True)
class IbisTable(Source):
    """An expression whose rows will be fetched, and the type that each column has for us."""

    types: Mapping[str, str | None] = field(hash=False)

    kind: ClassVar = "ibis"

    def only(self, columns: Sequence[str]) -> Self:
        types = {name: self.types[name] for name in columns or list(self.types)[:1]}
        return replace(self, held=self.held.select(*types), types=types)

    def spills(self) -> set[str]:
        engine = self.held.get_backend()
        if engine.name != "duckdb":
            return set()
        return {place for (place,) in engine.con.sql(f"SELECT {SPILLS}").fetchall()}

    def doubt(self, column: str, kind: str | None) -> str:
        """Ibis says of no column that it has a collation: the engine itself must rule it out."""
        engine = self.held.get_backend()
        match engine.name:
            case "polars" | "datafusion":  # they have no collations
                return ""
            case "sqlite":  # in a column of numbers, text is missing
                exact = kind in ("int", "float", "bool") or _exact_in_sqlite(
                    engine, self.held, column
                )
            case _ if not self.held.schema()[column].is_string():
                return ""
            case "duckdb":
                made_known(engine, self.held)
                ((default,),) = engine.con.sql(f"SELECT {COLLATION}").fetchall()
                relation = engine.con.sql(engine.compile(self.held))  # a question that is not run
                exact = not collated(relation, column, default=default)
            case _:
                exact = False
        return "" if exact else f"text from {engine.name}, which may have a collation"

    def none(self) -> Source:
        from . import arrow_tables, ibis_rows

        return arrow_tables.ArrowTable(held=ibis_rows.described(self))

    def rows(self) -> Any:
        from . import arrow_values, ibis_rows

        return arrow_values.settled(ibis_rows.fetched(self))


def look(given: Any, name: str | None, schema: Schema | None) -> list[TableOutline]:
    """What leads to an engine that we speak is looked at as such; the rest by Ibis's types."""
    from ibis.backends import BaseBackend

    if isinstance(given, BaseBackend):  # it holds tables by name
        client = _client(given)
        if client is not None:
            return _of_client(client, name, schema)
        tables = chosen(_names(given), name, schema)
        return [each for t in tables for each in look(_table(given, t), t, None)]
    place, inner = _place(given)
    called = name or _own_name(given)
    if isinstance(place, IbisTable):
        stated = [(n, "null" if kind is None else kind) for n, kind in given.schema().items()]
        made = outline(place, called, stated, types=place.types, ibis=given)
        vague = {n: kind for n, kind in made.spelled.items() if not place.types[n]}
        return [replace(made, spelled=vague)]
    (made,) = _of_client(place, inner or called, None)
    return [replace(made, name=called, ibis=given)]


def _of_client(place: object, name: str | None, schema: Schema | None) -> list[TableOutline]:
    """A text is an address of Postgres here, however it is written."""
    if isinstance(place, str):
        return postgres.look(place, name, schema)
    from . import look_by_class

    return look_by_class(place, name, schema)


def _client(connection: Any) -> DuckDBPyConnection | str | None:
    """What can be asked in place of the whole connection: DuckDB's own, an address of Postgres."""
    match connection.name:
        case "duckdb" if not temporary(connection.con):
            return connection.con
        case "postgres":
            return postgres.address(connection.con)
    return None


def _names(connection: Any) -> list[str]:
    """The tables of a connection; not those that Ibis keeps for itself."""
    if connection.name != "duckdb":
        return list(connection.list_tables())
    # Ibis 12 lists them by a call that DuckDB 2 has no more.
    listing = (
        "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
    )
    found = sorted({name for (name,) in connection.con.sql(listing).fetchall()})
    return [name for name in found if not name.startswith(_MADE_UP)]


def _table(connection: Any, name: str) -> Any:
    """One table of a connection.

    Ibis would read a row of an SQLite table to guess the type of a column that declares none.
    """
    if connection.name != "sqlite":
        return connection.table(name)
    from ibis.expr import datatypes
    from ibis.expr.operations import DatabaseTable
    from ibis.expr.schema import Schema

    known: dict[str | None, Any] = {
        "int": datatypes.int64,
        "float": datatypes.float64,
        "text": datatypes.string,
        "bool": datatypes.boolean,
        "date": datatypes.date,
        "timestamp": datatypes.timestamp,
        None: datatypes.unknown,
    }
    stated = {column: known[kind] for column, kind in _declared(connection, name).items()}
    return DatabaseTable(name, Schema(stated), connection).to_expr()


def _own_name(expression: Any) -> str:
    """A table's own name; what was made on the way (a filter, a file that was read) has none."""
    from ibis.expr.operations import DatabaseTable

    node = expression.op()
    named = isinstance(node, DatabaseTable) and not node.name.startswith(_MADE_UP)
    return str(node.name) if named else "data"


def _place(expression: Any) -> tuple[object, str | None]:
    """Where the rows are, and what the table is called there.

    A connection, an address or a frame that we can look at ourselves; else an `IbisTable`.
    """
    from ibis.expr import operations as ops
    from ibis.expr import types

    if not isinstance(expression, types.Table):
        raise BadParameter("this Ibis expression is not a table", fix="expression.as_table()")
    node = expression.op()
    if isinstance(node, ops.InMemoryTable) and _as_given(node):
        return node.data.obj, None
    engine = _engine(expression, node)
    plain = isinstance(node, ops.DatabaseTable)
    match engine.name:
        case "duckdb" if plain and _is_ours(node, engine):
            return engine.con, node.name
        case "postgres" if plain:
            return postgres.address(engine.con, schema=node.namespace.database), node.name
        case "pyspark" if not node.find(ops.InMemoryTable):
            # A plan, analysed and not run.
            return engine._session.sql(engine.compile(expression)), None  # noqa: SLF001  (Ibis has no public way)
        case "sqlite" if plain and not any(node.namespace.args):
            expression = _table(engine, node.name)
            return IbisTable(held=expression, types=_declared(engine, node.name)), None
        case name if name in _READ:
            return IbisTable(held=expression, types=_types(expression, node, engine)), None
    raise _refused(engine.name)


def is_opened(node: Any, table: Table) -> bool:
    """Whether a table or expression of Ibis is the very one that a session opened as `table`.

    Ibis itself takes two connections for one if they were made alike, as two databases in memory
    are: here they are one if they lead to the same client, and tables if they have one place there.
    """
    from ibis.expr import operations as ops

    held: Any = None if table.ibis is None else table.ibis.op()
    if type(held) is type(node) and held == node:
        leaves = zip(held.find(ops.DatabaseTable), node.find(ops.DatabaseTable), strict=True)
        return all(_lead(one.source) is _lead(other.source) for one, other in leaves)
    return isinstance(node, ops.DatabaseTable) and table.source.is_table(node)


def _lead(connection: Any) -> Any:
    """The client that an Ibis connection speaks by; the connection itself if there is none."""
    return getattr(connection, "con", None) or connection


def _is_ours(node: Any, engine: Any) -> bool:
    """Whether another cursor of DuckDB finds the table by its name."""
    return not any(node.namespace.args) and node.name not in temporary(engine.con)


def _as_given(node: Any) -> bool:
    """A frame whose columns Ibis did not rename."""
    frame = node.data.obj
    arrow = type(frame).__module__.startswith("pyarrow")
    return list(frame.schema.names if arrow else frame.columns) == list(node.schema)


def _engine(expression: Any, node: Any) -> Any:
    """The one engine that an expression is about."""
    from ibis.common.exceptions import IbisError
    from ibis.expr.operations import UnboundTable

    unbound = node.find(UnboundTable)
    if unbound:
        raise BadParameter(
            f"`{unbound[0].name}` has no rows: it is not bound to a connection",
            why="ibis.table(...) only says which columns a table has",
            fix=f'connection.table("{unbound[0].name}")',
        )
    try:
        return expression.get_backend()
    except IbisError:
        raise BadParameter(
            "this Ibis expression uses several connections",
            fix='{"people": first.table("people"), "visits": second.table("visits")}',
        ) from None


def made_known(engine: Any, expression: Any) -> None:
    """Tables in memory that an expression mentions are made known to the engine."""
    engine._run_pre_execute_hooks(expression)  # noqa: SLF001  (Ibis has no public way)


def plain_cursor(connection: Any) -> Any:
    """A cursor of SQLite that gives plain rows, whatever the user made of them."""
    cursor = connection.con.cursor()
    cursor.row_factory = None
    return cursor


def _exact_in_sqlite(engine: Any, expression: Any, column: str) -> bool:
    """By the program that SQLite makes of a comparison and does not run: it names the collation.

    The fifth field of an instruction is P4 (https://www.sqlite.org/opcode.html); numbers have none.
    """
    made_known(engine, expression)
    name, text = quoted(column), engine.compile(expression)
    program = (
        plain_cursor(engine).execute(f"EXPLAIN SELECT {name} = {name} FROM ({text})").fetchall()
    )
    compared = [step[5] for step in program if step[1] in ("Eq", "Ne")]
    return bool(compared) and all(str(by or "BINARY").startswith("BINARY") for by in compared)


def _types(expression: Any, node: Any, engine: Any) -> dict[str, str | None]:
    """The types that Ibis states; none at all where it guessed one of them from rows."""
    from ibis.expr import operations as ops

    frames = [leaf.data.obj for leaf in node.find(ops.InMemoryTable)]
    guessed = any(type(frame).__module__.startswith("pandas") for frame in frames)
    if engine.name == "sqlite":
        leaves = node.find((ops.DatabaseTable, ops.SQLQueryResult, ops.SQLStringView))
        guessed = guessed or not all(_says_types(leaf, engine) for leaf in leaves)
    types = {column: type_of(str(kind)) for column, kind in expression.schema().items()}
    return dict.fromkeys(types) if guessed else types


def _says_types(leaf: Any, engine: Any) -> bool:
    """Whether an SQLite table declares the type of every column; a text of SQL never does."""
    if not hasattr(leaf, "namespace"):
        return False
    return None not in _declared(engine, leaf.name, leaf.namespace.database).values()


def _declared(connection: Any, name: str, database: str | None = None) -> dict[str, str | None]:
    """The types that an SQLite table declares: None where it declares none, as a view can."""
    asked = "SELECT name, upper(type) FROM pragma_table_info(?, ?)"
    found = plain_cursor(connection).execute(asked, (name, database)).fetchall()
    if not found:
        raise UnknownName.of("table", name, known=connection.list_tables())
    return {column: type_of(kind) or _affinity(kind) for column, kind in found}


def _affinity(declared: str) -> str | None:
    return next((kind for rule, kind in _AFFINITIES if re.search(rule, declared)), None)


def _refused(engine: str) -> BadParameter:
    if engine == "postgres":
        return BadParameter(
            "an Ibis expression on Postgres must be opened as a view",
            why="its rows then stay where they are",
            fix='connection.create_view("adults", expression), then connection.table("adults")',
        )
    if engine == "pyspark":
        return BadParameter(
            "this Ibis expression mixes Spark with a table in memory",
            fix="spark.createDataFrame(frame).createOrReplaceTempView(...)",
        )
    return BadParameter(
        f"{engine} is not supported through Ibis, because its client can fail on a single row",
        why="its client stops at a value that does not fit the type of its column: a single odd "
        "row could be noticed by that",
        fix=('expression.to_parquet("people.parquet")', "a DuckDB connection that attaches it"),
    )
