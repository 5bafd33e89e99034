"""Tables and views of a Postgres server; one is asked by a connection of our own."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

from deniable.errors import BadParameter, MissingExtra
from deniable.schema import Schema
from deniable.session.tables import TableOutline

from .source import Named, chosen, outline, quoted

# Schema, table, column, its type, and the type that says whether values are equal in one way only:
# a domain is what it is made of, and a collation says whether it may hold different texts equal.
_LISTING: Final = """
    SELECT i.table_schema, i.table_name, i.column_name, i.data_type,
        CASE WHEN t.typtype = 'e' THEN 'enum'
             WHEN i.data_type = 'USER-DEFINED' THEN i.udt_name
             ELSE i.data_type END
        || CASE WHEN c.collisdeterministic IS FALSE THEN ' collate other' ELSE '' END
    FROM information_schema.columns i
    LEFT JOIN pg_type t ON t.typname = i.udt_name
        AND t.typnamespace = (SELECT oid FROM pg_namespace WHERE nspname = i.udt_schema)
    LEFT JOIN pg_collation c ON c.collname = i.collation_name
        AND c.collnamespace = (SELECT oid FROM pg_namespace WHERE nspname = i.collation_schema)
        AND c.collencoding IN (-1, pg_char_to_encoding(getdatabaseencoding()))
    WHERE i.table_schema = current_schema()
    ORDER BY i.table_name, i.ordinal_position
"""


class PostgresTable(Named):
    """A table on the server at an address."""

    kind: ClassVar = "postgres"
    engine: ClassVar = "Postgres"

    def is_table(self, node: Any) -> bool:
        if node.source.name != "postgres" or node.name != self.inner:
            return False
        client = node.source.con
        within = (node.namespace.database or current_schema(client),)
        return _database(self.held) == _database(client) and within == self.within


def look(
    given: Any, name: str | None, schema: Schema | None, held: str | None = None
) -> list[TableOutline]:
    """The tables that a connection, or the one at an address, sees in its schema."""
    if isinstance(given, str):
        with _connected(given) as connection:
            return look(connection, name, schema, held=given)
    idle = given.info.transaction_status == 0
    shapes: dict[str, list[tuple[str, ...]]] = {}
    for row in given.execute(_LISTING).fetchall():
        shapes.setdefault(row[1], []).append(row)
    if idle and not given.autocommit:
        given.rollback()  # leave the connection as it was found
    there, made = held or address(given), []
    for table in chosen(list(shapes), name, schema):
        source = PostgresTable(held=there, inner=table, within=(shapes[table][0][0],))
        spelled = {column: exact for _, _, column, _, exact in shapes[table]}
        made.append(outline(source, table, [row[2:4] for row in shapes[table]], spelled=spelled))
    return made


def _connected(address: str) -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra.of("psycopg, which speaks to Postgres,", extra="postgres") from None
    try:
        return psycopg.connect(address)
    except psycopg.Error:
        raise BadParameter(
            "cannot connect to Postgres at that address: no server answers, or it refuses your role"
        ) from None


def address(connection: Any, *, schema: str | None = None) -> str:
    """Server, database and user, and the schema in which names of tables are looked up.

    That schema is the connection's own unless one is given: of two tables called alike, a fresh
    connection might see the other one.
    """
    from psycopg import conninfo

    info = connection.info
    within = schema or current_schema(connection)
    escaped = re.sub(r"([\\ ])", r"\\\1", quoted(within))
    before = conninfo.conninfo_to_dict(info.dsn).get("options", "")
    secret = {"password": info.password} if info.password else {}
    options = f"{before} -c search_path={escaped}".strip()
    return str(conninfo.make_conninfo(info.dsn, options=options, **secret))


def current_schema(connection: Any) -> str:
    """The schema in which a connection looks up names."""
    from psycopg.rows import tuple_row

    idle = connection.info.transaction_status == 0
    cursor = connection.cursor(row_factory=tuple_row)
    (found,) = cursor.execute("SELECT coalesce(current_schema(), 'public')").fetchone()
    if idle and not connection.autocommit:
        connection.rollback()  # leave the connection as it was found
    return str(found)


def _database(source: Any) -> tuple[str, ...]:
    """Server and database of a connection or an address, to tell two of them apart."""
    import psycopg

    if not isinstance(source, str):
        info = source.info
        return (info.host, str(info.port), info.dbname)
    with psycopg.connect(source) as connection:
        return _database(connection)
