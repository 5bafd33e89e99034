"""Files that hold people's rows for a while: private, and removed.

An engine that runs out of memory writes rows to disk, and some CSV files are read from a copy. Both
go to a folder that only its owner can enter, and that is removed when the engine is closed. A
process that is killed cannot do so: the next one does, the first time that it makes such a folder.

Each folder has a lock file, which its process holds locked. The operating system unlocks it when
the process ends, however that happens, so whoever can lock it knows that the folder is abandoned.
The file gets its name after it was locked, and is the last to be removed. A folder without it is
about to be made or removed; after an hour it is abandoned, too.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

from deniable.errors import NotReady

PREFIX: Final = "deniable-rows-"
_LOCK: Final = "lock"
_LONG: Final = 3600.0  # seconds; making a folder and locking it takes less than one
_SEARCH: Final = stat.S_IXGRP | stat.S_IXOTH


@contextmanager
def private_folder() -> Iterator[Path]:
    """A new folder that only we can enter; it is removed in the end."""
    _remove_abandoned()
    folder, owner = Path(tempfile.mkdtemp(prefix=PREFIX)), os.getpid()
    try:
        with (folder / "locking").open("xb") as lock:
            _lock(lock)
            Path(lock.name).rename(folder / _LOCK)
            yield folder
    finally:
        if os.getpid() == owner:  # a fork has a copy of us, but not of the folder
            with suppress(OSError):
                _remove(folder)


def connected(folder: Path) -> Any:
    """A DuckDB connection of our own, which spills into this folder."""
    import duckdb

    return duckdb.connect(config={"temp_directory": str(folder)})


@contextmanager
def own_duckdb() -> Iterator[Any]:
    """A DuckDB connection of our own that leaves no file behind."""
    with private_folder() as folder, connected(folder) as engine:
        yield engine


@contextmanager
def private_spills(place: str) -> Iterator[None]:
    """See to it that nobody else can read what a connection of the user's spills to `place`.

    DuckDB has one such folder per database, and makes it, open to everyone, when it first spills.
    The setting is the user's. So a folder that is missing is made before, private, and removed if
    nothing is left in it; a folder that others can enter is refused. While a question is asked, an
    empty locked file marks the folder as in use, so that another session does not remove it. After
    a process was killed its mark is unlocked, and the next session removes both.
    """
    folder = Path(place).absolute()
    if not place or os.name != "posix" or _is_private(folder.parent):
        yield
        return
    with ExitStack() as held:
        with suppress(OSError):  # if we cannot write there, DuckDB cannot either
            while not _marked(folder, held):
                pass
        yield


def _marked(folder: Path, held: ExitStack) -> bool:
    """Put our mark into the folder, made if missing; False if it was removed in between."""
    try:
        folder.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        if not _is_private(folder):
            raise _open_to_others(folder) from None
        made = _left_by_the_killed(folder)
    else:
        made = True
    if made:
        held.callback(_remove_if_empty, folder)
    try:
        number, mark = tempfile.mkstemp(prefix="deniable-marking-", dir=folder)
    except FileNotFoundError:
        return False
    lock = held.enter_context(os.fdopen(number, "wb"))
    _lock(lock)
    name = mark.replace("marking", "made" if made else "found")
    Path(mark).rename(name)
    held.callback(Path(name).unlink, missing_ok=True)
    return True


def _left_by_the_killed(folder: Path) -> bool:
    """Remove marks that no process holds; whether one of theirs had made the folder."""
    made = False
    for mark in (*folder.glob("deniable-made*"), *folder.glob("deniable-found*")):
        with suppress(OSError), mark.open("r+b") as lock:
            _lock(lock)
            made = made or mark.name.startswith("deniable-made")
            mark.unlink()
    return made


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


@cache
def _remove_abandoned() -> None:
    """Once per process: remove our folders in which no process is at work any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # somebody is at work in it, or has just removed it
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
                if not (folder / _LOCK).exists() and time.time() - found.st_mtime > _LONG:
                    _remove(folder)
                with (folder / _LOCK).open("r+b") as lock:
                    _lock(lock)
                    _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder, its lock last: if that is interrupted, the next process finds it."""
    for each in folder.iterdir():
        if each.name != _LOCK:
            shutil.rmtree(each) if each.is_dir() and not each.is_symlink() else each.unlink()
    shutil.rmtree(folder)


def _lock(file: Any) -> None:
    """Lock an open file, or raise OSError; Windows does not remove a file that is open."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_private(folder: Path) -> bool:
    """Whether others are kept out, by the folder or by one around it."""
    place = folder.resolve()
    around = [each for each in (place, *place.parents) if each.exists()]
    return any(not each.stat().st_mode & _SEARCH for each in around)


def _open_to_others(folder: Path) -> NotReady:
    return NotReady(
        f"other users of this machine can read what DuckDB writes to {folder}",
        why="this connection writes rows to that folder when a query does not fit in memory",
        fix=(
            f"chmod 700 {folder}",
            "connection.execute(\"SET temp_directory = '...'\")    (a folder only you can enter)",
        ),
    )
