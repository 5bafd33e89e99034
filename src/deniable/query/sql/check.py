"""Refuse what cannot be bounded, before names are looked up: a list of what is allowed.

Whatever is not in `_SHAPES` is refused, and so is any clause of an allowed part that is not listed
with it. So a word that a newer parser understands cannot slip through unread.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from deniable.errors import UnsupportedQuery

from .functions import AGGREGATES, FUNCTIONS
from .refusals import CLAUSES, REASONS, Refusal, refused
from .text import Text

_BINARY: Final = ("this", "expression")
_SELECT: Final = ("expressions", "distinct", "from_", "joins", "where", "group", "having")

# Each part of a question, and the clauses that it may have.
_SHAPES: Final[dict[type[exp.Expr], tuple[str, ...]]] = {
    **dict.fromkeys((exp.Star, exp.Null), ()),
    **dict.fromkeys(
        (exp.From, exp.TableAlias, exp.Where, exp.Having, exp.Var, exp.Boolean, exp.Paren),
        ("this",),
    ),
    **dict.fromkeys((exp.Not, exp.DataTypeParam), ("this",)),
    **dict.fromkeys((exp.Limit, exp.Offset), ("expression",)),
    **dict.fromkeys((exp.With, exp.Order, exp.Distinct, exp.Tuple), ("expressions",)),
    **dict.fromkeys((exp.Rollup, exp.Cube, exp.GroupingSets), ("expressions",)),
    **dict.fromkeys((exp.Grouping, exp.GroupingId), ("expressions",)),
    **dict.fromkeys((exp.CTE, exp.Table, exp.Alias), ("this", "alias")),
    **dict.fromkeys((exp.Filter, exp.WithinGroup, exp.And, exp.Or), _BINARY),
    **dict.fromkeys((exp.Is, exp.NullSafeNEQ), _BINARY),
    **dict.fromkeys((exp.Like, exp.ILike), (*_BINARY, "negate")),
    exp.Select: (*_SELECT, "order", "limit", "offset", "with_"),
    exp.Union: (*_BINARY, "distinct", "with_"),
    exp.Subquery: ("this", "alias", "with_"),
    exp.Join: ("this", "side", "kind", "on", "using"),
    exp.Group: ("expressions", "all", "rollup", "cube", "grouping_sets"),
    exp.Ordered: ("this", "desc", "nulls_first"),
    exp.Column: ("this", "table"),
    exp.Identifier: ("this", "quoted"),
    exp.Literal: ("this", "is_string"),
    exp.In: ("this", "expressions", "query"),
    exp.Case: ("this", "ifs", "default"),
    exp.If: ("this", "true", "false"),
    exp.Cast: ("this", "to"),
    exp.TryCast: ("this", "to", "safe"),
    exp.DataType: ("this", "expressions", "nested"),
    exp.Interval: ("this", "unit"),
    exp.Anonymous: ("this", "expressions"),
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
                parts = value if isinstance(value, list) else [value]
                at = next((part for part in parts if isinstance(part, exp.Expr)), node)
                raise _refused(text, at, CLAUSES.get(name), within=node)


# Marks that the parser leaves of how something was spelled, with no meaning of their own.
_SILENT: Final = frozenset(
    {"big_int", "_type", "date_part_boundary", "safe", "coalesce", "typed", "ignore_nulls"}
)


def _refused(
    text: Text, node: exp.Expr, refusal: Refusal | None, *, within: exp.Expr | None = None
) -> UnsupportedQuery:
    # How a part can be spelled whose place the parser does not keep.
    names = node.sql_names() if isinstance(node, exp.Func) else ()
    spelled = ("?",) if isinstance(node, exp.Placeholder) else names
    span = text.span_of(node) or text.word(frozenset(spelled))
    if refusal is not None:
        return refused(refusal, text.snippet(span))
    shown = text.written(within or node)[:60] or type(within or node).__name__
    return UnsupportedQuery(
        f"{'part of ' if within else ''}`{shown}` is not supported",
        why="operations on people's rows must be bounded, and the same on every engine",
        fix="docs/reference/sql.md lists every supported function and clause",
        snippet=text.snippet(span),
    )
