"""The two laws: draws of integers with Gaussian noise, by whichever way is cheapest."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import BadParameter
from deniable.parameters import rational, whole
from deniable.sampling.exact import exp_bounds
from deniable.sampling.floats import check_floats
from deniable.sampling.source import Source, chosen

from . import steps
from .digits import EXP_MARGIN, LARGEST_WORD, Discrete, Rounded
from .steps import FEW, LEAST_DISCRETE
from .table import AliasTable, Weights, alias_table

Integers = NDArray[np.int64]


def discrete_gaussian(
    sigma: Fraction | float, count: int = 1, *, source: Source | None = None
) -> Integers:
    """Integers x with probability exactly proportional to exp(−x²/2σ²) [CKS20].

    σ is taken exactly, whether a Fraction, an int or a float. The result is int64; beyond σ = 2⁵²
    it holds Python integers.

    >>> discrete_gaussian(10, 1000).shape
    (1000,)
    """
    law, size, source = _law(sigma), whole("count", count, least=0), chosen(source)
    if size >= FEW and LEAST_DISCRETE <= law.sigma <= LARGEST_WORD:
        return steps.draw(law.discrete, 0.0, count=size, source=source)
    law.drawn += size
    if size < FEW or law.sigma > LARGEST_WORD or law.drawn <= law.worth_a_table:
        kind = np.int64 if law.sigma <= LARGEST_WORD else object
        return np.array([law.one(source) for _ in range(size)], dtype=kind)
    return law.many(size, source)


def rounded_gaussian(
    sigma: Fraction | float,
    offsets: ArrayLike = 0.0,
    count: int | None = None,
    *,
    source: Source | None = None,
) -> Integers:
    """⌊offset + ½ + σZ⌋ for a real standard normal Z, exactly: a Gaussian put on a lattice.

    σ is in units of the lattice and taken exactly. Offsets are floats in [−1, 1], as Lattice.split
    makes them, and the answer has their shape; with `count` there are that many draws at one
    offset. Rounding what the ideal real mechanism returns is post-processing: its price is the
    price.

    >>> rounded_gaussian(2**20, [0.0, 0.25, -0.5]).shape
    (3,)
    """
    law, source = _law(sigma), chosen(source)
    if isinstance(offsets, float | int) and not isinstance(offsets, bool) and -1 <= offsets <= 1:
        size = 1 if count is None else whole("count", count, least=0)
        return steps.draw(law.rounded, float(offsets), count=size, source=source)
    rests = _rests(offsets)
    if count is not None:
        raise BadParameter.of("count", count, must="left out where there is an offset a draw")
    drawn = steps.draw(law.rounded, rests.ravel(), count=rests.size, source=source)
    return drawn.reshape(rests.shape)


def _rests(offsets: ArrayLike) -> NDArray[np.float64]:
    must = "numbers from -1 to 1"
    try:
        given = np.asarray(offsets)
    except (TypeError, ValueError):
        raise BadParameter.of("offsets", offsets, must=must) from None
    if given.dtype.kind not in "iuf":
        raise BadParameter.of("offsets", offsets, must=must)
    rests = np.ascontiguousarray(given, dtype=np.float64)
    if rests.size and not np.abs(rests).max() <= 1:  # also refuses NaN
        raise BadParameter(
            f"offsets must be {must}",
            why="they are what is left of a number when its lattice point is taken away",
            fix="points, offsets = lattice.split(values)",
        )
    return rests


def _law(sigma: object) -> _Law:
    if not isinstance(sigma, Hashable):
        raise BadParameter.of("sigma", sigma, must="a number above 0")
    return _cached_law(sigma)


@lru_cache(maxsize=64, typed=True)
def _cached_law(sigma: object) -> _Law:
    return _Law(rational("sigma", sigma))


class _Law:
    """The discrete Gaussian of one σ."""

    def __init__(self, sigma: Fraction) -> None:
        check_floats()
        self.sigma = sigma
        self.discrete, self.rounded = Discrete(sigma), Rounded(sigma)
        self.drawn = 0
        self.worth_a_table = 2 * FEW + 2 * min(math.ceil(sigma), LEAST_DISCRETE)
        """A table takes about as long as this many draws by rejection."""
        self.rate = 1 / (2 * sigma * sigma)
        # The least t with t² ≥ 1.3863·σ² > 2·ln 2·σ².
        square = sigma * sigma * Fraction(13863, 10000)
        self.t = math.isqrt(math.ceil(square) - 1) + 1
        self.width = 64 if self.t <= 2**56 else self.t.bit_length() + 64

    def one(self, source: Source) -> int:
        """Rejection from blocks of length t, each half as high as the one before.

        Block g has height 2⁻ᵍ ≥ exp(−(gt)²/2σ²): for g = 1 because t² ≥ 2·ln 2·σ², and the right
        side falls faster. So |x| = gt + u, with g a number of coin tosses and u uniform below t,
        is kept with probability 2ᵍ·exp(−x²/2σ²); −0 is thrown away. How many rounds it takes is
        independent of x.
        """
        t = self.t
        while True:
            bits = source.integer(128 + self.width)
            word = bits >> 128
            coins, g = bits >> 65 & (1 << 63) - 1, 0
            while coins == 0:
                coins, g = source.integer(63), g + 63
            g += (coins & -coins).bit_length() - 1
            x = g * t + word % t
            negative = bits >> 64 & 1
            fair = word - word % t <= (1 << self.width) - t  # else u would not be uniform
            v = bits & (1 << 64) - 1
            if fair and not (x == 0 and negative) and self._keeps(x, g, v, source):
                return -x if negative else x

    def _keeps(self, x: int, g: int, v: int, source: Source) -> bool:
        """Is V < 2ᵍ·exp(−x²/2σ²), V having these first 64 digits, and more if need be?"""
        z = x * self.sigma.denominator / self.sigma.numerator  # correctly rounded, however large
        chance = math.exp(g * _LN2 - z * z / 2)
        # The exponent y is right to 2⁻⁵⁰·y, and y·exp(−y + g·ln 2) < 2 as g·ln 2 ≤ √(y·ln 2).
        if abs(v * 2.0**-64 - chance) > EXP_MARGIN:
            return v * 2.0**-64 < chance
        exponent, known = -self.rate * x * x, 64
        while True:
            low, high = exp_bounds(exponent, known + g)
            if v + 1 <= low or v >= high:
                return v < low
            v, known = (v << 64) | source.integer(64), known + 64

    def many(self, count: int, source: Source) -> Integers:
        """One word and two look-ups a draw."""
        return self.table.many(count, source)

    @cached_property
    def table(self) -> AliasTable:
        """0 has half its weight, since it comes with both signs."""
        weights = Weights(rate=self.rate, shift=Fraction(0), first=Fraction(1, 2))
        return alias_table(weights, mirror=0)


_LN2 = math.log(2)
