"""Specimens: sums and means whose sensitivity is not what it is said to be. Refuted by replay."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from deniable import parameters, units
from deniable.mechanisms import Gaussian, Laplace, Step
from deniable.sensitive import Sensitive
from deniable.sensitivity import clipped_sum, mean

from ._specimen import Computed, Floats, Replayed, Specimen, laplace, releases, session

AGES = np.array([33.0, 21.0, 45.0, 64.0])


def _histogram(sensitivity: float, cells: int) -> Callable[[Any], Step[Any]]:
    return lambda x: laplace(lambda: x, sensitivity=sensitivity, counts=cells)


def _gaussian(sigma: float, sensitivity: float, *, l2: float) -> Callable[[Any], object]:
    """Three numbers with Gaussian noise."""
    mechanism = Gaussian(sigma=sigma, sensitivity=sensitivity)
    return releases(lambda x: mechanism.on(Sensitive(lambda: x, l2=l2, shape=3)))


def _kept(values: Floats) -> Floats:
    return np.clip(values[~np.isnan(values)], 20, 80)


def _divided(values: Floats) -> float:
    step = clipped_sum(values, low=20, high=80)
    noisy = session().release(step.noisy(epsilon=1.0)).value
    return parameters.real("noisy", noisy) * step.lattice.width / values.size


def _variance(values: Floats, *, clamp: bool) -> object:
    """A noisy sum of squares around a noisy mean; ε is small, so the mean may be anything."""
    door = session()
    total = Laplace.calibrate(epsilon=0.01, sensitivity=10)
    noisy = door.release(total.on(Sensitive(lambda: float(values.sum()), l1=10))).value
    centre = parameters.real("noisy", noisy) / 2
    centre = round(min(max(centre, 0.0), 10.0) if clamp else centre)

    def squares() -> int:
        return int(((values - centre) ** 2).sum())

    return door.release(laplace(squares, sensitivity=100)).value


def _rounded(sensitivity: float) -> Callable[[Any], object]:
    counts = _histogram(sensitivity, 3)
    return releases(lambda x: counts(np.floor(x + 0.5).astype(np.int64)))


def _mean(values: Floats) -> object:
    return session().run(mean(values, low=20, high=80, epsilon=1.0))


_clipped = releases(lambda x: clipped_sum(x, low=20, high=80).noisy(epsilon=1.0))

SPECIMENS: tuple[Specimen, ...] = (
    Replayed(
        name="sensitivity u − l of a sum",
        wrong_because="someone of 80 who joins moves a sum of ages in [20, 80] by 80",
        holds="max(|l|, |u|) if people are added or removed; u − l if replaced",
        source="[DMNS06]",
        data=(AGES, np.append(AGES, 80.0)),
        wrong=releases(lambda x: laplace(lambda: int(_kept(x).sum()), sensitivity=60)),
        right=_clipped,
    ),
    Replayed(
        name="NaN through clipping",
        wrong_because="np.clip lets NaN pass: the sum is NaN exactly if someone's value is",
        holds="NaN is dropped, or becomes a number, row by row",
        data=(AGES, np.append(AGES, np.nan)),
        wrong=releases(lambda x: laplace(lambda: float(np.clip(x, 20, 80).sum()), sensitivity=80)),
        right=_clipped,
    ),
    Replayed(
        name="bounds from the data",
        wrong_because="the bounds are the least and largest value seen: they are someone's",
        holds="public bounds, or bounds found privately",
        data=(AGES, np.append(AGES, 80.0)),
        wrong=releases(lambda x: laplace(lambda: int(x.sum()), sensitivity=float(x.max()))),
        right=_clipped,
    ),
    Replayed(
        name="a sum of floats",
        wrong_because="beside a row of 2⁵³ each row of 1.5 is rounded to 2",
        holds="whole numbers on a lattice, whose sums are exact in any order",
        source="[CSVW22]",
        data=(np.full(100, 1.5), np.array([2.0**53] + [1.5] * 100)),
        wrong=releases(lambda x: laplace(lambda: reduce(add, x.tolist()), sensitivity=2.0**53)),
        right=releases(lambda x: clipped_sum(x, low=0, high=2.0**53).noisy(epsilon=1.0)),
    ),
    Computed(
        name="local sensitivity u/(n + 1) of a mean",
        wrong_because="it thinks of adding a row; removing one of n moves the mean by u/n",
        holds="(u − l)/n; at distance k (u − l)/max(1, n − k)",
        source="[NRS07]",
        what="the change of the mean",  # ten values, nine of them 0 and one 1, which is removed
        wrong=lambda: (1 / 10, 1 / 11),
        right=lambda: (1 / 10, 1 / 10),
    ),
    Replayed(
        name="the number of rows used as public",
        wrong_because="a noisy sum is divided by the true number of rows",
        holds="a noisy count, paid for, or a number of rows that is public",
        data=(AGES, AGES[:-1]),
        wrong=_divided,
        right=_mean,
    ),
    Replayed(
        name="local sensitivity as global",
        wrong_because="the noise is sized to (u − l)/n of these very data",
        holds="a smooth bound, or propose-test-release, or a noisy count and a noisy sum",
        source="[NRS07]",
        data=(AGES, AGES[:-1]),
        wrong=releases(lambda x: laplace(lambda: float(_kept(x).mean()), sensitivity=60 / x.size)),
        right=_mean,
    ),
    Replayed(
        name="variance around an unclamped mean",
        wrong_because="squares around a noisy mean outside the bounds pass b²",
        holds="the noisy mean is clamped first; or noisy sums of centred values and squares",
        data=(np.zeros(2), np.array([0.0, 0.0, 10.0])),
        wrong=lambda x: _variance(x, clamp=False),
        right=lambda x: _variance(x, clamp=True),
    ),
    Replayed(
        name="√L as the L2 sensitivity of a person's L rows",
        wrong_because="all four rows of a person may fall in one cell: L2 is 4, not 2",
        holds="L in every norm; √L only if at most one row falls in each cell",
        data=(np.zeros(3), np.array([4.0, 0.0, 0.0])),
        wrong=_gaussian(2.0, 2.0, l2=2),
        right=_gaussian(4.0, 4.0, l2=4),
    ),
    Replayed(
        name="a histogram under replacement",
        wrong_because="a person who is replaced leaves one cell and enters another: L1 is 2",
        holds="1 where people are added or removed, 2 where they are replaced (L2: √2)",
        source="[DR14]",
        data=(np.array([5, 3]), np.array([4, 4])),
        wrong=releases(_histogram(1, 2), units.rows(relation="replace")),
        right=releases(_histogram(2, 2), units.rows(relation="replace")),
    ),
    Replayed(
        name="rounded after summing",
        wrong_because="three sums that move by 1/3 each are rounded: each may move by 1",
        holds="rows are rounded before they are summed, or Δ₁ grows by one a sum",
        data=(np.full(3, 0.25), np.full(3, 0.5625)),
        wrong=_rounded(1),
        right=_rounded(4),
    ),
    Replayed(
        name="elementwise bounds for a vector",
        wrong_because="each of three averages moves by ¼; the Euclidean bound is given as ¼",
        holds="√3/4 in L2, 3/4 in L1",
        data=(np.zeros(3), np.full(3, 0.25)),
        wrong=_gaussian(1.0, 0.25, l2=0.25),
        right=_gaussian(1.0, 0.5, l2=math.sqrt(3) / 4 + 1e-12),
    ),
)
