"""Range arithmetic: where a result lies if its parts lie where they are promised to.

Sound for what engines compute, not only for real numbers: + − · / and √ are correctly rounded, so
rounding is monotone and the rounded ends are ends of the rounded results; ln, exp and power may be
off by some units in the last place, so their ends are moved outwards by _SLACK.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, Final, TypedDict, TypeVar

from .domain import EXACT, Domain, Kind, Number, Scalar
from .meaning import bin_start, round_half_away, width_bucket
from .moments import add_minutes as later
from .moments import truncate

T = TypeVar("T")

_SLACK: Final = 2.0**-46
_LEAST: Final = math.ulp(0.0)  # the least float above 0
_LAST_DAY: Final = dt.date.max.toordinal()


def ranged(low: Number, high: Number, *, whole: bool, nullable: bool, ruled: bool = True) -> Domain:
    """A number in [low, high]: an INT if it is whole and exact as a float, else a FLOAT.

    A float that may be infinite may also have come out as NaN, which is missing.
    """
    if whole and low >= -EXACT and high <= EXACT:
        return Domain(kind=Kind.INT, low=int(low), high=int(high), nullable=nullable, ruled=ruled)
    low, high = _float(low), _float(high)
    known = math.isfinite(low) and math.isfinite(high)
    return Domain(
        kind=Kind.FLOAT,
        low=low + 0.0 if math.isfinite(low) else None,
        high=high + 0.0 if math.isfinite(high) else None,
        nullable=nullable or not known,
        ruled=ruled,
    )


class Missing(TypedDict):
    """The two facts of a domain about missing values."""

    nullable: bool
    ruled: bool


def strict_missing(args: Sequence[Domain], *, also: bool = False) -> Missing:
    """Missing if any argument may be, or else if `also`; `ruled` if all that may be missing are."""
    return Missing(
        nullable=also or any(d.nullable for d in args),
        ruled=all(d.ruled or not d.nullable for d in args),
    )


def _whole(*args: Domain) -> bool:
    ints = all(d.kind is Kind.INT for d in args)
    return ints and all(abs(end) <= EXACT for d in args for end in d.ends)


def _float(x: Number) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


# ---- arithmetic


def add(x: Domain, y: Domain) -> Domain:
    """[a, b] + [c, d] = [a + c, b + d]."""
    (a, b), (c, d) = _pair(x, y)
    return ranged(a + c, b + d, whole=_whole(x, y), **strict_missing([x, y]))


def subtract(x: Domain, y: Domain) -> Domain:
    """[a, b] − [c, d] = [a − d, b − c]."""
    (a, b), (c, d) = _pair(x, y)
    return ranged(a - d, b - c, whole=_whole(x, y), **strict_missing([x, y]))


def multiply(x: Domain, y: Domain) -> Domain:
    """The hull of the four products of ends; 0·∞ is missing."""
    made = [p * q for p, q in product(*_pair(x, y))]
    corners = [0 if math.isnan(each) else each for each in made]
    missing = strict_missing([x, y], also=any(map(math.isnan, made)))
    return ranged(min(corners), max(corners), whole=_whole(x, y), **missing)


def divide(x: Domain, y: Domain) -> Domain:
    """The hull of quotients of ends, on each side of zero; unbounded if y may be tiny."""
    low, high = y.ends
    missing = strict_missing([x, y], also=low <= 0 <= high)
    sides: list[tuple[Number, Number]] = [(low, high)]
    if low <= 0 <= high:
        if y.kind is not Kind.INT:
            return ranged(-math.inf, math.inf, whole=False, **missing)
        sides = [(low, -1)] * (low <= -1) + [(1, high)] * (high >= 1)
    made = [float(p) / float(q) for side in sides for p, q in product(x.ends, side)]
    corners = [0.0 if math.isnan(each) else each for each in made]
    return ranged(min(corners, default=0), max(corners, default=0), whole=False, **missing)


def modulo(x: Domain, y: Domain) -> Domain:
    """|x mod y| < |y|, no further from 0 than x, and with its sign."""
    (a, b), (c, d) = x.ends, y.ends
    most = max(max(abs(c), abs(d)) - 1, 0)
    low, high = max(-most, min(a, 0)), min(most, max(b, 0))
    return Domain(
        kind=Kind.INT,
        low=int(low) if math.isfinite(low) else None,
        high=int(high) if math.isfinite(high) else None,
        **strict_missing([x, y], also=c <= 0 <= d),
    )


def negate(x: Domain) -> Domain:
    """[−b, −a] for [a, b]."""
    a, b = x.ends
    return ranged(-b, -a, whole=_whole(x), **strict_missing([x]))


def absolute(x: Domain) -> Domain:
    """[0 or the nearer end, the farther end]."""
    a, b = x.ends
    return ranged(max(a, -b, 0), max(-a, b), whole=_whole(x), **strict_missing([x]))


def sign(x: Domain) -> Domain:
    """A sign is −1, 0 or 1."""
    a, b = x.ends
    return ranged((a > 0) - (a < 0), (b > 0) - (b < 0), whole=True, **strict_missing([x]))


def monotone(rule: Callable[[float], Number]) -> Callable[[Domain], Domain]:
    """An increasing step to whole numbers."""

    def result(x: Domain) -> Domain:
        a, b = (rule(end) if math.isfinite(end) else end for end in x.ends)
        return ranged(a, b, whole=True, **strict_missing([x]))

    return result


def rounded(x: Domain, digits: Domain | None = None) -> Domain:
    """Rounding is increasing in x."""
    d = 0 if digits is None else int(digits.ends[0])
    a, b = (round_half_away(end, d) for end in x.ends)
    return ranged(a, b, whole=d <= 0 or _whole(x), **strict_missing([x]))


def sqrt(x: Domain) -> Domain:
    """Increasing; missing below 0."""
    a, b = x.ends
    missing = strict_missing([x], also=a < 0)
    return ranged(math.sqrt(max(a, 0)), math.sqrt(max(b, 0)), whole=False, **missing)


def ln(x: Domain) -> Domain:
    """Increasing; missing at and below 0."""
    a, b = x.ends
    low = math.log(a) if a > 0 else -745.2  # ln of the least float above 0 is −744.44…
    high = math.log(b) if b > 0 else low
    return _outwards(low, high, strict_missing([x], also=a <= 0))


def exp(x: Domain) -> Domain:
    """Increasing, above 0."""
    a, b = (math.inf if end > 709.7 else math.exp(end) for end in x.ends)
    return _from_zero(_outwards(a, b, strict_missing([x])))


def power(x: Domain, y: Domain) -> Domain:
    """Corners suffice for x > 0: xʸ is monotone in each argument. A whole constant y: by parity."""
    (a, b), (c, d) = x.ends, y.ends
    missing = strict_missing([x, y], also=a < 0 or (a == 0 and c < 0))
    if a > 0 or (a == 0 and c >= 0):
        corners = [_power(p, q) for p, q in product((a, b), (c, d))]
        return _from_zero(_outwards(min(corners), max(corners), missing))
    if c == d and c >= 0 and float(c).is_integer():
        most = _power(max(abs(a), abs(b)), c)
        wide = _outwards(-most, most, missing)
        return wide.but(low=0.0) if c % 2 == 0 else wide
    return ranged(-math.inf, math.inf, whole=False, **missing)


def _from_zero(domain: Domain) -> Domain:
    return domain.but(low=max(0.0, domain.ends[0]))


def _outwards(low: float, high: float, missing: Missing) -> Domain:
    low, high = low - abs(low) * _SLACK - _LEAST, high + abs(high) * _SLACK + _LEAST
    return ranged(low, high, whole=False, **missing)


def _power(x: Number, y: Number) -> float:
    try:
        value = math.pow(x, y)
    except (OverflowError, ValueError):
        return math.inf
    return 1.0 if math.isnan(value) else value


def _pair(x: Domain, y: Domain) -> tuple[tuple[Number, Number], tuple[Number, Number]]:
    """The ends as the engine sees them: whole numbers only where all of them stay exact."""
    if _whole(x, y):
        return x.ends, y.ends
    (a, b), (c, d) = x.ends, y.ends
    return (_float(a), _float(b)), (_float(c), _float(d))


# ---- order, bins


def extreme(rule: Callable[..., Any], *args: Domain) -> Domain:
    """The min of lows and of highs, or the max.

    One unknown low makes min's low unknown, but not max's; likewise for highs.
    """
    hull = together(args)
    low = _end(rule, [d.low for d in args], hull.kind, undone=rule is min)
    high = _end(rule, [d.high for d in args], hull.kind, undone=rule is max)
    return hull.but(low=low, high=high, values=None, **strict_missing(args))


def clip(x: Domain, low: Domain, high: Domain) -> Domain:
    """Inside the bounds, and inside what was known."""
    a, b = x.ends
    l, u = low.ends[0], high.ends[1]
    whole = all(d.kind is Kind.INT for d in (x, low, high))
    lowest, highest = max(l, min(u, a)), max(l, min(u, b))
    missing = strict_missing([x])
    if whole:  # also beyond 2⁵³: nothing is computed
        return Domain(kind=Kind.INT, low=int(lowest), high=int(highest), **missing)
    return ranged(lowest, highest, whole=False, **missing)


def bins(x: Domain, width: Domain) -> Domain:
    """The start of the bin is increasing in x."""
    a, b = (bin_start(end, width.ends[0]) for end in x.ends)
    whole = x.kind is Kind.INT and width.kind is Kind.INT
    return ranged(a, b, whole=whole, **strict_missing([x]))


def bucket(x: Domain, low: Domain, high: Domain, buckets: Domain) -> Domain:
    """Increasing in x, from 0 to buckets + 1."""
    l, u, count = low.ends[0], high.ends[0], int(buckets.ends[0])
    a, b = (width_bucket(end, l, u, count) for end in x.ends)
    return ranged(a, b, whole=True, **strict_missing([x]))


def together(args: Sequence[Domain]) -> Domain:
    """One of several values: the hull of their ranges, in a kind that holds them all.

    What is always missing (a NULL, its list of values empty) has no range and widens none.
    """
    kinds = {d.kind for d in args}
    kind = Kind.FLOAT if kinds == {Kind.INT, Kind.FLOAT} else args[0].kind
    there = [d for d in args if d.values != ()] or list(args)
    low = _end(min, [d.low for d in there], kind, undone=True)
    high = _end(max, [d.high for d in there], kind, undone=True)
    listed = dict.fromkeys(value for d in args for value in d.values or ())
    every = all(d.values is not None for d in args)
    values = tuple(in_kind(v, kind) for v in listed) if every else None
    return Domain(kind=kind, low=low, high=high, values=values, **strict_missing(args))


def _end(
    rule: Callable[..., Any], found: Sequence[Scalar | None], kind: Kind, *, undone: bool
) -> Scalar | None:
    """The least or the largest of some ends; one that is not known may leave it `undone`."""
    known = [end for end in found if end is not None]
    unknown = not known or (undone and len(known) < len(found))
    return None if unknown else in_kind(rule(known), kind)


def in_kind(value: T, kind: Kind) -> T | float:
    """The same, a whole number among floats as a float."""
    return float(value) if kind is Kind.FLOAT and isinstance(value, int) else value


# ---- times


def truncated(unit: Domain, x: Domain) -> Domain:
    """Increasing in x; the same kind. The first week of year 1 may start before the calendar."""
    assert unit.values is not None
    low, high = (None if end is None else truncate(str(unit.values[0]), end) for end in x.moments)
    missing = strict_missing([x], also=unit.values[0] == "week")
    return Domain(kind=x.kind, low=low, high=high, **missing)


def days_between(x: Domain, y: Domain) -> Domain:
    """Decreasing in the start, increasing in the end; at most 9999 years."""
    spans = [(_ordinal(low, 1), _ordinal(high, _LAST_DAY)) for low, high in (x.moments, y.moments)]
    (a, b), (c, d) = spans
    return ranged(c - b, d - a, whole=True, **strict_missing([x, y]))


def add_days(x: Domain, days: Domain) -> Domain:
    """Within the calendar; missing beyond it."""
    (low, high), (a, b) = x.moments, days.ends
    first, last = _ordinal(low, 1) + a, _ordinal(high, _LAST_DAY) + b
    beyond = first < 1 or last > _LAST_DAY
    missing = strict_missing([x, days], also=beyond)
    if x.low is None or x.high is None or beyond:
        return Domain(kind=Kind.DATE, **missing)
    reach = [dt.date.fromordinal(int(end)) for end in (first, last)]
    return Domain(kind=Kind.DATE, low=reach[0], high=reach[1], **missing)


def add_minutes(x: Domain, minutes: Domain) -> Domain:
    """Within the calendar; missing beyond it."""
    (low, high), (a, b) = x.moments, minutes.ends
    reach: list[Any] = [None, None]
    if low is not None and high is not None and math.isfinite(a) and math.isfinite(b):
        reach = [later(low, int(a)), later(high, int(b))]
    missing = strict_missing([x, minutes], also=None in reach)
    low, high = (None, None) if None in reach else reach
    return Domain(kind=Kind.TIMESTAMP, low=low, high=high, **missing)


def years(x: Domain) -> Domain:
    """From the year of the first to the year of the last."""
    low, high = x.moments
    return ranged(
        1 if low is None else low.year,
        9999 if high is None else high.year,
        whole=True,
        **strict_missing([x]),
    )


def part(low: int, high: int) -> Callable[[Domain], Domain]:
    """A part of a date that is always in the same range."""
    return lambda x: ranged(low, high, whole=True, **strict_missing([x]))


def _ordinal(day: dt.date | None, default: int) -> int:
    return default if day is None else day.toordinal()
