"""Aggregates of SQL: which function, of what, of which rows."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from deniable.errors import UnsupportedQuery
from deniable.query.aggregates import FAMILIES
from deniable.query.algebra import Function, Literal

from .functions import AGGREGATES, NAMED_AGGREGATES
from .lower import Rows


@dataclass(frozen=True, kw_only=True)
class Asked:
    """An aggregate as it was written: the parts still to be read row by row."""

    function: Function
    argument: exp.Expr | None
    node: exp.Expr
    where: list[exp.Expr] = field(default_factory=list)
    q: float | None = None
    other: exp.Expr | None = None
    bins: tuple[float, ...] = ()


def asked(node: exp.Expr, rows: Rows) -> Asked:
    """What an aggregate asks for."""
    if isinstance(node, exp.Filter):
        inner = asked(node.this, rows)
        where = [node.expression.this, *inner.where]
        return Asked(**vars(inner) | {"where": where, "node": node})
    if isinstance(node, exp.WithinGroup):
        return _within(node, rows)
    if isinstance(node, exp.Anonymous):
        return _named(node, rows)
    function, argument = AGGREGATES[type(node)], node.this
    if isinstance(node, exp.CountIf):
        return Asked(function=function, argument=None, node=node, where=[argument])
    if function is Function.QUANTILE:
        share = node.args.get("quantile") or node.args.get("expression")
        q = 0.5 if isinstance(node, exp.Median) else _share(share, rows)
        return Asked(function=function, argument=argument, node=node, q=q)
    if FAMILIES[function].pair:
        return Asked(function=function, argument=argument, node=node, other=node.expression)
    return _plain(function, argument, node)


def is_histogram(node: exp.Expr) -> bool:
    """Whether a part is a histogram, with or without FILTER."""
    inner = node.this if isinstance(node, exp.Filter) else node
    named = isinstance(inner, exp.Anonymous) and inner.name.lower()
    return NAMED_AGGREGATES.get(named or "") is Function.HISTOGRAM


def _plain(function: Function, argument: exp.Expr | None, node: exp.Expr) -> Asked:
    if isinstance(argument, exp.Distinct):
        if function in (Function.MIN, Function.MAX):
            argument = argument.expressions[0]
        elif function is not Function.COUNT or len(argument.expressions) != 1:
            raise UnsupportedQuery(
                "DISTINCT counts the values of one column; it cannot be used otherwise",
                why="which of two equal values counts would depend on other people's rows",
                fix="COUNT(DISTINCT column)",
            )
        else:
            function, argument = Function.DISTINCT, argument.expressions[0]
    if isinstance(argument, exp.Star | exp.Null) and function is Function.COUNT:
        argument = None
    if argument is None and function is not Function.COUNT:
        raise UnsupportedQuery(f"{function.value.upper()} needs something to be computed of")
    return Asked(function=function, argument=argument, node=node)


def _within(node: exp.Expr, rows: Rows) -> Asked:
    """PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x)."""
    inner, order = node.this, node.expression
    if not isinstance(inner, exp.PercentileCont | exp.PercentileDisc) or inner.args.get(
        "expression"
    ):
        raise UnsupportedQuery(
            "WITHIN GROUP belongs to PERCENTILE_CONT",
            fix="PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)",
        )
    if not isinstance(order, exp.Order) or len(order.expressions) != 1:
        raise UnsupportedQuery("a percentile is of one column", fix="WITHIN GROUP (ORDER BY x)")
    q, by = _share(inner.this, rows), order.expressions[0]
    q = 1 - q if by.args.get("desc") else q
    return Asked(function=Function.QUANTILE, argument=by.this, node=node, q=q)


def _named(node: exp.Expr, rows: Rows) -> Asked:
    function = NAMED_AGGREGATES[node.name.lower()]
    parts = node.expressions
    if function is Function.HISTOGRAM and parts:
        bins = tuple(_number(part, rows) for part in parts[1:])
        return Asked(function=function, argument=parts[0], node=node, bins=bins)
    wanted = 2 if function is Function.QUANTILE else 1
    if len(parts) != wanted:
        raise UnsupportedQuery(
            f"{node.name.upper()} takes {wanted} values; {len(parts)} were given"
        )
    if function is Function.QUANTILE:
        return Asked(function=function, argument=parts[0], node=node, q=_share(parts[1], rows))
    return _plain(function, parts[0], node)


def _number(node: exp.Expr, rows: Rows) -> float:
    made = rows.lower(node)
    value = made.value if isinstance(made, Literal) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnsupportedQuery(
            "HISTOGRAM takes the number of bins, or their edges",
            fix="HISTOGRAM(x, 10), or HISTOGRAM(x, 0, 18, 65, 125)",
            snippet=rows.text.snippet(rows.text.span_of(node)),
        )
    return value


def _share(node: exp.Expr | None, rows: Rows) -> float:
    made = None if node is None else rows.lower(node)
    value = made.value if isinstance(made, Literal) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise UnsupportedQuery(
            "a quantile is a number from 0 to 1",
            fix="QUANTILE(x, 0.9)",
            snippet=None if node is None else rows.text.snippet(rows.text.span_of(node)),
        )
    return float(value)
