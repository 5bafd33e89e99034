"""Casts that give a missing value where there is nothing to give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from deniable.query.algebra import Call, Kind
from deniable.query.algebra.moments import (
    DATE_TEXT,
    FALSE_TEXTS,
    FLOAT_TEXT,
    INT_TEXT,
    TRUE_TEXTS,
    WHOLE_TEXT,
)

from . import nodes as sql
from .dialect import Dialect
from .nodes import Node

# Stricter than `moments.TIMESTAMP_TEXT`: hours and minutes that exist; no engine rolls over.
_MOMENT_TEXT: Final = (
    r" *[0-9]{4}-[0-9]{2}-[0-9]{2}[ T]([01][0-9]|2[0-3]):[0-5][0-9]"
    r"(:[0-5][0-9](\.[0-9]{1,6})?)? *"
)


def _to_int(dialect: Dialect, call: Call, x: Node) -> Node:
    match call.args[0].kind:
        case Kind.INT:
            return x
        case Kind.BOOL:
            return _number(x, dialect.whole(1), dialect.whole(0))
        case Kind.TEXT:
            return _whole(dialect, x)
    return rounded(dialect, x)


def _whole(dialect: Dialect, x: Node) -> Node:
    """Digits; or digits, a point and zeros, which are left out before the cast."""
    words = dialect.trimmed(sql.copy(x))
    bare = sql.function("REGEXP_REPLACE", sql.copy(words), sql.text("[.]0*$"), sql.text(""))
    return sql.case(
        (dialect.matches(x, _bare(INT_TEXT)), dialect.parsed(words, Kind.INT)),
        (dialect.matches(sql.copy(x), _bare(WHOLE_TEXT)), dialect.parsed(bare, Kind.INT)),
    )


def rounded(dialect: Dialect, x: Node) -> Node:
    """A float to the nearest whole number, halves away from zero; missing beyond 64 bits."""
    least, most = dialect.real(-(2.0**63)), dialect.real(2.0**63)
    inside = sql.both([sql.ge(sql.copy(x), least), sql.lt(sql.copy(x), most)])
    size = sql.add(sql.function("ABS", sql.copy(x)), dialect.real(0.5))
    up = dialect.step("FLOOR", size)
    below = sql.lt(sql.copy(x), dialect.real(0.0))
    near = sql.case((below, sql.minus(up)), default=sql.copy(up))
    return sql.case((inside, dialect.to(Kind.INT, near)))


def _to_float(dialect: Dialect, call: Call, x: Node) -> Node:
    match call.args[0].kind:
        case Kind.FLOAT:
            return x
        case Kind.INT:
            return dialect.to(Kind.FLOAT, x)
        case Kind.BOOL:
            return _number(x, dialect.real(1.0), dialect.real(0.0))
    words = dialect.parsed(dialect.trimmed(sql.copy(x)), Kind.FLOAT)
    return sql.case((dialect.matches(x, _bare(FLOAT_TEXT)), words))


def _number(x: Node, yes: Node, no: Node) -> Node:
    return sql.case((x, yes), (sql.negated(sql.copy(x)), no))


def _to_text(dialect: Dialect, call: Call, x: Node) -> Node:
    match call.args[0].kind:
        case Kind.TEXT:
            return x
        case Kind.BOOL:
            return _number(x, sql.text("true"), sql.text("false"))
        case Kind.DATE:
            return dialect.date_text(x)
    return dialect.to(Kind.TEXT, x)


def _to_bool(dialect: Dialect, call: Call, x: Node) -> Node:
    match call.args[0].kind:
        case Kind.BOOL:
            return x
        case Kind.INT:
            return sql.binary(exp.NEQ, x, dialect.whole(0))
    word = dialect.lowered(dialect.trimmed(x))
    return sql.case(
        (sql.among(word, map(sql.text, TRUE_TEXTS)), exp.true()),
        (sql.among(sql.copy(word), map(sql.text, FALSE_TEXTS)), exp.false()),
    )


def _to_date(dialect: Dialect, call: Call, x: Node) -> Node:
    match call.args[0].kind:
        case Kind.DATE:
            return x
        case Kind.TIMESTAMP:
            return dialect.to(Kind.DATE, x)
    return _dated(dialect, x, DATE_TEXT, Kind.DATE)


def _to_timestamp(dialect: Dialect, call: Call, x: Node) -> Node:
    match call.args[0].kind:
        case Kind.TIMESTAMP:
            return x
        case Kind.DATE:
            return dialect.to(Kind.TIMESTAMP, x)
    spaced = sql.function("REPLACE", x, sql.text("T"), sql.text(" "))
    shape = f"{_MOMENT_TEXT}|{_bare(DATE_TEXT)}"
    either = dialect.matches(sql.copy(x), shape)
    return sql.case((either, _dated(dialect, spaced, shape, Kind.TIMESTAMP)))


def _dated(dialect: Dialect, x: Node, shape: str, kind: Kind) -> Node:
    """There is no year 0."""
    words = dialect.trimmed(sql.copy(x))
    zero = dialect.starts(dialect.trimmed(sql.copy(x)), sql.text("0000"))
    fits = dialect.matches(x, _bare(shape))
    return sql.case((fits, sql.case((sql.negated(zero), dialect.parsed(words, kind)))))


def _bare(shape: str) -> str:
    """The expression without its anchors: engines are asked to match the whole text."""
    return shape.removeprefix("^").removesuffix("$")


RULES: Final[Mapping[str, Callable[..., Node]]] = {
    "to_int": _to_int,
    "to_float": _to_float,
    "to_text": _to_text,
    "to_bool": _to_bool,
    "to_date": _to_date,
    "to_timestamp": _to_timestamp,
}
