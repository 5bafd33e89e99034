"""What SQLite and Postgres share: tables, look-ups, transactions, one connection per process."""

from __future__ import annotations

import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from deniable.errors import DeniableError, LedgerFailure
from deniable.ledger.trust import broken

from .store import CommitUnsure, Lookups, Row, Writing, refuse_reentry


class Connection(Protocol):
    """A connection, as far as this file cares."""

    def execute(self, sql: str, /) -> object:
        """Run one statement."""

    def rollback(self) -> object:
        """Undo the transaction under way, if there is one."""

    def close(self) -> object:
        """Close the connection to the database."""


C = TypeVar("C", bound=Connection)
C_co = TypeVar("C_co", bound=Connection, covariant=True)
T = TypeVar("T")

# Beside the lines, because a cause may hold people's values and the lines may be exported.
_CAUSES = "CREATE TABLE causes (sequence INTEGER PRIMARY KEY, cause TEXT NOT NULL)"

TABLES = (
    """CREATE TABLE entries (
        sequence INTEGER PRIMARY KEY, line TEXT NOT NULL, hash TEXT NOT NULL,
        kind TEXT NOT NULL, asker TEXT, question TEXT, mechanisms TEXT)""",
    "CREATE INDEX entries_kind ON entries (kind, asker)",
    "CREATE INDEX entries_asker ON entries (asker, sequence) WHERE asker IS NOT NULL",
    "CREATE INDEX entries_question ON entries (question, sequence) WHERE question IS NOT NULL",
    "CREATE INDEX entries_mechanisms ON entries (mechanisms) WHERE mechanisms IS NOT NULL",
    "CREATE TABLE secret (key TEXT NOT NULL)",
    _CAUSES,
)

_SELECT = "SELECT sequence, line, hash, kind, asker, question, mechanisms FROM entries "

# The different values of an indexed column: one jump each, instead of a scan of every line.
_DIFFERENT = """
    WITH RECURSIVE different(value) AS (
        SELECT min({column}) FROM entries WHERE {column} IS NOT NULL
        UNION ALL
        SELECT (SELECT min({column}) FROM entries WHERE {column} > value)
        FROM different WHERE value IS NOT NULL)
    SELECT value FROM different WHERE value IS NOT NULL
"""


class SqlStore(ABC, Generic[C]):
    """A ledger in a database. What differs is how one connects, begins, and words a failure."""

    where: str
    durable = True
    _errors: tuple[type[Exception], ...]
    """What the driver raises."""
    _reading: str
    _writing: str
    """How `_begin` starts a transaction that reads, and the one that may write at a time."""

    def __init__(self, *, patience: float) -> None:
        self.patience = patience
        self._one = OneConnection(self._connect)

    @property
    def file(self) -> Path | None:
        """None: the lines are on a server."""
        return None

    def read(self, look: Callable[[Lookups], T]) -> T:
        """One consistent view."""
        return self._settled(self._reading, lambda connection: look(self._lines(connection)))

    def write(self, act: Callable[[Writing], T]) -> T:
        """The only writer, from the first look at the total until the line is durable."""
        return self._transaction(self._writing, lambda connection: act(self._lines(connection)))

    def close(self) -> None:
        """Close the connection."""
        self._one.close()

    @abstractmethod
    def _connect(self) -> C:
        """A connection on which no transaction is under way."""

    @abstractmethod
    def _begin(self, how: str) -> C:
        """The connection, in a transaction."""

    @abstractmethod
    def _lines(self, connection: C) -> SqlLines: ...

    @abstractmethod
    def _is_ledger(self, connection: C) -> bool: ...

    @abstractmethod
    def _lay_out(self, connection: C) -> None:
        """Create what a ledger consists of, in a transaction that may write."""

    @abstractmethod
    def _missing(self) -> LedgerFailure:
        """The error where there is no ledger."""

    @abstractmethod
    def _failure(self, error: Exception) -> LedgerFailure:
        """What one of `_errors` means to whoever asked."""

    def _prepare(self, *, create: bool) -> None:
        """Find the ledger, or lay it out; another process may be doing the same."""
        if self._settled(self._reading, self._is_ledger):
            return
        if not create:
            raise self._missing()

        def lay_out(connection: C) -> None:
            if not self._is_ledger(connection):
                self._lay_out(connection)

        self._settled(self._writing, lay_out)

    def _settled(self, how: str, work: Callable[[C], T]) -> T:
        """Where no charge is at stake, a commit that failed is a failure like any other."""
        try:
            return self._transaction(how, work)
        except CommitUnsure as unsure:
            raise unsure.failure from unsure

    def _transaction(self, how: str, work: Callable[[C], T]) -> T:
        refuse_reentry(self._one.lock)
        with self._one.lock:
            try:
                result = self._done(how, work)
                self._ended()
            except BaseException:  # also an interrupt in the line above
                self._ended()
                raise
        return result

    def _done(self, how: str, work: Callable[[C], T]) -> T:
        try:
            connection = self._begin(how)
            result = work(connection)
        except self._errors as error:
            self._forget()
            raise self._failure(error) from error
        except DeniableError:  # a refusal: the connection is as good as before
            self._roll_back()
            raise
        except BaseException:
            self._forget()
            raise
        try:
            connection.execute("COMMIT")
        except self._errors as error:
            self._forget()
            raise CommitUnsure(self._failure(error)) from error
        return result

    def _ended(self) -> None:
        """Let go of what `_begin` took besides the transaction."""

    def _roll_back(self) -> None:
        if self._one.now is not None:
            try:
                self._one.now.rollback()
            except self._errors:
                self._forget()

    def _forget(self) -> None:
        """Close: after a failure, a fresh connection reads what was really kept."""
        with suppress(*self._errors):
            self.close()


