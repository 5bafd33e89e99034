"""Certified exponentials and logarithms in Python integers.

Every function returns two integers lo ≤ f(x)·2ᵇⁱᵗˢ ≤ hi, a few units apart. They are proofs, not
estimates: each rounding is bounded where it happens. The samplers decide almost everything in
float64 and come here when a float is too close to a threshold to be trusted.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

_GUARD = 32
_LEAST_WIDTH = 96


def exp_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers lo ≤ eˣ·2ᵇⁱᵗˢ ≤ hi, with hi − lo ≤ 2.

    x = k·ln 2 + r, so eˣ = 2ᵏ·eʳ with r in [0, ln 2).
    """
    numerator, denominator = x.numerator, x.denominator
    if numerator == 0:
        return 1 << bits, 1 << bits
    if numerator <= -(bits + 1) * denominator:  # eˣ < 2⁻ᵇⁱᵗˢ⁻¹
        return 0, 1
    whole = abs(numerator) // denominator
    width = max(_LEAST_WIDTH, bits + _GUARD + whole.bit_length())
    if numerator > 0:
        width += 3 * whole // 2 + 2  # at least k: the final shift must not lose what eˣ needs
    fixed = (numerator << width) // denominator  # x·2ʷ ∈ [fixed, fixed + 1)
    k, r = divmod(fixed, _log2(width))  # the true remainder is within 2|k| + 1 units of r
    value, error = _exp(r, width)
    error += 4 * (2 * abs(k) + 1)  # eʳ ≤ 2: moving r by a unit moves it by less than 4
    shift = width - bits - k
    return max(0, value - error) >> shift, ((value + error) >> shift) + 1


def log_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers lo ≤ ln x·2ᵇⁱᵗˢ ≤ hi, with hi − lo ≤ 2, for x > 0.

    x = 2ᵏ·m with m in (½, 2). A float y ≈ ln m is corrected by ln m = y + ln(1 + u), where
    1 + u = m·e⁻ʸ: so how good the float was decides how fast this is, and not what is true.
    """
    numerator, denominator = x.numerator, x.denominator
    if numerator == denominator:
        return 0, 0
    k = numerator.bit_length() - denominator.bit_length()
    width = max(_LEAST_WIDTH, bits + _GUARD + abs(k).bit_length())
    shift = width - k
    if shift >= 0:
        mantissa = (numerator << shift) // denominator  # m·2ʷ ∈ [mantissa, mantissa + 1)
    else:
        mantissa = numerator // (denominator << -shift)
    y = int(math.log(mantissa / (1 << width)) * 2.0**60) << (width - 60)
    value, error = _exp(-y, width)
    u = ((mantissa * value) >> width) - (1 << width)  # within 2·error + 4 units, as m ≤ 2
    series, terms = _log_near_one(u, width)
    total = k * _log2(width) + y + series
    error = 4 * error + 8 + 2 * terms + 2 * abs(k)  # d ln(1 + u) ≤ 2·du, as |u| < ½
    shift = width - bits
    return (total - error) >> shift, ((total + error) >> shift) + 1


def cos_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers lo ≤ cos(πx)·2ᵇⁱᵗˢ ≤ hi, with hi − lo ≤ 2, for x in [0, 1].

    cos πx = −cos π(1 − x) brings x to [0, ½]; there the alternating series is summed at π·x.
    """
    if 2 * x > 1:
        lo, hi = cos_bounds(1 - x, bits)
        return -hi, -lo
    width = bits + _GUARD
    angle = (_pi(width) * x.numerator) // x.denominator  # within 2 units of πx·2ʷ, at most 1.6·2ʷ
    square = (angle * angle) >> width  # within 8 units of the truth
    total = term = 1 << width
    terms = 0
    while term not in (0, -1):
        terms += 2
        # Errors are 0, then (8 + 1)/2 + 1, then smaller: below 6 units each.
        term = -((term * square) >> width) // (terms * (terms - 1))
        total += term
    error = 6 * terms + 8
    shift = width - bits
    one = 1 << bits
    return (total - error) >> shift, min(one, ((total + error) >> shift) + 1)


def _exp(r: int, width: int) -> tuple[int, int]:
    """(v, e) with |v − exp(r/2ʷ)·2ʷ| ≤ e, for |r| ≤ 2ʷ: Taylor at r/2ᵐ, then m squarings.

    A term is the last one times t/2ʷ·j, |t| ≤ 2ʷ⁻ᵐ, floored twice: its error stays below 3. The
    tail after a term of at most 1 unit is below 1, flooring r/2ᵐ costs at most 2, so the sum is
    right to 3·terms + 3. A squaring multiplies an error by 2·exp(r/2ⁱ) and adds at most 2; all
    these factors together are at most 2ᵐ·e ≤ 2ᵐ⁺².
    """
    halvings = min(12, 4 + math.isqrt(width) // 4)
    t = r >> halvings
    total = term = 1 << width
    terms = 0
    while term not in (0, -1):
        terms += 1
        term = ((term * t) >> width) // terms
        total += term
    for _ in range(halvings):
        total = (total * total) >> width
    return total, (3 * terms + 5) << (halvings + 2)


def _log_near_one(u: int, width: int) -> tuple[int, int]:
    """ln(1 + u/2ʷ)·2ʷ to within 2·terms units, and the terms: the series, for |u| ≤ 2ʷ⁻¹."""
    assert abs(u) <= 1 << (width - 1)
    total, power, terms = 0, 1 << width, 0
    while power not in (0, -1):
        terms += 1
        power = (power * u) >> width
        total += power // terms if terms % 2 else -(power // terms)
    return total, terms + 1


def _log2(width: int) -> int:
    """ln 2·2ʷ to within 2 units."""
    rounded = -(-width // 64) * 64
    return _log2_of_width(rounded) >> (rounded - width)


@lru_cache(maxsize=256)
def _log2_of_width(width: int) -> int:
    """ln 2·2ʷ to within 1 unit: ln 2 = 18·atanh(1/26) − 2·atanh(1/4801) + 8·atanh(1/8749).

    Each series is low by at most two units a term; 28·2 units a term, width/9 terms, stay far
    below the 2¹⁶ + width of the guard bits.
    """
    guard = 16 + width.bit_length()
    total = sum(c * _series_of_inverse(n, width + guard) for c, n in _MACHIN)
    return total >> guard


def _pi(width: int) -> int:
    """π·2ʷ to within 2 units."""
    rounded = -(-width // 64) * 64
    return _pi_of_width(rounded) >> (rounded - width)


@lru_cache(maxsize=256)
def _pi_of_width(width: int) -> int:
    """π·2ʷ to within 1 unit, by Machin: π = 16·atan(1/5) − 4·atan(1/239)."""
    guard = 16 + width.bit_length()
    total = 16 * _series_of_inverse(5, width + guard, alternating=True)
    total -= 4 * _series_of_inverse(239, width + guard, alternating=True)
    return total >> guard


_MACHIN = ((18, 26), (-2, 4801), (8, 8749))


def _series_of_inverse(n: int, width: int, *, alternating: bool = False) -> int:
    """atanh(1/n)·2ʷ, or atan(1/n)·2ʷ if alternating, to within two units a term."""
    power = (1 << width) // n
    square = -n * n if alternating else n * n
    total, j = 0, 1
    while power not in (0, -1):
        total += power // j
        power //= square
        j += 2
    return total
