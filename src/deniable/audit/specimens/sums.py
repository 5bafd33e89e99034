"""Specimens: sums and means whose sensitivity is not what it is said to be. Refuted by replay."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import units
from deniable.ledger import open_ledger
from deniable.losses import rho
from deniable.mechanisms import Gaussian, Laplace, Step
from deniable.sensitive import Sensitive
from deniable.sensitivity import clipped_sum, mean
from deniable.session import Session
from deniable.units import Unit

from ._specimen import Computed, Replayed, Specimen

Floats = NDArray[np.float64]
AGES = np.array([33.0, 21.0, 45.0, 64.0])


def session(unit: Unit | None = None) -> Session:
    """A door to data that come by Sensitive: no tables."""
    budget = rho(1e4)  # of no interest here, and every mechanism used has a ρ
    ledger = open_ledger(None, budget=budget, unit=unit or units.rows(), name="specimens")
    return Session(tables={}, schema=None, ledger=ledger)


def releases(step: Callable[[Any], Step[Any]], unit: Unit | None = None) -> Callable[[Any], object]:
    """A program of one release."""
    return lambda data: session(unit).release(step(data))


def laplace(
    compute: Callable[[], object],
    *,
    sensitivity: float,
    whole: bool = False,
    shape: int | None = None,
) -> Step[object]:
    """A value with Laplace noise, ε = 1."""
    mechanism = Laplace.calibrate(epsilon=1.0, sensitivity=sensitivity)
    return mechanism.on(Sensitive(compute, l1=sensitivity, whole=whole, shape=shape))


def specimens() -> list[Specimen]:
    """All of this file."""
    return [*_bounds(), _float_sum(), *_arithmetic(), *_means(), *_people(), *_vectors()]


def _kept(values: Floats) -> Floats:
    return np.clip(values[~np.isnan(values)], 20, 80)


def _bounds() -> list[Specimen]:
    older = np.append(AGES, 80.0)
    right = releases(lambda x: clipped_sum(x, low=20, high=80).noisy(epsilon=1.0))
    return [
        Replayed(
            name="sensitivity u − l of a sum",
            wrong_because="someone of 80 who joins moves a sum of ages in [20, 80] by 80",
            holds="max(|l|, |u|) if people are added or removed; u − l if replaced",
            source="[DMNS06]",
            first=AGES,
            second=older,
            wrong=releases(lambda x: laplace(lambda: int(_kept(x).sum()), sensitivity=60)),
            right=right,
        ),
        Replayed(
            name="NaN through clipping",
            wrong_because="np.clip lets NaN pass: the sum is NaN exactly if someone's value is",
            holds="NaN is dropped, or becomes a number, row by row",
            first=AGES,
            second=np.append(AGES, np.nan),
            wrong=releases(
                lambda x: laplace(lambda: float(np.clip(x, 20, 80).sum()), sensitivity=80)
            ),
            right=right,
        ),
        Replayed(
            name="bounds from the data",
            wrong_because="the bounds are the least and largest value seen: they are someone's",
            holds="public bounds, or bounds found privately",
            first=AGES,
            second=older,
            wrong=releases(
                lambda x: laplace(lambda: int(x.sum()), sensitivity=float(x.max(initial=1.0)))
            ),
            right=right,
        ),
    ]


def _float_sum() -> Specimen:
    return Replayed(
        name="a sum of floats",
        wrong_because="beside a row of 2⁵³ each row of 1.5 is rounded to 2",
        holds="whole numbers on a lattice, whose sums are exact in any order",
        source="[CSVW22]",
        first=np.full(100, 1.5),
        second=np.array([2.0**53] + [1.5] * 100),
        wrong=releases(lambda x: laplace(lambda: _one_by_one(x), sensitivity=2.0**53)),
        right=releases(lambda x: clipped_sum(x, low=0, high=2.0**53).noisy(epsilon=1.0)),
    )


def _one_by_one(values: Floats) -> float:
    total = 0.0
    for value in values.tolist():
        total = total + value
    return total


def _arithmetic() -> list[Specimen]:
    removed = Fraction(1, 10)  # ten values, nine of them 0 and one 1, which is removed
    return [
        Computed(
            name="local sensitivity u/(n + 1) of a mean",
            wrong_because="it thinks of adding a row; removing one of n moves the mean by u/n",
            holds="(u − l)/n; at distance k (u − l)/max(1, n − k)",
            source="[NRS07]",
            what="the change of the mean",
            wrong=lambda: (float(removed), 1 / 11),
            right=lambda: (float(removed), 1 / 10),
        ),
    ]


def _means() -> list[Specimen]:
    fewer = AGES[:-1]

    def right(x: Any) -> Any:
        return session().run(mean(x, low=20, high=80, epsilon=1.0))

    return [
        Replayed(
            name="the number of rows used as public",
            wrong_because="a noisy sum is divided by the true number of rows",
            holds="a noisy count, paid for, or a number of rows that is public",
            first=AGES,
            second=fewer,
            wrong=_divided,
            right=right,
        ),
        Replayed(
            name="local sensitivity as global",
            wrong_because="the noise is sized to (u − l)/n of these very data",
            holds="a smooth bound, or propose-test-release, or a noisy count and a noisy sum",
            source="[NRS07]",
            first=AGES,
            second=fewer,
            wrong=releases(
                lambda x: laplace(lambda: float(_kept(x).mean()), sensitivity=60 / x.size)
            ),
            right=right,
        ),
        Replayed(
            name="variance around an unclamped mean",
            wrong_because="squares around a noisy mean outside the bounds pass b²",
            holds="the noisy mean is clamped first; or noisy sums of centred values and squares",
            first=np.array([0.0, 0.0]),
            second=np.array([0.0, 0.0, 10.0]),
            wrong=lambda x: _variance(x, clamp=False),
            right=lambda x: _variance(x, clamp=True),
        ),
    ]


def _divided(values: Floats) -> float:
    step = clipped_sum(values, low=20, high=80)
    noisy = session().release(step.noisy(epsilon=1.0)).value
    return float(noisy) * step.lattice.width / values.size  # type: ignore[arg-type]


def _variance(values: Floats, *, clamp: bool) -> object:
    """A noisy sum of squares around a noisy mean; ε is small, so the mean may be anything."""
    door = session()
    total = Laplace.calibrate(epsilon=0.01, sensitivity=10)
    noisy = door.release(total.on(Sensitive(lambda: float(values.sum()), l1=10))).value
    centre = float(noisy) / 2  # type: ignore[arg-type]
    centre = round(min(max(centre, 0.0), 10.0) if clamp else centre)

    def squares() -> int:
        return int(((values - centre) ** 2).sum())

    return door.release(laplace(squares, sensitivity=100)).value


def _people() -> list[Specimen]:
    """Several rows of one person; someone replaced by another."""
    replaced = units.rows(relation="replace")
    return [
        Replayed(
            name="√L as the L2 sensitivity of a person's L rows",
            wrong_because="all four rows of a person may fall in one cell: L2 is 4, not 2",
            holds="L in every norm; √L only if at most one row falls in each cell",
            first=np.zeros(3),
            second=np.array([4.0, 0.0, 0.0]),
            wrong=releases(
                lambda x: Gaussian(sigma=2.0, sensitivity=2.0).on(
                    Sensitive(lambda: x, l2=2, shape=3)
                )
            ),
            right=releases(
                lambda x: Gaussian(sigma=4.0, sensitivity=4.0).on(
                    Sensitive(lambda: x, l2=4, shape=3)
                )
            ),
        ),
        Replayed(
            name="a histogram under replacement",
            wrong_because="a person who is replaced leaves one cell and enters another: L1 is 2",
            holds="1 where people are added or removed, 2 where they are replaced (L2: √2)",
            source="[DR14]",
            first=np.array([5, 3]),
            second=np.array([4, 4]),
            wrong=releases(
                lambda x: laplace(lambda: x, sensitivity=1, whole=True, shape=2), replaced
            ),
            right=releases(
                lambda x: laplace(lambda: x, sensitivity=2, whole=True, shape=2), replaced
            ),
        ),
    ]


def _vectors() -> list[Specimen]:
    def rounded(values: Floats) -> NDArray[np.int64]:
        return np.floor(values + 0.5).astype(np.int64)

    return [
        Replayed(
            name="rounded after summing",
            wrong_because="three sums that move by 1/3 each are rounded: each may move by 1",
            holds="rows are rounded before they are summed, or Δ₁ grows by one a sum",
            first=np.array([0.25, 0.25, 0.25]),
            second=np.array([0.5625, 0.5625, 0.5625]),
            wrong=releases(
                lambda x: laplace(lambda: rounded(x), sensitivity=1, whole=True, shape=3)
            ),
            right=releases(
                lambda x: laplace(lambda: rounded(x), sensitivity=4, whole=True, shape=3)
            ),
        ),
        Replayed(
            name="elementwise bounds for a vector",
            wrong_because="each of three averages moves by ¼; the Euclidean bound is given as ¼",
            holds="√3/4 in L2, 3/4 in L1",
            first=np.zeros(3),
            second=np.full(3, 0.25),
            wrong=releases(
                lambda x: Gaussian(sigma=1.0, sensitivity=0.25).on(
                    Sensitive(lambda: x, l2=0.25, shape=3)
                )
            ),
            right=releases(
                lambda x: Gaussian(sigma=1.0, sensitivity=0.5).on(
                    Sensitive(lambda: x, l2=math.sqrt(3) / 4 + 1e-12, shape=3)
                )
            ),
        ),
    ]
