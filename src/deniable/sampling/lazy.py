"""Real random numbers known to as many digits as a question needs.

A lazy number is a function of uniform bits of which only the first are drawn. Its float estimate
comes with a certified error; when that cannot answer, more bits of the *same* uniform are drawn and
the question is asked again in exact arithmetic. So what is decided is decided for the ideal real
number, with probability 1 after finitely many bits.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from numbers import Rational

import numpy as np
from numpy.typing import NDArray

from deniable.parameters import real, value_as_fraction

from .exact import cos_bounds, log_bounds
from .floats import LOG_ERROR, check_floats
from .source import Source, chosen

Exact = Fraction | int | float
_PLAIN = {Fraction, int, float}


class Uniform:
    """A uniform number in [value, value + 1)·2⁻ʷⁱᵈᵗʰ whose further bits are still to be drawn."""

    __slots__ = ("source", "value", "width")

    def __init__(self, source: Source, *, width: int = 64, value: int | None = None) -> None:
        self.source = source
        self.width = width
        self.value = source.integer(width) if value is None else value

    def extend(self) -> None:
        """Draw 64 further bits of the same number."""
        self.value = (self.value << 64) | self.source.integer(64)
        self.width += 64

    def log_bounds(self, bits: int) -> tuple[int, int]:
        """Integers lo ≤ −ln U·2ᵇⁱᵗˢ ≤ hi; bits are drawn until U is known to 2⁻ᵇⁱᵗˢ of itself."""
        while self.value >> bits == 0:
            self.extend()
        whole = 1 << self.width
        lo = -log_bounds(Fraction(self.value + 1, whole), bits)[1]
        hi = -log_bounds(Fraction(self.value, whole), bits)[0]
        return max(0, lo), hi


class LazyReal(ABC):
    """A real random number: a float estimate with a certified error, and bounds at will."""

    __slots__ = ("error", "estimate")
    estimate: float
    error: float

    @abstractmethod
    def bounds(self, bits: int) -> tuple[int, int]:
        """Integers lo ≤ X·2ᵇⁱᵗˢ ≤ hi, a few units apart."""


class Exponential(LazyReal):
    """Standard exponential, −ln U."""

    __slots__ = ("_uniform",)

    def __init__(self, source: Source | None = None) -> None:
        self._uniform = Uniform(chosen(source))
        self.estimate, self.error = _minus_log(self._uniform)

    def bounds(self, bits: int) -> tuple[int, int]:
        return self._uniform.log_bounds(bits)


class Laplace(LazyReal):
    """Standard Laplace, an exponential with a fair sign."""

    __slots__ = ("_negative", "_uniform")

    def __init__(self, source: Source | None = None, *, word: int | None = None) -> None:
        drawn = chosen(source)
        first = drawn.integer(64) if word is None else word
        self._negative = bool(first & 1)
        self._uniform = Uniform(drawn, width=63, value=first >> 1)
        size, self.error = _minus_log(self._uniform)
        self.estimate = -size if self._negative else size

    @staticmethod
    def estimates(words: NDArray[np.uint64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Estimates and certified errors of the numbers that these words begin, all at once."""
        check_floats()
        cells = (words >> np.uint64(1)).astype(np.float64)  # rounded: within 2⁻⁵² of itself
        size = -np.log((cells + 0.5) * 2.0**-63)
        error = 1 / np.maximum(cells, 2.0**-1000) + 2.0**-50 + LOG_ERROR * np.abs(size)
        return np.where(words & np.uint64(1), -size, size), error

    def bounds(self, bits: int) -> tuple[int, int]:
        lo, hi = self._uniform.log_bounds(bits)
        return (-hi, -lo) if self._negative else (lo, hi)


class Gaussian(LazyReal):
    """Standard normal, √(−2 ln U)·cos πV [BM58]."""

    __slots__ = ("_angle", "_radius")

    def __init__(self, source: Source | None = None) -> None:
        drawn = chosen(source)
        self._radius, self._angle = Uniform(drawn), Uniform(drawn)
        size, error = _minus_log(self._radius)
        root = math.sqrt(2 * size)
        turn = math.cos(math.pi * (self._angle.value + 0.5) * 2.0**-64)
        self.estimate = root * turn
        # |d√(2E)| ≤ error/√(E/2); the cosine is right to 2⁻⁴⁸ (floats.py tests 2⁻⁵⁰).
        self.error = 2 * error / root + (root + 1) * 2.0**-46 if error < size / 2 else math.inf

    def bounds(self, bits: int) -> tuple[int, int]:
        """Bounds of the product of bounded factors."""
        inner = bits + 8 + self._radius.width.bit_length()
        while True:
            low, high = self._radius.log_bounds(2 * inner)
            least, most = math.isqrt(2 * low), math.isqrt(2 * high) + 1  # √(2E)·2^inner
            while self._angle.width < inner + 8:
                self._angle.extend()
            one = 1 << self._angle.width
            top = cos_bounds(Fraction(self._angle.value, one), inner)[1]
            bottom = cos_bounds(Fraction(self._angle.value + 1, one), inner)[0]
            ends = [root * turn for root in (least, most) for turn in (bottom, top)]
            shift = 2 * inner - bits
            lo, hi = min(ends) >> shift, (max(ends) >> shift) + 1
            if hi - lo <= 4:
                return lo, hi
            inner += 16


