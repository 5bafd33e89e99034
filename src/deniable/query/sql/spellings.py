"""Spellings of SQL whose meaning depends on a word of SQL, or on the kinds of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import TIMES, Expression, Kind, Span, literal
from deniable.query.bind.spelling import fold, later, spelled

from .functions import PARTS

if TYPE_CHECKING:
    from .lower import SqlLowering

# Minutes in an interval that is always as long; months and years are not.
_INTERVALS: Final = {"MINUTE": 1, "HOUR": 60, "DAY": 24 * 60, "WEEK": 7 * 24 * 60}


def choice(rows: SqlLowering, parts: list[exp.Expr], span: Span | None) -> Expression:
    """IF(condition, yes, no)."""
    if len(parts) != 3:
        raise UnsupportedQuery("IF takes a condition and two values", fix="IF(condition, yes, no)")
    when, yes, no = parts
    return fold("case", rows.condition(when), rows.lower(yes), rows.lower(no), span=span)


def _extract(rows: SqlLowering, parts: list[exp.Expr], span: Span | None) -> Expression:
    word = parts[0].name.lower() if len(parts) == 2 else ""
    if word == "isodow":
        return spelled("monday_1", rows.lower(parts[1]), span=span)
    if word not in PARTS:
        raise UnsupportedQuery(
            f"dates have no part named {word[:30] or 'that'}", fix=", ".join(PARTS)
        )
    return fold(PARTS[word], rows.lower(parts[1]), span=span)


def _truncate(rows: SqlLowering, parts: list[exp.Expr], span: Span | None) -> Expression:
    unit, moment = parts
    return fold("date_trunc", literal(unit.name.lower()), rows.lower(moment), span=span)


def _date_diff(rows: SqlLowering, parts: list[exp.Expr], span: Span | None) -> Expression:
    word = parts[0].name.lower() if len(parts) == 3 else "day"
    if word not in ("day", "days"):
        raise UnsupportedQuery(
            "the difference of dates is in days", fix="DATE_DIFF('day', a, b) / 365.25"
        )
    start, end = map(rows.lower, parts[-2:])
    return fold("days_between", start, end, span=span)


def _plus(*, sign: int) -> Callable[[SqlLowering, list[exp.Expr], Span | None], Expression]:
    """+ and − between numbers, dates and days."""
    op = "add" if sign > 0 else "subtract"

    def lowered(rows: SqlLowering, parts: list[exp.Expr], span: Span | None) -> Expression:
        if isinstance(parts[1], exp.Interval):
            return later(rows.lower(parts[0]), sign * _minutes(parts[1]), span=span)
        x, y = map(rows.lower, parts)
        if sign < 0 and x.kind in TIMES and y.kind in TIMES:
            return fold("days_between", y, x, span=span)
        if x.kind is Kind.DATE and y.kind is Kind.INT:
            return fold("add_days", x, y if sign > 0 else fold("negate", y, span=span), span=span)
        return fold(op, x, y, span=span)

    return lowered


def _minutes(node: exp.Expr) -> int:
    unit = node.text("unit").upper().removesuffix("S")
    digits = node.name.lstrip("-")
    if unit not in _INTERVALS or not digits.isascii() or not digits.isdigit() or len(digits) > 6:
        raise UnsupportedQuery(
            "an interval is a number of weeks, days, hours or minutes", fix="INTERVAL 30 DAY"
        )
    return _INTERVALS[unit] * int(node.name)


SPECIAL: Final[dict[str, Callable[[SqlLowering, list[exp.Expr], Span | None], Expression]]] = {
    "add": _plus(sign=1),
    "subtract": _plus(sign=-1),
    "extract": _extract,
    "date_trunc": _truncate,
    "date_diff": _date_diff,
    "if": choice,
}
