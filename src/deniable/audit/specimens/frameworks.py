"""Specimens: propose-test-release, smooth sensitivity, sample and aggregate."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import itemgetter

import numpy as np

from deniable.mechanisms import ProposeTestRelease, SmoothNoise
from deniable.sensitive import Sensitive
from deniable.sensitivity import Mean, sample_and_aggregate, smooth_release
from deniable.sensitivity.local import sorted_within
from deniable.units import person

from ._specimen import (
    Floats,
    Replayed,
    Sampled,
    Specimen,
    laplace,
    noisy,
    one_by_one,
    releases,
    session,
)

_DELTA, _HALF = 1e-3, 0.5
_TEST = ProposeTestRelease(bound=1.0, epsilon_test=_HALF, epsilon_release=_HALF, delta=_DELTA)
_HUNDRED = np.repeat([0.0, 1.0], [99, 1])
_MANY = np.linspace(0.0, 1.0, 300)
_PERSON = person("who", rows=1)
_ROWS = [(who, 50.0 * (who % 2)) for who in range(12)]


def _textbook_test(value: tuple[float, float], n: int) -> object:
    answer, distance = value
    reach = noisy(1 / _HALF)(distance, n)
    shown = noisy(1 / _HALF)(answer, n)
    return np.where(reach >= math.log(2 / _DELTA) / (2 * _HALF), shown, np.nan)


def _our_test(value: tuple[float, float]) -> float:
    answer = _TEST.release(value)
    return np.nan if answer is None else float(answer)


def _smooth(epsilon: float) -> Callable[[Floats], object]:
    return lambda x: session().run(smooth_release(x, Mean(), low=0.0, high=1.0, epsilon=epsilon))


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


def _by_position(data: list[tuple[int, float]]) -> int:
    size = math.ceil(len(data) / 3)
    return sum(round(data[start][1]) for start in range(0, len(data), size))


def _by_person(data: list[tuple[int, float]]) -> object:
    people, values = map(list, zip(*data, strict=True))
    steps = sample_and_aggregate(
        values, itemgetter(0), parts=3, low=0, high=50, epsilon=1.0, people=people, unit=_PERSON
    )
    return session(_PERSON).run(steps)


SPECIMENS: tuple[Specimen, ...] = (
    Sampled(
        name="propose-test-release with the textbook threshold",
        wrong_because="ln(2/δ)/2ε is passed by accident with probability ½√(δ/2), not δ",
        holds="the threshold ln(1/2δ)/ε₁; the whole is (ε₁ + ε₂, δ), also when it refuses",
        source="[DL09]",
        data=((0.0, 0.0), (1000.0, 0.0)),
        claim={"epsilon": 2 * _HALF, "delta": _DELTA},
        wrong=_textbook_test,
        right=one_by_one(_our_test),
        samples=200_000,
        right_samples=25_000,
    ),
    Replayed(
        name="smooth sensitivity from k = 1",
        wrong_because="the data themselves, k = 0, are left out: S is too small for them",
        holds="the maximum over k ≥ 0",
        source="[NRS07]",
        data=(_HUNDRED, _HUNDRED[:-1]),
        wrong=lambda x: _smoothed(x, range(1, 200), epsilon=1.0),
        right=_smooth(1.0),
    ),
    Replayed(
        name="smooth sensitivity cut at 200",
        wrong_because="for a small ε the maximum lies further out; what is left is not smooth",
        holds="a stopping rule that is proved: until e^(−βk)·max A cannot win",
        source="[NRS07]",
        data=(_MANY, _MANY[:-1]),
        wrong=lambda x: _smoothed(x, range(200), epsilon=0.01),
        right=_smooth(0.01),
    ),
    Replayed(
        name="the ± of smooth noise",
        wrong_because="the size of the noise depends on the data, and is shown",
        holds="neither the scale nor the ± of such an answer may be shown",
        source="[NRS07]",
        data=(_HUNDRED, _HUNDRED[:-1]),
        wrong=lambda x: (_smooth(1.0)(x), _bound(x, range(200), 1 / 6)),
        right=_smooth(1.0),
    ),
    Replayed(
        name="sample and aggregate by position",
        wrong_because="one row less shifts all later chunks, and even their number changes",
        holds="each person is put in one of k public parts by a keyed hash",
        source="[NRS07]",
        data=(_ROWS, _ROWS[1:]),
        wrong=releases(lambda rows: laplace(lambda: _by_position(rows), sensitivity=50), _PERSON),
        right=_by_person,
    ),
)
