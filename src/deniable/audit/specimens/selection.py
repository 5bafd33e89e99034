"""Specimens: picking the best of several candidates, with too little noise or too much said."""

from __future__ import annotations

import numpy as np

from deniable.mechanisms import Exponential, Laplace, NoisyMax
from deniable.sampling.public import PublicRandom

from ._specimen import Floats, Sampled, Specimen, noisy, one_by_one

_RNG = PublicRandom(2).generator
_FEW = 2_500
_CANDIDATES = np.arange(11)


def _with_value(scores: Floats, n: int) -> object:
    seen = noisy(2.0)(scores, n)
    return np.stack([seen.argmax(axis=1), seen.max(axis=1)], axis=1)


def _then_value(scores: Floats, n: int) -> object:
    found = one_by_one(NoisyMax(epsilon=0.5).release)(scores, n)
    values = Laplace(scale=2.0).release(scores[found])
    return np.stack([found, np.asarray(values)], axis=1)


def _half(q: int, n: int) -> object:
    weights = np.exp(-2 * np.abs(q - _CANDIDATES) / 2)  # Δ = 1
    return _RNG.choice(_CANDIDATES, n, p=weights / weights.sum())


def _whole(q: int, n: int) -> object:
    pick = Exponential(epsilon=1.0, sensitivity=2.0)
    return one_by_one(pick.release)(-2 * np.abs(q - _CANDIDATES), n)


def _overflowing(scores: Floats, n: int) -> object:
    with np.errstate(over="ignore", invalid="ignore"):
        weights = np.exp(scores / 2)
        shares = weights / weights.sum()
    if not np.isfinite(shares).all():
        return ["error"] * n
    return [str(pick) for pick in _RNG.choice(len(scores), n, p=shares)]


def _from_data(data: list[int], n: int) -> object:
    seen = np.unique(data)
    weights = np.exp([data.count(int(each)) for each in seen])
    return _RNG.choice(seen, n, p=weights / weights.sum())


def _from_list(data: list[int], n: int) -> object:
    counts = [data.count(each) for each in range(5)]
    return one_by_one(Exponential(epsilon=1.0, monotonic=True).release)(counts, n)


SPECIMENS: tuple[Specimen, ...] = (
    Sampled(
        name="noisy max with Δ/ε",
        wrong_because="one person moves the best score down and all others up: that is 2ε",
        holds="scale 2Δ/ε; Δ/ε only where scores are monotone, such as counts",
        source="[DR14, Claim 3.9; DWWZK18]",
        data=(np.array([1.0] + [0.0] * 19), np.array([0.0] + [1.0] * 19)),
        wrong=lambda scores, n: noisy(1.0)(scores, n).argmax(axis=1),
        right=one_by_one(NoisyMax(epsilon=1.0).release),
        samples=60_000,
        right_samples=_FEW,
    ),
    Sampled(
        name="noisy max that also says the value",
        wrong_because="the largest noisy score is released with the noise that picked it",
        holds="the index alone; the value is asked anew and paid for",
        source="[DWWZK18]",
        data=(np.zeros(5), np.ones(5)),
        wrong=_with_value,
        right=_then_value,
        right_samples=_FEW,
    ),
    Sampled(
        name="exponential mechanism with half the sensitivity",
        wrong_because="the score −2|q − r| moves by 2, not by 1, when q moves by 1",
        holds="Δu = 2Δq",
        source="[MT07]",
        data=(0, 1),
        wrong=_half,
        right=_whole,
        samples=60_000,
        right_samples=_FEW,
    ),
    Sampled(
        name="weights that overflow",
        wrong_because="e^(εu/2) is ∞ above u = 1419: the picking fails on one side only",
        holds="only differences of scores count, on a logarithmic scale",
        data=(np.array([1419.0, 1410.0]), np.array([1420.0, 1410.0])),
        wrong=_overflowing,
        right=one_by_one(Exponential(epsilon=1.0).release),
        samples=_FEW,
    ),
    Sampled(
        name="candidates from the data",
        wrong_because="only values that somebody has can be picked",
        holds="a public list of candidates",
        source="[MT07]",
        data=([1, 1, 2], [1, 1, 2, 4]),
        wrong=_from_data,
        right=_from_list,
        samples=20_000,
        right_samples=_FEW,
    ),
)
