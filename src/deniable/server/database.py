"""Where accounts, questions under way, rates and the audit log are kept: SQLite or Postgres.

One writer at a time, as for ledgers: BEGIN IMMEDIATE in SQLite, an advisory lock in Postgres. The
tables are those of the numbered files in `migrations`, applied in order and each once; one that
ends in `.sqlite.sql` is for SQLite alone.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

from deniable.errors import BadParameter, LedgerFailure, MissingExtra, NotReady

MIGRATIONS = Path(__file__).with_name("migrations")
_SCHEMA = "deniable_server"
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")

Values = Sequence[object]
Rows = list[tuple[Any, ...]]


class Unreachable(NotReady):
    """The database does not answer: nothing was done, or nobody can know until it is read again."""

    status = 503


class _Held:
    """The connection of one thread: closed when the thread ends, as those of web servers do.

    Whoever uses it holds its lock: SQLite would end the process if it were closed meanwhile.
    """

    def __init__(self, connection: Any) -> None:
        self.connection, self.lock, self.closed = connection, threading.RLock(), False

    def close(self) -> None:
        """Once nobody uses it."""
        with self.lock:
            self.closed = True
            self.connection.close()

    def __del__(self) -> None:
        with suppress(Exception):  # of whichever driver: nobody is there to be told
            self.connection.close()


class Database(ABC):
    """A few statements on a connection per thread."""

    _errors: tuple[type[Exception], ...]
    """What the driver raises if the database does not answer."""
    _dialect: ClassVar[str]

    def __init__(self) -> None:
        self._threads = threading.local()
        self._opened: weakref.WeakSet[_Held] = weakref.WeakSet()
        self._lock = threading.Lock()

    def rows(self, sql: str, *values: object) -> Rows:
        """What a statement of its own transaction returns."""
        with self.transaction() as run:
            rows: Rows = run(sql, *values)
            return rows

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """The one writer, until the end of the block: run(sql, *values) → rows."""
        try:
            with self._begun() as connection:
                try:
                    yield lambda sql, *values: self._run(connection, sql, _storable(values))
                except BaseException:
                    with suppress(*self._errors):
                        connection.rollback()
                    raise
                connection.commit()
        except self._errors as error:
            raise Unreachable(
                "the server's database does not answer",
                why=f"{type(error).__name__}",
                fix="start it again; then ask again with the same key",
            ) from None

    @contextmanager
    def _begun(self) -> Iterator[Any]:
        """A connection in a transaction; one that died while idle is replaced once, at no risk."""
        with ExitStack() as stack:
            connection = self._connection(stack)
            try:
                self._begin(connection)
            except self._errors:
                if not self._broken(connection):
                    raise
                connection = self._connection(stack)
                self._begin(connection)
            yield connection

    def migrate(self) -> None:
        """Apply the migrations that this database has not seen."""
        with self.transaction() as run:
            run("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)")
            seen = {name for (name,) in run("SELECT name FROM migrations")}
            known = sorted(MIGRATIONS.glob("*.sql"))
            if seen - {path.stem for path in known}:
                raise LedgerFailure(
                    "a newer version of deniable wrote the server's database",
                    fix="run that version, or restore a back-up",
                )
            for path in known:
                if path.stem not in seen and path.suffixes[0] in (".sql", f".{self._dialect}"):
                    for statement in path.read_text(encoding="utf-8").split(";"):
                        if statement.strip():
                            run(statement)
                    run("INSERT INTO migrations VALUES (?)", path.stem)

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            opened, self._opened = list(self._opened), weakref.WeakSet()
        self._threads = threading.local()
        for each in opened:
            each.close()

    def _connection(self, stack: ExitStack) -> Any:
        """This thread's connection, which stays open until the stack is left."""
        held = getattr(self._threads, "held", None)
        if held is not None:
            stack.enter_context(held.lock)
        if held is None or held.closed or self._broken(held.connection):
            held = self._threads.held = _Held(self._connect())
            stack.enter_context(held.lock)
            with self._lock:
                self._opened.add(held)
        stack.callback(lambda: held)  # nor may it be forgotten meanwhile
        return held.connection

    @abstractmethod
    def _connect(self) -> Any: ...

    @abstractmethod
    def _begin(self, connection: Any) -> None: ...

    @abstractmethod
    def _run(self, connection: Any, sql: str, values: Values) -> Rows: ...

    def _broken(self, connection: Any) -> bool:
        return bool(getattr(connection, "closed", False))


class SqliteDatabase(Database):
    """A file of mode 0600."""

    _dialect = "sqlite"

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path, self._errors = path, (sqlite3.OperationalError,)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        self.migrate()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=30, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA cache_size = -64")  # in KiB; every waiting thread has one
        return connection

    def _begin(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:  # left by an interrupt
            connection.rollback()
        connection.execute("BEGIN IMMEDIATE")

    def _run(self, connection: sqlite3.Connection, sql: str, values: Values) -> Rows:
        return connection.execute(sql, tuple(values)).fetchall()


class PostgresDatabase(Database):
    """A schema of its own beside the ledgers."""

    _dialect = "postgres"

    def __init__(self, address: str) -> None:
        super().__init__()
        try:
            import psycopg
        except ImportError:
            raise MissingExtra.of("psycopg, which speaks to Postgres,", extra="postgres") from None
        self._driver, self._address = psycopg, address.partition("#")[0]
        self._errors = (psycopg.OperationalError, psycopg.InterfaceError)
        with ExitStack() as stack:
            connection = self._connection(stack)
            self._begin(connection)
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}")
            connection.commit()
        self.migrate()

    def _connect(self) -> Any:
        return self._driver.connect(
            self._address,
            options=f"-c search_path={_SCHEMA}",
            application_name="deniable server",
            connect_timeout=10,
            prepare_threshold=None,
        )

    def _begin(self, connection: Any) -> None:
        if connection.info.transaction_status != self._driver.pq.TransactionStatus.IDLE:
            connection.rollback()
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('deniable_server', 0))")

    def _run(self, connection: Any, sql: str, values: Values) -> Rows:
        done = connection.execute(sql.replace("?", "%s"), tuple(values))
        return list(done.fetchall()) if done.description else []


def _storable(values: Values) -> Values:
    """The values, if either kind of database can hold them: Postgres cannot hold NUL in a text."""
    for value in values:
        if isinstance(value, str) and _UNSTORABLE.search(value):
            raise BadParameter("not a text of whole characters", fix="leave out NUL characters")
    return values


def opened(state: Path, address: str | None) -> Database:
    """The database of a server."""
    if address is not None:
        return PostgresDatabase(address)
    return SqliteDatabase(state / "server.db")


def now() -> float:
    """Seconds since 1970; apart, so that tests can move it."""
    return time.time()
