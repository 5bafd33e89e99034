"""Expressions of SQL → our operators, for single rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from sqlglot import exp

from deniable.errors import UnknownName, UnsupportedQuery
from deniable.query.algebra import Expression, Literal, Span, literal
from deniable.query.bind.scope import Binding, Scope
from deniable.query.bind.spelling import cast, condition, fold, spelled

from .functions import AGGREGATES, CASTS, FUNCTIONS, NAMED, NAMED_AGGREGATES
from .refusals import NAMED_REASONS, ON_ROWS, SUMMARISED, Refusal, refused
from .spellings import SPECIAL, choice
from .text import ONLY_QUESTIONS, Text

Handler = Callable[["SqlLowering", Any, Span | None], Expression]
_KNOWN: Final = "docs/reference/sql.md lists every supported function"


class SqlLowering:
    """Turns parts of the text into expressions about the rows of a scope."""

    def __init__(
        self, text: Text, scope: Scope, *, members: Mapping[int, Expression] | None = None
    ) -> None:
        self.text = text
        self.scope = scope
        self.members = members or {}  # what IN (SELECT ...) came to, by its place in the tree

    def lower(self, node: exp.Expr) -> Expression:
        """The expression a part of the text stands for; errors point at it."""
        with self.text.pointing(node):
            if is_aggregate(node):
                raise UnsupportedQuery(
                    f"{self.text.written(node) or 'an aggregate'} cannot be used here",
                    why="an aggregate needs a group of rows, and this clause works on single rows",
                    fix=("use HAVING to filter groups", SUMMARISED),
                )
            handler = _HANDLERS.get(type(node))
            if handler is not None:
                return handler(self, node, self.text.span_of(node))
            if type(node) in FUNCTIONS:
                return self.function(node)
            if type(node) in ON_ROWS:
                raise refused(ON_ROWS[type(node)])
            raise UnsupportedQuery(f"{type(node).__name__} cannot be used here", fix=_KNOWN)

    def condition(self, node: exp.Expr) -> Expression:
        """A condition: true, false or missing."""
        with self.text.pointing(node):
            return condition(self.lower(node))

    def column(self, node: exp.Expr) -> Expression:
        """A column by its name."""
        name, table = node.name, node.text("table") or None
        if isinstance(node.this, exp.Star):
            raise rows_error(self.text, node)
        try:
            found = self.scope.find(name, table=table)
        except UnknownName as error:
            if table is None and node.this.args.get("quoted"):
                near = [each.python for each in error.fixes]
                in_single = "'" + name.replace("'", "''") + "'"
                error.fix = " or ".join([*near, in_single])
                error.why = "double quotes are for column names; write text in single quotes"
            raise
        return found.value(self.text.span_of(node))

    def function(self, node: exp.Expr) -> Expression:
        """A function that the parser has a name for."""
        shape = FUNCTIONS[type(node)]
        parts = [part for name in shape.args for part in _listed(node.args.get(name))]
        return self.apply(shape.op, parts, node)

    def apply(self, op: str, parts: list[exp.Expr], node: exp.Expr) -> Expression:
        """One of our operators, or a spelling that stands for several."""
        span = self.text.span_of(node)
        if op in SPECIAL:
            return SPECIAL[op](self, parts, span)
        return spelled(op, *map(self.lower, parts), span=span)


def binding_of(node: exp.Expr, scope: Scope) -> Binding | None:
    """The binding of a plain column; None for anything else."""
    while isinstance(node, exp.Paren):
        node = node.this
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        return None
    try:
        return scope.find(node.name, table=node.text("table") or None)
    except (UnknownName, UnsupportedQuery):
        return None


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a part is itself an aggregate, with or without FILTER and WITHIN GROUP."""
    if isinstance(node, exp.Filter | exp.WithinGroup) or type(node) in AGGREGATES:
        return True
    return isinstance(node, exp.Anonymous) and node.name.lower() in NAMED_AGGREGATES


def rows_error(text: Text, node: exp.Expr) -> UnsupportedQuery:
    """SELECT * and the like would publish rows."""
    shown = text.written(node) or "*"
    return UnsupportedQuery(
        f"SELECT {shown} would publish rows; only aggregates can be private",
        why="a row is about one person",
        fix=ONLY_QUESTIONS,
        snippet=text.snippet(
            text.span_of(node), "COUNT, SUM, AVG, VARIANCE, MEDIAN, ... and GROUP BY are available"
        ),
    )


