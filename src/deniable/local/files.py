"""A SQLite file that belongs to one owner: durable, and opened anew for each transaction."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from deniable.errors import NotReady

Failed = Callable[[Path, str], NotReady]
"""What to raise about a file, and why it cannot be used."""

_DURABLE: Final = ("journal_mode = DELETE", "synchronous = EXTRA", "fullfsync = ON")


def create(path: Path, failed: Failed) -> None:
    """Create the file where there is none, so that only its owner can read it."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except FileNotFoundError:
        raise failed(path, f"there is no folder {path.parent}") from None
    except OSError as error:
        raise failed(path, error.strerror or "it cannot be opened") from None


@contextmanager
def transaction(
    path: Path, how: str, failed: Failed, *, settings: tuple[str, ...] = ()
) -> Iterator[sqlite3.Connection]:
    """One transaction, begun by `how`; what an error interrupts is rolled back."""
    try:
        file = sqlite3.connect(
            f"{path.as_uri()}?mode=rw", uri=True, timeout=60.0, isolation_level=None
        )
    except sqlite3.Error as error:
        raise failed(path, str(error)) from None
    try:
        for setting in (*_DURABLE, *settings):
            file.execute(f"PRAGMA {setting}")
        file.execute(how)
        yield file
        file.execute("COMMIT")
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter from a damaged file
        raise failed(path, str(error)) from None
    finally:
        file.close()  # rolls back what was not committed
