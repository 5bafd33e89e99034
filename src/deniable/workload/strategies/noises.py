"""The noises of a workload, each on a lattice that suits it.

A mechanism rounds its noise to the lattice of its value: to whole numbers, here. Where the scale of
the noise is about 1 or less, that leaves a few atoms, and weighted sums of several such noises have
atoms anywhere: no multiple of the standard deviation covers them as often as it should (84 % in
place of 95 %, at worst). So vectors that answers are *combined* from are multiplied by a power of
two first, at which the noise is at least 1,024 lattice steps wide. The noise scale and what one
unit moves grow alike; their ratio, which is the price, stays the same to the last bit.

Vectors that are answers themselves, or whose sums are, stay whole: so do the answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Self, TypeAlias

import numpy as np

from deniable.errors import BadParameter
from deniable.mechanisms import QuantileSearch, Step
from deniable.sensitive import Sensitive
from deniable.workload.split import (
    Noise,
    Vector,
    deviation,
    law_of,
    scaled,
    spread_of,
)
from deniable.workload.tails import Law

from .exact import HELD, Floats, Integers

Measured: TypeAlias = tuple[Sensitive[Any], Callable[[Any], Integers], Vector, int]
"""A hidden value, the vector to make of it, how far one unit moves that, and its length."""

_WIDE: Final = 1024.0  # lattice steps in the scale of a noise
_MOST: Final = 2**20  # the largest multiple: 2⁴² still fits
_LEAST: Final = 1e-30  # a variance that counts as none
_WIDEST: Final = 2.0**400  # variances, and sums of many, are finite up to there


@dataclass(frozen=True, kw_only=True, eq=False)
class Noises:
    """The noise of each vector, which is multiplied by a whole number before."""

    noise: tuple[Noise, ...]
    multiples: tuple[int, ...]

    @classmethod
    def of(cls, noise: Sequence[Noise], *, whole: bool) -> Self:
        """Noises for vectors as they are (`whole`), or on lattices that are fine beside them."""
        noise = [finite(each) for each in noise]
        multiples = tuple(1 if whole else _multiple(spread_of(each)) for each in noise)
        pairs = zip(noise, multiples, strict=True)
        return cls(noise=tuple(_times(each, m) for each, m in pairs), multiples=multiples)

    @property
    def law(self) -> Law:
        """The law of them all."""
        return law_of(self.noise)

    @property
    def spreads(self) -> tuple[float, ...]:
        """The scale of each noise, b or σ, in the unit of what is measured."""
        pairs = zip(self.noise, self.multiples, strict=True)
        return tuple(spread_of(each) / m for each, m in pairs)

    @cached_property
    def deviations(self) -> tuple[float, ...]:
        """The standard deviation of each noise, rounding included."""
        pairs = zip(self.noise, self.multiples, strict=True)
        return tuple(math.sqrt(_variance(each)) / m for each, m in pairs)

    @cached_property
    def wider(self) -> float:
        """By which factor a ± exceeds what follows from the standard deviations of real noise.

        Of noise on a fine lattice half a step may be missing beyond its quantile. Whole noise has a
        smaller variance than real noise whose rounding is counted as well, and longer tails.
        """
        ratios = [
            math.sqrt((deviation(each) ** 2 + 1 / 12) / _variance(each)) for each in self.noise
        ]
        return max(ratios) * (1 + 0.5 / _WIDE)

    def scaled(self, factor: float) -> Noises:
        """The same noises, wider by a factor."""
        return replace(self, noise=scaled(self.noise, factor))

    def steps(self, measured: Iterable[Measured]) -> list[Step[Any]]:
        """What a session releases: one step per vector."""
        return [
            noise.on(
                hidden.then(
                    _multiplied(make, m),
                    l1=vector.l1 * m,
                    l2=vector.l2 * m,
                    whole=True,
                    shape=length,
                )
            )
            for noise, m, (hidden, make, vector, length) in zip(
                self.noise, self.multiples, measured, strict=True
            )
        ]

    def draw(self, exact: Iterable[Integers]) -> list[Floats]:
        """The noisy vectors, outside any session."""
        parts = zip(self.noise, self.multiples, exact, strict=True)
        return self.read([each.release(_multiply(vector, m)) for each, m, vector in parts])

    def read(self, drawn: Sequence[object]) -> list[Floats]:
        """The noisy vectors that a session drew, in the unit of what was measured."""
        pairs = zip(drawn, self.multiples, strict=True)
        return [np.asarray(each, dtype=np.float64) / m for each, m in pairs]


def finite(noise: Noise) -> Noise:
    """The noise; refused where its scale is so large that the variance would overflow."""
    if not isinstance(noise, QuantileSearch) and spread_of(noise) > _WIDEST:
        raise BadParameter(
            f"the noise scale would be {spread_of(noise):.0e}: too large to compute its error",
            fix="spend=dp.epsilon(0.1)",
        )
    return noise


def _multiple(spread: float) -> int:
    return min(1 << max(0, math.ceil(math.log2(_WIDE / spread))), _MOST)


def _times(noise: Noise, multiple: int) -> Noise:
    """Noise and sensitivity times a power of two."""
    (wide,) = scaled([noise], multiple)
    assert not isinstance(wide, QuantileSearch)
    return replace(wide, sensitivity=wide.sensitivity * multiple)


def _variance(noise: Noise) -> float:
    assert not isinstance(noise, QuantileSearch)
    return max(noise.rounded_variance, _LEAST)


def _multiply(vector: Integers, multiple: int) -> Integers:
    """A multiple of whole numbers, which are held within ±2⁶² together with it."""
    most = HELD // multiple
    return np.clip(np.asarray(vector, dtype=np.int64), -most, most) * multiple


def _multiplied(make: Callable[[Any], Integers], multiple: int) -> Callable[[Any], Integers]:
    return lambda exact: _multiply(make(exact), multiple)