def flattened(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """The parts of a chain a AND b AND c, without recursion: chains may be long."""
    parts, rest = [], [node]
    while rest:
        part = rest.pop()
        if isinstance(part, kind):
            rest += [part.expression, part.this]
        elif isinstance(part, exp.Paren) and isinstance(part.this, kind):
            rest.append(part.this)
        else:
            parts.append(part)
    return parts


def _listed(value: Any) -> list[exp.Expr]:
    if value is None or isinstance(value, bool):
        return []
    return value if isinstance(value, list) else [value]


# ---- leaves


def _literal(_rows: SqlLowering, node: exp.Expr, span: Span | None) -> Expression:
    digits = str(node.this)
    if node.args.get("is_string"):
        return literal(digits, span=span)
    try:
        whole = int(digits) if digits.isascii() and digits.isdigit() else None
        value = float(digits) if whole is None or whole >= 2**63 else whole
    except (ValueError, OverflowError):
        raise UnsupportedQuery(f"{digits[:30]} is not a number") from None
    if not math.isfinite(value):
        raise UnsupportedQuery("this number is too large")
    return literal(value, span=span)


def _star(rows: SqlLowering, node: exp.Expr, _span: Span | None) -> Expression:
    raise rows_error(rows.text, node)


# ---- logic


def _logic(op: str) -> Handler:
    def lowered(rows: SqlLowering, node: exp.Expr, span: Span | None) -> Expression:
        return fold(op, *map(rows.condition, flattened(node, type(node))), span=span)

    return lowered


def _is(rows: SqlLowering, node: exp.Expr, span: Span | None) -> Expression:
    value, what = rows.lower(node.this), node.expression
    if isinstance(what, exp.Null):
        return fold("is_null", value, span=span)
    if isinstance(what, exp.Boolean):
        wanted = value if what.this else fold("not", value, span=span)
        return fold("coalesce", wanted, literal(value=False), span=span)
    raise UnsupportedQuery("IS takes NULL, NOT NULL, TRUE or FALSE")


def _pair(op: str, *, negated: bool = False) -> Handler:
    """LIKE, or IS DISTINCT FROM: neither equal nor both missing."""

    def lowered(rows: SqlLowering, node: exp.Expr, span: Span | None) -> Expression:
        made = spelled(op, rows.lower(node.this), rows.lower(node.expression), span=span)
        return fold("not", made, span=span) if negated or node.args.get("negate") else made

    return lowered


def _in(rows: SqlLowering, node: exp.Expr, span: Span | None) -> Expression:
    if node.args.get("query") is not None:
        if id(node) not in rows.members:
            raise UnsupportedQuery(
                "IN (SELECT ...) belongs in WHERE",
                fix="FROM (SELECT ... WHERE x IN (SELECT ...)), or a list: IN ('a', 'b')",
            )
        return rows.members[id(node)]
    listed = [rows.lower(part) for part in node.expressions]
    if not listed or not all(isinstance(v, Literal) and v.value is not None for v in listed):
        raise UnsupportedQuery("IN takes a list of constants", fix="IN ('a', 'b')")
    return fold("in", rows.lower(node.this), *listed, span=span)


def _case(rows: SqlLowering, node: exp.Expr, span: Span | None) -> Expression:
    subject = None if node.this is None else rows.lower(node.this)
    parts: list[Expression] = []
    for branch in node.args["ifs"]:
        if subject is None:
            when = rows.condition(branch.this)
        else:
            when = fold("eq", subject, rows.lower(branch.this), span=span)
        parts += [when, rows.lower(branch.args["true"])]
    default = node.args.get("default")
    parts.append(literal(None) if default is None else rows.lower(default))
    return fold("case", *parts, span=span)


def _if(rows: SqlLowering, node: exp.Expr, span: Span | None) -> Expression:
    no = node.args.get("false")
    parts = [node.this, node.args.get("true"), no if no is not None else exp.Null()]
    return choice(rows, [part for part in parts if part is not None], span)


# ---- casts, functions


def _cast(rows: SqlLowering, node: exp.Expr, span: Span | None) -> Expression:
    kind = node.args["to"]
    op = CASTS.get(getattr(kind.this, "name", ""))
    if op is None or kind.expressions:
        raise UnsupportedQuery(
            f"CAST to {kind.sql(dialect='duckdb')[:40]} is not supported",
            fix="BIGINT, DOUBLE, TEXT, BOOLEAN, DATE or TIMESTAMP",
        )
    return cast(op, rows.lower(node.this), span=span)


def _named(rows: SqlLowering, node: exp.Expr, _span: Span | None) -> Expression:
    op = NAMED.get(node.name.lower())
    if op is None:
        raise unknown_function(node.name)
    return rows.apply(op, node.expressions, node)


def unknown_function(name: str) -> UnsupportedQuery:
    """Why a function is not run, and what to write instead."""
    usual: Refusal = (
        f"{name[:40]} is not a supported function",
        "supported functions cannot fail, and give the same result on every engine",
        _KNOWN,
    )
    return refused(NAMED_REASONS.get(name.lower(), usual))


_HANDLERS: Final[dict[type[exp.Expr], Handler]] = {
    exp.Column: lambda rows, node, _: rows.column(node),
    exp.Literal: _literal,
    exp.Boolean: lambda _, node, span: literal(bool(node.this), span=span),
    exp.Null: lambda _, __, span: literal(None, span=span),
    exp.Paren: lambda rows, node, _: rows.lower(node.this),
    exp.Star: _star,
    exp.And: _logic("and"),
    exp.Or: _logic("or"),
    exp.Not: lambda rows, node, span: fold("not", rows.condition(node.this), span=span),
    exp.Is: _is,
    exp.NullSafeNEQ: _pair("same", negated=True),
    exp.In: _in,
    exp.Like: _pair("like"),
    exp.ILike: _pair("ilike"),
    exp.Case: _case,
    exp.If: _if,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Anonymous: _named,
}
