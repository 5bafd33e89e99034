"""Randomness that protects nobody: made-up rows, attacks, demonstrations, sampling plans."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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


def public_directions(
    seed: int, dimension: int, *, first: int = 0, count: int = 1
) -> NDArray[np.float64]:
    """Directions number first, first + 1, … of the endless public list of a seed, one per row.

    Uniform on the sphere: normal numbers, one from each word of a counter-based generator, scaled
    to length 1. So any one of them is found without those before it.

    >>> a, b = public_directions(7, 3, count=5)[4], public_directions(7, 3, first=4)[0]
    >>> (a == b).all()
    np.True_
    """
    from scipy.special import ndtri

    blocks = -(-dimension // 4)  # the generator makes four words at a time
    words = np.random.Philox(key=seed, counter=first * blocks).random_raw(4 * blocks * count)
    chances = ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    normal = ndtri(chances.reshape(count, 4 * blocks)[:, :dimension])
    return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True))
