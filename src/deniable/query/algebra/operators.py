"""The table of operators: everything an expression can do to values, one line each.

    name            how it is called in our trees and printed, unless it has a `symbol`
    accepts         the kinds of each argument; the last entry stands for all further ones
    result          what is known of the result: kind, range, whether missing (`ranges`)
    run             what it means for single values (`meaning`, `moments`)
    least, most     how many arguments it takes; written here as `optional` and `many`
    constants       positions of arguments that must be constants
    alike           arguments are brought to one kind first
    exact           the same bits on every engine: not so for ln, exp and power

All operators are total. They are strict (missing in, missing out) unless written `strict=False`:
those see missing arguments themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from . import meaning, moments, ranges
from .domain import NUMBERS, TIMES, Domain, Kind

# What an argument may be, short enough for one line per operator.
_N: Final = NUMBERS
_I: Final = frozenset({Kind.INT})
_T: Final = frozenset({Kind.TEXT})
_B: Final = frozenset({Kind.BOOL})
_D: Final = TIMES  # a date or a timestamp
_S: Final = frozenset({Kind.TIMESTAMP})
_ANY: Final = frozenset(Kind)
_ORDERED: Final = _ANY - _B


@dataclass(frozen=True, kw_only=True)
class Operator:
    """One operator: which arguments it takes, what is known of its result, what it means."""

    name: str
    accepts: tuple[frozenset[Kind], ...]
    result: Callable[..., Domain]
    run: Callable[..., meaning.Value]
    symbol: str = ""
    constants: frozenset[int] = frozenset()
    exact: bool = True
    least: int
    most: int | None
    alike: bool = False

    def kinds_of(self, position: int) -> frozenset[Kind]:
        """What the argument at a position may be."""
        return self.accepts[min(position, len(self.accepts) - 1)]


def _strict(kind: Kind) -> Callable[..., Domain]:
    return lambda *args: Domain(kind=kind, **ranges.strict_missing(args))


_truth, _text = _strict(Kind.BOOL), _strict(Kind.TEXT)


def _never_missing(*_args: Domain) -> Domain:
    return Domain(kind=Kind.BOOL, nullable=False)


def _coalesced(*args: Domain) -> Domain:
    every = all(d.nullable for d in args)
    return ranges.together(args).but(nullable=every, ruled=not every or args[-1].ruled)


def _cases(*args: Domain) -> Domain:
    """Conditions that are missing count as false, so only the branches matter."""
    return ranges.together([*args[1:-1:2], args[-1]])


def _nullified(x: Domain, _: Domain) -> Domain:
    return x.but(nullable=True, ruled=ranges.strict_missing([x])["ruled"])


def _length(x: Domain) -> Domain:
    high = None if x.values is None else max((len(str(v)) for v in x.values), default=0)
    return Domain(kind=Kind.INT, low=0, high=high, **ranges.strict_missing([x]))


def _cast_int(x: Domain) -> Domain:
    if x.kind is Kind.INT:
        return x
    if x.kind is Kind.BOOL:
        return Domain(kind=Kind.INT, low=0, high=1, **ranges.strict_missing([x]))
    if x.kind is Kind.FLOAT and (rounded := ranges.rounded(x)).kind is Kind.INT:
        return rounded
    return Domain(kind=Kind.INT, **ranges.strict_missing([x], also=True))


def _cast_float(x: Domain) -> Domain:
    low, high = (0, 1) if x.kind is Kind.BOOL else (x.low, x.high)
    ends = [ranges.in_kind(end, Kind.FLOAT) for end in (low, high)]
    missing = ranges.strict_missing([x], also=x.kind is Kind.TEXT)
    return Domain(kind=Kind.FLOAT, low=ends[0], high=ends[1], **missing)


def _cast(kind: Kind) -> Callable[[Domain], Domain]:
    """To bool, text, date or timestamp; only text can fail."""
    move = moments.to_date if kind is Kind.DATE else moments.to_timestamp

    def result(x: Domain) -> Domain:
        if x.kind is kind:
            return x
        low, high = (x.low, x.high) if kind in TIMES and x.kind in TIMES else (None, None)
        ends = [None if end is None else move(end) for end in (low, high)]
        missing = ranges.strict_missing([x], also=x.kind is Kind.TEXT)
        return Domain(kind=kind, low=ends[0], high=ends[1], **missing)

    return result


def _op(
    name: str,
    accepts: tuple[frozenset[Kind], ...],
    result: Callable[..., Domain],
    run: Callable[..., Any],
    *,
    strict: bool = True,
    optional: int = 0,
    many: bool = False,
    constants: tuple[int, ...] = (),
    **more: Any,
) -> Operator:
    return Operator(
        name=name,
        accepts=accepts,
        result=result,
        run=meaning.strict(run) if strict else run,
        constants=frozenset(constants),
        least=len(accepts) - optional,
        most=None if many else len(accepts),
        **more,
    )


_ALL: Final = (
    # ---- arithmetic
    _op("add", (_N, _N), ranges.add, meaning.add, symbol="+"),
    _op("subtract", (_N, _N), ranges.subtract, meaning.subtract, symbol="-"),
    _op("multiply", (_N, _N), ranges.multiply, meaning.multiply, symbol="*"),
    _op("divide", (_N, _N), ranges.divide, meaning.divide, symbol="/"),
    _op("modulo", (_I, _I), ranges.modulo, meaning.modulo, symbol="%"),
    _op("negate", (_N,), ranges.negate, meaning.negate),
    _op("abs", (_N,), ranges.absolute, abs),
    _op("sign", (_N,), ranges.sign, meaning.sign),
    _op("floor", (_N,), ranges.monotone(math.floor), partial(meaning.whole, math.floor)),
    _op("ceil", (_N,), ranges.monotone(math.ceil), partial(meaning.whole, math.ceil)),
    _op("round", (_N, _I), ranges.rounded, meaning.round_half_away, optional=1, constants=(1,)),
    _op("sqrt", (_N,), ranges.sqrt, meaning.sqrt),
    _op("ln", (_N,), ranges.ln, meaning.ln, exact=False),
    _op("exp", (_N,), ranges.exp, meaning.exp, exact=False),
    _op("power", (_N, _N), ranges.power, meaning.power, exact=False),
    _op("least", (_ORDERED, _ORDERED), partial(ranges.extreme, min), min, many=True, alike=True),
    _op("greatest", (_ORDERED, _ORDERED), partial(ranges.extreme, max), max, many=True, alike=True),
    _op("clip", (_N, _N, _N), ranges.clip, meaning.clip, constants=(1, 2)),
    _op("bin", (_N, _N), ranges.bins, meaning.bin_start, constants=(1,)),
    _op("width_bucket", (_N, _N, _N, _I), ranges.bucket, meaning.width_bucket, constants=(1, 2, 3)),
    # ---- logic
    _op("eq", (_ANY, _ANY), _truth, lambda x, y: x == y, symbol="=", alike=True),
    _op("ne", (_ANY, _ANY), _truth, lambda x, y: x != y, symbol="<>", alike=True),
    _op("lt", (_ORDERED, _ORDERED), _truth, lambda x, y: x < y, symbol="<", alike=True),
    _op("le", (_ORDERED, _ORDERED), _truth, lambda x, y: x <= y, symbol="<=", alike=True),
    _op("gt", (_ORDERED, _ORDERED), _truth, lambda x, y: x > y, symbol=">", alike=True),
    _op("ge", (_ORDERED, _ORDERED), _truth, lambda x, y: x >= y, symbol=">=", alike=True),
    _op("in", (_ANY, _ANY), _truth, lambda x, *listed: x in listed, many=True, alike=True),
    _op("and", (_B, _B), _truth, meaning.both, strict=False, many=True, symbol="and"),
    _op("or", (_B, _B), _truth, meaning.either, strict=False, many=True, symbol="or"),
    _op("not", (_B,), _truth, lambda x: not x),
    _op("is_null", (_ANY,), _never_missing, lambda x: x is None, strict=False),
    _op("coalesce", (_ANY,), _coalesced, meaning.coalesce, strict=False, many=True, alike=True),
    _op("case", (_B, _ANY, _ANY), _cases, meaning.case, strict=False, many=True),
    _op("nullif", (_ANY, _ANY), _nullified, meaning.nullif, strict=False, alike=True),
    # ---- text
    _op("lower", (_T,), _text, meaning.lower),
    _op("upper", (_T,), _text, meaning.upper),
    _op("trim", (_T,), _text, lambda x: x.strip(" ")),
    _op("length", (_T,), _length, len),
    _op("substr", (_T, _I, _I), _text, meaning.substring, optional=1, constants=(1, 2)),
    _op("concat", (_T, _T), _text, meaning.joined, many=True),
    _op("like", (_T, _T), _truth, meaning.like, constants=(1,)),
    _op("ilike", (_T, _T), _truth, meaning.ilike, constants=(1,)),
    _op("starts_with", (_T, _T), _truth, str.startswith),
    _op("ends_with", (_T, _T), _truth, str.endswith),
    _op("contains", (_T, _T), _truth, lambda x, part: part in x),
    # ---- times
    _op("year", (_D,), ranges.years, lambda x: x.year),
    _op("quarter", (_D,), ranges.part(1, 4), lambda x: (x.month + 2) // 3),
    _op("month", (_D,), ranges.part(1, 12), lambda x: x.month),
    _op("day", (_D,), ranges.part(1, 31), lambda x: x.day),
    _op("dow", (_D,), ranges.part(0, 6), lambda x: x.isoweekday() % 7),  # 0 is Sunday
    _op("doy", (_D,), ranges.part(1, 366), lambda x: x.timetuple().tm_yday),
    _op("hour", (_S,), ranges.part(0, 23), lambda x: x.hour),
    _op("minute", (_S,), ranges.part(0, 59), lambda x: x.minute),
    _op("date_trunc", (_T, _D), ranges.truncated, moments.truncate, constants=(0,)),
    _op("days_between", (_D, _D), ranges.days_between, moments.days_between),
    _op("add_days", (_D, _I), ranges.add_days, moments.add_days),
    _op("add_minutes", (_D, _I), ranges.add_minutes, moments.add_minutes),
    # ---- casts
    _op("to_int", (_N | _B | _T,), _cast_int, moments.to_int),
    _op("to_float", (_N | _B | _T,), _cast_float, moments.to_float),
    _op("to_text", (_I | _T | _B | {Kind.DATE},), _cast(Kind.TEXT), moments.to_text),
    _op("to_bool", (_I | _B | _T,), _cast(Kind.BOOL), moments.to_bool),
    _op("to_date", (_D | _T,), _cast(Kind.DATE), moments.to_date),
    _op("to_timestamp", (_D | _T,), _cast(Kind.TIMESTAMP), moments.to_timestamp),
)
OPERATORS: Final = {each.name: each for each in _ALL}
