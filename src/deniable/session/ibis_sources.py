"""Tables and connections of Ibis: where their rows are, told without reading any.

    duckdb, postgres     tables: asked by us, through our own client
    pyspark              tables and expressions: asked by us, as Spark frames
    a table in memory    the frame itself
    the rest             `Remote`: the columns that a question reads are fetched when it is paid for

An engine whose client makes Arrow of Python objects fails on a value that does not fit the type it
states: one odd row would be seen by that. So other engines are refused, and SQLite, where any
column can hold anything, is read by a reader of our own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from deniable.errors import BadParameter, UnknownName

from . import postgres
from .tables import Table, type_of

_SENDS_ARROW: Final = frozenset({"bigquery", "databricks", "datafusion"})
_READ: Final = _SENDS_ARROW | {"duckdb", "polars", "sqlite"}
_MADE_UP: Final = "ibis_"
# How SQLite itself reads a declared type (https://www.sqlite.org/datatype3.html, 3.1).
_AFFINITIES: Final = (("INT", "int"), ("CHAR|CLOB|TEXT", "text"), ("REAL|FLOA|DOUB", "float"))


@dataclass(frozen=True, kw_only=True)
class Remote:
    """An Ibis expression whose rows will be fetched, and the type that each column has for us."""

    expression: Any = field(repr=False)
    types: Mapping[str, str | None]

    def only(self, names: Sequence[str]) -> Remote:
        """Some of its columns."""
        types = {name: self.types[name] for name in names}
        return Remote(expression=self.expression.select(*names), types=types)


def is_connection(source: Any) -> bool:
    """Whether it holds tables by name, and is none itself."""
    from ibis.backends import BaseBackend

    return isinstance(source, BaseBackend)


def client(connection: Any) -> object | None:
    """What can be asked in place of the whole connection: DuckDB's own, an address of Postgres."""
    match connection.name:
        case "duckdb" if not _temporary(connection):
            return connection.con  # type: ignore[no-any-return]
        case "postgres":
            return postgres.address(connection.con)
    return None


def names(connection: Any) -> list[str]:
    """The tables of a connection; not those that Ibis keeps for itself."""
    if connection.name != "duckdb":
        return list(connection.list_tables())
    # Ibis 12 lists them by a call that DuckDB 2 has no more.
    listing = (
        "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
    )
    found = sorted({name for (name,) in connection.con.sql(listing).fetchall()})
    return [name for name in found if not name.startswith(_MADE_UP)]


def _temporary(connection: Any) -> set[str]:
    """Tables that DuckDB shows to this connection alone, such as files that Ibis reads."""
    listing = "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'temp'"
    return {name for (name,) in connection.con.sql(listing).fetchall()}


def table(connection: Any, name: str) -> Any:
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


def own_name(expression: Any) -> str:
    """A table's own name; what was made on the way (a filter, a file that was read) has none."""
    from ibis.expr.operations import DatabaseTable

    node = expression.op()
    named = isinstance(node, DatabaseTable) and not node.name.startswith(_MADE_UP)
    return str(node.name) if named else "data"


def place(expression: Any) -> tuple[object, str | None]:
    """Where the rows are, and what the table is called there.

    A connection, an address or a frame that we can look at ourselves; else a `Remote`.
    """
    from ibis.expr import operations as ops
    from ibis.expr import types

    if not isinstance(expression, types.Table):
        raise BadParameter("this Ibis expression is no table", fix="expression.as_table()")
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
            return engine._session.sql(engine.compile(expression)), None  # noqa: SLF001
        case "sqlite" if plain and not any(node.namespace.args):
            expression = table(engine, node.name)
            return Remote(expression=expression, types=_declared(engine, node.name)), None
        case name if name in _READ:
            return Remote(expression=expression, types=_types(expression, node, engine)), None
    raise _refused(engine.name)


def is_opened(node: Any, table: Table) -> bool:
    """Whether a table or expression of Ibis is the very one that a session opened as `table`.

    Ibis itself takes two connections for one if they were made alike, as two databases in memory
    are: here they are one if they lead to the same client, and tables if they have one place there.
    """
    from ibis.expr import operations as ops

    held: Any = None if table.ibis is None else table.ibis.op()  # type: ignore[attr-defined]
    if type(held) is type(node) and held == node:
        leaves = zip(held.find(ops.DatabaseTable), node.find(ops.DatabaseTable), strict=True)
        return all(_lead(one.source) is _lead(other.source) for one, other in leaves)
    if not isinstance(node, ops.DatabaseTable) or node.name != table.inner:
        return False
    match table.kind, node.source.name:
        case "duckdb", "duckdb":
            return _lead(node.source) is table.source and _is_within(node, table)
        case "postgres", "postgres":
            here = postgres.database(table.source)
            return here == postgres.database(_lead(node.source)) and _is_within(node, table)
    return False


def _lead(connection: Any) -> Any:
    """The client that an Ibis connection speaks by; the connection itself if there is none."""
    return getattr(connection, "con", None) or connection


def _is_within(node: Any, table: Table) -> bool:
    """Whether the names before a table's name, stated or not, are those that it was opened by."""
    space, client = node.namespace, _lead(node.source)
    if node.source.name == "postgres":
        return (space.database or postgres.current_schema(client),) == table.within
    if node.name in _temporary(node.source):
        return False
    (current,) = client.sql("SELECT current_database(), current_schema()").fetchall()
    return (space.catalog or current[0], space.database or current[1]) == table.within


def _is_ours(node: Any, engine: Any) -> bool:
    """Whether another cursor of DuckDB finds the table by its name."""
    return not any(node.namespace.args) and node.name not in _temporary(engine)


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
            f"`{unbound[0].name}` is a table without rows: it is bound to no connection",
            why="ibis.table(...) only says which columns a table has",
            fix=f'connection.table("{unbound[0].name}")',
        )
    try:
        return expression.get_backend()
    except IbisError:
        raise BadParameter(
            "this Ibis expression is about several connections",
            fix='{"people": first.table("people"), "visits": second.table("visits")}',
        ) from None


def _types(expression: Any, node: Any, engine: Any) -> dict[str, str | None]:
    """Ibis's word on the types; nobody's, where Ibis guessed one of them from rows."""
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
    cursor = connection.con.cursor()
    cursor.row_factory = None
    found = cursor.execute(asked, (name, database)).fetchall()
    if not found:
        raise UnknownName.of("table", name, known=connection.list_tables())
    return {column: type_of(kind) or _affinity(kind) for column, kind in found}


def _affinity(declared: str) -> str | None:
    return next((kind for rule, kind in _AFFINITIES if re.search(rule, declared)), None)


def _refused(engine: str) -> BadParameter:
    if engine == "postgres":
        return BadParameter(
            "an Ibis expression on Postgres is asked as a view",
            why="its rows then stay where they are",
            fix='connection.create_view("adults", expression), then connection.table("adults")',
        )
    if engine == "pyspark":
        return BadParameter(
            "this Ibis expression mixes Spark with a table in memory",
            fix="spark.createDataFrame(frame).createOrReplaceTempView(...)",
        )
    return BadParameter(
        f"rows do not come from {engine} through Ibis without fail",
        why="its client stops at a value that does not fit the type of its column: a single odd "
        "row could be noticed by that",
        fix=('expression.to_parquet("people.parquet")', "a DuckDB connection that attaches it"),
    )
