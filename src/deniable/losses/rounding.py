"""Rounding that only ever errs towards more privacy loss.

Two needs, two tools. Sums must be exact, so that k·a equals a + … + a to the last bit: finite
floats are whole multiples of 2⁻¹⁰⁷⁴ (`ticks`), and whole numbers add without error; the sum is
rounded up once, when it is read. Formulas must end above the truth: `up` adds a bound on the error
made in evaluating them.

    >>> from_ticks(3 * ticks(0.1)) == from_ticks(ticks(0.1) + ticks(0.1) + ticks(0.1))
    True
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterable

from deniable import parameters

# Figures closer than this fraction count as equal when one is compared with a ceiling. The double
# called 0.1 is a little more than a tenth, and ten of them must fit in a budget of 1: a ceiling of
# ε therefore proves ε·(1 + 2⁻⁴⁰). Figures themselves are never rounded down.
RESOLUTION = 2.0**-40

# A term of a formula: at most 32 operations, each right to 2⁻⁵³ (libm: 2⁻⁵²), stay below this.
FORMULA_ERROR = 2.0**-47

_PLACES = 1074
# Above any double, and above any sum or multiple of doubles that a computer can form.
_INFINITE = 1 << 8192


def up(*terms: float) -> float:
    """The sum of the terms and of the errors made in computing each: never below the truth."""
    return _outward(terms, 1.0)


def down(*terms: float) -> float:
    """The sum of the terms less the errors made in computing each: never above the truth."""
    return _outward(terms, -1.0)


def _outward(terms: Iterable[float], sign: float) -> float:
    terms = tuple(terms)
    if any(math.isinf(term) for term in terms):
        return sum(terms)
    try:
        total = math.fsum((*terms, sign * FORMULA_ERROR * math.fsum(map(abs, terms))))
    except OverflowError:  # near the largest double: what is beyond it is on the safe side
        return sign * math.inf
    return math.nextafter(total, sign * math.inf) if total else total


def product(*factors: float) -> float:
    """The product of factors of at least 0, rounded up: 0 only if one of them is."""
    if 0 in factors:
        return 0.0
    return max(up(math.prod(factors)), math.ulp(0.0))


def add_up(left: float, right: float) -> float:
    """The least double that is not below the exact sum of two doubles."""
    total = left + right
    if math.isinf(total):
        return total
    # Knuth's two-sum: what the rounded sum left out, exactly.
    part = total - left
    missing = (left - (total - part)) + (right - part)
    return math.nextafter(total, math.inf) if missing > 0 else total


def ticks(number: float) -> int:
    """A float of at least 0 in units of 2⁻¹⁰⁷⁴: exact; ∞ becomes a number too large to read."""
    if math.isinf(number):
        return _INFINITE
    numerator, denominator = number.as_integer_ratio()
    return numerator << (_PLACES + 1 - denominator.bit_length())


def from_ticks(count: int) -> float:
    """The least double that is not below this many ticks."""
    excess = max(0, count.bit_length() - 53)  # bits that a double cannot hold
    try:
        return math.ldexp(-(-count >> excess), excess - _PLACES)
    except OverflowError:
        return math.inf


def square_ticks(number: float) -> int:
    """The square of a non-negative float in units of 2⁻²¹⁴⁸: exact."""
    return ticks(number) ** 2


def from_square_ticks(count: int) -> float:
    """The least double whose square is not below this many squared ticks."""
    root = math.isqrt(count)
    return from_ticks(root if root * root == count else root + 1)


def within(amount: float, ceiling: float) -> bool:
    """Is the amount at most the ceiling, to the resolution in which ceilings are enforced?"""
    return amount <= ceiling or amount <= ceiling * (1 + RESOLUTION)


def shown_up(number: float, *, digits: int = 3) -> str:
    """A spent figure for people: rounded up.

    >>> shown_up(0.12301), shown_up(1.0000000000000002), shown_up(1e-7)
    ('0.124', '1', '1e-07')
    """
    return _shown(number * (1 - RESOLUTION), digits, decimal.ROUND_CEILING)


def shown_down(number: float, *, digits: int = 3) -> str:
    """A figure of what is left, for people: rounded down.

    >>> shown_down(0.12399), shown_down(2.9999999999999996), shown_down(1234.5)
    ('0.123', '3', '1230')
    """
    return _shown(number * (1 + RESOLUTION), digits, decimal.ROUND_FLOOR)


def _shown(number: float, digits: int, toward: str) -> str:
    if number == 0 or math.isinf(number):
        return f"{number:g}"
    exact = decimal.Decimal(number)
    last = decimal.Decimal(1).scaleb(exact.adjusted() - digits + 1)
    with decimal.localcontext(prec=800):
        return f"{float(exact.quantize(last, rounding=toward)):.6g}"


def to_json(number: float) -> float | str:
    """A figure as JSON can hold it."""
    return "inf" if math.isinf(number) else number


def from_json(name: str, value: object) -> float:
    """The figure that `to_json` wrote."""
    return math.inf if value == "inf" else parameters.non_negative(name, value)
