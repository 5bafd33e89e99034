"""Bounds on a curve that falls, held to fall as the curve does.

δ(ε) never rises. The bounds that engines give for it are each within a tolerance above it, so that
of two that are close, the later may be the larger by as much. Here each new bound is held between
those already given on its left and on its right. It stays a bound: what bounds the curve at a
smaller ε bounds it here. It stays within the tolerance: so is what it may be raised to, on its
right, where the curve is no higher.

    >>> curve = Falling()
    >>> [curve.held(1.0, 0.5), curve.held(3.0, 0.2), curve.held(2.0, 0.6), curve.held(2.5, 0.1)]
    [0.5, 0.2, 0.5, 0.2]
"""

from __future__ import annotations

import math
import os
import threading
from bisect import bisect_left


class Falling:
    """What was said of one curve so far."""

    def __init__(self) -> None:
        self._said: list[tuple[float, ...]] = []
        """Pairs of ε and a bound, in the order of ε."""

    def known(self, at: float) -> float | None:
        """What was said here; None if nothing was."""
        with _turn.lock:
            said = self._said[(i := bisect_left(self._said, (at,))) : i + 1]
        return said[0][1] if said and said[0][0] == at else None

    def held(self, at: float, bound: float) -> float:
        """The bound, no higher than any on its left and no lower than any on its right."""
        with _turn.lock:
            i = bisect_left(self._said, (at,))
            left = self._said[i - 1][1] if i else math.inf
            right = self._said[i][1] if i < len(self._said) else 0.0
            kept = min(max(bound, right), left)
            self._said.insert(i, (at, kept))
            return kept


class _Turn:
    """One writer at a time; a forked child inherits no lock that a thread of its parent held."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


_turn = _Turn()
os.register_at_fork(after_in_child=lambda: setattr(_turn, "lock", threading.Lock()))
