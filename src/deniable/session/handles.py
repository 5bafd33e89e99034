"""The interactive mechanisms that a session has open: charged in full, asked for nothing more.

Their private state stays here. A step is free only if its handle was made here, in this process,
and nothing ever failed under it.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from deniable.errors import BadParameter, LedgerFailure
from deniable.ledger import Entry
from deniable.mechanisms import Mechanism, Step
from deniable.mechanisms.interactive import Handle, Interaction
from deniable.sampling.source import this_process
from deniable.sensitive import Sensitive


@dataclass(frozen=True, kw_only=True)
class Opened:
    """One open mechanism: its private state, and the charge that paid for it."""

    interaction: Interaction = field(repr=False)
    entry: Entry
    process: tuple[int, int] = field(default_factory=this_process)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def read(self, value: Sensitive[Any]) -> Sensitive[Any]:
        """The value, coerced to its declared form once it is computed."""
        return value.read_by(self.interaction.reading(value.form))


class Handles:
    """Which handles are good, and for what."""

    def __init__(self) -> None:
        self._opened: weakref.WeakKeyDictionary[Handle, Opened] = weakref.WeakKeyDictionary()

    def add(self, mechanism: Mechanism, interaction: Interaction, entry: Entry) -> Handle:
        """A new handle for a mechanism that was charged."""
        handle = Handle(mechanism)
        self._opened[handle] = Opened(interaction=interaction, entry=entry)
        return handle

    @contextmanager
    def asking(self, step: Step[Any], *, admit: Callable[[str | None], None]) -> Iterator[Opened]:
        """Hold the mechanism for one question; an error under it closes it for good.

        A failure tells something about the data, and must not be free without end. `admit` raises
        if whoever paid for the mechanism may not ask at present; that closes nothing.
        """
        assert step.handle is not None
        opened = self._find(step.handle)
        if opened.process != this_process():
            raise LedgerFailure(
                "another process cannot use an opened mechanism",
                why="parent and child would reuse the same noise",
                fix="open it in the process that asks",
            )
        with opened.lock:
            self._find(step.handle)  # another thread may have failed while this one waited
            answering = opened.interaction.answering()
            if answering is None:
                raise BadParameter(
                    f"{type(step.mechanism).__name__} has no answers left: you have used all "
                    "that you paid for",
                    fix="open it again, which charges again",
                )
            admit(opened.entry.asker)
            opened.interaction.admit(step.value)  # the noise covers it, and all before it
            try:
                yield opened
            except BaseException:
                self._opened.pop(step.handle, None)
                raise

    def paid(self, handle: Handle) -> Entry:
        """The charge that paid for an opened mechanism."""
        return self._find(handle).entry

    def _find(self, handle: Handle) -> Opened:
        opened = self._opened.get(handle)
        if opened is None:
            raise BadParameter(
                "this mechanism is not open in this session",
                why="a step is free only if its mechanism was opened here and has not failed",
                fix="handle = session.open(mechanism)",
            )
        return opened
