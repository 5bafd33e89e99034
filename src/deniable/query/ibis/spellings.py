"""Operations of Ibis whose meaning depends on their constants, or that take lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ibis.expr import operations as ops

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import Expression, Literal, literal
from deniable.query.bind.spelling import cast, fold, later

from .buckets import bucket, clip

if TYPE_CHECKING:
    from .values import IbisLowering, Node

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


# ---- logic


def _logic(op: str) -> Callable[[IbisLowering, Node], Expression]:
    def lowered(rows: IbisLowering, node: Node) -> Expression:
        parts, rest = [], [node]
        while rest:  # without recursion: chains may be long
            part = rest.pop()
            if type(part) is type(node):
                rest += [part.right, part.left]
            else:
                parts.append(rows.condition(part))
        return fold(op, *parts)

    return lowered


def _in(rows: IbisLowering, node: Node) -> Expression:
    listed = [rows.lower(option) for option in node.options]
    if not listed or not all(isinstance(v, Literal) and v.value is not None for v in listed):
        raise UnsupportedQuery("isin takes a list of constants", fix='.isin(["a", "b"])')
    return fold("in", rows.lower(node.value), *listed)


def _cases(rows: IbisLowering, node: Node) -> Expression:
    base = rows.lower(node.base) if type(node) is ops.SimpleCase else None
    parts: list[Expression] = []
    for when, then in zip(node.cases, node.results, strict=True):
        test = rows.condition(when) if base is None else fold("eq", base, rows.lower(when))
        parts += [test, rows.lower(then)]
    return fold("case", *parts, rows.lower(node.default))


# ---- numbers, casts


def _round(rows: IbisLowering, node: Node) -> Expression:
    value, digits = rows.lower(node.arg), rows.lower(node.digits)
    whole = isinstance(digits, Literal) and digits.value == 0
    return fold("round", value) if whole else fold("round", value, digits)


def _cast(rows: IbisLowering, node: Node) -> Expression:
    word = str(node.to).removeprefix("!").partition("(")[0].rstrip("0123456789")
    if word not in _CASTS or getattr(node.to, "timezone", None):
        raise UnsupportedQuery(
            f"cast to {node.to} is not supported",
            fix='"int64", "float64", "string", "boolean", "date" or "timestamp"',
        )
    return cast(_CASTS[word], rows.lower(node.arg))


# ---- text


def _whole(node: Node, *, method: str) -> int:
    value = node.value if type(node) is ops.Literal else None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UnsupportedQuery(
            f"{method} counts letters from the front, by constants of 0 and more",
            fix=".substr(0, 3)",
        )
    return int(value)


def _letters(rows: IbisLowering, node: Node, start: int, length: int | None) -> Expression:
    """Ibis counts letters from 0, we from 1."""
    ends = [literal(start + 1), *([] if length is None else [literal(length)])]
    return fold("substr", rows.lower(node.arg), *ends)


def _substring(rows: IbisLowering, node: Node) -> Expression:
    start = _whole(node.start, method="substr")
    length = None if node.length is None else _whole(node.length, method="substr")
    return _letters(rows, node, start, length)


def _slice(rows: IbisLowering, node: Node) -> Expression:
    method = "[start:end] of text"
    start = 0 if node.start is None else _whole(node.start, method=method)
    length = None if node.end is None else max(0, _whole(node.end, method=method) - start)
    return _letters(rows, node, start, length)


def _like(op: str) -> Callable[[IbisLowering, Node], Expression]:
    def lowered(rows: IbisLowering, node: Node) -> Expression:
        if node.escape is not None:
            raise UnsupportedQuery(
                "escape characters in patterns are not supported",
                fix=".contains, .startswith or .endswith",
            )
        return fold(op, rows.lower(node.arg), rows.lower(node.pattern))

    return lowered


# ---- dates


def _truncate(rows: IbisLowering, node: Node) -> Expression:
    return fold("date_trunc", literal(node.unit.name.lower()), rows.lower(node.arg))


def _days_between(rows: IbisLowering, node: Node) -> Expression:
    part = node.part.value if type(node.part) is ops.Literal else ""
    if part not in ("day", "days", "D"):
        raise UnsupportedQuery(
            "the difference of dates is in days", fix='a.delta(b, unit="day") / 365.25'
        )
    return fold("days_between", rows.lower(node.right), rows.lower(node.left))


def _move(*, sign: int) -> Callable[[IbisLowering, Node], Expression]:
    """A moment and a number of weeks, days, hours or minutes."""

    def lowered(rows: IbisLowering, node: Node) -> Expression:
        step: Any = node.right
        unit = getattr(step.dtype, "unit", None)
        minutes = _MINUTES.get(str(getattr(unit, "value", "")))
        if type(step) is not ops.Literal or minutes is None or not isinstance(step.value, int):
            raise UnsupportedQuery(
                "an interval is a number of weeks, days, hours or minutes",
                fix="+ ibis.interval(days=30)",
            )
        return later(rows.lower(node.left), sign * minutes * int(step.value))

    return lowered


SPELLINGS: Final[dict[Any, Callable[[IbisLowering, Node], Expression]]] = {
    ops.And: _logic("and"),
    ops.Or: _logic("or"),
    ops.InValues: _in,
    ops.SearchedCase: _cases,
    ops.SimpleCase: _cases,
    ops.Round: _round,
    ops.Clip: clip,
    ops.Bucket: bucket,
    ops.Cast: _cast,
    ops.TryCast: _cast,
    ops.Substring: _substring,
    ops.StringSlice: _slice,
    ops.StringSQLLike: _like("like"),
    ops.StringSQLILike: _like("ilike"),
    ops.DateTruncate: _truncate,
    ops.TimestampTruncate: _truncate,
    ops.DateDelta: _days_between,
    ops.TimestampDelta: _days_between,
    ops.DateAdd: _move(sign=1),
    ops.DateSub: _move(sign=-1),
    ops.TimestampAdd: _move(sign=1),
    ops.TimestampSub: _move(sign=-1),
}
