"""A ledger in one SQLite file: durable, shared by threads and processes, no server.

Durability. A rollback journal with synchronous=EXTRA: when a charge returns, the journal, the file
and the folder without the journal were each flushed, in that order, so that a charge whose answer
was shown survives a power cut. The faster write-ahead log would keep the newest charges in a second
file, and whoever copies or restores the first alone would get their budget back; it also cannot be
read from read-only or network disks. `fullfsync` asks macOS for a real flush.

One writer. BEGIN IMMEDIATE takes the write lock before the total is read; other writers wait.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from deniable.errors import DeniableError, LedgerFailure

from .sql import TABLES, OneConnection, SqlLines
from .store import CommitUnsure, Reading, Writing, settled

APPLICATION = int.from_bytes(b"DPLG", "big")  # tells a ledger from any other SQLite file
LAYOUT = 1

# A guard rail against slips, not against enemies: whoever owns the file can drop a trigger, and the
# hash chain is what tells.
_GUARDS = tuple(
    f"""CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table}
        BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END"""
    for table in ("entries", "secret")
    for verb in ("UPDATE", "DELETE")
)

# secure_delete overwrites what is erased: the cause of a failure may hold people's values.
_SETTINGS = ("journal_mode = DELETE", "synchronous = EXTRA", "fullfsync = ON", "secure_delete = ON")

_CAUSES = {
    "SQLITE_BUSY": (
        "others kept the ledger locked for too long",
        "try again; see who else has it open",
    ),
    "SQLITE_FULL": ("the disk is full", "free some space; the ledger itself is intact"),
    "SQLITE_READONLY": (
        "the file or its folder may only be read",
        "chmod u+w the file and its folder",
    ),
    "SQLITE_CANTOPEN": (
        "the file or its folder cannot be opened",
        "does the folder exist? may you write?",
    ),
    "SQLITE_NOTADB": (
        "the file is not a ledger",
        "choose another path; this file was left untouched",
    ),
    "SQLITE_CORRUPT": (
        "the file is damaged",
        "restore a copy and compare it with an exported head",
    ),
    "SQLITE_IOERR": ("the disk reported an error", "check the disk and the space on it"),
}


class SqliteStore:
    """One ledger in one file; a charge waits `patience` seconds for others to finish."""

    def __init__(self, path: Path, *, create: bool, patience: float = 60.0) -> None:
        self.where = str(path)
        self._path, self._create, self._patience = path, create, patience
        self._one = OneConnection(self._connect)
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """One consistent view; a short one, since a reader makes writers wait."""
        with settled(), self._transaction("BEGIN") as connection:
            yield _lines(connection)

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """The only writer, from the first look at the total until the line is on disk."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield _lines(connection)

    def close(self) -> None:
        """Let go of the file."""
        self._one.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._one.lock:
            try:
                with self._one.held() as connection:
                    connection.execute(begin)
                    yield connection
            except sqlite3.Error as error:
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
            except sqlite3.Error as error:
                self._forget()
                raise CommitUnsure(self._failure(error)) from error

    def _forget(self) -> None:
        """Roll back and close: after a failure, a fresh connection reads what is really on disk."""
        self._roll_back()
        with suppress(sqlite3.Error):
            self.close()

    def _roll_back(self) -> None:
        if self._one.now is not None:
            with suppress(sqlite3.Error):
                self._one.now.rollback()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"file:{quote(str(self._path.absolute()))}?mode={'rwc' if self._create else 'rw'}",
            uri=True,
            timeout=self._patience,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            self._refuse_foreign(connection)  # before a setting could change a file not ours
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self) -> None:
        """Make an empty file a ledger; another process may be doing the same."""
        with settled(), self._transaction("BEGIN") as connection:
            ready = _is_ledger(connection)
        if ready:
            return
        if not self._create:
            raise self._foreign()
        with settled(), self._transaction("BEGIN IMMEDIATE") as connection:
            if not _is_ledger(connection):
                for statement in (*TABLES, *_GUARDS):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {LAYOUT}")

    def _refuse_foreign(self, connection: sqlite3.Connection) -> None:
        if not _is_ledger(connection) and _holds_something(connection):
            raise self._foreign()

    def _foreign(self) -> LedgerFailure:
        what, fix = _CAUSES["SQLITE_NOTADB"]
        return LedgerFailure(f"{self.where} cannot be used: {what}", fix=fix)

    def _failure(self, error: sqlite3.Error) -> LedgerFailure:
        name = getattr(error, "sqlite_errorname", "")
        for prefix, (cause, fix) in _CAUSES.items():
            if name.startswith(prefix):
                return LedgerFailure(
                    f"{self.where} cannot be used: {cause}", why=str(error), fix=fix
                )
        return LedgerFailure(f"{self.where} cannot be used", why=f"{error} {name}".strip())


def _lines(connection: sqlite3.Connection) -> SqlLines:
    def run(sql: str, values: Sequence[object]) -> list[tuple[object, ...]]:
        return connection.execute(sql, tuple(values)).fetchall()

    return SqlLines(run, tables="SELECT name FROM sqlite_master")


def _is_ledger(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION)


def _holds_something(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None
