"""Spellings of SQL that stand for several of our operators, or for one by the kinds of values."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import TIMES, Expression, Kind, Literal, Span, call, evaluate, literal

from .functions import PARTS

if TYPE_CHECKING:
    from .lower import Rows

# Minutes in an interval that is always as long; months and years are not.
_INTERVALS: Final = {"MINUTE": 1, "HOUR": 60, "DAY": 24 * 60, "WEEK": 7 * 24 * 60}
_CALENDAR: Final = dt.date.max.toordinal() * 24 * 60

_WRITTEN: Final = (Kind.INT, Kind.BOOL, Kind.DATE)


def fold(op: str, *args: Expression, span: Span | None) -> Expression:
    """A call; a constant if all its arguments are, and it is the same everywhere."""
    made = call(op, *args, span=span)
    constant = all(isinstance(arg, Literal) for arg in made.args)
    if not constant or not made.operator.exact or made.size > 100:
        return made
    value = evaluate(made, {})
    if isinstance(value, float) and not math.isfinite(value):
        raise UnsupportedQuery("this number is too large")
    return literal(value, kind=made.kind, span=span)


def choice(rows: Rows, parts: list[exp.Expr], span: Span | None) -> Expression:
    """IF(condition, yes, no)."""
    if len(parts) != 3:
        raise UnsupportedQuery("IF takes a condition and two values", fix="IF(condition, yes, no)")
    when, yes, no = parts
    return fold("case", rows.condition(when), rows.lower(yes), rows.lower(no), span=span)


def _floor_divide(rows: Rows, parts: list[exp.Expr], span: Span | None) -> Expression:
    return fold("floor", fold("divide", *map(rows.lower, parts), span=span), span=span)


def _left(rows: Rows, parts: list[exp.Expr], span: Span | None) -> Expression:
    value, count = map(rows.lower, parts)
    return fold("substr", value, literal(1), count, span=span)


def _extract(rows: Rows, parts: list[exp.Expr], span: Span | None) -> Expression:
    word = parts[0].name.lower() if len(parts) == 2 else ""
    if word == "isodow":
        return _weekday(rows, parts[1:], span)
    if word not in PARTS:
        raise UnsupportedQuery(
            f"there is no part of a date called {word[:30] or 'that'}", fix=", ".join(PARTS)
        )
    return fold(PARTS[word], rows.lower(parts[1]), span=span)


def _truncate(rows: Rows, parts: list[exp.Expr], span: Span | None) -> Expression:
    unit, moment = parts
    return fold("date_trunc", literal(unit.name.lower()), rows.lower(moment), span=span)


def _date_diff(rows: Rows, parts: list[exp.Expr], span: Span | None) -> Expression:
    word = parts[0].name.lower() if len(parts) == 3 else "day"
    if word not in ("day", "days"):
        raise UnsupportedQuery("dates differ by days here", fix="DATE_DIFF('day', a, b) / 365.25")
    start, end = map(rows.lower, parts[-2:])
    return fold("days_between", start, end, span=span)


def _plus(*, sign: int) -> Callable[[Rows, list[exp.Expr], Span | None], Expression]:
    """+ and − between numbers, dates and days."""
    op = "add" if sign > 0 else "subtract"

    def lowered(rows: Rows, parts: list[exp.Expr], span: Span | None) -> Expression:
        if isinstance(parts[1], exp.Interval):
            return later(rows.lower(parts[0]), sign * _minutes(parts[1]), span=span)
        x, y = map(rows.lower, parts)
        if sign < 0 and x.kind in TIMES and y.kind in TIMES:
            return fold("days_between", y, x, span=span)
        if x.kind is Kind.DATE and y.kind is Kind.INT:
            return fold("add_days", x, y if sign > 0 else fold("negate", y, span=span), span=span)
        return fold(op, x, y, span=span)

    return lowered


def later(moment: Expression, minutes: int, *, span: Span | None) -> Expression:
    """A date that is whole days later stays a date; any other moment is a timestamp."""
    if abs(minutes) > _CALENDAR:
        raise UnsupportedQuery(
            "this interval is longer than the calendar, which has the years 1 to 9999",
            fix="INTERVAL 30 DAY",
        )
    days, rest = divmod(minutes, 24 * 60)
    if moment.kind is Kind.TEXT:
        moment = fold("to_timestamp" if rest else "to_date", moment, span=span)
    if moment.kind is Kind.DATE and not rest:
        return fold("add_days", moment, literal(days), span=span)
    return fold("add_minutes", moment, literal(minutes), span=span)


def _minutes(node: exp.Expr) -> int:
    unit = node.text("unit").upper().removesuffix("S")
    digits = node.name.lstrip("-")
    if unit not in _INTERVALS or not digits.isascii() or not digits.isdigit() or len(digits) > 6:
        raise UnsupportedQuery(
            "an interval is a number of weeks, days, hours or minutes", fix="INTERVAL 30 DAY"
        )
    return _INTERVALS[unit] * int(node.name)


def _weekday(rows: Rows, parts: list[exp.Expr], span: Span | None) -> Expression:
    """Monday is 1, Sunday 7."""
    day = fold("dow", *map(rows.lower, parts), span=span)
    sunday = fold("eq", day, literal(0), span=span)
    return fold("case", sunday, literal(7), day, span=span)


def _concat(rows: Rows, parts: list[exp.Expr], span: Span | None) -> Expression:
    """Whole numbers, truth values and dates are written out."""
    made = map(rows.lower, parts)
    texts = (x if x.kind not in _WRITTEN else fold("to_text", x, span=span) for x in made)
    return fold("concat", *texts, span=span)


SPECIAL: Final[dict[str, Callable[[Rows, list[exp.Expr], Span | None], Expression]]] = {
    "add": _plus(sign=1),
    "subtract": _plus(sign=-1),
    "concat": _concat,
    "isodow": _weekday,
    "floor_divide": _floor_divide,
    "left": _left,
    "extract": _extract,
    "date_trunc": _truncate,
    "date_diff": _date_diff,
    "if": choice,
}