class StudentTwo(LazyReal):
    """Student's t of 2 degrees of freedom, (2U − 1)/√(2U(1 − U))."""

    __slots__ = ("_uniform",)

    def __init__(self, source: Source | None = None) -> None:
        self._uniform = Uniform(chosen(source))
        self.estimate, self.error = 0.0, math.inf  # one a release: no need to be quick

    def bounds(self, bits: int) -> tuple[int, int]:
        """The quotient at both ends of the cell of U, as it grows with U."""
        while True:
            whole = 1 << self._uniform.width
            ends = [_student(self._uniform.value + i, whole, bits) for i in (0, 1)]
            if ends[0] is not None and ends[1] is not None and ends[1][1] - ends[0][0] <= 4:
                return ends[0][0], ends[1][1]
            self._uniform.extend()


def _student(numerator: int, whole: int, bits: int) -> tuple[int, int] | None:
    """Integers around (2u − 1)/√(2u(1 − u))·2ᵇⁱᵗˢ at u = numerator/whole; None at 0 and 1."""
    if not 0 < numerator < whole:
        return None
    top = (2 * numerator - whole) << bits
    square = 2 * numerator * (whole - numerator)  # (whole·√…)²
    guard = 64
    root = math.isqrt(square << (2 * guard))
    ends = sorted(Fraction(top << guard, root + i) for i in (0, 1))
    return math.floor(ends[0]), math.ceil(ends[1])


def rounded(offset: Exact, scale: Exact, number: LazyReal) -> int:
    """⌊offset + ½ + scale·X⌋, decided with certainty: real noise rounded to whole numbers."""
    exact, factor = _fraction(offset) + Fraction(1, 2), _fraction(scale)
    bits = 64
    while True:
        ends = [exact + factor * end / (1 << bits) for end in number.bounds(bits)]
        low, high = math.floor(min(ends)), math.floor(max(ends))
        if low == high:
            return low
        bits += 64


def sign(constant: Exact, *terms: tuple[Exact, LazyReal]) -> int:
    """The sign (−1, 0, 1) of constant + Σ coefficient·X, decided with certainty.

    Coefficients are exact (a float means the number it is). A zero is returned only when nothing
    random is left; otherwise ties have probability 0, and bits are drawn until the sign is clear.

    >>> from deniable.sampling.seeded import SeededSource
    >>> noise = Laplace(SeededSource(1))
    >>> sign(100, (Fraction(1, 3), noise)), sign(1, (2, noise), (-2, noise))
    (1, 1)
    """
    try:
        total = float(constant if type(constant) in _PLAIN else _fraction(constant))
        size, slack = abs(total), 0.0
        for coefficient, number in terms:
            factor = float(coefficient if type(coefficient) in _PLAIN else _fraction(coefficient))
            part = factor * number.estimate
            total += part
            size += abs(part)
            slack += abs(factor) * number.error
        slack += size * (len(terms) + 2) * 2.0**-50 + 2.0**-1000  # roundings, and underflow
    except OverflowError:
        total, slack = 0.0, math.inf
    if abs(total) > slack:
        return 1 if total > 0 else -1
    return _exact_sign(constant, terms)


def _exact_sign(constant: Exact, terms: tuple[tuple[Exact, LazyReal], ...]) -> int:
    exact = _fraction(constant)
    factors: dict[int, Fraction] = {}
    numbers = {id(number): number for _, number in terms}
    for coefficient, number in terms:
        factors[id(number)] = factors.get(id(number), Fraction(0)) + _fraction(coefficient)
    factors = {key: factor for key, factor in factors.items() if factor}
    bits = 64
    while True:
        low = high = exact * (1 << bits)
        for key, factor in factors.items():
            ends = sorted(factor * end for end in numbers[key].bounds(bits))
            low, high = low + ends[0], high + ends[1]
        if low > 0 or high < 0 or not factors:
            return (low > 0) - (high < 0)
        bits += 64


def _fraction(value: Exact) -> Fraction:
    """The exact value of a coefficient, however large; what is not a finite number is refused."""
    if isinstance(value, bool) or not isinstance(value, Rational):
        real("coefficient", value)
    return value_as_fraction(value)


def _minus_log(uniform: Uniform) -> tuple[float, float]:
    """A float near −ln U, and its error: from the bits of U not yet drawn, and from the log."""
    check_floats()
    if uniform.value == 0:
        return 0.0, math.inf
    size = -math.log((uniform.value + 0.5) * 2.0**-uniform.width)
    return size, 1 / uniform.value + 2.0**-52 + LOG_ERROR * abs(size)
