"""Alias tables whose law is exact: certified integer columns, and a last column for all the rest.

A law with weights ω₀, ω₁, ω₂, … is split into a mixture. Column k gets an integer aₖ ≤ pₖ·2ᵇ
(pₖ = ωₖ/Σω), rounded down in float64 with a margin; the residual column gets what is left,
2ᵇ − Σaₖ, a fraction of about 2⁻⁴⁰ of all. Who draws it is given k with probability proportional
to pₖ·2ᵇ − aₖ, in exact arithmetic, tail included. Hence P(k) = aₖ/2ᵇ + (pₖ·2ᵇ − aₖ)/2ᵇ = pₖ,
whatever the float weights were, as long as they were not too large.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.sampling.exact import exp_bounds
from deniable.sampling.source import Source, Words

RESIDUAL = np.iinfo(np.int64).max
"""The label of the residual column."""
_CHUNK = 1 << 15  # words whose intermediates stay in the second-level cache and in freed memory

# Relative error of a weight in float64, all told: the exponent is at most 37 and right to 2⁻⁵²·37,
# exp to 2⁻⁵⁰ (NumPy: 4 ulp), the sum of at most 2¹⁰ terms to 2⁻⁴³, the tail that is left out is
# below 2⁻⁴⁵ of it. Together below 2⁻⁴²; a weight is lowered by four times that.
_MARGIN = 2.0**-40
_LAST_EXPONENT = 36.5


class Law(Protocol):
    """Weights ω₀, ω₁, ω₂, … that are known as well as anyone asks."""

    def floats(self) -> NDArray[np.float64]:
        """The first weights, each too large by at most 2⁻⁴² of itself; what is left out is less."""

    def bounds(self, bits: int) -> tuple[list[tuple[int, int]], int]:
        """Certified lo ≤ ωₖ·2ᵇⁱᵗˢ ≤ hi for k = 0 … K − 1, and a bound on the sum beyond."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """ωₖ = exp(−rate·max(0, k − shift)²) for k = 0, 1, 2, …; ω₀ is multiplied by `first`."""

    rate: Fraction
    shift: Fraction
    first: Fraction

    def floats(self) -> NDArray[np.float64]:
        """The weights down to e⁻³⁶·⁵ or so, each within 2⁻⁴⁵ of itself."""
        rate = float(min(self.rate, Fraction(2**20)))  # beyond it e⁻ʳᵃᵗᵉ is 0 in any case
        size = math.ceil(math.sqrt(_LAST_EXPONENT / rate) + self.shift) + 1
        distance = np.maximum(0.0, np.arange(size) - float(self.shift))
        weights: NDArray[np.float64] = np.exp(-rate * distance * distance)
        weights[0] *= float(self.first)
        return weights

    def bounds(self, bits: int) -> tuple[list[tuple[int, int]], int]:
        """Certified lo ≤ ωₖ·2ᵇⁱᵗˢ ≤ hi for k = 0 … K − 1, and a bound on the sum beyond.

        ω falls from K on at least like e^(−2·rate·x·t), x = K − shift, and 1/(1 − e⁻ʸ) ≤ 1 + 1/y.
        """
        pairs: list[tuple[int, int]] = []
        for k in count():
            distance = max(Fraction(0), k - self.shift)
            low, high = exp_bounds(-self.rate * distance * distance, bits)
            if low == 0 and k > self.shift:
                return pairs, math.ceil(high * (1 + 1 / (2 * self.rate * distance)))
            factor = self.first if k == 0 else 1
            pairs.append((math.floor(low * factor), math.ceil(high * factor)))
        raise AssertionError


@dataclass(frozen=True, kw_only=True, eq=False)
class AliasTable:
    """Draws a signed column from one word in two look-ups.

    A word is, from its lowest bit on: the number of an urn, a sign, and a fraction that chooses
    between the urn's two labels. With the sign set, label k becomes −k (or −k − 1).
    """

    weights: Law
    units: tuple[int, ...]
    """aₖ"""
    bits: int
    """b: all urns together hold 2ᵇ units."""
    mask: np.uint64
    """Selects urn and sign."""
    thresholds: Words
    """Of urn and sign: words below it take the first label."""
    labels: NDArray[np.int64]
    """First and second label of each urn and sign, one after the other."""

    def many(self, count: int, source: Source) -> NDArray[np.int64]:
        """So many draws with signs, of a table made with `mirror=0`: one word each, as a rule."""
        out = np.empty(count, dtype=np.int64)
        for start in range(0, count, _CHUNK):
            part = out[start : start + _CHUNK]
            part[:] = self.pick(source.words(part.size))
            if part.max() == RESIDUAL:
                for i in np.flatnonzero(part == RESIDUAL).tolist():
                    x = self.residual(source)
                    part[i] = -x if source.integer(1) else x
        return out

    def pick(self, words: Words) -> NDArray[np.int64]:
        """The label that each word stands for."""
        index = np.bitwise_and(words, self.mask).view(np.int64)
        second = words >= self.thresholds.take(index, mode="clip")
        np.left_shift(index, 1, out=index)
        np.add(index, second, out=index)
        return self.labels.take(index, out=index, mode="clip")

    def residual(self, source: Source) -> int:
        """k ≥ 0 with probability ∝ pₖ·2ᵇ − aₖ: inversion, to as many digits as it needs."""
        left = (1 << self.bits) - sum(self.units)
        uniform, precision = source.integer(128), 128
        while True:
            found = self._invert(left * uniform, left * (uniform + 1), precision)
            if found is not None:
                return found
            uniform = (uniform << precision) | source.integer(precision)
            precision *= 2

    def _invert(self, low: int, high: int, precision: int) -> int | None:
        """The k whose part of [0, 2ᵇ − Σaₖ) surely holds [low, high)/2ᵖ, if there is one."""
        pairs, rest = self.weights.bounds(precision)
        least, most = sum(lo for lo, _ in pairs), sum(hi for _, hi in pairs) + rest
        shift = self.bits + precision
        start, start_above = 0, 0
        for k, (lo, hi) in enumerate(pairs):
            unit = (self.units[k] << precision) if k < len(self.units) else 0
            start += (lo << shift) // most - unit
            if start_above <= low and high <= start:
                return k
            start_above -= -(hi << shift) // least + unit
        return None


def alias_table(weights: Law, *, mirror: int, bits: int = 63) -> AliasTable:
    """The table of these weights; with the sign set, k becomes −k − mirror."""
    floats = weights.floats()
    portions = floats * ((1 - _MARGIN) / floats.sum() * 2.0**bits)
    units = [int(portion) for portion in portions.tolist()]
    urns = 1 << len(units).bit_length()  # at least one more than the labels: the residual's
    filled = [*units, (1 << bits) - sum(units)] + [0] * (urns - len(units) - 1)
    levels, others = _vose(filled, (1 << bits) // urns)
    own = np.arange(urns)
    plus = np.stack([own, np.array(others)], axis=1)
    minus = -plus - mirror
    residual = plus == len(units)
    labels = np.concatenate(
        [np.where(residual, RESIDUAL, plus), np.where(residual, RESIDUAL, minus)]
    )
    level = np.array(levels + levels, dtype=np.uint64)
    return AliasTable(
        weights=weights,
        units=tuple(units),
        bits=bits,
        mask=np.uint64(2 * urns - 1),
        thresholds=level * np.uint64(2 * urns),
        labels=labels.reshape(-1),
    )


def _vose(units: list[int], capacity: int) -> tuple[list[int], list[int]]:
    """Fill urns of equal capacity with two labels each, in integers: [Vos91].

    Returns how much of urn i is label i, and the label of the rest. A full urn is (0, i).
    """
    level, other = list(units), list(range(len(units)))
    small = [i for i, held in enumerate(level) if held < capacity]
    large = [i for i, held in enumerate(level) if held > capacity]
    while small:
        poor, rich = small.pop(), large[-1]
        other[poor] = rich
        level[rich] -= capacity - level[poor]
        if level[rich] <= capacity:
            large.pop()
            if level[rich] < capacity:
                small.append(rich)
    return [0 if other[i] == i else held for i, held in enumerate(level)], other
