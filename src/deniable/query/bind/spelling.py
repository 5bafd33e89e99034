"""Operations that stand for several of our operators; shared by front ends."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from typing import Final

from deniable import fixes
from deniable.errors import UnsupportedQuery
from deniable.query.algebra import Expression, Kind, Literal, Span, call, evaluate, literal

_CALENDAR: Final = dt.date.max.toordinal() * 24 * 60
_WRITTEN: Final = (Kind.INT, Kind.BOOL, Kind.DATE)


def spelled(op: str, *args: Expression, span: Span | None = None) -> Expression:
    """One of our operators, or an operation that is made of several."""
    composed = _COMPOSED.get(op)
    if composed is None:
        return fold(op, *args, span=span)
    return composed(*args).at(span)


def fold(op: str, *args: Expression, span: Span | None = None) -> Expression:
    """A call; a constant if all its arguments are, and it is the same everywhere."""
    made = call(op, *args, span=span)
    constant = all(isinstance(arg, Literal) for arg in made.args)
    if not constant or not made.operator.exact or made.size > 100:
        return made
    value = evaluate(made, {})
    if isinstance(value, float) and not math.isfinite(value):
        raise UnsupportedQuery("this number is too large")
    return literal(value, kind=made.kind, span=span)


def condition(made: Expression) -> Expression:
    """The expression, if it is true, false or missing."""
    if made.kind is not Kind.BOOL:
        raise UnsupportedQuery(f"a condition must be true or false, not {made.kind.value}")
    return made


def together(op: str, *conditions: Expression) -> Expression:
    """Conditions joined by AND or OR; one alone is itself."""
    return conditions[0] if len(conditions) == 1 else fold(op, *conditions)


def cast(op: str, value: Expression, *, span: Span | None = None) -> Expression:
    """Every cast is the one that never fails: what cannot be read is missing."""
    made = fold(op, value, span=span)
    if isinstance(value, Literal) and value.value is not None and evaluate(made, {}) is None:
        raise UnsupportedQuery(f"{value.value!r} is not of type {made.kind.value}")
    return made


def later(moment: Expression, minutes: int, *, span: Span | None = None) -> Expression:
    """A date that is whole days later stays a date; any other moment is a timestamp."""
    if abs(minutes) > _CALENDAR:
        raise UnsupportedQuery(
            "this interval is longer than the calendar, which has the years 1 to 9999",
            fix=fixes.sql("INTERVAL 30 DAY", "ibis.interval(days=30)"),
        )
    days, rest = divmod(minutes, 24 * 60)
    if moment.kind is Kind.TEXT:
        moment = fold("to_timestamp" if rest else "to_date", moment, span=span)
    if moment.kind is Kind.DATE and not rest:
        return fold("add_days", moment, literal(days), span=span)
    return fold("add_minutes", moment, literal(minutes), span=span)


def _same(x: Expression, y: Expression) -> Expression:
    """Equal, or both missing."""
    both = fold("and", fold("is_null", x), fold("is_null", y))
    return fold("coalesce", fold("eq", x, y), both)


def _weekday(moment: Expression) -> Expression:
    """Monday is 1, Sunday 7."""
    day = fold("dow", moment)
    return fold("case", fold("eq", day, literal(0)), literal(7), day)


def _concat(*parts: Expression) -> Expression:
    """Whole numbers, truth values and dates are written out."""
    return fold("concat", *(x if x.kind not in _WRITTEN else fold("to_text", x) for x in parts))


_COMPOSED: Final[dict[str, Callable[..., Expression]]] = {
    "present": lambda value: fold("not", fold("is_null", value)),
    "same": _same,
    "between": lambda x, low, high: fold("and", fold("ge", x, low), fold("le", x, high)),
    "floor_divide": lambda x, y: fold("floor", fold("divide", x, y)),
    "left": lambda value, count: fold("substr", value, literal(1), count),
    "monday_1": _weekday,
    "monday_0": lambda day: fold("modulo", fold("add", fold("dow", day), literal(6)), literal(7)),
    "concat": _concat,
}
