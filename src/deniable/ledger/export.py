"""Write the lines of a ledger to a file, and never over a database."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from deniable import parameters
from deniable.errors import BadParameter

_FIRST: Final = b'{"budget":'  # how the first line of every ledger begins
BESIDE: Final = ("-journal", "-wal", "-shm")
"""Endings of what SQLite keeps beside its file, and removes."""


def exported(path: Path, lines: Iterable[str], *, own: Path | None = None) -> None:
    """Write the lines to a file for its owner alone: they hold the questions that were asked.

    The ledger's own file is recognised without opening it: to close it would give up its locks.
    """
    target = parameters.target(path).resolve()
    if target.name.endswith(BESIDE) or _same(target, own) or not _may_go(target):
        raise BadParameter(
            f"{path} is not an export of a ledger, and may be a database",
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


def _same(path: Path, own: Path | None) -> bool:
    return own is not None and path.exists() and own.exists() and path.samefile(own)


def _may_go(path: Path) -> bool:
    """Whether nothing is lost by writing there: nothing, a pipe, or an earlier export."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return True
        with path.open("rb") as file:
            return file.read(len(_FIRST)) in (b"", _FIRST)
    except FileNotFoundError:
        return True
