"""Specimens: propose-test-release, smooth sensitivity, sample and aggregate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms import Laplace, ProposeTestRelease, SmoothNoise
from deniable.sensitive import Sensitive
from deniable.sensitivity import Mean, sample_and_aggregate, smooth_release
from deniable.sensitivity.local import sorted_within
from deniable.units import person

from ._specimen import Replayed, Sampled, Specimen
from .sums import laplace, releases, session

Floats = NDArray[np.float64]


def specimens() -> list[Specimen]:
    """All of this file."""
    return [_propose_test(), *_smooth(), _positional()]


def _propose_test() -> Specimen:
    delta, half = 1e-3, 0.5

    def textbook(value: tuple[float, float], n: int) -> object:
        answer, distance = value
        reach = distance + np.asarray(Laplace(scale=1 / half).release(np.zeros(n)))
        shown = np.asarray(Laplace(scale=1 / half).release(np.full(n, answer)))
        return np.where(reach >= math.log(2 / delta) / (2 * half), shown, np.nan)

    def ours(value: tuple[float, float], n: int) -> object:
        mechanism = ProposeTestRelease(
            bound=1.0, epsilon_test=half, epsilon_release=half, delta=delta
        )
        answers = [mechanism.release(value) for _ in range(n)]
        return np.array([np.nan if answer is None else answer for answer in answers], dtype=float)

    return Sampled(
        name="propose-test-release with the textbook threshold",
        wrong_because="ln(2/δ)/2ε is passed by accident with probability ½√(δ/2), not δ",
        holds="the threshold ln(1/2δ)/ε₁; the whole is (ε₁ + ε₂, δ), also when it refuses",
        source="[DL09]",
        first=(0.0, 0.0),
        second=(1000.0, 0.0),
        claim={"epsilon": 1.0, "delta": delta},
        wrong=textbook,
        right=ours,
        samples=200_000,
        right_samples=25_000,
    )


def _smooth() -> list[Specimen]:
    hundred = np.array([0.0] * 99 + [1.0])
    many = np.linspace(0.0, 1.0, 300)

    def right(epsilon: float) -> Any:
        return lambda x: session().run(
            smooth_release(x, Mean(), low=0.0, high=1.0, epsilon=epsilon)
        )

    return [
        Replayed(
            name="smooth sensitivity from k = 1",
            wrong_because="the data themselves, k = 0, are left out: S is too small for them",
            holds="the maximum over k ≥ 0",
            source="[NRS07]",
            first=hundred,
            second=hundred[:-1],
            wrong=lambda x: _smoothed(x, range(1, 200), epsilon=1.0),
            right=right(1.0),
        ),
        Replayed(
            name="smooth sensitivity cut at 200",
            wrong_because="for a small ε the maximum lies further out; what is left is not smooth",
            holds="a stopping rule that is proved: until e^(−βk)·max A cannot win",
            source="[NRS07]",
            first=many,
            second=many[:-1],
            wrong=lambda x: _smoothed(x, range(200), epsilon=0.01),
            right=right(0.01),
        ),
        Replayed(
            name="the ± of smooth noise",
            wrong_because="the size of the noise depends on the data, and is shown",
            holds="neither the scale nor the ± of such an answer may be shown",
            source="[NRS07]",
            first=hundred,
            second=hundred[:-1],
            wrong=lambda x: (right(1.0)(x), _bound(x, range(200), 1 / 6)),
            right=right(1.0),
        ),
    ]


def _bound(values: Floats, distances: range, beta: float) -> float:
    data = sorted_within(values, 0.0, 1.0)
    found = Mean().at_distance(data, np.array(distances), 0.0, 1.0)
    return float((np.exp(-beta * np.array(distances)) * found).max())


def _smoothed(values: Floats, distances: range, *, epsilon: float) -> object:
    """The mean with noise of a smooth bound that looks at some distances only."""
    mechanism = SmoothNoise(epsilon=epsilon, low=0.0, high=1.0)

    def compute() -> tuple[float, float]:
        data = sorted_within(values, 0.0, 1.0)
        return Mean().value(data, 0.0, 1.0), _bound(values, distances, mechanism.beta)

    return session().release(mechanism.on(Sensitive(compute, linf=1.0))).value


def _positional() -> Specimen:
    unit = person("who", rows=1)
    rows = [(who, 50.0 * (who % 2)) for who in range(12)]

    def by_position(data: list[tuple[int, float]]) -> int:
        size = math.ceil(len(data) / 3)
        parts = [data[i : i + size] for i in range(0, len(data), size)]
        return sum(round(part[0][1]) for part in parts)

    def ours(data: list[tuple[int, float]]) -> object:
        people, values = [who for who, _ in data], [value for _, value in data]
        return session(unit).run(
            sample_and_aggregate(
                values, _first, parts=3, low=0, high=50, epsilon=1.0, people=people, unit=unit
            )
        )

    return Replayed(
        name="sample and aggregate by position",
        wrong_because="one row less shifts all later chunks, and even their number changes",
        holds="each person is put in one of k public parts by a keyed hash",
        source="[NRS07]",
        first=rows,
        second=rows[1:],
        wrong=releases(lambda data: laplace(lambda: by_position(data), sensitivity=50), unit),
        right=ours,
    )


def _first(values: list[float]) -> float:
    return values[0]
