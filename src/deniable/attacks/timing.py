"""Timing: an answer may be private, and the time it took may not be [HPN11, JMRO22].

Two things leak: work that depends on the rows (a query that stops at the first hit), and a sampler
whose running time is its noise (count coin tosses, then publish the count). Defended twin: run
`timing` on a session's release: deniable's samplers do the same work whatever the value; the
time a query takes to read the data is *not* hidden, and a service has to pad it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable import parameters
from deniable.plots import Axes, curves
from deniable.sampling.public import PublicRandom

from .evidence import Membership
from .tables import Floats
from .telling import Facts, Told


@dataclass(frozen=True, kw_only=True, eq=False)
class Timing(Told):
    """How long each of two computations took, and whether the difference gives them away."""

    first: Floats
    """Seconds, a call each."""
    second: Floats

    @property
    def as_membership(self) -> Membership:
        """Run time as a score, in the direction in which the two differ."""
        sign = 1.0 if np.median(self.first) >= np.median(self.second) else -1.0
        return Membership(
            inside=sign * self.first,
            outside=sign * self.second,
            source="the time a call took",
            test="run time",
        )

    @property
    def auc(self) -> float:
        """The chance that a call of the slower kind took longer: 0.5 is guessing."""
        return self.as_membership.auc

    def epsilon_lower(self, confidence: float = 0.95) -> float:
        """The ε that the run times alone betray."""
        return self.as_membership.epsilon_lower(confidence)

    def _headline(self) -> str:
        lower = self.epsilon_lower()
        if lower > 0:
            return (
                f"The run time distinguishes the two: ε is at least {lower:.3g} (95 % confidence)."
            )
        return "The run time does not distinguish the two in these calls."

    def _facts(self) -> Facts:
        medians = [1e6 * float(np.median(times)) for times in (self.first, self.second)]
        return [
            ("medians", f"{medians[0]:.3g} µs and {medians[1]:.3g} µs"),
            ("AUC", f"{self.auc:.3f} (0.5 is guessing)"),
            ("judged on", f"{self.first.size:,} calls each, in random order"),
        ]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Both sets of times, in order."""
        grid = np.linspace(0, 100, 101)
        return curves(
            grid.tolist(),
            {
                "first": (1e6 * np.percentile(self.first, grid)).tolist(),
                "second": (1e6 * np.percentile(self.second, grid)).tolist(),
            },
            x="percent of calls that were quicker",
            y="microseconds",
            title="How long an answer takes",
            ax=ax,
        )


def timing(
    first: Callable[[], object],
    second: Callable[[], object],
    *,
    calls: int = 400,
    clock: Callable[[], float] = time.perf_counter,
    seed: int = 0,
) -> Timing:
    """Call both in random order and compare how long they took.

    Pairs are timed next to each other, the order within each drawn by a coin, so that a busy
    machine slows both alike; a tenth of the calls warms up.

    A clock of one's own makes an example that does not depend on the machine: here a longer sum
    takes longer, and nothing else passes the time.

    >>> now = [0.0]
    >>> def add_up(numbers):
    ...     now[0] += len(numbers)
    >>> found = timing(lambda: add_up([1]), lambda: add_up([1, 2]), calls=100, clock=lambda: now[0])
    >>> found.epsilon_lower() > 1
    True
    >>> same = timing(lambda: add_up([1]), lambda: add_up([2]), calls=100, clock=lambda: now[0])
    >>> same.epsilon_lower()
    0.0
    """
    count = parameters.whole("calls", calls, least=4)
    order = PublicRandom(seed).generator.integers(0, 2, count + count // 10)
    taken: tuple[list[float], list[float]] = ([], [])
    for coin in order.tolist():
        for which in (coin, 1 - coin):
            run = second if which else first
            start = clock()
            run()
            taken[which].append(clock() - start)
    kept = [np.array(times[count // 10 :], dtype=np.float64) for times in taken]
    return Timing(first=kept[0], second=kept[1])
