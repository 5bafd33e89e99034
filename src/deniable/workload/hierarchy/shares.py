"""How much of the loss each level of a hierarchy gets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from deniable.workload.tails import Law

_ROUNDS: Final = 400
_LEAST: Final = 1e-3


@lru_cache(maxsize=256)
def balanced(sizes: tuple[int, ...], law: Law) -> tuple[float, ...]:
    """Shares of ε (Laplace) or μ² (Gaussian) for levels of so many nodes, finest first.

    They minimise the mean variance, every level counting alike, of a hierarchy in which all nodes
    of a level have equally many children; the variances of the real one are computed exactly.
    Coordinate search on the logarithms of shares: the function is smooth, and has few variables.
    """
    logs = np.zeros(len(sizes))
    step, best = 1.0, _cost(sizes, logs, law)
    for _ in range(_ROUNDS):
        improved = False
        for i in range(len(sizes)):
            for change in (step, -step):
                moved = logs.copy()
                moved[i] += change
                cost = _cost(sizes, moved, law)
                if cost < best:
                    logs, best, improved = moved, cost, True
        if not improved:
            step /= 2
            if step < 1e-3:
                break
    shares = np.maximum(np.exp(logs) / np.exp(logs).sum(), _LEAST)
    return tuple((shares / shares.sum()).tolist())


def _cost(sizes: Sequence[int], logs: NDArray[np.float64], law: Law) -> float:
    shares = np.exp(logs - logs.max())
    shares = shares / shares.sum()
    own = (2 / shares**2 if law == "laplace" else 1 / shares).tolist()
    spread, totals = [own[0]], []
    for level in range(1, len(sizes)):
        totals.append(spread[-1] * max(1.0, sizes[level - 1] / sizes[level]))
        spread.append(1 / (1 / own[level] + 1 / totals[-1]))
    found = [spread[-1]]
    for level in range(len(sizes) - 2, -1, -1):
        s, total = spread[level], totals[level]
        found.append(s + (s / total) ** 2 * (found[-1] - total))
    return float(sum(found))
