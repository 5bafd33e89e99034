"""Exact floors of shifted exponentials, the one step behind every Laplace and geometric draw.

Let E = −ln U be a standard exponential and s a positive rational. Drawn here is

    σ·⌊s·(λ + E)⌋        without offsets: λ = 0, σ = 1 geometric; λ = ln(2/(1 + e^(−1/s))) discrete
                         Laplace with a fair sign σ
    ⌊β + ½ + σ·s·E⌋      with offsets β: real Laplace noise, rounded to whole numbers

One 64-bit word holds σ and the first 63 bits of U.

*Why it is exact.* The floor is first computed in float64, with y the number to be floored:
a word's cell of U is an interval of relative width 2⁻⁴⁰ or less when its 63 bits are at least 2⁴⁰,
which moves y by less than s·2⁻⁴⁰; the logarithm, at most 43.7, is right to 2⁻⁴⁶ of itself
(floats.py), which moves y by less than s·2⁻⁴⁰·⁵; the few roundings of s, of the constants and of
the sum are below 45·s·2⁻⁵⁰ + 2⁻⁵¹. If y is at least MARGIN·s + 2⁻⁴⁹, MARGIN = 2⁻³⁸, away from
the nearest integer, its floor is therefore the floor of the true number, whatever the further bits
of U are. Otherwise further bits of the same U are drawn and the floor is found in interval
arithmetic. So the law is that of the real E. No integer of Python is made on the way: those take
longer the more digits they have, and the time would tell the noise.

*Large scales.* For s > 2²⁰ write t = s/2ᵏ ≤ 2²⁰. By memorylessness s·E = 2ᵏ·(Q + F) with
independent Q = ⌊t·E⌋ and F in [0, 1) of density proportional to e^(−F/t). F is a uniform V kept
with probability e^(−V/t) ≥ 1 − V/t: nearly always, and decided by one more word.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .exact import exp_bounds, log_bounds
from .floats import check_floats
from .lazy import Uniform
from .source import Source

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

CHUNK = 16384  # elements handled at once: the arrays of a chunk stay in the processor's cache
MARGIN = 2.0**-38
LARGEST_DIRECT, LARGEST_SINGLE = 20, 30  # log₂ of the largest scale that is not split
LARGEST_WORD = 2**52  # beyond this scale, results are Python integers
_LOW_63 = np.int64(2**63 - 1)
_LEAST_BITS = 2**40
_ROUND = 1.5 * 2.0**52  # adding and taking away rounds |y| < 2⁵¹ to an integer


class Inversion:
    """The law of one scale s: its constants, and draws from it.

    shift     k, the least with t = s/2ᵏ ≤ 2²⁰ (for `single` draws: 0 up to s = 2³⁰)
    slope     t
    """

    def __init__(
        self, scale: Fraction, *, centred: bool = False, signed: bool = True, single: bool = False
    ) -> None:
        check_floats()
        self.scale, self.centred, self.signed = scale, centred, signed
        self._lams: dict[int, tuple[int, int]] = {}
        # A split costs more than what it saves when a single draw falls back once in a hundred.
        direct = LARGEST_SINGLE if single and scale <= 1 << LARGEST_SINGLE else LARGEST_DIRECT
        self.shift = max(0, (math.ceil(scale) - 1).bit_length() - direct)
        self.slope = scale / (1 << self.shift)
        slope = float(self.slope)
        # t·(λ − ln U) = constant − t·ln(63 bits); when split, λ enters with the fraction instead.
        lam = 0.0 if self.shift else float(Fraction(sum(self.lam(64)), 1 << 65))
        self._constants = (-slope, slope * (63 * math.log(2) + lam), MARGIN * slope + 2.0**-49)
        bits = 64 + scale.numerator.bit_length()
        self._centre = float(scale * Fraction(sum(self.lam(bits)), 1 << (bits + 1)))

    def draw(self, count: int, source: Source, offsets: Floats | None = None) -> Integers:
        """That many draws: int64, or Python integers where the scale is beyond 2⁵²."""
        if self.scale > LARGEST_WORD:
            return self._draw_large(count, source, offsets)
        if count == 1 and self.shift == 0:
            return self._single(source.words(1).view(np.int64), source, offsets)
        step = self._direct if self.shift == 0 else self._split
        if count <= CHUNK:
            return step(source.words(count).view(np.int64), source, offsets)
        out = np.empty(count, dtype=np.int64)
        for start in range(0, count, CHUNK):
            part = slice(start, min(start + CHUNK, count))
            words = source.words(part.stop - start).view(np.int64)
            out[part] = step(words, source, None if offsets is None else offsets[part])
        return out

    def lam(self, bits: int) -> tuple[int, int]:
        """Integers lo ≤ λ·2ᵇⁱᵗˢ ≤ hi: λ = −ln((1 + q)/2), q = e^(−1/s); kept, for the next draw."""
        if not self.centred:
            return 0, 0
        if bits not in self._lams:
            lo, hi = exp_bounds(-1 / self.scale, bits)
            low = -log_bounds(Fraction((1 << bits) + hi, 2 << bits), bits)[1]
            high = -log_bounds(Fraction((1 << bits) + lo, 2 << bits), bits)[0]
            self._lams[bits] = low, high
        return self._lams[bits]

    def _direct(
        self, words: Integers, source: Source, offsets: Floats | None, *, plain: bool = False
    ) -> Integers:
        """One word a draw; `plain`: the geometric ⌊t·E⌋ alone."""
        slope, constant, margin = self._constants
        signed = self.signed and not plain
        bits = words & _LOW_63
        y = np.add(bits, 0.5)
        np.log(y, out=y)
        y *= slope
        y += constant
        if offsets is not None:
            np.copysign(y, words.view(np.float64), out=y)
            y += offsets + 0.5
        whole: Floats = np.floor(y)
        unclear = _near_integer(y, whole, margin)
        unclear |= bits < _LEAST_BITS
        if offsets is None and signed:
            np.copysign(whole, words.view(np.float64), out=whole)
        drawn = whole.astype(np.int64)
        if np.count_nonzero(unclear):
            for i in np.flatnonzero(unclear).tolist():
                offset = None if offsets is None else float(offsets[i])
                negative = signed and bool(words[i] < 0)
                drawn[i] = self._exact(int(bits[i]), source, negative=negative, offset=offset)
        return drawn

    def _single(self, words: Integers, source: Source, offsets: Floats | None) -> Integers:
        """One draw, with floats of Python in place of arrays of one."""
        slope, constant, margin = self._constants
        bits, sign = words & _LOW_63, words.view(np.float64).item() if self.signed else 1.0
        start = (bits + 0.5).item()
        y = constant + slope * math.log(start)
        if offsets is not None:
            y = math.copysign(y, sign) + (offsets.item() + 0.5)
        whole = (y + _ROUND) - _ROUND  # the nearest integer; math.floor would make an int
        whole -= whole > y
        if abs(y - whole - 0.5) > 0.5 - margin or start < _LEAST_BITS:
            negative = self.signed and words.item() < 0
            offset = None if offsets is None else offsets.item()
            return np.array([self._exact(bits.item(), source, negative=negative, offset=offset)])
        single = np.array([whole if offsets is not None else math.copysign(whole, sign)])
        return single.astype(np.int64)

    def _exact(self, bits: int, source: Source, *, negative: bool, offset: float | None) -> int:
        """The draw from these 63 bits of U and as many further ones as it takes to be certain."""
        uniform = Uniform(source, width=63, value=bits)
        base = Fraction(0) if offset is None else Fraction(offset) + _HALF
        sign = -1 if negative and offset is not None else 1
        precision = 64
        while True:
            precision += 32
            low, high = uniform.log_bounds(precision)
            least, most = (0, 0) if self.shift else self.lam(precision)
            slope = sign * self.slope / (1 << precision)
            floors = {math.floor(base + slope * end) for end in (low + least, high + most)}
            if len(floors) == 1:
                floor = floors.pop()
                return -floor if negative and offset is None else floor

    def _split(self, words: Integers, source: Source, offsets: Floats | None) -> Integers:
        """s·E = 2ᵏ·(Q + F): a word for Q and the sign, one for F = V, one to keep or reject V."""
        shift = np.uint64(self.shift)
        quotients = self._direct(words, source, None, plain=True)
        v, w = source.words(words.size), source.words(words.size)
        drawn = quotients << np.int64(shift)
        drawn |= (v >> (np.uint64(64) - shift)).view(np.int64)
        rest: Floats = ((v << shift) >> np.uint64(1)).view(np.int64) * np.float64(2.0**-63)
        negative = words >> np.int64(63) if self.signed else np.zeros_like(words)
        if offsets is None:
            rest += self._centre
        else:
            _negate(drawn, negative)
            np.copysign(rest, words.view(np.float64), out=rest)
            rest += offsets + 0.5
        floor = np.floor(rest)
        drawn += floor.astype(np.int64)
        if offsets is None:
            _negate(drawn, negative)
        doubt = v * (2.0**-64 / float(self.slope))
        doubt += w * 2.0**-64
        # The rest is known to 2ᵏ⁻⁶³, its float to 2⁻⁵¹; and e⁻ˣ ≥ 1 − x settles nearly every V.
        unclear = _near_integer(rest, floor, 2.0 ** (self.shift - 63) + 2.0**-49)
        unclear |= doubt > 1 - 2.0**-40
        for i in np.flatnonzero(unclear).tolist():
            offset = None if offsets is None else float(offsets[i])
            pair = Uniform(source, value=int(v[i])), Uniform(source, value=int(w[i]))
            drawn[i] = self._combine(
                int(quotients[i]), *pair, negative=bool(negative[i]), offset=offset
            )
        return drawn

    def _combine(
        self, quotient: int, v: Uniform, w: Uniform, *, negative: bool, offset: float | None
    ) -> int:
        """The draw from Q, V and W, with further bits of both, and a new V where W rejects it."""
        width = v.width
        while not self._kept(v, w):
            v, w = Uniform(v.source, width=width), Uniform(w.source)
        sign = -1 if negative else 1
        while True:
            floors = self._floors(v, sign=sign, offset=offset)
            if floors[0] == floors[1]:
                multiple = quotient << self.shift
                if offset is None:
                    return sign * (multiple + floors[0])
                return sign * multiple + floors[0]
            v.extend()

    def _floors(self, v: Uniform, *, sign: int, offset: float | None) -> tuple[int, int]:
        """The two ends of what the draw may get from V: ⌊s·λ + 2ᵏV⌋ or ⌊offset + ½ ± 2ᵏV⌋."""
        ends = v.value << self.shift, (v.value + 1) << self.shift
        if offset is None:
            bits = v.width + self.shift + 64
            top, bottom = self.scale.numerator, self.scale.denominator << bits
            low, high = (
                ((top * lam << v.width) + bottom * end) // (bottom << v.width)
                for lam, end in zip(self.lam(bits), ends, strict=True)
            )
            return low, high
        top, bottom = offset.as_integer_ratio()
        low, high = (
            ((2 * top + bottom << v.width) + sign * 2 * bottom * end) // (2 * bottom << v.width)
            for end in ends
        )
        return low, high

    def _kept(self, v: Uniform, w: Uniform) -> bool:
        """Whether W < e^(−V/t), with as many bits of both as that takes."""
        doubt = w.value * 2.0**-w.width + v.value * 2.0**-v.width / float(self.slope)
        if doubt < 1 - 2.0**-40:  # e⁻ˣ ≥ 1 − x; bits unknown and roundings are far below 2⁻⁴⁰
            return True
        while True:
            least = exp_bounds(-Fraction(v.value + 1, 1 << v.width) / self.slope, w.width)[0]
            if w.value < least:
                return True
            most = exp_bounds(-Fraction(v.value, 1 << v.width) / self.slope, w.width)[1]
            if w.value >= most:
                return False
            v.extend()
            w.extend()

    def _draw_large(self, count: int, source: Source, offsets: Floats | None) -> Integers:
        """One at a time, in Python integers."""
        words = source.words(count).view(np.int64)
        quotients = self._direct(words, source, None, plain=True).tolist()
        drawn: Integers = np.empty(count, dtype=object)
        for i, quotient in enumerate(quotients):
            v, w = Uniform(source, width=self.shift + 32), Uniform(source)
            offset = None if offsets is None else float(offsets[i])
            negative = self.signed and bool(words[i] < 0)
            drawn[i] = self._combine(quotient, v, w, negative=negative, offset=offset)
        return drawn


_HALF = Fraction(1, 2)


def _negate(numbers: Integers, negative: Integers) -> None:
    """Negate in place the integers where `negative` is −1 rather than 0."""
    numbers ^= negative
    numbers -= negative


def _near_integer(numbers: Floats, floors: Floats, margin: float) -> NDArray[np.bool_]:
    """Which numbers are within the margin of an integer; the numbers are overwritten."""
    numbers -= floors
    numbers -= 0.5
    np.abs(numbers, out=numbers)
    return numbers > 0.5 - margin
