"""Optimal partition selection: show as many keys as (ε, δ) allows."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.sampling import below
from deniable.sampling.exact import exp_bounds

from ._keys import KeyMechanism, checked_counts, in_order

_MOST_STEPS = 2**20
_BITS = 126  # chances are whole multiples of 2⁻¹²⁶, compared with two words of 63 bits
_HALF = 63


@dataclass(frozen=True, kw_only=True)
class PartitionSelection(KeyMechanism):
    """Partition selection: show a key that n people have with the largest probability allowed.

    Releases   the kept keys, sorted; a key of n people is kept with probability πₙ
    Privacy    (ε, δ)-DP: π₀ = 0, πₙ₊₁ = min(e^(ε/g)·πₙ + δ/g, 1 − e^(−ε/g)·(1 − πₙ − δ/g), 1), and
               a person's g keys add up                                     [DVGM22]
    Error      none: keys, not numbers; `probability(n)` says how likely a key is to be shown
    Assumes    numbers of distinct people; a person has at most g keys
    Numerics   πₙ is computed in integers, each step rounded down so that both inequalities hold
               exactly, and the coin is tossed exactly

    >>> keys = PartitionSelection(epsilon=1.0, delta=1e-6)
    >>> keys.release({"rare": 1, "common": 1000})
    ['common']
    """

    name: ClassVar[str] = "partition_selection"

    epsilon: float
    delta: float
    groups: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._canonical(epsilon=parameters.positive, delta=parameters.confidence)
        each, lost = self.epsilon / self.groups, self.delta / self.groups
        if lost < 2.0**-100 or -2 * math.log(lost) / min(each, 1.0) > _MOST_STEPS:
            raise BadParameter(
                f"(ε, δ) = ({self.epsilon:g}, {self.delta:g}) is too little for people with "
                f"{self.groups} keys",
                why="hundreds of thousands of people would have to have a key before it is shown",
                fix="fewer groups=, or a larger epsilon or delta",
            )

    def approx(self) -> tuple[float, float]:
        return self.epsilon, self.delta

    def probability(self, people: int) -> float:
        """The chance that a key held by this many people is shown."""
        chances = _chances(self.epsilon, self.delta, self.groups)
        place = min(parameters.whole("people", people, least=0), len(chances) - 1)
        return chances[place] / (1 << _BITS)

    def draw(self, value: object) -> list[Hashable]:
        """The kept keys, sorted."""
        keys, counts = checked_counts(value)
        high, low = _words(self.epsilon, self.delta, self.groups)
        place = np.minimum(counts, len(high) - 1)
        first, second = below(1 << _HALF, len(keys)), below(1 << _HALF, len(keys))
        kept = (first < high[place]) | ((first == high[place]) & (second < low[place]))
        kept |= place == len(high) - 1  # from there on π is 1
        return in_order(key for key, keep in zip(keys, kept.tolist(), strict=True) if keep)


@lru_cache(maxsize=64)
def _chances(epsilon: float, delta: float, groups: int) -> tuple[int, ...]:
    """πₙ·2¹²⁶ for n = 0, 1, … until it is 1; every rounding goes towards privacy.

    With growth ≤ e^(ε/g) and lost ≤ δ/g, both πₙ₊₁ ≤ growth·πₙ + lost and
    1 − πₙ ≤ growth·(1 − πₙ₊₁) + lost hold exactly; the other two follow from πₙ ≤ πₙ₊₁.
    """
    one, unit = 1 << _BITS, 1 << 128
    growth, _ = exp_bounds(Fraction(min(epsilon, 64.0 * groups)) / groups, 128)
    lost = math.floor(Fraction(delta) / groups * one)
    chances = [0]
    while chances[-1] < one:
        now = chances[-1]
        rising = (now * growth) // unit + lost
        falling = one + ((now + lost - one) * unit) // growth if now + lost < one else one
        chances.append(min(rising, falling, one))
    return tuple(chances)


@lru_cache(maxsize=64)
def _words(
    epsilon: float, delta: float, groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The chances as two digits of 63 bits; the last, 1, is marked by its place."""
    chances = _chances(epsilon, delta, groups)
    mask = (1 << _HALF) - 1
    return (
        np.array([(c >> _HALF) & mask for c in chances], dtype=np.int64),
        np.array([c & mask for c in chances], dtype=np.int64),
    )
