"""Turns at a ledger's file that outlast whatever else its process does with that file.

SQLite takes turns by POSIX record locks. A process loses those of a file as soon as it closes *any*
descriptor of that file: a copy or a checksum made by another thread is enough for two processes to
write at once, and for charges to be lost. So a ledger also locks a byte far beyond the file's end
by a lock of the open file description, which nothing but its own descriptor gives up. The system
has such locks on Linux; elsewhere SQLite's own are all there is.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Final

if sys.platform == "linux":
    import fcntl

_BYTE: Final = 1 << 40  # SQLite locks bytes from 2³⁰ on, and a ledger is shorter than this
_TAKEN: Final = (errno.EAGAIN, errno.EACCES)
_LONGEST: Final = 0.02  # seconds between two looks


class FileTurn:
    """A lock on one file, shared by readers or held by one writer; released when closed."""

    def __init__(self, path: Path) -> None:
        """Open the file, if the system has such locks."""
        self._file: int | None = None
        if sys.platform != "linux":
            return
        for access in (os.O_RDWR, os.O_RDONLY):  # a file may be only to read
            with suppress(OSError):
                self._file = os.open(path, access | os.O_CLOEXEC)
                self._closing = weakref.finalize(self, os.close, self._file)
                break
        _all.add(self)

    def take(self, *, alone: bool, patience: float) -> bool:
        """Wait for the turn; False if others kept it for longer than that many seconds."""
        end, pause = time.monotonic() + patience, 0.0005
        while not self._set("F_WRLCK" if alone else "F_RDLCK"):
            if time.monotonic() >= end:
                return False
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST)
        return True

    def leave(self) -> None:
        """Let others have their turn."""
        self._set("F_UNLCK")

    def close(self) -> None:
        """Leave, and let go of the file."""
        if self._file is not None:
            self._file = None
            self._closing()

    def _set(self, kind: str) -> bool:
        if self._file is None:
            return True
        wanted = struct.pack("hhqqi4x", getattr(fcntl, kind), os.SEEK_SET, _BYTE, 1, 0)
        try:
            fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, wanted)
        except OSError as error:  # also a file system without such locks, or a file only to read
            return error.errno not in _TAKEN
        return True


_all: weakref.WeakSet[FileTurn] = weakref.WeakSet()


def _forked() -> None:
    """A child shares its parent's turn, and would keep it if the parent were killed."""
    for turn in list(_all):
        turn.close()


os.register_at_fork(after_in_child=_forked)
