"""Write the lines of a ledger to a file, and never over a database."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from deniable import parameters
from deniable.errors import BadParameter

_SQLITE: Final = b"SQLite format 3\0"
_BESIDE: Final = ("-journal", "-wal", "-shm")  # what SQLite keeps beside its file


def exported(path: Path, lines: Iterable[str]) -> None:
    """Write the lines to a file for its owner alone: they hold the questions that were asked."""
    target = parameters.target(path).resolve()
    if _is_database(target):
        raise BadParameter(
            f"{path} belongs to a database, perhaps to this ledger",
            why="an export would destroy it",
            fix='ledger.to_jsonl("ledger.jsonl")',
        )
    if target.exists() and not target.is_file():  # a pipe, or /dev/stdout
        with target.open("w", encoding="ascii", newline="\n") as file:
            file.writelines(lines)
        return
    import tempfile

    # The name is new and the mode 0600, whatever the umask.
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}-")
    try:
        with os.fdopen(handle, "w", encoding="ascii", newline="\n") as file:
            file.writelines(lines)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _is_database(path: Path) -> bool:
    if path.name.endswith(_BESIDE):
        return True
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except FileNotFoundError:
        return False
