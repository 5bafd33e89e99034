"""Steps that are taken one at a time, however many threads deliver messages."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import RLock
from typing import Concatenate, ParamSpec, TypeVar

from deniable.errors import MessageRejected

SPENT = "the round counts as spent: parties may have revealed enough to read its noisy sum"

P = ParamSpec("P")
T = TypeVar("T")


class Turns:
    """What has steps: each runs alone, from the check that it is its turn to the change of state.

    Otherwise a message that is delivered twice at once, as by a retried request, could be answered
    twice: two vectors under the same masks, or two lists of survivors confirmed. A forked process
    has a copy of everything and takes no steps; nor can a step be taken inside another, by a signal
    handler or while a vector is read.
    """

    def __init__(self) -> None:
        self._lock, self._life, self._busy = RLock(), _life[0], False

    def __getstate__(self) -> object:
        raise TypeError(f"a {type(self).__name__} cannot be copied: each step is taken only once")


S = TypeVar("S", bound=Turns)


def step(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[S, P], T]:
    """The method, run by one thread at a time for each object, in the process that made it."""

    @wraps(method)
    def alone(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        if self._life is not _life[0]:  # before the lock, which another thread may hold for ever
            raise _not_now("in a forked process")
        with self._lock:
            if self._busy:
                raise _not_now("inside another step")
            self._busy = True
            try:
                return method(self, *args, **kwargs)
            finally:
                self._busy = False

    return alone


def _not_now(where: str) -> MessageRejected:
    return MessageRejected(
        f"a step cannot be taken {where}",
        why="it could be taken twice, and two answers could together reveal what each hides",
        fix="take each step once, in the process that began the round",
    )


_life = [object()]
"""What is made before a fork and after it does not share this object."""


def _forked() -> None:
    _life[0] = object()


os.register_at_fork(after_in_child=_forked)


@contextmanager
def spending(*, may_be_revealed: bool = True) -> Iterator[None]:
    """Let no rejection claim that nothing was spent once parties may have revealed their shares."""
    try:
        yield
    except MessageRejected as rejected:
        if may_be_revealed:
            rejected.cost = SPENT
        raise
