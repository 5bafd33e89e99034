"""Certified exponentials and logarithms in Python integers.

Every function returns two integers lo ≤ f(x)·2ᵇⁱᵗˢ ≤ hi, a few units apart. They are proofs, not
estimates: each rounding is bounded in the comments. The samplers decide almost everything in
float64 and come here when a float is too close to a threshold to be trusted.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

_GUARD = 32


def exp_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers lo ≤ eˣ·2ᵇⁱᵗˢ ≤ hi with hi − lo ≤ 2 (for |x| < 2¹⁰).

    x = k·ln 2 + r, so eˣ = 2ᵏ·eʳ with r in [0, ln 2], up to the errors bounded below.
    """
    numerator, denominator = x.numerator, x.denominator
    if numerator == 0:
        return 1 << bits, 1 << bits
    if numerator <= -(bits + 1) * denominator:  # eˣ < 2⁻ᵇⁱᵗˢ⁻¹
        return 0, 1
    whole = abs(numerator) // denominator
    # k ≤ 1.5·x + 1 extra bits keep the absolute error when eˣ is large; the size of k costs log₂ k.
    width = bits + _GUARD + whole.bit_length() + (3 * whole // 2 + 2 if numerator > 0 else 0)
    fixed = (numerator << width) // denominator  # x·2ʷ ∈ [fixed, fixed + 1)
    log2 = _log2(width)  # ln 2·2ʷ ∈ [log2, log2 + 1]
    k, r = divmod(fixed, log2)  # the true remainder differs from r by at most |k| + 1 units
    value, error = _exp_fixed(r, width)
    error += 4 * (abs(k) + 1) + 1  # eʳ ≤ 2, so a shift of r by one unit moves it by less than 4
    shift = width - bits - k
    return max(0, value - error) >> shift, ((value + error) >> shift) + 1


def log_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers lo ≤ ln x·2ᵇⁱᵗˢ ≤ hi with hi − lo ≤ 2, for x > 0.

    x = 2ᵏ·m with m in [½, 2]. A float y ≈ ln m is corrected by ln m = y + ln(m·e⁻ʸ), whose argument
    is 1 + u with u about 2⁻⁵²; the float's accuracy sets the speed only, never the truth.
    """
    numerator, denominator = x.numerator, x.denominator
    if numerator == denominator:
        return 0, 0
    k = numerator.bit_length() - denominator.bit_length()
    width = bits + _GUARD + abs(k).bit_length()
    shift = width - k
    if shift >= 0:
        mantissa = (numerator << shift) // denominator  # m·2ʷ ∈ [mantissa, mantissa + 1)
    else:
        mantissa = numerator // (denominator << -shift)
    estimate = int(math.log(mantissa / (1 << width)) * (1 << 60))
    y = estimate << (width - 60) if width >= 60 else estimate >> (60 - width)
    log2 = _log2(width)
    value, error = _exp_fixed(-y % (4 * log2) if y > 0 else -y, width)
    if y > 0:
        value, error = _exp_fixed(log2 - y, width)
        error += 4
        u = ((mantissa * value) >> (width + 1)) - (1 << width)
    else:
        u = ((mantissa * value) >> width) - (1 << width)
    return _log_sum(k, log2, y, u, 2 * error + 4, width - bits)


@lru_cache(maxsize=64)
def _log2(width: int) -> int:
    """⌊ln 2·2ʷ⌋ or one less: ln 2 = 18·atanh(1/26) − 2·atanh(1/4801) + 8·atanh(1/8749)."""
    guard = 16
    total = sum(
        factor * _inverse_atanh(n, width + guard)
        for factor, n in ((18, 26), (-2, 4801), (8, 8749))
    )
    # Each series is at most (number of terms) units below the truth: far less than 2¹⁵ in all.
    low, high = (total - (1 << 14)) >> guard, (total + (1 << 14)) >> guard
    return low if low == high else low
