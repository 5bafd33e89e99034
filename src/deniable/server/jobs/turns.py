"""Fair turns: each person has one task under way, and so many waiting at most.

Who sends much at once waits for themselves, holding neither a worker nor more than a few threads of
the web server.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from .outcomes import another, crowded


class Turns:
    """The turns of everybody, at one server process."""

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._present: Counter[str] = Counter()
        self._turns: dict[str, threading.Lock] = {}

    @contextmanager
    def of(self, name: str, *, patience: float) -> Iterator[None]:
        """This person's turn for the block; NotReady if it does not come in time."""
        with self._counted(name) as turn:
            if not turn.acquire(timeout=max(0.0, patience)):
                raise another()
            try:
                yield
            finally:
                turn.release()

    @contextmanager
    def _counted(self, name: str) -> Iterator[threading.Lock]:
        with self._lock:
            if self._present[name] >= self._most:
                raise crowded()
            self._present[name] += 1
            turn = self._turns.setdefault(name, threading.Lock())
        try:
            yield turn
        finally:
            with self._lock:
                self._present[name] -= 1
