"""Where randomness comes from: uniform 64-bit words, each used once.

Few words come from the operating system itself; many from OpenSSL's generator (an AES-256 counter
DRBG, [BK15]), which the system seeds and which reseeds itself in a forked child. What we keep is a
small buffer a thread, so that one scalar draw does not pay for a system call; it is dropped in a
forked child, since a buffer shared by parent and child would be the same noise twice.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import NDArray

from deniable.errors import BadParameter

Words = NDArray[np.uint64]

# Requests for more words than this go straight to OpenSSL; smaller ones are cut from a block.
BLOCK = 128


class Source(ABC):
    """An endless supply of independent uniform bits, none of which is handed out twice."""

    @abstractmethod
    def words(self, count: int) -> Words:
        """That many fresh, independent, uniform 64-bit words; the array is read-only."""

    def integer(self, bits: int) -> int:
        """A fresh uniform integer of that many bits, for the exact fall-backs."""
        if bits <= 64:
            return int(self.words(1)[0]) >> (64 - bits)
        count = -(-bits // 64)
        return int.from_bytes(self.words(count).tobytes(), "little") >> (64 * count - bits)


class SystemSource(Source):
    """The operating system's cryptographic generator; safe with forks and threads.

    A call takes the thread's whole block away, cuts off what it needs and puts the rest back. So a
    signal handler or finalizer that draws in between finds no block and opens its own: a word may
    be lost, and cannot be used twice.
    """

    def __init__(self) -> None:
        self._thread = threading.local()

    def words(self, count: int) -> Words:
        """Fresh words from this thread's block, or straight from OpenSSL when many are wanted."""
        if count > BLOCK:
            return _fresh(count)
        life = this_process()
        kept: tuple[Words, tuple[int, int]] | None = self._thread.__dict__.pop("kept", None)
        if kept is not None and kept[1] == life and kept[0].size >= count:
            block = kept[0]
        else:
            block = _fresh(BLOCK)
        self._thread.kept = (block[count:], life)
        return block[:count]


def this_process() -> tuple[int, int]:
    """This process, told from its forks: a number alone may be another's in another namespace."""
    return (_forks[0], os.getpid())


def current() -> Source:
    """The source that samplers draw from when they are given none."""
    return _current.get()


@contextmanager
def using(source: Source) -> Iterator[Source]:
    """Let samplers draw from that source inside a `with` block (this thread and task only)."""
    token = _current.set(chosen(source))
    try:
        yield source
    finally:
        _current.reset(token)


def chosen(source: Source | None) -> Source:
    """The given source, or the current one; anything else is refused before a word is drawn."""
    if source is None:
        return _current.get()
    if not isinstance(source, Source):
        raise BadParameter.of(
            "source",
            source,
            must="a Source of randomness fit for privacy",
            why="noise that someone can predict or repeat hides nobody",
            fix="leave source out: the operating system's generator is used",
        )
    return source


_SYSTEM = SystemSource()
_current: ContextVar[Source] = ContextVar("deniable_source", default=_SYSTEM)
_forks = [0]


def _fresh(count: int) -> Words:
    # A view of the bytes: a writable copy would cost more than the generator does.
    return np.frombuffer(_bytes(8 * count), dtype=np.uint64)


def _bytes(count: int) -> bytes:
    if count <= 8 * BLOCK:
        return os.urandom(count)
    import ssl  # quicker for many words, and slower to load than all that one question needs

    return ssl.RAND_bytes(count)


def _forked() -> None:
    _forks[0] += 1


if hasattr(os, "register_at_fork"):  # everywhere that can fork
    os.register_at_fork(after_in_child=_forked)
