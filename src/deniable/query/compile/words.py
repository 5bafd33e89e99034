"""Text: by code points, with ASCII letters alone having two cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from deniable.query.algebra import Call, Kind

from . import nodes as sql
from .dialect import Dialect
from .nodes import Node


def _length(dialect: Dialect, _call: Call, x: Node) -> Node:
    return dialect.to(Kind.INT, sql.function("LENGTH", x))


# Longer than any text an engine can hold, and a 32-bit number.
_LONG: Final = 2**30


def _substr(_dialect: Dialect, call: Call, x: Node, *_places: Node) -> Node:
    """Places are constants; beyond the longest text there is nothing."""
    numbers = [sql.plain(min(int(arg.value), _LONG)) for arg in call.args[1:]]  # type: ignore[attr-defined]
    return sql.function("SUBSTR", x, *numbers)


def _like(_dialect: Dialect, _call: Call, x: Node, pattern: Node) -> Node:
    return exp.Paren(this=exp.Like(this=x, expression=pattern))


def _ilike(dialect: Dialect, _call: Call, x: Node, pattern: Node) -> Node:
    return exp.Paren(this=exp.Like(this=dialect.lowered(x), expression=dialect.lowered(pattern)))


RULES: Final[Mapping[str, Callable[..., Node]]] = {
    "lower": lambda dialect, _call, x: dialect.lowered(x),
    "upper": lambda dialect, _call, x: dialect.lowered(x, up=True),
    "trim": lambda dialect, _call, x: dialect.trimmed(x),
    "length": _length,
    "substr": _substr,
    "concat": lambda _dialect, _call, *parts: sql.concat(*parts),
    "like": _like,
    "ilike": _ilike,
    "starts_with": lambda dialect, _call, x, part: dialect.starts(x, part),
    "ends_with": lambda dialect, _call, x, part: dialect.ends(x, part),
    "contains": lambda dialect, _call, x, part: dialect.contains(x, part),
}
