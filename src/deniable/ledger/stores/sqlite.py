"""A ledger in one SQLite file: durable, shared by threads and processes, no server.

Durability. A rollback journal with synchronous=EXTRA: when a charge returns, the journal, the file
and the folder without the journal were each flushed, in that order, so that a charge whose answer
was shown survives a power cut. The faster write-ahead log would keep the newest charges in a second
file, and whoever copies or restores the first alone would get their budget back; it also cannot be
read from read-only or network disks. `fullfsync` asks macOS for a real flush.

One writer. BEGIN IMMEDIATE takes the write lock before the total is read; other writers wait.

One file. The path is resolved once, when the ledger is opened. Each transaction makes sure that the
path still names the same file: SQLite would go on writing into one that was deleted or replaced,
where nobody finds the charges again. A file with a second name (a hard link) is refused, because
what a crash leaves behind is found again by the name of the file.

How many lines there are at least is kept in the file's `user_version`, on another page than the
lines: a damaged page cannot pass for a shorter ledger.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar, cast
from urllib.parse import quote

from deniable.errors import DeniableError, LedgerFailure
from deniable.ledger.trust import NOT_TRUSTED

from .sql import TABLES, OneConnection, SqlLines
from .store import CommitUnsure, Reading, Row, Writing

T = TypeVar("T")

APPLICATION = int.from_bytes(b"DPLG", "big")  # tells a ledger from any other SQLite file

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

# A message of SQLite's that quotes damaged text cannot be decoded.
_ERRORS = (sqlite3.Error, UnicodeDecodeError)

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

    durable = True

    def __init__(self, path: Path, *, create: bool, patience: float = 60.0) -> None:
        self.where = str(path)
        self._path, self._patience = path.resolve(), patience
        self._file: tuple[int, int] | None = None
        self._one = OneConnection(self._connect)
        try:
            if create:
                self._create()
            self._file = self._named()
            self._prepare(create=create)
        except BaseException:
            self.close()
            raise

    def read(self, look: Callable[[Reading], T]) -> T:
        """One consistent view; a short one, since a reader makes writers wait."""
        try:
            return self._transaction("BEGIN", lambda connection: look(self._lines(connection)))
        except CommitUnsure as unsure:  # nothing was written: a failure like any other
            raise unsure.failure from unsure

    def write(self, act: Callable[[Writing], T]) -> T:
        """The only writer, from the first look at the total until the line is on disk."""
        begin = "BEGIN IMMEDIATE"
        return self._transaction(begin, lambda connection: act(self._lines(connection)))

    def close(self) -> None:
        """Let go of the file."""
        self._one.close()

    def _transaction(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._one.lock:
            try:
                connection = self._one.get()
                if connection.in_transaction:  # left by an interrupt
                    connection.rollback()
                connection.execute(begin)
                self._check_file()
                result = work(connection)
            except _ERRORS as error:
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
            except _ERRORS as error:
                self._forget()
                raise CommitUnsure(self._failure(error)) from error
            return result

    def _forget(self) -> None:
        """Roll back and close: after a failure, a fresh connection reads what is really on disk."""
        self._roll_back()
        with suppress(*_ERRORS):
            self.close()

    def _roll_back(self) -> None:
        if self._one.now is not None:
            with suppress(*_ERRORS):
                self._one.now.rollback()

    def _create(self) -> None:
        """Make the file, for its owner alone; SQLite gives its journal the same permissions."""
        try:
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            if not self._path.exists():
                raise self._cannot("SQLITE_CANTOPEN", why=error.strerror or "") from None

    def _named(self) -> tuple[int, int]:
        """Which file the path names now."""
        try:
            found = self._path.stat()
        except OSError:
            raise self._lost("was deleted or moved since it was opened") from None
        if found.st_nlink > 1:
            raise LedgerFailure(
                f"{self.where} cannot be used: the file has {found.st_nlink} names (hard links)",
                why="after a crash under one name, the ledger is put right under that name only",
                fix="keep one name, and make the others symbolic links to it",
            )
        return found.st_dev, found.st_ino

    def _check_file(self) -> None:
        if self._named() != self._file:
            raise self._lost("was replaced by another file since it was opened")

    def _lost(self, how: str) -> LedgerFailure:
        return LedgerFailure(
            f"{self.where} {how}",
            why="a charge would be written where nobody finds it again",
            fix="put the file back, check it with verify(), and open it again",
            cost=NOT_TRUSTED,
        )

    def _connect(self) -> sqlite3.Connection:
        self._check_file()
        connection = sqlite3.connect(
            f"file:{quote(str(self._path))}?mode=rw",
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

    def _prepare(self, *, create: bool) -> None:
        """Make an empty file a ledger; another process may be doing the same."""
        try:
            if self._transaction("BEGIN", _is_ledger):
                return
            if not create:
                raise self._cannot("SQLITE_NOTADB")
            self._transaction("BEGIN IMMEDIATE", _lay_out)
        except CommitUnsure as unsure:
            raise unsure.failure from unsure

    def _refuse_foreign(self, connection: sqlite3.Connection) -> None:
        if not _is_ledger(connection) and _holds_something(connection):
            raise self._cannot("SQLITE_NOTADB")

    def _failure(self, error: Exception) -> LedgerFailure:
        if isinstance(error, UnicodeDecodeError):
            return self._cannot("SQLITE_CORRUPT")
        name = getattr(error, "sqlite_errorname", "")
        known = next((prefix for prefix in _CAUSES if name.startswith(prefix)), None)
        if known is None:
            return LedgerFailure(f"{self.where} cannot be used", why=f"{error} {name}".strip())
        return self._cannot(known, why=str(error))

    def _cannot(self, cause: str, *, why: str = "") -> LedgerFailure:
        what, fix = _CAUSES[cause]
        return LedgerFailure(f"{self.where} cannot be used: {what}", why=why, fix=fix)

    def _lines(self, connection: sqlite3.Connection) -> _Lines:
        def run(sql: str, values: Sequence[object]) -> list[tuple[object, ...]]:
            return connection.execute(sql, tuple(values)).fetchall()

        return _Lines(run, tables="SELECT name FROM sqlite_master", where=self.where)


class _Lines(SqlLines):
    """Lines that are also counted."""

    def written(self) -> int:
        """How many lines there are at least: early versions did not count."""
        ((count,),) = self._run("PRAGMA user_version", ())
        return cast(int, count)

    def append(self, row: Row) -> None:
        """Write the next line, and count it."""
        super().append(row)
        self._run(f"PRAGMA user_version = {row.sequence + 1}", ())


def _lay_out(connection: sqlite3.Connection) -> None:
    if not _is_ledger(connection):
        for statement in (*TABLES, *_GUARDS):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")


def _is_ledger(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION)


def _holds_something(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None
