"""The noises of a selection as functions of one word: 63 bits of U, and below them a sign.

Each knows its value three ways: bounded from above for a million words at once, bounded from both
sides for the few that matter, and lazily, to any precision, for those that are still too close. The
float64 bounds hold up to the margin of `select`, which also silences ln 0 = −∞: a true bound.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .exact import log_bounds
from .lazy import Uniform
from .source import Source, Words

Floats = NDArray[np.float64]

_BITS = 63
_ONE, _LAST = np.uint64(1), np.uint64(_BITS)
_LOG_ALL = float(_BITS * np.log(2.0))


class Lazy(ABC):
    """A noise whose uniform can be drawn to further bits."""

    def __init__(self, uniform: Uniform) -> None:
        self.uniform = uniform

    @abstractmethod
    def bounds(self, bits: int) -> tuple[int, int]:
        """Integers lo ≤ noise·2ᵇⁱᵗˢ ≤ hi, closer and closer together."""


class Noise(ABC):
    """A kind of noise that selection can add to scores."""

    @abstractmethod
    def above(self, words: Words) -> Floats:
        """A bound from above, one logarithm a word."""

    @abstractmethod
    def ends(self, words: Words) -> tuple[Floats, Floats]:
        """Bounds from below and above."""

    @abstractmethod
    def lazy(self, word: int, source: Source) -> Lazy:
        """The same noise, to be continued."""


class _Exponential(Noise):
    def above(self, words: Words) -> Floats:
        y = _floats(words)
        np.log(y, out=y)
        return np.subtract(_LOG_ALL, y, out=y)

    def ends(self, words: Words) -> tuple[Floats, Floats]:
        return _LOG_ALL - np.log(_floats(words) + 1.0), _Exponential.above(self, words)

    def lazy(self, word: int, source: Source) -> Lazy:
        return _LazyExponential(Uniform(source, width=_BITS, value=word >> 1))


class _LazyExponential(Lazy):
    def bounds(self, bits: int) -> tuple[int, int]:
        return self.uniform.log_bounds(bits)


class _Laplace(_Exponential):
    """−ln U, or ln U where the sign is set"""

    def above(self, words: Words) -> Floats:
        """At the lower end of U, or at its upper end where the sign is set."""
        sign = words & _ONE
        y = _floats(words)
        y += sign.view(np.int64)
        np.log(y, out=y)
        np.subtract(_LOG_ALL, y, out=y)
        np.left_shift(sign, _LAST, out=sign)
        y.view(np.uint64)[...] ^= sign
        return y

    def ends(self, words: Words) -> tuple[Floats, Floats]:
        low, high = super().ends(words)
        negative = (words & _ONE).astype(np.bool_)
        return np.where(negative, -high, low), np.where(negative, -low, high)

    def lazy(self, word: int, source: Source) -> Lazy:
        uniform = Uniform(source, width=_BITS, value=word >> 1)
        return _LazyNegative(uniform) if word & 1 else _LazyExponential(uniform)


class _LazyNegative(Lazy):
    def bounds(self, bits: int) -> tuple[int, int]:
        low, high = self.uniform.log_bounds(bits)
        return -high, -low


class _Gumbel(_Exponential):
    """−ln E for the exponential E = −ln(1 − U); as E ≥ U, it is at most −ln U"""

    def ends(self, words: Words) -> tuple[Floats, Floats]:
        u = words >> _ONE
        low, high = -np.log(_waiting(np.stack([u + _ONE, u])))
        return low, high

    def lazy(self, word: int, source: Source) -> Lazy:
        """1 − U is as uniform as U, and its further bits are as fresh."""
        return _LazyGumbel(Uniform(source, width=_BITS, value=(1 << _BITS) - 1 - (word >> 1)))


class _LazyGumbel(Lazy):
    def bounds(self, bits: int) -> tuple[int, int]:
        inner = bits
        low, high = 0, 1
        while (high - low) << bits > low:  # until E is known to 2⁻ᵇⁱᵗˢ of itself
            inner += 64
            low, high = self.uniform.log_bounds(inner)
        least, most = (log_bounds(Fraction(end, 1 << inner), bits) for end in (low, high))
        return -most[1], -least[0]


def _floats(words: Words) -> Floats:
    # Signed integers become floats several times faster than unsigned ones.
    return (words >> _ONE).view(np.int64).astype(np.float64)


def _waiting(u: Words) -> Floats:
    """E = −ln(1 − u/2⁶³), right to 2⁻⁴⁵ of itself however small it is.

    Below 2⁻⁶ by v + v²/2 + … + v⁹/9, cut where the rest is below 2⁻⁵⁷ of it. Above, by the
    logarithm of the whole number 2⁶³ − u, divided by a power of two.
    """
    v = u.astype(np.float64) * 2.0**-_BITS
    small = np.minimum(v, 2.0**-6)
    series = small * (1 / 9)
    for n in range(8, 0, -1):
        series += 1 / n
        series *= small
    rest = ((_ONE << _LAST) - u).astype(np.float64) * 2.0**-_BITS
    return np.where(v < 2.0**-6, series, -np.log(rest))


NOISES: dict[str, Noise] = {
    "laplace": _Laplace(),
    "exponential": _Exponential(),
    "gumbel": _Gumbel(),
}
