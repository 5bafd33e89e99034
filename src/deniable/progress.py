"""One line on a terminal for whatever takes longer than two seconds; silent everywhere else."""

from __future__ import annotations

import sys
import threading
import time
from contextvars import ContextVar
from types import TracebackType
from typing import Final, Self, TextIO

PATIENCE: Final = 2.0
_EVERY: Final = 0.2
_WIDEST: Final = 60
_CLEAR: Final = "\r\x1b[2K"
_WHEEL: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


_current: ContextVar[Progress | None] = ContextVar("progress", default=None)


def say(text: str) -> None:
    """Change what the innermost progress line of this thread or task says, if there is one."""
    shown = _current.get()
    if shown is not None:
        shown.text = text


class Progress:
    """Shows what is going on, on stderr, from the third second on, if that is a terminal.

    One inside another has no line of its own: it says something else on the outer one's.

    >>> with Progress("counting") as progress:
    ...     progress.text = "counting, step 2"
    """

    def __init__(self, text: str, *, stream: TextIO | None = None, after: float = PATIENCE) -> None:
        self.text = text
        self._stream = sys.stderr if stream is None else stream
        self._after = after
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self.inner: Progress | None = None

    def __enter__(self) -> Self:
        self._outer = _current.get()
        self._token = _current.set(self)
        if self._outer is not None:
            self._outer.inner = self
        elif self._stream.isatty():
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _current.reset(self._token)
        if self._outer is not None:
            self._outer.inner = None
        self._done.set()
        if self._thread is not None:
            self._thread.join()

    def _show(self) -> None:
        start, turns = time.monotonic(), 0
        if self._done.wait(self._after):
            return
        while not self._done.wait(_EVERY):
            turns += 1
            seconds = time.monotonic() - start
            wheel = _WHEEL[turns % len(_WHEEL)]
            self._stream.write(f"{_CLEAR}{wheel} {self.line} · {seconds:.0f} s")
            self._stream.flush()
        self._stream.write(_CLEAR)
        self._stream.flush()

    @property
    def line(self) -> str:
        """One line that fits: a second could not be cleared."""
        innermost = self
        while (inner := innermost.inner) is not None:
            innermost = inner
        line = " ".join(innermost.text.split())
        return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…"
