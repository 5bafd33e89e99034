"""What every operator means: plain Python on single values, the reference for all engines.

Nothing here raises, whatever the values: an operator that has no answer gives None (missing). A NaN
never arises: `number` turns it into None. Text is compared by code point; letters change case in
ASCII only, so that an engine's locale cannot matter.
"""

from __future__ import annotations

import datetime as dt
import math
import operator
import re
from collections.abc import Callable
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Final

from .domain import EXACT, Number, Scalar

Value = Scalar | None

LONGEST_JOINED: Final = 1024
# Times 10¹⁵ this is still a float; from 2⁵³ on there is nothing to round but by negative digits.
LARGEST_ROUNDED: Final = 2.0**900

EPOCH: Final = dt.date(1970, 1, 1)
_LOWER: Final = str.maketrans(ascii_uppercase, ascii_lowercase)
_UPPER: Final = str.maketrans(ascii_lowercase, ascii_uppercase)


def number(value: float) -> float | None:
    """A float without NaN and without the second zero."""
    return None if math.isnan(value) else value + 0.0


def strict(run: Callable[..., Value]) -> Callable[..., Value]:
    """Missing in, missing out."""

    def total(*args: Value) -> Value:
        return None if None in args else run(*args)

    return total


# ---- arithmetic


def _arithmetic(rule: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Value]:
    """Whole numbers exactly while they are exact as floats; else float64."""

    def run(x: Any, y: Any) -> Value:
        if isinstance(x, int) and isinstance(y, int):
            found: int = rule(x, y)
            if max(abs(found), abs(x), abs(y)) <= EXACT:
                return found
        return number(rule(float(x), float(y)))

    return run


add, subtract, multiply = map(_arithmetic, (operator.add, operator.sub, operator.mul))


def divide(x: float, y: float) -> Value:
    """Always a float; x/0 is missing."""
    return None if y == 0 else number(float(x) / float(y))


def modulo(x: int, y: int) -> Value:
    """The remainder of division towards zero: it has the sign of x; missing for y = 0."""
    return None if y == 0 else int(math.copysign(1, x)) * (abs(x) % abs(y))


def negate(x: Any) -> Value:
    """-x, without a second zero."""
    return -x if isinstance(x, int) else number(-x)


def sign(x: float) -> Value:
    """The sign of x: -1, 0 or 1."""
    return (x > 0) - (x < 0)


def round_half_away(x: float, digits: int = 0) -> Number:
    """sign(x)·⌊|x|·10ᵈ + ½⌋/10ᵈ in float64: halves go away from zero; x itself beyond 2⁹⁰⁰."""
    if isinstance(x, int) and digits >= 0:
        return x
    if abs(x) > LARGEST_ROUNDED:
        return float(x)
    scale = 10.0 ** abs(digits)
    scaled = abs(float(x)) * scale if digits >= 0 else abs(float(x)) / scale
    up = float(math.floor(scaled + 0.5))
    back = up / scale if digits >= 0 else up * scale
    signed = math.copysign(back, x) + 0.0
    return whole(math.floor, signed) if digits <= 0 else signed


def sqrt(x: float) -> Value:
    """√x; missing below 0."""
    return None if x < 0 else math.sqrt(x)


def ln(x: float) -> Value:
    """The natural logarithm; missing at and below 0."""
    return None if x <= 0 else math.log(x)


def exp(x: float) -> Value:
    """eˣ; beyond the floats it is infinite."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def power(x: float, y: float) -> Value:
    """xʸ in float64; missing for 0 to a negative power and a negative number to a fraction."""
    x, y = float(x), float(y)
    if (x == 0 and y < 0) or (x < 0 and not y.is_integer()):
        return None
    try:
        return number(math.pow(x, y))
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf


def clip(x: float, low: float, high: float) -> Number:
    """The nearest value in [low, high]."""
    return max(low, min(high, x))


def bin_start(x: float, width: float) -> Number:
    """Where the bin of x starts: ⌊x/width⌋·width; a whole number if both are."""
    if isinstance(x, int) and isinstance(width, int):
        return x // width * width
    k = float(x) / float(width)
    return math.floor(k) * float(width) + 0.0 if math.isfinite(k) else k


def width_bucket(x: float, low: float, high: float, buckets: int) -> int:
    """1 to `buckets` from low to high; 0 below, buckets + 1 from high on; all in float64."""
    x, low, high = float(x), float(low), float(high)
    if x < low:
        return 0
    if x >= high:
        return buckets + 1
    share = (x - low) / (high - low) * buckets
    return min(buckets, math.floor(share) + 1)


def whole(rule: Callable[[float], int], x: float) -> Number:
    """⌊x⌋ or ⌈x⌉, a whole number while it is one exactly, else the float itself."""
    if isinstance(x, int) or not math.isfinite(x):
        return x
    found = rule(x)
    return found if abs(found) <= EXACT else float(found)


# ---- logic


def both(*args: Value) -> Value:
    """AND of three values: false wins, then missing."""
    return False if False in args else None if None in args else True


def either(*args: Value) -> Value:
    """OR of three values: true wins, then missing."""
    return True if True in args else None if None in args else False


def coalesce(*args: Value) -> Value:
    """The first that is not missing."""
    return next((value for value in args if value is not None), None)


def case(*args: Value) -> Value:
    """When, then, when, then, …, else: the first whose condition is true."""
    for when, then in zip(args[:-1:2], args[1:-1:2], strict=True):
        if when is True:
            return then
    return args[-1]


def nullif(x: Value, y: Value) -> Value:
    """Missing where x = y, else x."""
    return None if x is not None and x == y else x


# ---- text


def lower(x: str) -> Value:
    """ASCII capitals made small."""
    return x.translate(_LOWER)


def upper(x: str) -> Value:
    """ASCII letters made capital."""
    return x.translate(_UPPER)


def substring(x: str, start: int, count: int | None = None) -> Value:
    """`count` code points from the `start`-th on, counting from 1."""
    return x[start - 1 :] if count is None else x[start - 1 : start - 1 + count]


def joined(*parts: str) -> Value:
    """One after the other, up to the first `LONGEST_JOINED` code points.

    Else text could grow with every layer of a question, until memory ends where one person is.
    """
    return "".join(part[:LONGEST_JOINED] for part in parts)[:LONGEST_JOINED]


def like(x: str, pattern: str) -> Value:
    """% stands for any text, _ for one code point; there is no escape."""
    return re.fullmatch(like_rule(pattern, quote=re.escape), x, re.DOTALL) is not None


def like_rule(pattern: str, *, quote: Callable[[str], str]) -> str:
    """LIKE as a regular expression that is matched in linear time: no place is tried twice.

    Between two % stands a part of fixed length. If any match is left, then one with that part at
    the first place where it fits: so each place, once found, is kept (atomic groups).
    """
    first, *rest = (
        "".join("." if c == "_" else quote(c) for c in part) for part in pattern.split("%")
    )
    if not rest:
        return first
    *middle, last = rest
    return first + "".join(f"(?>.*?{part})" for part in middle if part) + ".*" + last


def ilike(x: str, pattern: str) -> Value:
    """LIKE without regard to the case of ASCII letters."""
    return like(x.translate(_LOWER), pattern.translate(_LOWER))
