"""Operations of Ibis that stand for several of our operators, or for one by their constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ibis.expr import operations as ops

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import Expression, Literal, evaluate, literal
from deniable.query.sql.spellings import fold, later

from .buckets import bucket, clip

if TYPE_CHECKING:
    from .values import Node, Rows

_CASTS: Final = {
    "int": "to_int",
    "uint": "to_int",
    "float": "to_float",
    "string": "to_text",
    "boolean": "to_bool",
    "date": "to_date",
    "timestamp": "to_timestamp",
}
# Minutes in an interval that is always as long; months and years are not.
_MINUTES: Final = {"m": 1, "h": 60, "D": 24 * 60, "W": 7 * 24 * 60}


def _made(op: str, *args: Expression) -> Expression:
    return fold(op, *args, span=None)


# ---- logic


def _logic(op: str) -> Callable[[Rows, Node], Expression]:
    def lowered(rows: Rows, node: Node) -> Expression:
        parts, rest = [], [node]
        while rest:  # without recursion: chains may be long
            part = rest.pop()
            if type(part) is type(node):
                rest += [part.right, part.left]
            else:
                parts.append(rows.condition(part))
        return _made(op, *parts)

    return lowered


def _present(rows: Rows, node: Node) -> Expression:
    return _made("not", _made("is_null", rows.lower(node.arg)))


def _identical(rows: Rows, node: Node) -> Expression:
    """Equal, or both missing."""
    x, y = rows.lower(node.left), rows.lower(node.right)
    both = _made("and", _made("is_null", x), _made("is_null", y))
    return _made("coalesce", _made("eq", x, y), both)


def _between(rows: Rows, node: Node) -> Expression:
    value = rows.lower(node.arg)
    low, high = rows.lower(node.lower_bound), rows.lower(node.upper_bound)
    return _made("and", _made("ge", value, low), _made("le", value, high))


def _in(rows: Rows, node: Node) -> Expression:
    listed = [rows.lower(option) for option in node.options]
    if not listed or not all(isinstance(v, Literal) and v.value is not None for v in listed):
        raise UnsupportedQuery("isin takes a list of constants", fix='.isin(["a", "b"])')
    return _made("in", rows.lower(node.value), *listed)


def _cases(rows: Rows, node: Node) -> Expression:
    pairs = zip(node.cases, node.results, strict=True)
    parts = [part for when, then in pairs for part in (rows.condition(when), rows.lower(then))]
    return _made("case", *parts, rows.lower(node.default))


def _simple_cases(rows: Rows, node: Node) -> Expression:
    base = rows.lower(node.base)
    parts: list[Expression] = []
    for when, then in zip(node.cases, node.results, strict=True):
        parts += [_made("eq", base, rows.lower(when)), rows.lower(then)]
    return _made("case", *parts, rows.lower(node.default))


# ---- numbers, casts


def _floor_divide(rows: Rows, node: Node) -> Expression:
    return _made("floor", _made("divide", rows.lower(node.left), rows.lower(node.right)))


def _round(rows: Rows, node: Node) -> Expression:
    value, digits = rows.lower(node.arg), rows.lower(node.digits)
    whole = isinstance(digits, Literal) and digits.value == 0
    return _made("round", value) if whole else _made("round", value, digits)


def _cast(rows: Rows, node: Node) -> Expression:
    """Every cast is the one that never fails: what cannot be read is missing."""
    word = str(node.to).removeprefix("!").partition("(")[0].rstrip("0123456789")
    if word not in _CASTS or getattr(node.to, "timezone", None):
        raise UnsupportedQuery(
            f"cast to {node.to} is not among what can be asked",
            fix='"int64", "float64", "string", "boolean", "date" or "timestamp"',
        )
    value = rows.lower(node.arg)
    made = _made(_CASTS[word], value)
    if isinstance(value, Literal) and value.value is not None and evaluate(made, {}) is None:
        raise UnsupportedQuery(f"{value.value!r} is no {made.kind.value}")
    return made


# ---- text


def _whole(node: Node, *, method: str, fix: str) -> int:
    value = node.value if type(node) is ops.Literal else None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UnsupportedQuery(
            f"{method} counts letters from the front, by constants of 0 and more", fix=fix
        )
    return int(value)


def _substring(rows: Rows, node: Node) -> Expression:
    """Ibis counts letters from 0, we from 1."""
    known = {"method": "substr", "fix": ".substr(0, 3)"}
    start = literal(_whole(node.start, **known) + 1)
    value = rows.lower(node.arg)
    if node.length is None:
        return _made("substr", value, start)
    return _made("substr", value, start, literal(_whole(node.length, **known)))


def _slice(rows: Rows, node: Node) -> Expression:
    known = {"method": "[start:end] of text", "fix": ".substr(0, 3)"}
    start = 0 if node.start is None else _whole(node.start, **known)
    value = rows.lower(node.arg)
    if node.end is None:
        return _made("substr", value, literal(start + 1))
    length = max(0, _whole(node.end, **known) - start)
    return _made("substr", value, literal(start + 1), literal(length))


def _like(op: str) -> Callable[[Rows, Node], Expression]:
    def lowered(rows: Rows, node: Node) -> Expression:
        if node.escape is not None:
            raise UnsupportedQuery(
                "patterns have no escape here", fix=".contains, .startswith or .endswith"
            )
        return _made(op, rows.lower(node.arg), rows.lower(node.pattern))

    return lowered


# ---- dates


def _day_of_week(rows: Rows, node: Node) -> Expression:
    """Ibis counts from Monday, we from Sunday."""
    return _made("modulo", _made("add", _made("dow", rows.lower(node.arg)), literal(6)), literal(7))


def _truncate(rows: Rows, node: Node) -> Expression:
    return _made("date_trunc", literal(node.unit.name.lower()), rows.lower(node.arg))


def _days_between(rows: Rows, node: Node) -> Expression:
    part = node.part.value if type(node.part) is ops.Literal else ""
    if part not in ("day", "days", "D"):
        raise UnsupportedQuery("dates differ by days here", fix='a.delta(b, unit="day") / 365.25')
    return _made("days_between", rows.lower(node.right), rows.lower(node.left))


def _move(*, sign: int) -> Callable[[Rows, Node], Expression]:
    """A moment and a number of weeks, days, hours or minutes."""

    def lowered(rows: Rows, node: Node) -> Expression:
        step: Any = node.right
        unit = getattr(step.dtype, "unit", None)
        minutes = _MINUTES.get(str(getattr(unit, "value", "")))
        if type(step) is not ops.Literal or minutes is None or not isinstance(step.value, int):
            raise UnsupportedQuery(
                "an interval is a number of weeks, days, hours or minutes",
                fix="+ ibis.interval(days=30)",
            )
        return later(rows.lower(node.left), sign * minutes * int(step.value), span=None)

    return lowered


SPELLINGS: Final[dict[Any, Callable[[Rows, Node], Expression]]] = {
    ops.And: _logic("and"),
    ops.Or: _logic("or"),
    ops.NotNull: _present,
    ops.IdenticalTo: _identical,
    ops.Between: _between,
    ops.InValues: _in,
    ops.SearchedCase: _cases,
    ops.SimpleCase: _simple_cases,
    ops.FloorDivide: _floor_divide,
    ops.Round: _round,
    ops.Clip: clip,
    ops.Bucket: bucket,
    ops.Cast: _cast,
    ops.TryCast: _cast,
    ops.Substring: _substring,
    ops.StringSlice: _slice,
    ops.StringSQLLike: _like("like"),
    ops.StringSQLILike: _like("ilike"),
    ops.DayOfWeekIndex: _day_of_week,
    ops.DateTruncate: _truncate,
    ops.TimestampTruncate: _truncate,
    ops.DateDelta: _days_between,
    ops.TimestampDelta: _days_between,
    ops.DateAdd: _move(sign=1),
    ops.DateSub: _move(sign=-1),
    ops.TimestampAdd: _move(sign=1),
    ops.TimestampSub: _move(sign=-1),
}
