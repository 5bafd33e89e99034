"""Specimens: picking the best of several candidates, with too little noise or too much said."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms import Exponential, Laplace, NoisyMax
from deniable.sampling.public import PublicRandom

from ._specimen import Sampled, Specimen

Floats = NDArray[np.float64]
_RNG = PublicRandom(2).generator
_FEW = 2_500


def specimens() -> list[Specimen]:
    """All of this file."""
    return [*_noisy_max(), *_exponential(), _candidates()]


def _noisy(scores: Floats, n: int, scale: float) -> Floats:
    return np.asarray(Laplace(scale=scale).release(np.tile(scores, (n, 1))))


def _noisy_max() -> list[Specimen]:
    up, down = np.array([1.0] + [0.0] * 19), np.array([0.0] + [1.0] * 19)

    def with_value(scores: Floats, n: int) -> object:
        noisy = _noisy(scores, n, 2.0)
        return np.stack([noisy.argmax(axis=1), noisy.max(axis=1)], axis=1)

    def then_value(scores: Floats, n: int) -> object:
        pick = NoisyMax(epsilon=0.5)
        found = np.array([pick.release(scores) for _ in range(n)])
        values = Laplace(scale=2.0).release(scores[found])
        return np.stack([found, np.asarray(values)], axis=1)

    return [
        Sampled(
            name="noisy max with Δ/ε",
            wrong_because="one person moves the best score down and all others up: that is 2ε",
            holds="scale 2Δ/ε; Δ/ε only where scores are monotone, such as counts",
            source="[DR14, Claim 3.9; DWWZK18]",
            first=up,
            second=down,
            claim={"epsilon": 1.0},
            wrong=lambda scores, n: _noisy(scores, n, 1.0).argmax(axis=1),
            right=lambda scores, n: [NoisyMax(epsilon=1.0).release(scores) for _ in range(n)],
            samples=60_000,
            right_samples=_FEW,
        ),
        Sampled(
            name="noisy max that also says the value",
            wrong_because="the largest noisy score is released with the noise that picked it",
            holds="the index alone; the value is asked anew and paid for",
            source="[DWWZK18]",
            first=np.zeros(5),
            second=np.ones(5),
            claim={"epsilon": 1.0},
            wrong=with_value,
            right=then_value,
            samples=100_000,
            right_samples=_FEW,
        ),
    ]


def _exponential() -> list[Specimen]:
    candidates = np.arange(11)

    def half(q: int, n: int) -> object:
        weights = np.exp(-2 * np.abs(q - candidates) / 2)  # Δ = 1
        return _RNG.choice(candidates, n, p=weights / weights.sum())

    def ours(q: int, n: int) -> object:
        pick = Exponential(epsilon=1.0, sensitivity=2.0)
        return [pick.release(-2 * np.abs(q - candidates)) for _ in range(n)]

    return [
        Sampled(
            name="exponential mechanism with half the sensitivity",
            wrong_because="the score −2|q − r| moves by 2, not by 1, when q moves by 1",
            holds="Δu = 2Δq",
            source="[MT07]",
            first=0,
            second=1,
            claim={"epsilon": 1.0},
            wrong=half,
            right=ours,
            samples=60_000,
            right_samples=_FEW,
        ),
        Sampled(
            name="weights that overflow",
            wrong_because="e^(εu/2) is ∞ above u = 1419: the picking fails on one side only",
            holds="only differences of scores count, on a logarithmic scale",
            first=np.array([1419.0, 1410.0]),
            second=np.array([1420.0, 1410.0]),
            claim={"epsilon": 1.0},
            wrong=_overflowing,
            right=lambda scores, n: [Exponential(epsilon=1.0).release(scores) for _ in range(n)],
            samples=_FEW,
        ),
    ]


def _candidates() -> Specimen:
    def from_data(data: list[int], n: int) -> object:
        seen = np.unique(data)
        weights = np.exp([data.count(int(each)) for each in seen])
        return _RNG.choice(seen, n, p=weights / weights.sum())

    def from_list(data: list[int], n: int) -> object:
        pick = Exponential(epsilon=1.0, monotonic=True)
        return [pick.release([data.count(each) for each in range(5)]) for _ in range(n)]

    return Sampled(
        name="candidates from the data",
        wrong_because="only values that somebody has can be picked",
        holds="a public list of candidates",
        source="[MT07]",
        first=[1, 1, 2],
        second=[1, 1, 2, 4],
        claim={"epsilon": 1.0},
        wrong=from_data,
        right=from_list,
        samples=20_000,
        right_samples=_FEW,
    )


def _overflowing(scores: Floats, n: int) -> object:
    with np.errstate(over="ignore", invalid="ignore"):
        weights = np.exp(scores / 2)
        shares = weights / weights.sum()
    if not np.isfinite(shares).all():
        return ["error"] * n
    return [str(pick) for pick in _RNG.choice(len(scores), n, p=shares)]
