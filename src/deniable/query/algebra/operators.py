"""The table of operators: everything an expression can do to values, one line each.

    name         how it is called in our trees and printed
    accepts      the kinds of each argument; the last entry stands for all further ones
    result       what is known of the result: kind, range, whether missing
    run          what it means (`meaning`, `moments`)
    constants    positions of arguments that must be constants
    exact        the same bits on every engine: not so for ln, exp and power

All operators are total. All but and, or, is_null, coalesce, case and nullif are strict: missing in,
missing out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from . import meaning, moments, ranges
from .domain import NUMBERS, TIMES, Domain, Kind
from .meaning import strict

_N: Final = NUMBERS
_I: Final = frozenset({Kind.INT})
_T: Final = frozenset({Kind.TEXT})
_B: Final = frozenset({Kind.BOOL})
_D: Final = TIMES
_S: Final = frozenset({Kind.TIMESTAMP})
_ANY: Final = frozenset(Kind)
_ORDERED: Final = _ANY - _B


@dataclass(frozen=True, kw_only=True)
class Operator:
    """One operator: which arguments it takes, what is known of its result, what it means."""

    name: str
    accepts: tuple[frozenset[Kind], ...]
    result: Callable[..., Domain]
    run: Callable[..., Any]
    symbol: str = ""
    constants: frozenset[int] = frozenset()
    exact: bool = True
    least: int
    most: int | None
    alike: bool = False

    def kinds_of(self, position: int) -> frozenset[Kind]:
        """What the argument at a position may be."""
        return self.accepts[min(position, len(self.accepts) - 1)]


def _truth(*args: Domain) -> Domain:
    return Domain(kind=Kind.BOOL, **ranges.strict_missing(args))


def _never_missing(*_args: Domain) -> Domain:
    return Domain(kind=Kind.BOOL, nullable=False)


def _coalesced(*args: Domain) -> Domain:
    every = all(d.nullable for d in args)
    return ranges.together(args).but(nullable=every, ruled=not every or args[-1].ruled)


def _cases(*args: Domain) -> Domain:
    """Conditions that are missing count as false, so only the branches matter."""
    return ranges.together([*args[1:-1:2], args[-1]])


def _nullified(x: Domain, y: Domain) -> Domain:
    rule = ranges.strict_missing([x])["ruled"]
    _ = y
    return x.but(nullable=True, ruled=rule)


def _text(*args: Domain) -> Domain:
    return Domain(kind=Kind.TEXT, **ranges.strict_missing(args))


def _length(x: Domain) -> Domain:
    missing = ranges.strict_missing([x])
    high = None if x.values is None else max((len(str(v)) for v in x.values), default=0)
    return Domain(kind=Kind.INT, low=0, high=high, **missing)


def _cast_int(x: Domain) -> Domain:
    missing = ranges.strict_missing([x])
    if x.kind is Kind.BOOL:
        return Domain(kind=Kind.INT, low=0, high=1, **missing)
    if x.kind is Kind.INT:
        return x
    rounded = ranges.rounded(x) if x.kind is Kind.FLOAT else None
    if rounded is not None and rounded.kind is Kind.INT:
        return rounded
    missing["nullable"] = True
    return Domain(kind=Kind.INT, **missing)


def _cast_float(x: Domain) -> Domain:
    missing = ranges.strict_missing([x])
    if x.kind is Kind.TEXT:
        missing["nullable"] = True
        return Domain(kind=Kind.FLOAT, **missing)
    low, high = (0, 1) if x.kind is Kind.BOOL else (x.low, x.high)
    ends = [None if end is None else float(end) for end in (low, high)]  # type: ignore[arg-type]
    return Domain(kind=Kind.FLOAT, low=ends[0], high=ends[1], **missing)


def _cast(kind: Kind) -> Callable[[Domain], Domain]:
    """To bool, text, date or timestamp; only text can fail."""

    def result(x: Domain) -> Domain:
        if x.kind is kind:
            return x
        missing = ranges.strict_missing([x])
        missing["nullable"] = missing["nullable"] or (x.kind is Kind.TEXT)
        low, high = (x.low, x.high) if kind in TIMES and x.kind in TIMES else (None, None)
        move = moments.to_date if kind is Kind.DATE else moments.to_timestamp
        ends = [None if end is None else move(end) for end in (low, high)]
        return Domain(kind=kind, low=ends[0], high=ends[1], **missing)

    return result


def _make() -> dict[str, Operator]:
    table: dict[str, Operator] = {}

    def put(
        name: str,
        accepts: tuple[frozenset[Kind], ...],
        result: Callable[..., Domain],
        run: Callable[..., Any],
        *,
        own: bool = False,
        optional: int = 0,
        many: bool = False,
        symbol: str = "",
        constants: tuple[int, ...] = (),
        exact: bool = True,
        alike: bool = False,
    ) -> None:
        table[name] = Operator(
            name=name,
            accepts=accepts,
            result=result,
            run=run if own else strict(run),
            symbol=symbol,
            constants=frozenset(constants),
            exact=exact,
            least=len(accepts) - optional,
            most=None if many else len(accepts),
            alike=alike,
        )

    _put_arithmetic(put)
    _put_logic(put)
    _put_text(put)
    _put_times(put)
    _put_casts(put)
    return table


def _put_arithmetic(put: Callable[..., None]) -> None:
    put("add", (_N, _N), ranges.add, meaning.add, symbol="+")
    put("subtract", (_N, _N), ranges.subtract, meaning.subtract, symbol="-")
    put("multiply", (_N, _N), ranges.multiply, meaning.multiply, symbol="*")
    put("divide", (_N, _N), ranges.divide, meaning.divide, symbol="/")
    put("modulo", (_I, _I), ranges.modulo, meaning.modulo, symbol="%")
    put("negate", (_N,), ranges.negate, meaning.negate)
    put("abs", (_N,), ranges.absolute, meaning.absolute)
    put("sign", (_N,), ranges.sign, meaning.sign)
    put("floor", (_N,), ranges.monotone(math.floor), meaning.floor)
    put("ceil", (_N,), ranges.monotone(math.ceil), meaning.ceil)
    put("round", (_N, _I), ranges.rounded, meaning.round_half_away, optional=1, constants=(1,))
    put("sqrt", (_N,), ranges.sqrt, meaning.sqrt)
    put("ln", (_N,), ranges.ln, meaning.ln, exact=False)
    put("exp", (_N,), ranges.exp, meaning.exp, exact=False)
    put("power", (_N, _N), ranges.power, meaning.power, exact=False)
    put("least", (_ORDERED, _ORDERED), ranges.least, meaning.least, many=True, alike=True)
    put("greatest", (_ORDERED, _ORDERED), ranges.greatest, meaning.greatest, many=True, alike=True)
    put("clip", (_N, _N, _N), ranges.clip, meaning.clip, constants=(1, 2))
    put("bin", (_N, _N), ranges.bins, meaning.bin_start, constants=(1,))
    put("width_bucket", (_N, _N, _N, _I), ranges.bucket, meaning.width_bucket, constants=(1, 2, 3))


def _put_logic(put: Callable[..., None]) -> None:
    put("eq", (_ANY, _ANY), _truth, lambda x, y: x == y, symbol="=", alike=True)
    put("ne", (_ANY, _ANY), _truth, lambda x, y: x != y, symbol="<>", alike=True)
    put("lt", (_ORDERED, _ORDERED), _truth, lambda x, y: x < y, symbol="<", alike=True)
    put("le", (_ORDERED, _ORDERED), _truth, lambda x, y: x <= y, symbol="<=", alike=True)
    put("gt", (_ORDERED, _ORDERED), _truth, lambda x, y: x > y, symbol=">", alike=True)
    put("ge", (_ORDERED, _ORDERED), _truth, lambda x, y: x >= y, symbol=">=", alike=True)
    put("in", (_ANY, _ANY), _truth, meaning.is_in, many=True, alike=True)
    put("and", (_B, _B), _truth, meaning.both, own=True, many=True, symbol="and")
    put("or", (_B, _B), _truth, meaning.either, own=True, many=True, symbol="or")
    put("not", (_B,), _truth, lambda x: not x)
    put("is_null", (_ANY,), _never_missing, lambda x: x is None, own=True)
    put("coalesce", (_ANY,), _coalesced, meaning.coalesce, own=True, many=True, alike=True)
    put("case", (_B, _ANY, _ANY), _cases, meaning.case, own=True, many=True)
    put("nullif", (_ANY, _ANY), _nullified, meaning.nullif, own=True, alike=True)


def _put_text(put: Callable[..., None]) -> None:
    put("lower", (_T,), _text, meaning.lower)
    put("upper", (_T,), _text, meaning.upper)
    put("trim", (_T,), _text, lambda x: x.strip(" "))
    put("length", (_T,), _length, len)
    put("substr", (_T, _I, _I), _text, meaning.substring, optional=1, constants=(1, 2))
    put("concat", (_T, _T), _text, meaning.joined, many=True)
    put("like", (_T, _T), _truth, meaning.like, constants=(1,))
    put("ilike", (_T, _T), _truth, meaning.ilike, constants=(1,))
    put("starts_with", (_T, _T), _truth, str.startswith)
    put("ends_with", (_T, _T), _truth, str.endswith)
    put("contains", (_T, _T), _truth, lambda x, part: part in x)


def _put_times(put: Callable[..., None]) -> None:
    put("year", (_D,), ranges.years, lambda x: x.year)
    put("quarter", (_D,), ranges.part(1, 4), moments.quarter)
    put("month", (_D,), ranges.part(1, 12), lambda x: x.month)
    put("day", (_D,), ranges.part(1, 31), lambda x: x.day)
    put("dow", (_D,), ranges.part(0, 6), moments.day_of_week)
    put("doy", (_D,), ranges.part(1, 366), moments.day_of_year)
    put("hour", (_S,), ranges.part(0, 23), lambda x: x.hour)
    put("minute", (_S,), ranges.part(0, 59), lambda x: x.minute)
    put("date_trunc", (_T, _D), ranges.truncated, moments.truncate, constants=(0,))
    put("days_between", (_D, _D), ranges.days_between, moments.days_between)
    put("add_days", (_D, _I), ranges.add_days, moments.add_days)
    put("add_minutes", (_D, _I), ranges.add_minutes, moments.add_minutes)


def _put_casts(put: Callable[..., None]) -> None:
    put("to_int", (_N | _B | _T,), _cast_int, moments.to_int)
    put("to_float", (_N | _B | _T,), _cast_float, moments.to_float)
    put("to_text", (_I | _T | _B | {Kind.DATE},), _cast(Kind.TEXT), moments.to_text)
    put("to_bool", (_I | _B | _T,), _cast(Kind.BOOL), moments.to_bool)
    put("to_date", (_D | _T,), _cast(Kind.DATE), moments.to_date)
    put("to_timestamp", (_D | _T,), _cast(Kind.TIMESTAMP), moments.to_timestamp)


OPERATORS: Final = _make()
