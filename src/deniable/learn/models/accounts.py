"""What all fits of an estimator and its clones cost together."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Iterable
from typing import Any, Final
from weakref import WeakValueDictionary

from deniable.errors import LedgerFailure
from deniable.losses import Gdp, Loss, mu

Fit = tuple[Gdp | None, Loss]


class Account:
    """A sum of losses that an estimator shares with its clones, in one process.

    >>> from deniable.losses import epsilon
    >>> account = Account()
    >>> account.add(mu(0.3), spend=epsilon(1.0, delta=1e-6))
    >>> account.add(mu(0.4), spend=epsilon(1.0, delta=1e-6))
    >>> round(account.total.mu, 6)
    0.5
    >>> account.add(None, spend=epsilon(1.0, delta=1e-6))
    >>> round(account.total.epsilon, 6)
    3.0
    """

    def __init__(
        self, name: str | None = None, process: int | None = None, fits: Iterable[Fit] = ()
    ) -> None:
        self._fits = list(fits)
        self._name = name or uuid.uuid4().hex
        self._process = os.getpid() if process is None else process
        self._lock = threading.Lock()
        _HERE[self._name] = self

    def check_process(self) -> None:
        """Refuse to fit where the sum is not kept."""
        if self._process != os.getpid():
            raise LedgerFailure(
                "a fit in another process would not be counted",
                why="each fit spends epsilon and delta again, and their sum is kept in one process",
                fix="n_jobs=1, or s.fit(...) in a session with a ledger that processes share",
            )

    def add(self, loss: Gdp | None, *, spend: Loss) -> None:
        """Count one more fit: its μ, if it has one, and what it may spend."""
        self.check_process()
        with self._lock:
            self._fits.append((loss, spend))

    @property
    def total(self) -> Loss:
        """Of all fits: in μ where all have one, else ε and δ added up; 0 if there was none."""
        with self._lock:
            fits = list(self._fits)
        gaussian = [loss for loss, _ in fits if loss is not None]
        if len(gaussian) == len(fits):
            return sum(gaussian, start=mu(0.0))
        first, *others = (spend for _, spend in fits)
        return sum(others, start=first)

    def __deepcopy__(self, memo: dict[int, object]) -> Account:
        return self  # a copy of an estimator spends from the same data

    def __reduce__(self) -> tuple[Any, tuple[str, int, list[Fit]]]:
        return _found, (self._name, self._process, list(self._fits))


_HERE: Final[WeakValueDictionary[str, Account]] = WeakValueDictionary()
"""The accounts of this process: an estimator that comes back by pickle finds its own again."""


def _found(name: str, process: int, fits: list[Fit]) -> Account:
    return _HERE.get(name) or Account(name, process, fits)
