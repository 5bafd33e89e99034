"""A ledger that lives as long as its process: for exploring, teaching and tests."""

from __future__ import annotations

import os
import threading
import weakref
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from deniable.errors import LedgerFailure
from deniable.sampling.source import this_process

from .store import Lookups, Row, Writing, refuse_reentry

T = TypeVar("T")


class MemoryStore:
    """Lines in a list, safe with threads; not for forked children: each copy would spend anew."""

    where = "memory"
    durable = False
    file = None
    patience = 0.0  # there are no other processes

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._of: dict[tuple[str, str], set[int]] = defaultdict(set)
        self._kept = _Kept(lines=0, causes={}, key="")
        self._lock = threading.RLock()
        self._process = this_process()
        _all.add(self)

    def read(self, look: Callable[[Lookups], T]) -> T:
        """Look things up in one state of the lines."""
        refuse_reentry(self._lock)
        with self._lock:
            return look(_Lines(self._rows, self._of, self._kept))

    def write(self, act: Callable[[Writing], T]) -> T:
        """Collect what is new, and take it over at the end.

        Rows and indexes are filled first and count only once `_kept` says so, in one assignment:
        what an interrupted writer left in them is overwritten by the next, and never seen.
        """
        if this_process() != self._process:
            raise LedgerFailure(
                "a ledger in memory cannot be shared with another process",
                why="parent and child would each spend the whole ceiling on the same people",
                fix='ledger="ledger.db"    (a file that all processes open)',
            )
        refuse_reentry(self._lock)
        with self._lock:
            lines = _Lines(self._rows, self._of, self._kept)
            result = act(lines)
            self._rows[self._kept.lines :] = lines.new
            for row in lines.new:
                for column in _INDEXED:
                    self._of[column, getattr(row, column)].add(row.sequence)
            self._kept = _Kept(lines=len(self._rows), causes=lines.causes, key=lines.secret)
            return result

    def close(self) -> None:
        """Nothing to let go of."""

    def inherited(self) -> None:
        """Let a forked child read: the thread that held the lock may be the parent's."""
        self._lock = threading.RLock()


_all: weakref.WeakSet[MemoryStore] = weakref.WeakSet()


def _forked() -> None:
    for store in list(_all):
        store.inherited()


os.register_at_fork(after_in_child=_forked)


class _Kept(NamedTuple):
    lines: int
    causes: dict[int, str]
    key: str


class _Lines(Writing):
    """The lines as they were when a transaction began, and what it adds."""

    def __init__(self, rows: list[Row], of: dict[tuple[str, str], set[int]], kept: _Kept) -> None:
        self._rows, self._of, self._count = rows, of, kept.lines
        self.new: list[Row] = []
        self.causes = dict(kept.causes)
        self.secret = kept.key

    def last(self) -> Row | None:
        if self.new:
            return self.new[-1]
        return self._rows[self._count - 1] if self._count else None

    def since(self, sequence: int, *, limit: int) -> list[Row]:
        return self._rows[sequence : min(sequence + limit, self._count)]

    def written(self) -> int:
        return self._count

    def latest_of(self, asker: str) -> Row | None:
        found = self._where("asker", asker)
        return found[-1] if found else None

    def asked(self, question: str) -> list[Row]:
        return self._where("question", question)

    def sharers(self) -> list[str]:
        shares = (row.asker for row in self._where("kind", "share"))
        return sorted({asker for asker in shares if asker is not None})

    def kinds(self) -> list[str]:
        return self._values("kind")

    def mechanisms(self) -> list[str]:
        return self._values("mechanisms")

    def stops(self) -> list[Row]:
        return self._where("kind", "stop")

    def cause(self, sequence: int) -> str:
        return self.causes.get(sequence, "")

    def key(self) -> str:
        return self.secret

    def append(self, row: Row) -> None:
        self.new.append(row)

    def keep(self, key: str) -> None:
        self.secret = key

    def keep_cause(self, sequence: int, cause: str) -> None:
        self.causes[sequence] = cause

    def forget_cause(self, sequence: int) -> None:
        self.causes.pop(sequence, None)

    def _where(self, column: str, value: str) -> list[Row]:
        places = sorted(self._of.get((column, value), ()))
        found = (self._rows[place] for place in places if place < self._count)
        return [row for row in found if getattr(row, column) == value]

    def _values(self, column: str) -> list[str]:
        values = [value for name, value in list(self._of) if name == column and value is not None]
        return sorted(value for value in values if self._where(column, value))


_INDEXED = ("kind", "asker", "question", "mechanisms")
