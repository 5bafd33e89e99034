"""Our expressions as an engine's: what `algebra.meaning` says, in SQL that no row can make fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from deniable.query.algebra import Call, Column, Expression, Kind, Literal

from . import arithmetic, casts, moments, words
from . import nodes as sql
from .dialect import Dialect
from .nodes import Node

Rule = Callable[..., Node]


def compiled(expression: Expression, *, dialect: Dialect, columns: Mapping[str, Node]) -> Node:
    """The tree for an expression; `columns` says what stands for each column it reads."""
    match expression:
        case Column():
            return sql.copy(columns[expression.name])
        case Literal():
            return dialect.constant(expression.value, expression.kind)
        case Call():
            args = [compiled(arg, dialect=dialect, columns=columns) for arg in expression.args]
            return RULES[expression.op](dialect, expression, *args)
    raise AssertionError(type(expression))


# ---- comparisons and logic


def _together(dialect: Dialect, call: Call, args: tuple[Node, ...]) -> list[Node]:
    """Whole numbers beside floats as floats."""
    mixed = {arg.kind for arg in call.args} == {Kind.INT, Kind.FLOAT}
    return arithmetic.floats(dialect, call, args) if mixed else list(args)


def _compare(kind: type[exp.Binary]) -> Rule:
    def rule(dialect: Dialect, call: Call, *args: Node) -> Node:
        left, right = _together(dialect, call, args)
        if call.args[0].kind is Kind.TEXT and kind not in (exp.EQ, exp.NEQ):
            left, right = dialect.ordered(left), dialect.ordered(right)
        return sql.binary(kind, left, right)

    return rule


def _in(dialect: Dialect, call: Call, *args: Node) -> Node:
    x, *listed = _together(dialect, call, args)
    found = sql.among(x, listed)
    unsure = [
        sql.missing(sql.copy(node))
        for node, arg in zip(listed, call.args[1:], strict=True)
        if arg.domain.nullable
    ]
    nothing = dialect.constant(None, Kind.BOOL)
    return sql.case((sql.either(unsure), nothing), default=found) if unsure else found


def _case(dialect: Dialect, call: Call, *args: Node) -> Node:
    *pairs, default = arithmetic.as_result(dialect, call, args)
    return sql.case(*zip(pairs[::2], pairs[1::2], strict=True), default=default)


def _coalesce(dialect: Dialect, call: Call, *args: Node) -> Node:
    first, *rest = arithmetic.as_result(dialect, call, args)
    return exp.Coalesce(this=first, expressions=rest)


def _nullif(dialect: Dialect, call: Call, *args: Node) -> Node:
    x, y = _together(dialect, call, args)
    nothing = dialect.constant(None, call.kind)
    return sql.case((sql.eq(x, y), nothing), default=sql.copy(args[0]))


RULES: Final[Mapping[str, Rule]] = {
    **arithmetic.RULES,
    **words.RULES,
    **moments.RULES,
    **casts.RULES,
    "eq": _compare(exp.EQ),
    "ne": _compare(exp.NEQ),
    "lt": _compare(exp.LT),
    "le": _compare(exp.LTE),
    "gt": _compare(exp.GT),
    "ge": _compare(exp.GTE),
    "in": _in,
    "and": lambda _d, _c, *args: sql.both(args),
    "or": lambda _d, _c, *args: sql.either(args),
    "not": lambda _d, _c, x: sql.negated(x),
    "is_null": lambda _d, _c, x: sql.missing(x),
    "coalesce": _coalesce,
    "case": _case,
    "nullif": _nullif,
}
