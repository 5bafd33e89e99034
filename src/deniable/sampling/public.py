"""Randomness that protects nobody: made-up rows, attacks, demonstrations, sampling plans."""

from __future__ import annotations

import numpy as np

from deniable.parameters import whole


class PublicRandom:
    """Repeatable randomness from a public seed, over NumPy's generator.

    It is not a Source, and no sampler of noise accepts it: predictable noise hides nobody.

    >>> PublicRandom(7).generator.integers(10, size=3)
    array([9, 6, 6])
    """

    def __init__(self, seed: int) -> None:
        self.seed = whole("seed", seed, least=0)
        self.generator = np.random.default_rng(self.seed)

    def __repr__(self) -> str:
        return f"PublicRandom({self.seed})"
