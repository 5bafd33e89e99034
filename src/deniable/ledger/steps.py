"""The named steps of writing a line, so that tests can fail, stop or kill a process at each.

begun        the turn is ours: nobody else can write
checked      the line was found to be within the ceiling
appended     the line is written, not yet durable
committed    the line is durable; the caller does not know it yet

>>> with watching(print):
...     reached("begun")
begun
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

STEPS = ("begun", "checked", "appended", "committed")

_watcher: ContextVar[Callable[[str], object] | None] = ContextVar("ledger_watcher", default=None)


def reached(step: str) -> None:
    """Tell whoever watches that this step was reached; nobody does outside tests."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(step)


@contextmanager
def watching(watcher: Callable[[str], object]) -> Iterator[None]:
    """Call `watcher` with the name of each step reached inside the `with` block."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)
