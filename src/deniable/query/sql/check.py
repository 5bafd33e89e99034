"""Refuse what cannot be bounded, before names are looked up: a list of what is allowed.

Whatever is not in `_SHAPES` is refused, and so is any clause of an allowed part that is not listed
with it. So a word that a newer parser understands cannot slip through unread.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from deniable.errors import UnsupportedQuery

from .functions import AGGREGATES, FUNCTIONS
from .refusals import CLAUSES, REASONS, Refusal
from .text import Text

_BINARY: Final = ("this", "expression")

# Each part of a question, and what may be said about it.
_SHAPES: Final[dict[type[exp.Expr], tuple[str, ...]]] = {
    exp.Select: (
        "expressions",
        "distinct",
        "from_",
        "joins",
        "where",
        "group",
        "having",
        "order",
        "limit",
        "offset",
        "with_",
    ),
    exp.Union: ("this", "expression", "distinct", "with_"),
    exp.Subquery: ("this", "alias", "with_"),
    exp.With: ("expressions",),
    exp.CTE: ("this", "alias"),
    exp.From: ("this",),
    exp.Table: ("this", "alias"),
    exp.TableAlias: ("this",),
    exp.Join: ("this", "side", "kind", "on", "using"),
    exp.Where: ("this",),
    exp.Having: ("this",),
    exp.Group: ("expressions", "all", "rollup", "cube", "grouping_sets"),
    exp.Rollup: ("expressions",),
    exp.Cube: ("expressions",),
    exp.GroupingSets: ("expressions",),
    exp.Tuple: ("expressions",),
    exp.Order: ("expressions",),
    exp.Ordered: ("this", "desc", "nulls_first"),
    exp.Limit: ("expression",),
    exp.Offset: ("expression",),
    exp.Distinct: ("expressions",),
    exp.Alias: ("this", "alias"),
    exp.Column: ("this", "table"),
    exp.Identifier: ("this", "quoted"),
    exp.Star: (),
    exp.Var: ("this",),
    exp.Literal: ("this", "is_string"),
    exp.Boolean: ("this",),
    exp.Null: (),
    exp.Paren: ("this",),
    exp.Filter: _BINARY,
    exp.WithinGroup: _BINARY,
    exp.And: _BINARY,
    exp.Or: _BINARY,
    exp.Not: ("this",),
    exp.Is: _BINARY,
    exp.NullSafeEQ: _BINARY,
    exp.NullSafeNEQ: _BINARY,
    exp.Between: ("this", "low", "high"),
    exp.In: ("this", "expressions", "query"),
    exp.Like: (*_BINARY, "negate"),
    exp.ILike: (*_BINARY, "negate"),
    exp.Case: ("this", "ifs", "default"),
    exp.If: ("this", "true", "false"),
    exp.Cast: ("this", "to"),
    exp.TryCast: ("this", "to", "safe"),
    exp.DataType: ("this", "expressions", "nested"),
    exp.DataTypeParam: ("this",),
    exp.Interval: ("this", "unit"),
    exp.Neg: ("this",),
    exp.Anonymous: ("this", "expressions"),
    exp.Grouping: ("expressions",),
    exp.GroupingId: ("expressions",),
    **{kind: shape.args for kind, shape in (FUNCTIONS | AGGREGATES).items()},
}


def check(text: Text, tree: exp.Expr) -> None:
    """Refuse any part that is not allowed, the outermost first."""
    for node in tree.walk():
        shape = _SHAPES.get(type(node))
        if shape is None:
            raise _refused(text, node, REASONS.get(type(node)))
        for name, value in node.args.items():
            if name not in shape and value not in (None, False, []) and name not in _SILENT:
                raise _refused(text, _first(value) or node, CLAUSES.get(name), within=node)


# Marks that the parser leaves of how something was spelled, with no meaning of their own.
_SILENT: Final = frozenset(
    {"big_int", "_type", "date_part_boundary", "safe", "coalesce", "typed", "ignore_nulls"}
)


def _first(value: object) -> exp.Expr | None:
    if isinstance(value, list):
        return next((v for v in value if isinstance(v, exp.Expr)), None)
    return value if isinstance(value, exp.Expr) else None


def _names(node: exp.Expr) -> frozenset[str]:
    """How a part can be spelled whose place the parser does not keep."""
    if isinstance(node, exp.Placeholder):
        return frozenset({"?"})
    return frozenset(node.sql_names() if isinstance(node, exp.Func) else ())


def _refused(
    text: Text, node: exp.Expr, refusal: Refusal | None, *, within: exp.Expr | None = None
) -> UnsupportedQuery:
    span = text.span_of(node) or text.word(_names(node))
    if refusal is not None:
        what, why, fix = refusal
        return UnsupportedQuery(what, why=why, fix=fix, snippet=text.snippet(span))
    shown = text.written(within or node)[:60] or type(within or node).__name__
    return UnsupportedQuery(
        f"{'this part of ' if within else ''}{shown} is not among what can be asked",
        why="only what is bounded, and the same on every engine, is run on people's rows",
        fix="see the reference of SQL for every function and clause there is",
        snippet=text.snippet(span),
    )
