"""Tables and views of a DuckDB connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from deniable.errors import BadParameter
from deniable.schema import Schema
from deniable.session.tables import TableOutline

from .source import Named, chosen, outline, quoted

SPILLS: Final = "current_setting('temp_directory')"
COLLATION: Final = "current_setting('default_collation')"
_EXACT: Final = frozenset({"", "binary", "c", "posix"})


class DuckDBTable(Named):
    """A table or a view, read on the user's connection."""

    kind: ClassVar = "duckdb"

    @property
    def _name(self) -> str:
        return quoted(*self.within, self.inner)

    def spills(self) -> set[str]:
        return {place for (place,) in self.held.cursor().execute(f"SELECT {SPILLS}").fetchall()}

    def doubt(self, column: str, kind: str | None) -> str:
        if kind != "text":
            return ""
        ((default,),) = self.held.sql(f"SELECT {COLLATION}").fetchall()
        # a question that is not run
        return collated(self.held.cursor().sql(f"FROM {self._name}"), column, default=default)

    def is_table(self, node: Any) -> bool:
        backend = node.source
        if backend.name != "duckdb" or node.name != self.inner or backend.con is not self.held:
            return False
        if node.name in temporary(self.held):
            return False
        space = node.namespace
        (current,) = self.held.sql("SELECT current_database(), current_schema()").fetchall()
        return (space.catalog or current[0], space.database or current[1]) == self.within

    def in_place(self, connection: Any) -> str:
        """Floats of a view, or from elsewhere, as no statistics know them.

        What is behind may be Parquet, whose statistics leave NaN out: DuckDB then takes x < 2 and
        even ISNAN(x) as known for all rows. NEXTAFTER(x, x) is x, and nothing is known of it.
        """
        asked = (
            "SELECT 1 FROM duckdb_tables() t JOIN duckdb_databases() d USING (database_oid) "
            "WHERE d.type = 'duckdb' AND [t.database_name, t.schema_name, t.table_name] = ?"
        )
        if connection.execute(asked, [[*self.within, self.inner]]).fetchall():
            return self._name
        columns = connection.execute(f"DESCRIBE FROM {self._name}").fetchall()
        made = [
            f"NEXTAFTER({c}, {c}) AS {c}" if kind in ("FLOAT", "DOUBLE") else c
            for c, kind in ((quoted(column), kind) for column, kind, *_ in columns)
        ]
        return f"(SELECT {', '.join(made)} FROM {self._name}) AS held"

    def stored(self, connection: Any, types: Mapping[str, str]) -> dict[str, str]:
        texts = [column for column, kind in types.items() if kind == "VARCHAR"]
        return {**types, **self._collated(connection, texts)}

    def _collated(self, connection: Any, texts: Sequence[str]) -> dict[str, str]:
        """Which columns have a collation of their own: nothing says so but that they do not mix."""
        import duckdb

        same = ", ".join(map(_compared, texts))
        try:
            if texts:
                connection.execute(f"DESCRIBE SELECT {same} FROM {self._name}")
        except duckdb.BinderException:
            if len(texts) == 1:
                return {texts[0]: "VARCHAR COLLATE other"}
            half = len(texts) // 2
            parts = (self._collated(connection, part) for part in (texts[:half], texts[half:]))
            return {column: kind for part in parts for column, kind in part.items()}
        return {}


def look(given: Any, name: str | None, schema: Schema | None) -> list[TableOutline]:
    """The tables that the connection lists where it is; or a relation."""
    if hasattr(given, "columns"):
        from . import duckdb_relations

        return duckdb_relations.look(given, name, schema)
    within = _place(given)
    listing = (
        "SELECT table_name, column_name, data_type FROM information_schema.columns "
        "WHERE table_catalog = ? AND table_schema = ? ORDER BY table_name, ordinal_position"
    )
    shapes: dict[str, list[tuple[str, str]]] = {}
    for table, column, kind in given.cursor().execute(listing, within).fetchall():
        shapes.setdefault(table, []).append((column, kind))
    return [
        outline(DuckDBTable(held=given, inner=table, within=within), table, shapes[table])
        for table in chosen(list(shapes), name, schema)
    ]


def _place(connection: Any) -> tuple[str, str]:
    """The database and schema that the user is in; a cursor would start in the first ones."""
    import duckdb

    try:
        (place,) = connection.sql("SELECT current_database(), current_schema()").fetchall()
    except duckdb.Error:
        raise BadParameter(
            "this DuckDB connection is busy or closed",
            why="its current schema cannot be read until the last result has been fetched",
            fix="connection.fetchall(), and then open it",
        ) from None
    return (str(place[0]), str(place[1]))


def temporary(connection: Any) -> set[str]:
    """Tables that DuckDB shows to this connection alone, such as files that Ibis reads."""
    listing = "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'temp'"
    return {name for (name,) in connection.sql(listing).fetchall()}


def collated(relation: Any, column: str, *, default: str) -> str:
    """How a column of text is spelled if it, or the connection, has a collation; else empty.

    DuckDB says of no column that it has one, but compares no two that differ in it.
    """
    import duckdb

    if default.lower() not in _EXACT:
        return f"VARCHAR under the default collation {default}"
    if str(relation.types[relation.columns.index(column)]) != "VARCHAR":
        return ""
    try:
        relation.filter(_compared(column))
    except duckdb.BinderException:
        return "VARCHAR with a collation"
    return ""


def _compared(column: str) -> str:
    return f'({quoted(column)} COLLATE "C") = {quoted(column)}'
