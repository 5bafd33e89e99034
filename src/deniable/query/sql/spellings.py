"""Spellings of SQL that stand for several of our operators, or for one by the kinds of values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import TIMES, Expression, Kind, Literal, Span, call, evaluate, literal

from .functions import PARTS

if TYPE_CHECKING:
    from .lower import Rows

# Days in an interval that is the same everywhere; months and hours are not.
_INTERVALS: Final = {"DAY": 1, "WEEK": 7}


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
            moved = literal(sign * _days(parts[1]))
            day = fold("to_date", rows.lower(parts[0]), span=span)
            return fold("add_days", day, moved, span=span)
        x, y = map(rows.lower, parts)
        if sign < 0 and x.kind in TIMES and y.kind in TIMES:
            return fold("days_between", y, x, span=span)
        if x.kind is Kind.DATE and y.kind is Kind.INT:
            return fold("add_days", x, y if sign > 0 else fold("negate", y, span=span), span=span)
        return fold(op, x, y, span=span)

    return lowered


def _days(node: exp.Expr) -> int:
    unit = node.text("unit").upper().removesuffix("S")
    digits = node.name.lstrip("-")
    if unit not in _INTERVALS or not digits.isascii() or not digits.isdigit() or len(digits) > 6:
        raise UnsupportedQuery("an interval is a number of days or weeks", fix="INTERVAL 30 DAY")
    return _INTERVALS[unit] * int(node.name)


SPECIAL: Final[dict[str, Callable[[Rows, list[exp.Expr], Span | None], Expression]]] = {
    "add": _plus(sign=1),
    "subtract": _plus(sign=-1),
    "floor_divide": _floor_divide,
    "left": _left,
    "extract": _extract,
    "date_trunc": _truncate,
    "date_diff": _date_diff,
    "if": choice,
}
