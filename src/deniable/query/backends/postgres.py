"""PostgreSQL, through psycopg."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from deniable.query.compile import Dialect, Stored
from deniable.query.compile import nodes as sql
from deniable.query.compile.postgres import Postgres as PostgresDialect
from deniable.session.tables import Table

from .engine import AnswerRows, Engine, EngineError, check_settings

SETTINGS: Final = {
    "standard_conforming_strings": "on",
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
}
# The collation of columns that name none; it is never one that merges texts.
_DEFAULT: Final = 100


class Postgres(Engine):
    """A read-only transaction on one snapshot."""

    name: ClassVar = "Postgres"
    advice: ClassVar = "the server is running and that this role may read"
    dialect: ClassVar[Dialect] = PostgresDialect()

    def __init__(self, tables: Sequence[Table]) -> None:
        import psycopg

        self._sources: dict[str, Any] = {table.name: table.source for table in tables}
        try:
            self._connection: Any = psycopg.connect(tables[0].source.place, autocommit=False)
        except psycopg.Error:
            raise EngineError("the server cannot be reached, or refuses the connection") from None
        self._connection.read_only = True
        self._connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        try:
            self._pin()
        except BaseException:
            self.close()
            raise

    def _pin(self) -> None:
        for name, value in SETTINGS.items():
            self._connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        wanted = SETTINGS | {"server_encoding": "UTF8"}
        found = {
            name: self._connection.execute("SELECT current_setting(%s)", (name,)).fetchone()[0]
            for name in wanted
        }
        check_settings(wanted, found)

    def stored(self) -> Mapping[str, Stored]:
        """From the catalogue; a domain is stored as the type it is made of."""
        asked = (
            "SELECT a.attname, CASE WHEN b.typtype = 'e' THEN 'enum' WHEN b.oid = a.atttypid "
            "THEN format_type(b.oid, a.atttypmod) ELSE format_type(b.oid, NULL) END || "
            "CASE WHEN a.attcollation IN (0, %s) THEN '' WHEN c.collisdeterministic "
            "THEN ' collate exact' ELSE ' collate other' END "
            "FROM pg_attribute a LEFT JOIN pg_collation c ON c.oid = a.attcollation "
            "CROSS JOIN LATERAL (WITH RECURSIVE under AS (SELECT t.oid, t.typtype, t.typbasetype "
            "FROM pg_type t WHERE t.oid = a.atttypid UNION ALL SELECT t.oid, t.typtype, "
            "t.typbasetype FROM pg_type t JOIN under ON t.oid = under.typbasetype) "
            "SELECT oid, typtype FROM under WHERE typtype <> 'd') b "
            "WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped "
            "AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')"
        )
        made = {}
        for name, held in self._sources.items():
            source = sql.table(held.inner, within=held.within)
            quoted = self.dialect.write(source)
            columns = self._connection.execute(asked, (_DEFAULT, quoted)).fetchall()
            if not columns:
                raise EngineError(f"there is no table {quoted}, or this role may not read it")
            made[name] = Stored(source=source, types=dict(columns))
        return made

    def check(self, statements: Sequence[str]) -> None:
        """By PREPARE, which analyses a statement, but neither plans nor runs it."""
        for text in statements:
            self._connection.execute(f"PREPARE deniable_check AS {text}")
            self._connection.execute("DEALLOCATE deniable_check")

    def run(self, statements: Sequence[str]) -> list[AnswerRows]:
        """All statements of one snapshot."""
        try:
            return [self._connection.execute(text).fetchall() for text in statements]
        finally:
            self._connection.rollback()

    def close(self) -> None:
        """The connection is our own."""
        self._connection.close()
