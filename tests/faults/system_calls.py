"""Let a system call that SQLite makes fail, fall short, or be the last of its process.

SQLite lets its calls to the operating system be replaced (`xSetSystemCall`, made for such tests),
and flushes through a table of methods that an opened file points to. Both are reached through
ctypes in the very library that Python's `sqlite3` uses, so that nothing needs to be compiled. Not
reached: the flush of a folder, which has no entry of its own; the opening of the folder has one.
"""

import ctypes
import errno
import os
import signal
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_long, c_size_t, c_ssize_t, c_void_p

KINDS = ("kill", "short", "ENOSPC", "EIO", "EINTR")
WRITES = ("write", "pwrite", "pwrite64")


def _prototype(result, *arguments):
    return CFUNCTYPE(result, *arguments, use_errno=True)


_CALLS = {
    "open": _prototype(c_int, c_char_p, c_int, c_int),
    "close": _prototype(c_int, c_int),
    "access": _prototype(c_int, c_char_p, c_int),
    "stat": _prototype(c_int, c_char_p, c_void_p),
    "fstat": _prototype(c_int, c_int, c_void_p),
    "lstat": _prototype(c_int, c_char_p, c_void_p),
    "ftruncate": _prototype(c_int, c_int, c_long),
    "fcntl": _prototype(c_int, c_int, c_int, c_void_p),
    "read": _prototype(c_ssize_t, c_int, c_void_p, c_size_t),
    "pread": _prototype(c_ssize_t, c_int, c_void_p, c_size_t, c_long),
    "pread64": _prototype(c_ssize_t, c_int, c_void_p, c_size_t, c_long),
    "write": _prototype(c_ssize_t, c_int, c_void_p, c_size_t),
    "pwrite": _prototype(c_ssize_t, c_int, c_void_p, c_size_t, c_long),
    "pwrite64": _prototype(c_ssize_t, c_int, c_void_p, c_size_t, c_long),
    "fchmod": _prototype(c_int, c_int, c_int),
    "fchown": _prototype(c_int, c_int, c_int, c_int),
    "unlink": _prototype(c_int, c_char_p),
    "openDirectory": _prototype(c_int, c_char_p, POINTER(c_int)),
}
_ANSWERS = {"openDirectory": 14, "xSync": 10}  # SQLITE_CANTOPEN, SQLITE_IOERR; the others: -1
_METHODS, _SYNC = 19, 5  # in sqlite3_io_methods: its entries, and the place of xSync


class _Vfs(ctypes.Structure):
    _fields_ = [
        ("version", c_int), ("size", c_int), ("longest", c_int), ("next", c_void_p),
        ("name", c_char_p), ("data", c_void_p), ("open", c_void_p), *[
            (f"other{n}", c_void_p) for n in range(12)
        ],
        ("set", CFUNCTYPE(c_int, c_void_p, c_char_p, c_void_p)),
        ("get", CFUNCTYPE(c_void_p, c_void_p, c_char_p)),
    ]  # fmt: skip


_OPEN = CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(c_void_p), c_int, c_void_p)
_SYNCING = CFUNCTYPE(c_int, c_void_p, c_int)


class Fault:
    """One fault of one kind, at the n-th call from now on."""

    def __init__(self, kind, at):
        self.kind, self.at, self.calls, self.struck = kind, at, 0, None
        self._kept = []  # what C points to must not be collected

    def install(self):
        """For the rest of this process."""
        import _sqlite3

        library = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
        library.sqlite3_vfs_find.restype = POINTER(_Vfs)
        found = library.sqlite3_vfs_find(None)
        vfs = found.contents
        for name, prototype in _CALLS.items():
            real = vfs.get(found, name.encode())
            if real:
                replaced = prototype(self._around(name, prototype(real)))
                self._kept.append(replaced)
                vfs.set(found, name.encode(), ctypes.cast(replaced, c_void_p))
        self._watch_flushes(vfs)

    def _around(self, name, real):
        def call(*arguments):
            if not self._strikes(name):
                return real(*arguments)
            if self.kind == "short" and name in WRITES and arguments[2] > 1:
                return real(arguments[0], arguments[1], arguments[2] // 2, *arguments[3:])
            if name == "close":
                real(*arguments)  # the number is gone in any case
            ctypes.set_errno(getattr(errno, self.kind, errno.EIO))
            return _ANSWERS.get(name, -1)

        return call

    def _strikes(self, name):
        """Is it this call's turn? A short write is one of a write, and no other call can be."""
        if self.kind == "short" and name not in WRITES:
            return False
        self.calls += 1
        if self.calls != self.at:
            return False
        self.struck = name
        if self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def _watch_flushes(self, vfs):
        real_open = _OPEN(vfs.open)

        def opened(this, name, file, flags, out):
            code = real_open(this, name, file, flags, out)
            if code == 0 and file[0]:
                file[0] = ctypes.addressof(self._methods(file[0]))
            return code

        replaced = _OPEN(opened)
        self._kept.append(replaced)
        vfs.open = ctypes.cast(replaced, c_void_p)

    def _methods(self, real):
        table = (c_void_p * _METHODS)()
        ctypes.memmove(table, real, ctypes.sizeof(table))
        flush = _SYNCING(table[_SYNC])

        def sync(file, flags):
            return _ANSWERS["xSync"] if self._strikes("xSync") else flush(file, flags)

        replaced = _SYNCING(sync)
        table[_SYNC] = ctypes.cast(replaced, c_void_p)
        self._kept += [table, replaced]
        return table
