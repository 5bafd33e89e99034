"""Text: by code points, with ASCII letters alone having two cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from deniable.query.algebra import Call, Expression, Kind, Literal
from deniable.query.algebra.meaning import LONGEST_JOINED, lower

from . import nodes as sql
from .dialect import Dialect
from .nodes import Node


def _length(dialect: Dialect, _call: Call, x: Node) -> Node:
    return dialect.to(Kind.INT, sql.function("LENGTH", x))


# Longer than any text an engine can hold, and a 32-bit number.
_LONG: Final = 2**30


def _substr(_dialect: Dialect, call: Call, x: Node, *_places: Node) -> Node:
    """Places are constants; beyond the longest text there is nothing."""
    numbers = [sql.plain(min(int(arg.domain.ends[0]), _LONG)) for arg in call.args[1:]]
    return sql.function("SUBSTR", x, *numbers)


def _joined(_dialect: Dialect, call: Call, *parts: Node) -> Node:
    """Parts that could be long are cut before anything is put together."""
    lengths = [_longest(arg) for arg in call.args]
    if sum(lengths) <= LONGEST_JOINED:
        return sql.concat(*parts)
    cut = [
        part if length <= LONGEST_JOINED else _start(part)
        for part, length in zip(parts, lengths, strict=True)
    ]
    return _start(sql.concat(*cut))


def _start(x: Node) -> Node:
    return sql.function("SUBSTR", x, sql.plain(1), sql.plain(LONGEST_JOINED))


def _longest(x: Expression) -> int:
    """How long a text can be, as far as that is public."""
    if isinstance(x, Literal):
        return len(str(x.value))
    if x.domain.values is not None:
        return max((len(str(value)) for value in x.domain.values), default=0)
    return LONGEST_JOINED if isinstance(x, Call) and x.op == "concat" else _LONG


def _like(dialect: Dialect, call: Call, x: Node, _pattern: Node) -> Node:
    return dialect.like(x, _constant(call))


def _ilike(dialect: Dialect, call: Call, x: Node, _pattern: Node) -> Node:
    return dialect.like(dialect.lowered(x), str(lower(_constant(call))))


def _constant(call: Call) -> str:
    pattern = call.args[1]
    assert isinstance(pattern, Literal)
    return str(pattern.value)


RULES: Final[Mapping[str, Callable[..., Node]]] = {
    "lower": lambda dialect, _call, x: dialect.lowered(x),
    "upper": lambda dialect, _call, x: dialect.lowered(x, up=True),
    "trim": lambda dialect, _call, x: dialect.trimmed(x),
    "length": _length,
    "substr": _substr,
    "concat": _joined,
    "like": _like,
    "ilike": _ilike,
    "starts_with": lambda dialect, _call, x, part: dialect.starts(x, part),
    "ends_with": lambda dialect, _call, x, part: dialect.ends(x, part),
    "contains": lambda dialect, _call, x, part: dialect.contains(x, part),
}
