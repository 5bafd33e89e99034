"""What counts prove about rates: exact binomial bounds, and doubts for repeated looks.

Clopper–Pearson bounds hold for every n and every rate; they also hold when the trials are
independent but not alike, because the tails of such a sum, one or more beyond its mean, are no
heavier than the binomial's [Hoe56, Thm 4].
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

FloatArray = NDArray[np.float64]
RATES = 4
"""An event each way, with a rate on each side: each of four bounds gets a quarter of the doubt."""


def lower_rate(hits: ArrayLike, *, trials: int, alpha: float) -> FloatArray:
    """The least rate that `hits` of `trials` leave open, wrong with probability at most α [CP34].

    >>> float(lower_rate(0, trials=100, alpha=0.05))
    0.0
    >>> round(float(lower_rate(100, trials=100, alpha=0.05)), 6)  # α^(1/n)
    0.970487
    """
    count = np.asarray(hits, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        bound = special.betaincinv(np.maximum(count, 1), trials - np.maximum(count, 1) + 1, alpha)
    return np.where(count <= 0, 0.0, bound)


def upper_rate(hits: ArrayLike, *, trials: int, alpha: float) -> FloatArray:
    """The largest rate that `hits` of `trials` leave open, wrong with probability at most α [CP34].

    >>> round(float(upper_rate(0, trials=100, alpha=0.05)), 6)  # 1 − α^(1/n)
    0.029513
    """
    count = np.asarray(hits, dtype=np.float64)
    below = np.minimum(count, trials - 1)
    bound = special.betainccinv(below + 1, trials - below, alpha)
    return np.where(count >= trials, 1.0, bound)


def quick_rates(hits: ArrayLike, *, trials: int, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Lower and upper rates by Wilson's formula: near enough to compare events, never to judge.

    >>> low, high = quick_rates(50, trials=100, alpha=0.05)
    >>> round(float(low), 3), round(float(high), 3)
    (0.419, 0.581)
    """
    z = -float(special.ndtri(alpha))
    rate = np.asarray(hits, dtype=np.float64) / trials
    centre = rate + z * z / (2 * trials)
    reach = z * np.sqrt(rate * (1 - rate) / trials + (z / (2 * trials)) ** 2)
    shrink = 1 + z * z / trials
    return np.maximum(centre - reach, 0.0) / shrink, (centre + reach) / shrink


def looks(alpha: float) -> Iterator[float]:
    """Doubts α/(k(k+1)) for the looks k = 1, 2, …: they add up to α however many are taken.

    >>> spent = looks(0.01)
    >>> [round(next(spent), 6) for _ in range(3)]
    [0.005, 0.001667, 0.000833]
    """
    look = 1
    while True:
        yield alpha / (look * (look + 1))
        look += 1
