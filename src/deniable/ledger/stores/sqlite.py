"""A ledger in one SQLite file: durable, shared by threads and processes, no server.

Durability. A rollback journal with synchronous=EXTRA: when a charge returns, the journal, the file
and the folder without the journal were each flushed, in that order, so that a charge whose answer
was shown survives a power cut. The faster write-ahead log would keep the newest charges in a second
file, and whoever copies or restores the first alone would get their budget back; it also cannot be
read from read-only or network disks. `fullfsync` asks macOS for a real flush.

One writer. BEGIN IMMEDIATE takes the write lock before the total is read; other writers wait, also
where this process opens and closes the file by other means meanwhile (see `turns`).

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
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast
from urllib.parse import quote

from deniable.errors import LedgerFailure
from deniable.ledger.export import BESIDE
from deniable.ledger.trust import NOT_TRUSTED

from .sql import TABLES, SqlLines, SqlStore
from .store import Row
from .turns import FileTurn

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
        "check that the folder exists and that you can write to it",
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


class _Connection(sqlite3.Connection):
    """A connection, and the ledger's own lock on the file."""

    turn: FileTurn

    def close(self) -> None:
        try:
            super().close()
        finally:
            self.turn.close()


class SqliteStore(SqlStore[_Connection]):
    """One ledger in one file; a charge waits `patience` seconds for others to finish."""

    _errors = (sqlite3.Error, UnicodeDecodeError)  # a message that quotes damaged text
    _reading = "BEGIN"
    _writing = "BEGIN IMMEDIATE"

    def __init__(self, path: Path, *, create: bool, patience: float = 60.0) -> None:
        super().__init__(patience=patience)
        self.where, self._path = str(path), resolved(path)
        if self._path.name.endswith(BESIDE):
            raise LedgerFailure(
                f"{self.where} cannot be a ledger: SQLite removes files whose names end like this",
                fix='ledger="ledger.db"',
            )
        self._identity: tuple[int, int] | None = None
        try:
            if create and not self._path.exists():
                self._create()
            self._identity = self._named()
            self._prepare(create=create)
        except BaseException:
            self.close()
            raise

    @property
    def file(self) -> Path:
        """The file that was opened."""
        return self._path

    def _begin(self, how: str) -> _Connection:
        connection = self._one.get()
        if connection.in_transaction:  # left by an interrupt
            connection.rollback()
        self._take(connection.turn, alone=how == self._writing)
        connection.execute(how)
        if how == self._reading:  # SQLite has looked for what a writer left, and others may write
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            connection.turn.leave()
        self._check_file()
        self._check_journal(connection)
        return connection

    def _forget(self) -> None:
        """Roll back, too: SQLite keeps its lock for a closed connection that is still in use."""
        with suppress(*self._errors):
            if self._one.now is not None:
                self._one.now.rollback()
        super()._forget()

    def _ended(self) -> None:
        if self._one.now is not None:
            self._one.now.turn.leave()

    def _take(self, turn: FileTurn, *, alone: bool) -> None:
        if not turn.take(alone=alone, patience=self.patience):
            raise self._cannot("SQLITE_BUSY")

    def _create(self) -> None:
        """Make the file, for its owner alone; SQLite gives its journal the same permissions."""
        try:
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:  # somebody else was faster
            return
        except OSError as error:
            raise self._cannot("SQLITE_CANTOPEN", why=error.strerror or "") from None

    def _named(self) -> tuple[int, int]:
        """Which file the path names now."""
        try:
            found = self._path.stat()
        except OSError:
            raise self._lost("was deleted or moved since it was opened") from None
        if not stat.S_ISREG(found.st_mode):
            raise LedgerFailure(
                f"{self.where} cannot be used: it is a folder or a device, and not a file",
                fix='ledger="ledger.db"',
            )
        if found.st_nlink > 1:
            raise LedgerFailure(
                f"{self.where} cannot be used: the file has {found.st_nlink} names (hard links)",
                why="after a crash under one name, the ledger is put right under that name only",
                fix="keep one name, and make the others symbolic links to it",
            )
        return found.st_dev, found.st_ino

    def _check_file(self) -> None:
        if self._named() != self._identity:
            raise self._lost("was replaced by another file since it was opened")

    def _check_journal(self, connection: _Connection) -> None:
        """Any program that has the file open can change how it is written, at any time."""
        if connection.execute("PRAGMA journal_mode").fetchone() != ("delete",):
            self._forget()  # the next connection turns it off again
            raise LedgerFailure(
                f"{self.where} cannot be used: another program turned on its write-ahead log",
                why="the newest charges would be in a second file, and missing from a copy",
                fix="close the other program, and try again",
            )

    def _lost(self, how: str) -> LedgerFailure:
        return LedgerFailure(
            f"{self.where} {how}",
            why="a charge would be written where nobody finds it again",
            fix="put the file back, check it with verify(), and open it again",
            cost=NOT_TRUSTED,
        )

    def _connect(self) -> _Connection:
        self._check_file()
        turn, connection = FileTurn(self._path), None
        try:
            self._take(turn, alone=False)
            connection = sqlite3.connect(
                f"file:{quote(str(self._path))}?mode=rw",
                uri=True,
                timeout=self.patience,
                isolation_level=None,
                check_same_thread=False,
                factory=_Connection,
            )
            connection.turn = turn
            self._refuse_foreign(connection)  # before a setting could change a file not ours
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}")
            turn.leave()
        except BaseException:
            turn.close()
            if connection is not None:
                sqlite3.Connection.close(connection)
            raise
        return connection

    def _is_ledger(self, connection: _Connection) -> bool:
        return bool(connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION)

    def _lay_out(self, connection: _Connection) -> None:
        for statement in (*TABLES, *_GUARDS):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")

    def _missing(self) -> LedgerFailure:
        return self._cannot("SQLITE_NOTADB")

    def _refuse_foreign(self, connection: _Connection) -> None:
        something = connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        if something is not None and not self._is_ledger(connection):
            raise self._missing()

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

    def _lines(self, connection: _Connection) -> _Lines:
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


def resolved(path: Path) -> Path:
    """The file that a path names, absolute and without symbolic links."""
    try:
        str(path).encode()  # SQLite takes UTF-8
        found = path.resolve()
        found.exists()
    except (OSError, RuntimeError, ValueError) as error:  # too long, a loop of links, a zero byte
        raise LedgerFailure(
            "the ledger's path cannot be used",
            why=getattr(error, "strerror", None) or "no file can have this name",
            fix='ledger="ledger.db"',
        ) from None
    return found
