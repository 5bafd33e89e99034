"""Dates and timestamps between the years 1 and 9999."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Final

from deniable.query.algebra import Call, Kind, Literal

from . import nodes as sql
from .dialect import Dialect
from .nodes import Node

_LAST: Final = dt.date.max.toordinal()
_MINUTES: Final = 24 * 60


def _part(part: str) -> Callable[..., Node]:
    return lambda dialect, _call, x: dialect.part(part, x)


def _truncate(dialect: Dialect, call: Call, _unit: Node, x: Node) -> Node:
    unit = call.args[0]
    assert isinstance(unit, Literal)
    return dialect.truncated(str(unit.value), x, call.args[1].kind)


def _day(dialect: Dialect, call: Call, position: int, x: Node) -> Node:
    return x if call.args[position].kind is Kind.DATE else dialect.to(Kind.DATE, x)


def _days_between(dialect: Dialect, call: Call, start: Node, end: Node) -> Node:
    return dialect.days(_day(dialect, call, 0, start), _day(dialect, call, 1, end))


def _add_days(dialect: Dialect, call: Call, x: Node, days: Node) -> Node:
    """Missing beyond the calendar: how far is looked at before anything is added."""
    day = _day(dialect, call, 0, x)
    since = dialect.days(dialect.constant(dt.date.min, Kind.DATE), sql.copy(day))
    place = sql.add(since, sql.copy(days))
    moved = dialect.shifted(day, days)
    return _on_calendar(dialect, moved, Kind.DATE, by=days, place=place, length=_LAST)


def _add_minutes(dialect: Dialect, call: Call, x: Node, minutes: Node) -> Node:
    """Likewise, in minutes since the first day; a date starts at midnight."""
    stamp = call.args[0].kind is Kind.TIMESTAMP
    moment = x if stamp else dialect.to(Kind.TIMESTAMP, x)
    day = _day(dialect, call, 0, sql.copy(x))
    days = dialect.days(dialect.constant(dt.date.min, Kind.DATE), day)
    place = sql.add(sql.times(days, dialect.whole(_MINUTES)), sql.copy(minutes))
    if stamp:
        hours = sql.times(dialect.part("hour", sql.copy(x)), dialect.whole(60))
        place = sql.add(place, sql.add(hours, dialect.part("minute", sql.copy(x))))
    moved, length = dialect.later(moment, minutes), _LAST * _MINUTES
    return _on_calendar(dialect, moved, Kind.TIMESTAMP, by=minutes, place=place, length=length)


def _on_calendar(
    dialect: Dialect, moved: Node, kind: Kind, *, by: Node, place: Node, length: int
) -> Node:
    """What was moved `by` so much; missing unless its `place` is one of the calendar's `length`."""
    far = _outside(by, dialect.whole(-length), dialect.whole(length))
    out = _outside(place, dialect.whole(0), dialect.whole(length - 1))
    nothing = dialect.constant(None, kind)
    return sql.case((far, nothing), (out, sql.copy(nothing)), default=moved)


def _outside(node: Node, low: Node, high: Node) -> Node:
    return sql.either([sql.lt(sql.copy(node), low), sql.gt(sql.copy(node), high)])


_PARTS: Final = ("year", "quarter", "month", "day", "dow", "doy", "hour", "minute")

RULES: Final[Mapping[str, Callable[..., Node]]] = {part: _part(part) for part in _PARTS} | {
    "date_trunc": _truncate,
    "days_between": _days_between,
    "add_days": _add_days,
    "add_minutes": _add_minutes,
}
