"""Back up a server's state while it runs, and put it back.

A copy of a ledger is a budget of its own, so a restored one that is older than the last line the
server wrote stays closed: see `House.closed`. What the curator may have forgotten tomorrow is not
in a copy: risk reports, and addresses with their passwords. With Postgres, use its own tools.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from deniable.errors import BadParameter

from .settings import Settings


def back_up(settings: Settings, to: Path) -> list[Path]:
    """Consistent copies of the ledgers and of the accounts, in a folder for its owner alone."""
    if settings.database is not None:
        raise BadParameter("this server keeps its state in Postgres", fix="pg_dump")
    to.mkdir(mode=0o700, parents=True, exist_ok=True)
    return [_copied(path, to / path.name) for path in _files(settings.state)]


def restore(settings: Settings, source: Path) -> list[Path]:
    """Put copies back where there is nothing; a server that has state is left alone."""
    if any(_files(settings.state)):
        raise BadParameter(
            f"{settings.state} holds ledgers already",
            why="an older copy over a newer ledger would give budget back",
            fix="move that folder away first",
        )
    settings.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    return [_copied(path, settings.state / path.name) for path in _files(source)]


def _files(folder: Path) -> Iterator[Path]:
    yield from sorted(folder.glob("*.ledger"))
    yield from sorted(folder.glob("server.db"))


def _copied(path: Path, to: Path) -> Path:
    """By SQLite itself: a copy of the file alone could miss what is being written."""
    to.unlink(missing_ok=True)
    os.close(os.open(to, os.O_RDWR | os.O_CREAT, 0o600))
    with closing(sqlite3.connect(path)) as ours, closing(sqlite3.connect(to)) as copy:
        ours.backup(copy)
        _without(copy, "addresses", "reports")
    return to


def _without(copy: sqlite3.Connection, *tables: str) -> None:
    """Empty these tables, and leave nothing of them in pages that are free now."""
    found = copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (name,) in found:
        if name in tables:
            copy.execute(f"DELETE FROM {name}")  # noqa: S608  (one of ours)
            copy.commit()
            copy.execute("VACUUM")
