"""Specimens: keys and domains that come from the data."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from deniable.mechanisms import DiscreteLaplace, LaplaceThreshold, PartitionSelection

from ._specimen import Batch, Sampled, Specimen, noisy

_DELTA = 1e-3
_AT_FOUR = math.exp(-4) / 2
"""The δ for which ln(1/2δ) is the whole number 4."""
_SELECTION = PartitionSelection(epsilon=1.0, delta=0.01)


def _histogram(counts: Mapping[str, int], keys: str, n: int) -> object:
    rows = noisy(1.0)([counts.get(key, 0) for key in keys], n).tolist()
    return [dict(zip(keys, row, strict=True)) for row in rows]


def _above(mechanism: LaplaceThreshold, keys: int) -> Batch:
    """How many keys are shown, with so many people each; a key without people never is."""

    def batch(people: int, n: int) -> object:
        drawn = noisy(mechanism.scale)(np.full(keys, people), n)
        return ((drawn >= mechanism.threshold) & (people > 0)).sum(axis=1)

    return batch


def _whole_noise(people: int, n: int) -> object:
    drawn = np.asarray(DiscreteLaplace(scale=1.0).release(np.full(n, people)))
    return (drawn >= 1 + math.log(1 / (2 * _AT_FOUR))) & (people > 0)


def _selected(people: int, n: int) -> object:
    counts = {str(i): people for i in range(n)}  # each key is a draw of its own
    kept = set(_SELECTION.release(counts))
    return np.array([key in kept for key in counts])


SPECIMENS: tuple[Specimen, ...] = (
    Sampled(
        name="histogram of the values seen",
        wrong_because="a rare value is a row of the answer only if the one who has it is there",
        holds="public keys, or private selection of keys",
        source="[KKMN09]",
        data=({"a": 10, "b": 7}, {"a": 10, "b": 7, "c": 1}),
        wrong=lambda counts, n: _histogram(counts, "".join(counts), n),
        right=lambda counts, n: _histogram(counts, "abc", n),
        samples=5_000,
    ),
    Sampled(
        name="keys without a cap on a person's groups",
        wrong_because="someone alone in 100 keys has 100 chances to be shown, each of them δ",
        holds="at most g keys a person, and δ shared among them",
        source="[KKMN09; DVGM22]",
        data=(0, 1),
        claim={"epsilon": 1.0, "delta": _DELTA},
        wrong=_above(LaplaceThreshold.calibrate(epsilon=1.0, delta=_DELTA, groups=1), keys=100),
        right=_above(LaplaceThreshold.calibrate(epsilon=1.0, delta=_DELTA, groups=3), keys=3),
        samples=20_000,
    ),
    Sampled(
        name="a continuous threshold with integer noise",
        wrong_because="integer noise passes ln(1/2δ)/ε with probability 1.46 δ",
        holds="the tail of the noise that is drawn, exactly",
        source="[KKMN09]",
        data=(0, 1),
        claim={"epsilon": 1.0, "delta": _AT_FOUR},
        wrong=_whole_noise,
        right=_above(LaplaceThreshold.calibrate(epsilon=1.0, delta=_AT_FOUR), keys=1),
        samples=400_000,
    ),
    Sampled(
        name="group privacy (kε, kδ)",
        wrong_because="for three people (1, 0.01) is said to become (3, 0.03)",
        holds="(kε, δ·(e^(kε) − 1)/(e^ε − 1)): δ = 0.111 here, and it is reached",
        source="[DR14; Vad17]",
        data=(0, 3),
        claim={"epsilon": 3.0, "delta": 0.03},
        wrong=_selected,
        right=_selected,
        right_claim={"epsilon": 1.0, "delta": 0.01, "group": 3},
        samples=40_000,
    ),
)
