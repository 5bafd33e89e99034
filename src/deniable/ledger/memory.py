"""A ledger that lives as long as its process: for exploring, teaching and tests."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from deniable.errors import LedgerFailure

from .store import Reading, Row, Writing


class MemoryStore:
    """Lines in a list, safe with threads; not for forked children: each copy would spend anew."""

    where = "memory"

    def __init__(self) -> None:
        self._lines = _Lines()
        self._lock = threading.RLock()
        self._process = os.getpid()

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """Look things up."""
        with self._lock:
            yield self._lines

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """Append to a list of what is new, and take it over at the end."""
        if os.getpid() != self._process:
            raise LedgerFailure(
                "a ledger in memory cannot be shared with another process",
                why="parent and child would each spend the whole ceiling on the same people",
                fix='ledger="ledger.db"    (a file that all processes open)',
            )
        with self._lock:
            size, causes = len(self._lines.rows), dict(self._lines.causes)
            try:
                yield self._lines
            except BaseException:
                self._lines.cut(size)
                self._lines.causes = causes
                raise

    def close(self) -> None:
        """Nothing to let go of."""


class _Lines:
    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.causes: dict[int, str] = {}
        self._of: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._key = ""

    def last(self) -> Row | None:
        return self.rows[-1] if self.rows else None

    def since(self, sequence: int, *, limit: int) -> list[Row]:
        return self.rows[sequence : sequence + limit]

    def latest_of(self, asker: str) -> Row | None:
        found = self._of.get(("asker", asker))
        return self.rows[found[-1]] if found else None

    def asked(self, question: str) -> list[Row]:
        return [self.rows[n] for n in self._of.get(("question", question), ())]

    def sharers(self) -> list[str]:
        shares = (self.rows[n].asker for n in self._of.get(("kind", "share"), ()))
        return sorted({asker for asker in shares if asker is not None})

    def kinds(self) -> list[str]:
        return self._values("kind")

    def mechanisms(self) -> list[str]:
        return self._values("mechanisms")

    def stops(self) -> list[Row]:
        return [self.rows[n] for n in self._of.get(("kind", "stop"), ())]

    def cause(self, sequence: int) -> str:
        return self.causes.get(sequence, "")

    def key(self) -> str:
        return self._key

    def append(self, row: Row) -> None:
        self.rows.append(row)
        for column in _INDEXED:
            value = getattr(row, column)
            if value is not None:
                self._of[column, value].append(row.sequence)

    def keep(self, key: str) -> None:
        self._key = key

    def keep_cause(self, sequence: int, cause: str) -> None:
        self.causes[sequence] = cause

    def forget_cause(self, sequence: int) -> None:
        self.causes.pop(sequence, None)

    def cut(self, size: int) -> None:
        for row in reversed(self.rows[size:]):
            for column in _INDEXED:
                if getattr(row, column) is not None:
                    self._of[column, getattr(row, column)].pop()
        del self.rows[size:]

    def _values(self, column: str) -> list[str]:
        return sorted(value for name, value in self._of if name == column and self._of[name, value])


_INDEXED = ("kind", "asker", "question", "mechanisms")
