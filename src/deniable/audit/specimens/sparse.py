"""Specimens: sparse vectors as published and corrected [LSL17]."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms import Laplace, SparseVector

from ._specimen import Batch, Computed, Sampled, Specimen

Floats = NDArray[np.float64]
_FEW = 2_500
_OVER = 2
"""What is said of queries after the last answer."""


def specimens() -> list[Specimen]:
    """All of this file; ε = 1, Δ = 1."""
    return [
        _stream(
            name="sparse vector that shows the compared value",
            wrong_because="the answer is the very number compared: it bounds the threshold",
            source="[LSL17, Alg. 3]",
            wrong=_compared_value,
            right=_fresh_value,
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
        _again(),
    ]


def _stream(
    *, name: str, wrong_because: str, source: str, wrong: Batch, right: Batch | None = None
) -> Specimen:
    """Ten queries: five that a person moves up, five that they move down."""
    return Sampled(
        name=name,
        wrong_because=wrong_because,
        holds="threshold Lap(Δ/ε₁), queries Lap(2cΔ/ε₂), and a stop after c answers",
        source=source,
        first=np.array([0.0] * 5 + [1.0] * 5),
        second=np.array([1.0] * 5 + [0.0] * 5),
        claim={"epsilon": 1.0},
        wrong=wrong,
        right=right or _ours(answers=5),
        samples=400_000,
        right_samples=_FEW,
    )


def _again() -> Specimen:
    return Computed(
        name="no answer, compared with −1",
        wrong_because="None is not −1: the loop asks again, and again, for the price of once",
        holds="None ends it; asking again is paid again",
        what="the loss of hearing 'nothing' eight times",
        wrong=lambda: (8 * _loss_of_nothing(), 1.0),
        right=lambda: (_loss_of_nothing(), 1.0),
    )


def _loss_of_nothing() -> float:
    """ln of the ratio of P(0 + Lap(4) < T + Lap(2)) to P(1 + Lap(4) < T + Lap(2)), T = −4."""
    return math.log(_tail(4.0) / _tail(5.0))


def _tail(t: float, a: float = 2.0, b: float = 4.0) -> float:
    """P(Lap(a) − Lap(b) > t) for t ≥ 0 and a ≠ b."""
    return (a * a * math.exp(-t / a) - b * b * math.exp(-t / b)) / (2 * (a * a - b * b))


def _noise(scale: float, shape: tuple[int, ...]) -> Floats:
    return np.asarray(Laplace(scale=scale).release(np.zeros(shape)))


def _vector(*, threshold: float, queries: float, answers: int | None) -> Batch:
    """1 above, 0 below, 2 once it has stopped; the threshold itself is 0."""

    def batch(values: Floats, n: int) -> object:
        noisy = values + (_noise(queries, (n, len(values))) if queries else 0.0)
        above = noisy >= _noise(threshold, (n, 1))
        if answers is None:
            return above.astype(np.int64)
        return np.where(above.cumsum(axis=1) - above >= answers, _OVER, above)

    return batch


def _ours(*, answers: int) -> Batch:
    mechanism = SparseVector(epsilon=1.0, answers=answers)

    def batch(values: Floats, n: int) -> object:
        said = np.zeros((n, len(values)), dtype=np.int64)
        for row in said:
            found = np.array(mechanism.release(values), dtype=np.int64)
            row[found] = 1
            if found.size == answers:
                row[found[-1] + 1 :] = _OVER
        return said

    return batch


def _compared_value(values: Floats, n: int) -> object:
    """One answer; half of ε for the threshold, half for the query, and the query's value shown."""
    noisy = values + _noise(2.0, (n, len(values)))
    above = noisy >= _noise(2.0, (n, 1))
    where, hit = above.argmax(axis=1), above.any(axis=1)
    shown = noisy[np.arange(n), where]
    return np.stack([np.where(hit, where, -1), np.where(hit, shown, -99.0)], axis=1)


def _fresh_value(values: Floats, n: int) -> object:
    mechanism = SparseVector(epsilon=1.0, answers=1, values=True)
    found = [mechanism.release(values) for _ in range(n)]
    return np.array([one[0] if one else (-1, -99.0) for one in found])
