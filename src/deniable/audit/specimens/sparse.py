"""Specimens: sparse vectors as published and corrected [LSL17]; ε = 1, Δ = 1."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms import SparseVector

from ._specimen import Batch, Computed, Floats, Sampled, Specimen, noisy, one_by_one

_FIVE = SparseVector(epsilon=1.0, answers=5)
_WITH_VALUE = SparseVector(epsilon=1.0, answers=1, values=True)
_OVER = 2
"""What is said of queries after the last answer."""


def _vector(*, threshold: float, queries: float, answers: int | None) -> Batch:
    """1 above, 0 below, 2 once it has stopped; the threshold itself is 0."""

    def batch(values: Floats, n: int) -> object:
        above = (noisy(queries)(values, n) if queries else values) >= noisy(threshold)([0.0], n)
        if answers is None:
            return above.astype(np.int64)
        return np.where(above.cumsum(axis=1) - above >= answers, _OVER, above)

    return batch


def _ours(values: Floats) -> NDArray[np.int64]:
    """The same of five answers, by the library's own."""
    said = np.zeros(len(values), dtype=np.int64)
    found = np.array(_FIVE.release(values), dtype=np.int64)
    said[found] = 1
    if found.size == _FIVE.answers:
        said[found[-1] + 1 :] = _OVER
    return said


def _compared_value(values: Floats, n: int) -> object:
    """One answer; half of ε for the threshold, half for the query, and the query's value shown."""
    seen = noisy(2.0)(values, n)
    above = seen >= noisy(2.0)([0.0], n)
    where, hit = above.argmax(axis=1), above.any(axis=1)
    shown = seen[np.arange(n), where]
    return np.stack([np.where(hit, where, -1), np.where(hit, shown, -99.0)], axis=1)


def _fresh_value(values: Floats) -> object:
    found = _WITH_VALUE.release(values)
    return found[0] if found else (-1, -99.0)


def _stream(
    *, name: str, wrong_because: str, source: str, wrong: Batch, right: Batch | None = None
) -> Specimen:
    """Ten queries: five that a person moves up, five that they move down."""
    return Sampled(
        name=name,
        wrong_because=wrong_because,
        holds="threshold Lap(Δ/ε₁), queries Lap(2cΔ/ε₂), and a stop after c answers",
        source=source,
        data=(np.repeat([0.0, 1.0], 5), np.repeat([1.0, 0.0], 5)),
        wrong=wrong,
        right=right or one_by_one(_ours),
        samples=400_000,
        right_samples=2_500,
    )


def _loss_of_nothing() -> float:
    """ln of the ratio of P(0 + Lap(4) < T + Lap(2)) to P(1 + Lap(4) < T + Lap(2)), T = −4."""
    return math.log(_tail(4.0) / _tail(5.0))


def _tail(t: float, a: float = 2.0, b: float = 4.0) -> float:
    """P(Lap(a) − Lap(b) > t) for t ≥ 0 and a ≠ b."""
    return (a * a * math.exp(-t / a) - b * b * math.exp(-t / b)) / (2 * (a * a - b * b))


SPECIMENS: tuple[Specimen, ...] = (
    _stream(
        name="sparse vector that shows the compared value",
        wrong_because="the answer is the very number compared: it bounds the threshold",
        source="[LSL17, Alg. 3]",
        wrong=_compared_value,
        right=one_by_one(_fresh_value),
    ),
    _stream(
        name="sparse vector without c in the noise",
        wrong_because="five answers are given with the noise of one",
        source="[LSL17, Alg. 4]",
        wrong=_vector(threshold=4.0, queries=4 / 3, answers=5),
    ),
    _stream(
        name="sparse vector without noise on the queries",
        wrong_because="one noisy threshold: who is above and who is below tells their order",
        source="[LSL17, Alg. 5]",
        wrong=_vector(threshold=2.0, queries=0.0, answers=None),
    ),
    _stream(
        name="sparse vector that never stops",
        wrong_because="every query is answered, above or below, at the price of one",
        source="[LSL17, Alg. 6]",
        wrong=_vector(threshold=2.0, queries=2.0, answers=None),
    ),
    Computed(
        name="no answer, compared with −1",
        wrong_because="None is not −1: the loop asks again, and again, for the price of once",
        holds="None ends it; asking again is paid again",
        what="the loss of hearing 'nothing' eight times",
        wrong=lambda: (8 * _loss_of_nothing(), 1.0),
        right=lambda: (_loss_of_nothing(), 1.0),
    ),
)
