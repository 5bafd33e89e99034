"""Specimens: sparse vectors as published and corrected [LSL17, Fig. 1 and 2]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms import AboveThreshold, Laplace, SparseVector

from ._specimen import Batch, Sampled, Specimen

Floats = NDArray[np.float64]
_FEW = 4_000
_OVER = 2
"""What is said of queries after the last answer."""


def specimens() -> list[Specimen]:
    """All of this file; ε = 1, Δ = 1."""
    up, down = np.array([0.0] * 5 + [1.0] * 5), np.array([1.0] * 5 + [0.0] * 5)
    same = {
        "first": up,
        "second": down,
        "claim": {"epsilon": 1.0},
        "holds": "threshold Lap(Δ/ε₁), queries Lap(2cΔ/ε₂), and a stop after c answers",
        "samples": 100_000,
        "right_samples": _FEW,
    }
    return [
        Sampled(
            **same,  # type: ignore[arg-type]
            name="sparse vector that shows the compared value",
            wrong_because="the answer is the very number that was compared: it bounds the threshold",
            source="[LSL17, Alg. 3]",
            wrong=_compared_value,
            right=_fresh_value,
        ),
        Sampled(
            **same,  # type: ignore[arg-type]
            name="sparse vector without c in the noise",
            wrong_because="five answers are given with the noise of one",
            source="[LSL17, Alg. 4]",
            wrong=_vector(threshold=4.0, queries=4 / 3, answers=5),
            right=_ours(answers=5),
        ),
        Sampled(
            **same,  # type: ignore[arg-type]
            name="sparse vector without noise on the queries",
            wrong_because="one noisy threshold: who is above and who is below tells their order",
            source="[LSL17, Alg. 5]",
            wrong=_vector(threshold=2.0, queries=0.0, answers=None),
            right=_ours(answers=5),
        ),
        Sampled(
            **same,  # type: ignore[arg-type]
            name="sparse vector that never stops",
            wrong_because="every query is answered, above or below, at the price of one",
            source="[LSL17, Alg. 6]",
            wrong=_vector(threshold=2.0, queries=2.0, answers=None),
            right=_ours(answers=5),
        ),
        Sampled(
            name="no answer, compared with −1",
            wrong_because="None is not −1: the loop asks again until it finds something, unpaid",
            holds="None ends it; asking again is paid again",
            first=np.zeros(6),
            second=np.ones(6),
            claim={"epsilon": 1.0},
            wrong=_asks_again,
            right=_asks_once,
            samples=100_000,
            right_samples=_FEW,
        ),
    ]


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
            found = mechanism.release(values)
            row[found] = 1
            if len(found) == answers:
                row[found[-1] + 1 :] = _OVER  # type: ignore[operator]
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


def _asks_again(values: Floats, n: int) -> object:
    """Up to eight runs of AboveThreshold with threshold 8, each half threshold and half query."""
    noisy = values + _noise(4.0, (n, 8, len(values)))
    found = (noisy >= 8.0 + _noise(2.0, (n, 8, 1))).any(axis=2)
    return np.where(found.any(axis=1), found.argmax(axis=1), 8)


def _asks_once(values: Floats, n: int) -> object:
    mechanism = AboveThreshold(epsilon=1.0, threshold=8.0)
    return [0 if mechanism.release(values) is not None else 8 for _ in range(n)]
