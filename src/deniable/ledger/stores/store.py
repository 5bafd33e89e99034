"""Where the lines of a ledger are kept: what memory, SQLite and Postgres each provide.

A store appends lines and finds them again, one writer at a time. It knows nothing of privacy: what
a line means, what it costs and whether it may be written is decided once, in `ledger.py`.

Writing a line has named steps, so that tests can fail, stop or kill a process at each:

    begun        the turn is ours: nobody else can write
    checked      the line was found to be within the ceiling
    appended     the line is written, not yet durable
    committed    the line is durable; the caller does not know it yet
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from threading import RLock
from typing import NamedTuple, Protocol, TypeVar

from deniable.errors import LedgerFailure, SeedOutsideTests
from deniable.sampling.seeded import SeededSource
from deniable.sampling.source import current

T = TypeVar("T")

STEPS = ("begun", "checked", "appended", "committed")

_watcher: ContextVar[Callable[[str], object] | None] = ContextVar("ledger_watcher", default=None)


class Row(NamedTuple):
    """One line of a ledger, its hash, and the parts of the line that are looked up."""

    sequence: int
    line: str
    hash: str
    kind: str
    asker: str | None
    question: str | None
    mechanisms: str | None


class Lookups(Protocol):
    """What may be asked of a store; each answer comes from an index, not from a scan."""

    def last(self) -> Row | None:
        """The newest line; None in an empty ledger."""

    def since(self, sequence: int, *, limit: int) -> list[Row]:
        """The lines from this one on, in order, at most `limit` of them."""

    def written(self) -> int:
        """How many lines were written at least, by a count that is kept apart from the lines."""

    def latest_of(self, asker: str) -> Row | None:
        """The newest line of this asker."""

    def asked(self, question: str) -> list[Row]:
        """Every line about this question, oldest first."""

    def sharers(self) -> list[str]:
        """Everyone who was ever given a share."""

    def kinds(self) -> list[str]:
        """Every kind of line there is."""

    def mechanisms(self) -> list[str]:
        """Every set of mechanisms that was ever charged together."""

    def stops(self) -> list[Row]:
        """Every line that stops an asker, oldest first."""

    def cause(self, sequence: int) -> str:
        """Why the line of this number stops its asker; empty if that was not kept."""

    def key(self) -> str:
        """The secret under which questions are hashed; never part of a line."""


class Writing(Lookups, Protocol):
    """The one writer: what is read here stays true until what is appended here is durable."""

    def append(self, row: Row) -> None:
        """Write the next line."""

    def keep(self, key: str) -> None:
        """Write the secret under which questions are hashed."""

    def keep_cause(self, sequence: int, cause: str) -> None:
        """Write, beside the lines, why the line of this number stops its asker."""

    def forget_cause(self, sequence: int) -> None:
        """Erase what `keep_cause` wrote."""


class Store(Protocol):
    """A place for one ledger.

    What is done with the lines is handed over as a function, so that an interrupt at any point
    leaves no lock held and no transaction half open.
    """

    where: str
    durable: bool
    """Do the lines outlive this process?"""
    patience: float
    """How many seconds to wait for others."""

    @property
    def file(self) -> Path | None:
        """The file that holds the lines, if one does."""

    def read(self, look: Callable[[Lookups], T]) -> T:
        """Look things up in one consistent view, waiting for no other asker."""

    def write(self, act: Callable[[Writing], T]) -> T:
        """Wait for the turn, look things up, append: durable on return, undone by an exception.

        CommitUnsure if the last step failed, so that nobody knows without reading.
        """

    def close(self) -> None:
        """Close the file or connection."""


class CommitUnsure(Exception):
    """The last step of writing failed: whether the line was kept must be found by reading."""

    def __init__(self, failure: LedgerFailure) -> None:
        super().__init__(failure.what)
        self.failure = failure


def nothing_there(where: str) -> LedgerFailure:
    """The error where a ledger was expected."""
    return LedgerFailure(
        f"there is no ledger at {where}", fix="give budget= and unit= to create one"
    )


def is_ours(lock: RLock) -> bool:
    """Whether this thread holds the lock."""
    owned: bool = lock._is_owned()  # type: ignore[attr-defined]  # noqa: SLF001  (as `threading.Condition` asks)
    return owned


def refuse_reentry(lock: RLock) -> None:
    """An error if a signal handler or a finalizer asks while its thread is in the ledger already.

    Two writers in one thread would overwrite each other, and its lock does not keep them apart.
    """
    if is_ours(lock):
        raise LedgerFailure(
            "this thread is already reading or writing the ledger",
            why="a signal handler or a finalizer asked in the middle of that",
            fix="set a flag in the handler, and ask when the other call has returned",
        )


def refuse_seed(*, durable: bool) -> None:
    """An error if noise or secrets that can be repeated would get into lines that last."""
    if durable and isinstance(current(), SeededSource):
        raise SeedOutsideTests(
            "noise from a seed was asked for with a ledger that outlives the process",
            why="a stored answer with predictable noise would pass for a private one",
            fix="ledger=None: keep the books of tests in memory",
        )


def reached(step: str) -> None:
    """Tell whoever watches that this step was reached; nobody does outside tests."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(step)


@contextmanager
def watching(watcher: Callable[[str], object]) -> Iterator[None]:
    """Call `watcher` with the name of each step reached inside the `with` block.

    >>> with watching(print):
    ...     reached("begun")
    begun
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)
