"""A ledger in Postgres, for several machines: each ledger is a schema of its own.

The address alone says which: postgresql://host/database#survey is the schema `deniable_survey`, and
without a fragment it is `deniable_ledger`.

One schema. Temporary tables come last in the search path: one named `entries`, left by whoever had
a pooled connection before, does not hide the ledger.

One writer. A transaction-level advisory lock is taken before the total is read. Unlike a locked row
it needs no right to UPDATE, so the role that charges can be granted SELECT and INSERT alone.

Durability. Each transaction asks for synchronous_commit itself (a pooled connection may have been
set otherwise), and a server that runs without fsync is refused.

A server that does not answer. Every wait ends with the patience that was stated; whether a charge
was kept is then looked up with as much patience again.

A lost connection. Before COMMIT was sent nothing was written. After it, nobody can know until the
table is read again: `ledger.py` does so once the lock is free, that is, once the lost transaction
has ended one way or the other. A charge that landed stays spent; its answer is never released.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from deniable.errors import BadParameter, LedgerFailure, MissingExtra

from .sql import TABLES, SqlLines, SqlStore
from .store import nothing_there

if TYPE_CHECKING:
    import psycopg

_GUARDS = (
    """CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'a ledger is append-only'; END $$""",
    *(
        f"""CREATE TRIGGER {table}_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
            EXECUTE FUNCTION refuse_change()"""
        for table in ("entries", "secret")
    ),
)


class PostgresStore(SqlStore["psycopg.Connection"]):
    """One ledger in one schema; a charge waits `patience` seconds for others to finish."""

    _reading = "REPEATABLE READ, READ ONLY"
    _writing = "READ COMMITTED, READ WRITE"

    def __init__(self, address: str, *, create: bool, patience: float = 60.0) -> None:
        super().__init__(patience=patience)
        self._driver = _driver()
        self._errors = (self._driver.Error,)
        self._hidden = (  # without USAGE, the tables of a schema do not seem to exist
            self._driver.errors.InsufficientPrivilege,
            self._driver.errors.UndefinedTable,
        )
        self._bounded = _bounded(self._driver, lambda: self._deadline)
        self._deadline = time.monotonic() + patience
        self._url, _, name = address.partition("#")
        self._schema = f"deniable_{_simple(name or 'ledger')}"
        self.where = f"{_without_password(self._driver, self._url)}#{name or 'ledger'}"
        try:
            self._prepare(create=create)
        except BaseException:
            self.close()
            raise

    def _begin(self, how: str) -> psycopg.Connection:
        """Start a transaction; the one that may write waits for its turn."""
        self._deadline = time.monotonic() + self.patience
        connection = self._begun(
            f"BEGIN ISOLATION LEVEL {how}; "
            f"SET LOCAL search_path TO {self._schema}, pg_temp; "
            f"SET LOCAL synchronous_commit TO on; "
            f"SET LOCAL lock_timeout TO '{round(900 * self.patience)}ms'"
        )
        if how == self._writing:
            self._lock(connection)
        return connection

    def _lock(self, connection: psycopg.Connection) -> None:
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (self._schema,))

    def _begun(self, begin: str) -> psycopg.Connection:
        """A connection that died while idle is replaced once, at no risk."""
        connection = self._one.get()
        if connection.info.transaction_status == self._driver.pq.TransactionStatus.IDLE:
            with suppress(self._driver.OperationalError):
                connection.execute(begin)
                return connection
        self._forget()
        connection = self._one.get()
        connection.execute(begin)
        return connection

    def _connect(self) -> psycopg.Connection:
        # In whole seconds, as libpq wants it; psycopg keeps to 2 at least.
        seconds = max(2, math.ceil(self._deadline - time.monotonic()))
        connection = self._bounded.connect(
            self._url,
            autocommit=True,
            prepare_threshold=None,  # so that it also works behind a connection pool
            connect_timeout=seconds,
            application_name="deniable ledger",
        )
        try:
            self._check_durable(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_durable(self, connection: psycopg.Connection) -> None:
        row = connection.execute("SELECT current_setting('fsync')").fetchone()
        if row != ("on",):
            raise LedgerFailure(
                f"{self.where} is not durable: the server runs with fsync = off",
                why="a power cut could forget charges whose answers were already shown",
                fix="set fsync = on in postgresql.conf",
            )

    def _is_ledger(self, connection: psycopg.Connection) -> bool:
        exists = "SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = 'entries'"
        return connection.execute(exists, (self._schema,)).fetchone() is not None

    def _lay_out(self, connection: psycopg.Connection) -> None:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {self._schema}")
        for statement in (*TABLES, *_GUARDS):
            connection.execute(statement)

    def _missing(self) -> LedgerFailure:
        return nothing_there(self.where)

    def _lines(self, connection: psycopg.Connection) -> SqlLines:
        def run(sql: str, values: Sequence[object]) -> list[tuple[object, ...]]:
            cursor = connection.execute(sql.replace("?", "%s"), tuple(values))
            return cursor.fetchall() if cursor.description else []

        here = "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()"
        return SqlLines(run, tables=here, where=self.where)

    def _failure(self, error: Exception) -> LedgerFailure:
        cause, fix = "the server refused", [""]
        if isinstance(error, self._driver.errors.LockNotAvailable):
            cause, fix = "others kept the ledger locked for too long", ["try again"]
        elif isinstance(error, self._driver.errors.DiskFull):
            cause, fix = "the server's disk is full", ["free some space on the server"]
        elif isinstance(error, self._hidden):
            cause, fix = "this role may not do that", self._rights()
        elif isinstance(error, self._driver.OperationalError):
            cause, fix = "the connection was lost or refused", ["is the server running? ask again"]
        why = (str(error).splitlines() or [""])[0]
        return LedgerFailure(f"{self.where} cannot be used: {cause}", why=why, fix=fix)

    def _rights(self) -> list[str]:
        """What the role that an address names needs."""
        named = self._driver.conninfo.conninfo_to_dict(self._url).get("user")
        to = self._driver.sql.Identifier(named).as_string(None) if named else "..."
        return [
            f"GRANT USAGE ON SCHEMA {self._schema} TO {to}",
            f"GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA {self._schema} TO {to}",
            f"GRANT DELETE ON {self._schema}.causes TO {to}    -- for the curator, who resumes",
        ]


def _driver() -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra.of("psycopg, which speaks to Postgres,", extra="postgres") from None
    return psycopg


def _bounded(driver: Any, deadline: Callable[[], float]) -> Any:
    """A class of connections on which no statement waits for longer than the deadline.

    A server that stopped, or a network that swallows everything, is not noticed by the socket for
    hours. psycopg asks its generators again every tenth of a second; past the deadline they raise.
    """

    def until(steps: Any) -> Any:
        try:
            wanted = next(steps)
            while True:
                ready = yield wanted
                if not ready and time.monotonic() > deadline():
                    raise driver.OperationalError("the server did not answer in time")
                wanted = steps.send(ready)
        except StopIteration as end:
            return end.value

    class Bounded(driver.Connection):  # type: ignore[misc]
        def wait(self, gen: Any, *more: Any, **options: Any) -> Any:
            return super().wait(until(gen), *more, **options)

    return Bounded


def _simple(name: str) -> str:
    """A name that is safe as part of a schema's name."""
    lowered = name.lower()
    if not (lowered.isascii() and lowered.replace("_", "").isalnum() and len(lowered) <= 50):
        raise BadParameter(  # without the name: it may be the rest of a password that holds a #
            "the ledger's name after # must be up to 50 letters, digits and _",
            why="it names a schema",
            fix="postgresql://user@host/database#survey    (a # in a password is written %23)",
        )
    return lowered


def _without_password(driver: Any, url: str) -> str:
    """The host and the database of an address, if it is read as its writer meant it.

    A password with an unescaped @ or / would end up in part as host or database, and be shown.
    """
    try:
        parts = driver.conninfo.conninfo_to_dict(url)
    except driver.ProgrammingError:
        parts = None
    if parts is not None:
        host, port, name = (str(parts.get(key) or "") for key in ("host", "port", "dbname"))
        if not set("@?#") & set(host + name) and port.replace(",", "").isdigit() >= bool(port):
            return f"postgresql://{host or 'localhost'}/{name}"
    raise BadParameter(
        "the ledger's address cannot be read",
        fix=(
            "postgresql://user@host:5432/database    (the password from ~/.pgpass)",
            "or, in a password, write @ as %40, / as %2F, # as %23 and % as %25",
        ),
    )