class SqlLines(Writing):
    """The lines of a ledger in a table, through a function that runs one statement."""

    def __init__(
        self,
        run: Callable[[str, Sequence[object]], list[tuple[object, ...]]],
        *,
        tables: str,
        where: str,
    ) -> None:
        self._run, self._tables, self._where = run, tables, where

    def last(self) -> Row | None:
        row = self._one("ORDER BY sequence DESC LIMIT 1")
        if row is not None and type(row.sequence) is not int:  # a damaged file may hold anything
            raise broken("last", "was changed after it was written", where=self._where)
        return row

    def since(self, sequence: int, *, limit: int) -> list[Row]:
        return self._rows("WHERE sequence >= ? ORDER BY sequence LIMIT ?", sequence, limit)

    def written(self) -> int:
        """Nothing is known of the lines but the lines; a store that knows more overrides this."""
        return 0

    def latest_of(self, asker: str) -> Row | None:
        return self._one("WHERE asker = ? ORDER BY sequence DESC LIMIT 1", asker)

    def asked(self, question: str) -> list[Row]:
        return self._rows("WHERE question = ? ORDER BY sequence", question)

    def sharers(self) -> list[str]:
        sql = "SELECT DISTINCT asker FROM entries WHERE kind = 'share' ORDER BY asker"
        return [str(asker) for (asker,) in self._run(sql, ())]

    def kinds(self) -> list[str]:
        return self._different("kind")

    def mechanisms(self) -> list[str]:
        return self._different("mechanisms")

    def stops(self) -> list[Row]:
        return self._rows("WHERE kind = 'stop' ORDER BY sequence")

    def cause(self, sequence: int) -> str:
        if not self._has_causes():
            return ""
        found = self._run("SELECT cause FROM causes WHERE sequence = ?", (sequence,))
        return str(found[0][0]) if found else ""

    def key(self) -> str:
        found = self._run("SELECT key FROM secret", ())
        return str(found[0][0]) if len(found) == 1 else ""

    def append(self, row: Row) -> None:
        """Write the next line; the primary key refuses a second line of the same number."""
        self._run("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def keep(self, key: str) -> None:
        self._run("INSERT INTO secret VALUES (?)", (key,))

    def keep_cause(self, sequence: int, cause: str) -> None:
        """Write why an asker is stopped; a ledger of the first layout gets the table now."""
        if not self._has_causes():
            self._run(_CAUSES, ())
        self._run("INSERT INTO causes VALUES (?, ?)", (sequence, cause))

    def forget_cause(self, sequence: int) -> None:
        if self._has_causes():
            self._run("DELETE FROM causes WHERE sequence = ?", (sequence,))

    def _has_causes(self) -> bool:
        return ("causes",) in self._run(self._tables, ())

    def _different(self, column: str) -> list[str]:
        return [str(value) for (value,) in self._run(_DIFFERENT.format(column=column), ())]

    def _one(self, condition: str, *values: object) -> Row | None:
        rows = self._rows(condition, *values)
        return rows[0] if rows else None

    def _rows(self, condition: str, *values: object) -> list[Row]:
        return list(map(Row._make, self._run(_SELECT + condition, values)))


class OneConnection(Generic[C_co]):
    """One connection, used by one thread at a time, and never carried across a fork.

    Forking waits for the transaction under way, and no connection is opened or closed meanwhile: a
    lock that the driver holds then would be locked in the child for good. The child opens a
    connection of its own and keeps, unused, the one it inherited: closing it there could end it for
    the parent.
    """

    def __init__(self, connect: Callable[[], C_co]) -> None:
        self._connect = connect
        self._open: list[C_co] = []  # at most one
        self.lock = threading.RLock()
        weakref.finalize(self, _dropped, self._open)
        with _turn:
            _all.add(self)

    def get(self) -> C_co:
        """The connection, opened if there is none; to be used while holding the lock."""
        if not self._open:
            self._open.append(self._connect())
        return self._open[0]

    @property
    def now(self) -> C_co | None:
        """The connection if one is open."""
        return self._open[0] if self._open else None

    def close(self) -> None:
        """Close the connection; the next use opens a new one."""
        with self.lock:
            _close(self._open)

    def inherited(self) -> None:
        """Start afresh in a forked child."""
        self.lock = threading.RLock()
        _inherited.extend(self._open)
        self._open.clear()


def _close(connections: list[C]) -> None:
    while connections:
        connections.pop().close()


def _dropped(connections: list[C]) -> None:
    """Close what nobody uses any more; after the fork, if one is under way in another thread."""
    if _turn.acquire(blocking=False):
        try:
            _close(connections)
        finally:
            _turn.release()
    else:
        _late.extend(connections)


_all: weakref.WeakSet[OneConnection[Connection]] = weakref.WeakSet()
_held: list[OneConnection[Connection]] = []
_inherited: list[Connection] = []
_late: list[Connection] = []
_turn = threading.RLock()  # held by a fork from before to after; taken to make a connection


def _before() -> None:
    _turn.acquire()
    _held.extend(_all)
    for one in _held:
        one.lock.acquire()


def _in_parent() -> None:
    while _held:
        _held.pop().lock.release()
    _close(_late)
    _turn.release()


def _in_child() -> None:
    while _held:
        _held.pop().inherited()
    _inherited.extend(_late)
    _late.clear()
    _turn.release()


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
