"""Specimens: keys and domains that come from the data."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from deniable.mechanisms import DiscreteLaplace, Laplace, LaplaceThreshold, PartitionSelection

from ._specimen import Sampled, Specimen

_KEYS = "abc"


def specimens() -> list[Specimen]:
    """All of this file."""
    return [_seen(), _uncapped(), _continuous_threshold(), _group()]


def _seen() -> Specimen:
    def noisy(counts: Mapping[str, int], keys: str, n: int) -> object:
        values = np.tile([counts.get(key, 0) for key in keys], (n, 1))
        rows = np.asarray(Laplace(scale=1.0).release(values)).tolist()
        return [dict(zip(keys, row, strict=True)) for row in rows]

    return Sampled(
        name="histogram of the values seen",
        wrong_because="a rare value is a row of the answer only if the one who has it is there",
        holds="public keys, or private selection of keys",
        source="[KKMN09]",
        first={"a": 10, "b": 7},
        second={"a": 10, "b": 7, "c": 1},
        claim={"epsilon": 1.0},
        wrong=lambda counts, n: noisy(counts, "".join(counts), n),
        right=lambda counts, n: noisy(counts, _KEYS, n),
        samples=5_000,
    )


def _uncapped() -> Specimen:
    epsilon, delta = 1.0, 1e-3

    def shown(groups: int, cap: int) -> object:
        mechanism = LaplaceThreshold.calibrate(epsilon=epsilon, delta=delta, groups=groups)

        def batch(people: int, n: int) -> object:
            counts = np.full((n, cap), people)
            noisy = np.asarray(Laplace(scale=mechanism.scale).release(counts))
            return ((noisy >= mechanism.threshold) & (counts > 0)).sum(axis=1)

        return batch

    return Sampled(
        name="keys without a cap on a person's groups",
        wrong_because="someone alone in 100 keys has 100 chances to be shown, each of them δ",
        holds="at most g keys a person, and δ shared among them",
        source="[KKMN09; DVGM22]",
        first=0,
        second=1,
        claim={"epsilon": epsilon, "delta": delta},
        wrong=shown(1, 100),  # type: ignore[arg-type]
        right=shown(3, 3),  # type: ignore[arg-type]
        samples=20_000,
    )


def _continuous_threshold() -> Specimen:
    epsilon, delta = 1.0, math.exp(-4) / 2
    mechanism = LaplaceThreshold.calibrate(epsilon=epsilon, delta=delta)

    def textbook(people: int, n: int) -> object:
        noisy = np.asarray(DiscreteLaplace(scale=1.0).release(np.full(n, people)))
        return (noisy >= 1 + math.log(1 / (2 * delta)) / epsilon) & (people > 0)

    def ours(people: int, n: int) -> object:
        noisy = np.asarray(Laplace(scale=mechanism.scale).release(np.full(n, people)))
        return (noisy >= mechanism.threshold) & (people > 0)

    return Sampled(
        name="a continuous threshold with integer noise",
        wrong_because="integer noise passes ln(1/2δ)/ε with probability 1.46 δ",
        holds="the tail of the noise that is drawn, exactly",
        source="[KKMN09]",
        first=0,
        second=1,
        claim={"epsilon": epsilon, "delta": delta},
        wrong=textbook,
        right=ours,
        samples=400_000,
    )


def _group() -> Specimen:
    mechanism = PartitionSelection(epsilon=1.0, delta=0.01)

    def shown(people: int, n: int) -> object:
        counts = {str(i): people for i in range(n)}  # each key is a draw of its own
        kept = set(mechanism.release(counts))
        return np.array([key in kept for key in counts])

    return Sampled(
        name="group privacy (kε, kδ)",
        wrong_because="for three people (1, 0.01) is said to become (3, 0.03)",
        holds="(kε, δ·(e^(kε) − 1)/(e^ε − 1)): δ = 0.111 here, and it is reached",
        source="[DR14; Vad17]",
        first=0,
        second=3,
        claim={"epsilon": 3.0, "delta": 0.03},
        wrong=shown,
        right=shown,
        right_claim={"epsilon": 1.0, "delta": 0.01, "group": 3},
        samples=40_000,
    )
