"""Compute, then draw: the few lines that touch people's values, kept apart from all others.

Whatever goes wrong in here may depend on rows. So nothing leaves but noisy answers, or a `Broken`
whose text is for the curator alone: no exception, no traceback whose frames hold values.
"""

from __future__ import annotations

import functools
import math
import os
import signal
import threading
import traceback
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Protocol, TypeAlias, TypeVar

from deniable import sensitive
from deniable.errors import BadParameter, DeniableError
from deniable.ledger import Entry, Ledger
from deniable.sampling.source import this_process
from deniable.sensitive import Sensitive

Parts: TypeAlias = Sequence[tuple[Callable[[Any], object], Sensitive[Any]]]
"""How each answer is drawn, and of what."""

T = TypeVar("T")

_computing: ContextVar[bool] = ContextVar("computing", default=False)
_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)
_told: ContextVar[list[str]] = ContextVar("told")  # threads started inside have none


class Watcher(Protocol):
    """Watches a replay, in which noise is frozen and nothing is private: see `audit.replays`."""

    def charged(self, entry: Entry) -> None:
        """What was written in the ledger."""

    def answer(
        self, draw: Callable[[Any], object], value: Sensitive[Any], compute: Callable[[], object]
    ) -> object:
        """The answer to give, instead of draw(compute())."""


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Let a watcher answer inside a `with` block (this thread and task only)."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def refuse_replay(ledger: Ledger) -> None:
    """An error if frozen noise would be charged to, or stored in, a ledger that outlives it."""
    if _watcher.get() is not None and ledger.durable:
        raise BadParameter(
            "a replay keeps its ledger in memory",
            why="its noise is frozen: a stored answer would pass for a private one",
            fix="leave out ledger= in the program that is replayed",
        )


def refuse_watched() -> None:
    """An error in a replay: its watcher cannot answer for another process."""
    if _watcher.get() is not None:
        raise BadParameter(
            "a replay does not see noise that is drawn in other processes",
            fix="replay .release: the same numbers get the same noise there",
        )


