"""Aggregates of SQL: which function, of what, of which rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from deniable.errors import UnsupportedQuery
from deniable.query.aggregates import FAMILIES
from deniable.query.algebra import Function, Literal, call
from deniable.query.bind.aggregates import Asked

from .functions import AGGREGATES, NAMED_AGGREGATES
from .lower import SqlLowering, binding_of


def asked(node: exp.Expr, rows: SqlLowering) -> Asked:
    """What an aggregate asks for."""
    if isinstance(node, exp.Filter):
        where = rows.condition(node.expression.this)
        inner = asked(node.this, rows)
        both = where if inner.where is None else call("and", where, inner.where)
        return replace(inner, where=both, **_written(node, rows))
    if isinstance(node, exp.WithinGroup):
        return _within(node, rows)
    if isinstance(node, exp.Anonymous):
        return _named(node, rows)
    function, argument = Function(AGGREGATES[type(node)].op), node.this
    if isinstance(node, exp.CountIf):
        return Asked(function=function, where=rows.condition(argument), **_written(node, rows))
    if function is Function.QUANTILE:
        share = node.args.get("quantile") or node.args.get("expression")
        q = 0.5 if isinstance(node, exp.Median) else _share(share, rows)
        return _of(function, argument, node, rows, q=q)
    if FAMILIES[function].pair:
        return _of(function, argument, node, rows, other=lambda: rows.lower(node.expression))
    return _plain(function, argument, node, rows)


def binned(node: exp.Expr) -> exp.Expr | None:
    """What a histogram is of, with or without FILTER; None for anything else."""
    inner = node.this if isinstance(node, exp.Filter) else node
    named = inner.name.lower() if isinstance(inner, exp.Anonymous) else ""
    if NAMED_AGGREGATES.get(named) is not Function.HISTOGRAM:
        return None
    return next(iter(inner.expressions), None)


def _of(
    function: Function, argument: exp.Expr, node: exp.Expr, rows: SqlLowering, **more: Any
) -> Asked:
    known = binding_of(argument, rows.scope)
    return Asked(
        function=function,
        argument=lambda: rows.lower(argument),
        person=known is not None and known.person,
        **_written(node, rows),
        **more,
    )


def _written(node: exp.Expr, rows: SqlLowering) -> dict[str, Any]:
    """How an aggregate was written, and where."""
    span = rows.text.span_of(node)
    return {"what": rows.text.written(node), "span": span, "snippet": rows.text.snippet(span)}


def _plain(
    function: Function, argument: exp.Expr | None, node: exp.Expr, rows: SqlLowering
) -> Asked:
    if isinstance(argument, exp.Distinct):
        if function in (Function.MIN, Function.MAX):
            argument = argument.expressions[0]
        elif function is not Function.COUNT or len(argument.expressions) != 1:
            raise UnsupportedQuery(
                "DISTINCT is supported only in COUNT, MIN and MAX of one column",
                why="which of two equal values counts would depend on other people's rows",
                fix="COUNT(DISTINCT column)",
            )
        else:
            function, argument = Function.DISTINCT, argument.expressions[0]
    if function is Function.COUNT and isinstance(argument, exp.Star | exp.Null | None):
        return Asked(function=function, **_written(node, rows))
    if argument is None:
        raise UnsupportedQuery(f"{function.value.upper()} is missing its argument")
    return _of(function, argument, node, rows)


def _within(node: exp.Expr, rows: SqlLowering) -> Asked:
    """PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x)."""
    inner, order = node.this, node.expression
    percentile = isinstance(inner, exp.PercentileCont | exp.PercentileDisc)
    if not percentile or inner.args.get("expression"):
        raise UnsupportedQuery(
            "WITHIN GROUP belongs to PERCENTILE_CONT",
            fix="PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)",
        )
    if not isinstance(order, exp.Order) or len(order.expressions) != 1:
        raise UnsupportedQuery("a percentile is of one column", fix="WITHIN GROUP (ORDER BY x)")
    q, by = _share(inner.this, rows), order.expressions[0]
    q = 1 - q if by.args.get("desc") else q
    return _of(Function.QUANTILE, by.this, node, rows, q=q)


def _named(node: exp.Expr, rows: SqlLowering) -> Asked:
    function = NAMED_AGGREGATES[node.name.lower()]
    parts = node.expressions
    if function is Function.HISTOGRAM and parts:
        bins = tuple(_edge(part, rows) for part in parts[1:])
        return _of(function, parts[0], node, rows, bins=bins)
    wanted = 2 if function is Function.QUANTILE else 1
    if len(parts) != wanted:
        raise UnsupportedQuery(
            f"{node.name.upper()} takes {wanted} values; {len(parts)} were given"
        )
    if function is Function.QUANTILE:
        return _of(function, parts[0], node, rows, q=_share(parts[1], rows))
    return _plain(function, parts[0], node, rows)


def _edge(node: exp.Expr, rows: SqlLowering) -> float:
    value = _number(node, rows)
    if value is None:
        raise UnsupportedQuery(
            "HISTOGRAM takes the number of bins, or their edges",
            fix="HISTOGRAM(x, 10), or HISTOGRAM(x, 0, 18, 65, 125)",
            snippet=rows.text.at(node),
        )
    return value


def _share(node: exp.Expr | None, rows: SqlLowering) -> float:
    value = None if node is None else _number(node, rows)
    if value is None or not 0 <= value <= 1:
        raise UnsupportedQuery(
            "the level of a quantile must be a number from 0 to 1",
            fix="QUANTILE(x, 0.9)",
            snippet=None if node is None else rows.text.at(node),
        )
    return float(value)


def _number(node: exp.Expr, rows: SqlLowering) -> float | None:
    """A constant that is a number; None for anything else."""
    made = rows.lower(node)
    value = made.value if isinstance(made, Literal) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