def charged(entry: Entry) -> Entry:
    """Tell the watcher, if there is one."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher.charged(entry)
    return entry


@dataclass(frozen=True, kw_only=True)
class Broken:
    """Something failed while data were read; or somebody pressed Ctrl-C meanwhile."""

    detail: str = field(default="", repr=False)
    interrupted: bool = False


def refuse_inside(what: str) -> None:
    """An error if a value is being computed: what is asked may not depend on rows either.

    A thread that was started while a value was computed counts as inside for as long as it lives:
    it may have seen rows. Threads started elsewhere may charge meanwhile.
    """
    if _is_inside():
        raise BadParameter(f"nothing can be {what} while a value is computed")


_started_inside: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def _is_inside() -> bool:
    return _computing.get() or threading.current_thread() in _started_inside


@functools.cache
def _watch_threads() -> None:
    """From the first computation on, remember which threads are started inside one.

    A new thread does not inherit the context, so that `_computing` alone would let it charge; and
    Python has no hook for the start of a thread in all versions that we support.
    """
    start = threading.Thread.start

    @functools.wraps(start)
    def remembered(thread: threading.Thread) -> None:
        if _is_inside():
            _started_inside.add(thread)
        start(thread)

    threading.Thread.start = remembered  # type: ignore[assignment, method-assign]


def answers(parts: Parts, *, failed: Callable[[], object] = lambda: None) -> list[object] | Broken:
    """The noisy answers of mechanisms that were charged, in order.

    If that fails, `failed` is called before anything else is done, and again in the end: an
    interrupt can keep one of the two from happening. The values are computed in a context of their
    own, so that nothing need be put back.
    """
    _watch_threads()
    outcome, process = _Outcome(), this_process()
    try:
        drawn = copy_context().run(_answers, parts, failed, outcome)
        if this_process() != process:  # the answer is the parent's: one charge, one draw
            return Broken(detail="a computation returned in a process that it had forked")
        return drawn
    finally:
        if outcome.failed:
            failed()


def afresh(run: Callable[[], T], *, settle: Callable[[], object]) -> T:
    """Return what `run` returns; raise an interrupt anew, after `settle`.

    Values may be in the frames of the one that was raised, and in the error before it.
    """
    try:
        return run()
    except KeyboardInterrupt:
        pass
    settle()
    raise KeyboardInterrupt


class _Outcome:
    """Whether the computation failed: assigned without a call, so that no interrupt comes first."""

    failed = False


def _answers(
    parts: Parts, failed: Callable[[], object], outcome: _Outcome
) -> list[object] | Broken:
    told: list[str] = []
    _told.set(told)
    _computing.set(True)
    with _ctrl_c() as pressed, _quiet():
        try:
            outcome.failed = True
            drawn = [finite(_answer(draw, value)) for draw, value in parts]
            outcome.failed = False
        except BaseException as error:  # noqa: BLE001  (all may depend on rows, exit codes too)
            if pressed and isinstance(error, KeyboardInterrupt):
                outcome.failed = False
                return Broken(interrupted=True)
            failed()
            return Broken(detail=_cause(error) + "".join(told))
        return drawn


@contextmanager
def _ctrl_c() -> Iterator[list[int]]:
    """Interrupts from outside: a KeyboardInterrupt that a value raises itself may depend on rows.

    Python hands signals to the main thread only, so that elsewhere there are none.
    """
    pressed: list[int] = []
    before = signal.getsignal(signal.SIGINT)

    def press(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        if callable(before):
            before(number, frame)

    try:
        if threading.current_thread() is threading.main_thread() and callable(before):
            with suppress(ValueError):  # an interpreter within another has no signals either
                signal.signal(signal.SIGINT, press)
        yield pressed
    finally:
        try:
            _put_back(before, instead_of=press)
        finally:  # a first Ctrl-C can come just before
            _put_back(before, instead_of=press)


def _put_back(before: Any, *, instead_of: Callable[[int, FrameType | None], None]) -> None:
    if signal.getsignal(signal.SIGINT) is instead_of:  # else an engine has put its own there
        signal.signal(signal.SIGINT, before)


class _Quiet:
    """Keeps warnings from whoever asked: one that a single row causes would reveal that row.

    Python has one list of filters for all threads; so the first computation to begin changes it,
    the last to end puts it back, and threads that compute nothing are warned as ever. Where a
    warning is shown is changed once and for all, ahead of whatever another thread does to catch it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside: set[int] = set()
        """The threads that compute; each computes one value at a time."""
        self._before: warnings.catch_warnings[None] | None = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Inside, every warning is noted, and none is shown or raised."""
        _watch_warnings()
        this = threading.get_ident()
        try:
            with self._lock:
                self._restore()  # if an interrupt kept it from that
                if self._before is None:
                    self._before = warnings.catch_warnings()
                    self._before.__enter__()
                    warnings.simplefilter("always")
                self._inside.add(this)
            yield
        finally:
            try:
                self._leave(this)
            finally:  # a first Ctrl-C can come just before
                self._leave(this)

    def _leave(self, this: int) -> None:
        with self._lock:
            self._inside.discard(this)
            self._restore()

    def _restore(self) -> None:
        if not self._inside and self._before is not None:
            with suppress(RuntimeError, AttributeError):  # interrupted before it was all entered
                self._before.__exit__(None, None, None)
            self._before = None

    def forked(self) -> None:
        """In a new process only the thread that forked is still at work."""
        self._lock = threading.Lock()
        self._inside &= {threading.get_ident()}
        self._restore()


@functools.cache
def _watch_warnings() -> None:
    """From the first computation on, note the warnings of computations instead of showing them.

    Every warning that passes the filters comes by `_showwarnmsg`, which has no public name;
    `catch_warnings` acts only later.
    """
    show = warnings._showwarnmsg  # type: ignore[attr-defined]  # noqa: SLF001  (see above)

    @functools.wraps(show)
    def noted(message: warnings.WarningMessage) -> None:
        if _is_inside():
            _told.get([]).append(f"warned before: {message.message}\n")
        else:
            show(message)

    warnings._showwarnmsg = noted  # type: ignore[attr-defined]  # noqa: SLF001  (see above)


_quiet = _Quiet()
os.register_at_fork(after_in_child=_quiet.forked)


def _cause(error: BaseException) -> str:
    """The error and where it was raised; an exception decides itself what its text is, and fails.

    Nothing may leave from here either: what is raised while the text is made has the error, and
    the frames of the computation, in its context.
    """
    try:
        if isinstance(error, DeniableError):  # its last line would say that nothing was spent
            error.cost = "the question was paid for"
        return "".join(traceback.format_exception(error))
    except BaseException:  # noqa: BLE001  (its text may depend on rows, too)
        return f"{type(error).__qualname__}, whose text could not be made\n"


def _answer(draw: Callable[[Any], object], value: Sensitive[Any]) -> object:
    watcher = _watcher.get()
    if watcher is None:
        return draw(finite(sensitive.compute(value)))
    return watcher.answer(draw, value, lambda: finite(sensitive.compute(value)))


def finite(value: object) -> object:
    """The value, if no number in it is NaN or infinite: those pass through noise unchanged."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("a value is not a finite number")
        return value
    if value is None or isinstance(value, bool | int | str):
        return value
    import numpy as np

    if isinstance(value, list | tuple) or hasattr(value, "__array__"):
        try:
            array = np.asarray(value)
        except ValueError:  # ragged: lists of different lengths
            array = np.array([*value], dtype=object)  # type: ignore[misc]
        if array.dtype.kind in "fc":
            if not np.isfinite(array).all():
                raise ValueError("a value is not a finite number")
        elif array.dtype.kind == "O" and array.ndim:
            for part in array.flat:
                finite(part)
    return value
