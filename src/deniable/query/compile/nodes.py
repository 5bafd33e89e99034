"""Pieces of SQL trees: every operator in its own parentheses, every constant with its type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial, reduce

from sqlglot import exp

Node = exp.Expression


def name(text: str, *, table: str | None = None) -> exp.Column:
    """A quoted identifier."""
    owner = exp.to_identifier(table, quoted=True)
    return exp.Column(this=exp.to_identifier(text, quoted=True), table=owner)


def typed(node: Node, kind: str) -> Node:
    """The SQL `CAST(node AS kind)`."""
    return exp.Cast(this=node, to=_type(kind))


def tried(node: Node, kind: str) -> Node:
    """The SQL `TRY_CAST(node AS kind)`: missing where a cast would fail."""
    return exp.TryCast(this=node, to=_type(kind))


def _type(kind: str) -> exp.DataType:
    """A type by the engine's own name for it."""
    return exp.DataType(this=exp.DataType.Type.USERDEFINED, kind=kind)


def text(value: str) -> Node:
    """A text constant in SQL."""
    return exp.Literal.string(value)


def plain(value: int) -> Node:
    """A small whole number as it is."""
    return exp.Literal.number(value) if value >= 0 else minus(plain(-value))


def minus(node: Node) -> Node:
    """The SQL `-node`, in parentheses."""
    return exp.Paren(this=exp.Neg(this=node))


def null() -> Node:
    """The constant NULL in SQL."""
    return exp.Null()


def function(called: str, *args: Node) -> Node:
    """A function by the engine's own name for it."""
    return exp.Anonymous(this=called, expressions=list(args))


def distinct(node: Node) -> Node:
    """The SQL `COUNT(DISTINCT node)`."""
    return exp.Count(this=exp.Distinct(expressions=[node]))


def binary(kind: type[exp.Binary], left: Node, right: Node) -> Node:
    """An operator between two values, in parentheses."""
    options = {"typed": True, "safe": False} if kind is exp.Div else {}
    return exp.Paren(this=kind(this=left, expression=right, **options))


eq, lt, gt, le, ge = (partial(binary, kind) for kind in (exp.EQ, exp.LT, exp.GT, exp.LTE, exp.GTE))
add, subtract, times = (partial(binary, kind) for kind in (exp.Add, exp.Sub, exp.Mul))


def concat(*parts: Node) -> Node:
    """left || right: missing if either is."""
    return reduce(lambda left, right: binary(exp.DPipe, left, right), parts)


def both(parts: Sequence[Node]) -> Node:
    """All of the conditions; true if there are none."""
    return reduce(lambda left, right: binary(exp.And, left, right), parts) if parts else exp.true()


def either(parts: Sequence[Node]) -> Node:
    """Any of the conditions; false if there are none."""
    return reduce(lambda left, right: binary(exp.Or, left, right), parts) if parts else exp.false()


def negated(condition: Node) -> Node:
    """The SQL `NOT condition`."""
    return exp.Paren(this=exp.Not(this=condition))


def missing(node: Node) -> Node:
    """The SQL `node IS NULL`."""
    return exp.Paren(this=exp.Is(this=node, expression=exp.Null()))


def present(node: Node) -> Node:
    """The SQL `node IS NOT NULL`."""
    return negated(missing(node))


def among(node: Node, listed: Iterable[Node]) -> Node:
    """The SQL `node IN (listed)`."""
    return exp.Paren(this=exp.In(this=node, expressions=list(listed)))


def case(*pairs: tuple[Node, Node], default: Node | None = None) -> Node:
    """CASE WHEN … THEN … ELSE … END."""
    ifs = [exp.If(this=when, true=then) for when, then in pairs]
    return exp.Case(ifs=ifs, default=default if default is not None else exp.Null())


def clipped(node: Node, low: Node, high: Node, *, nullable: bool) -> Node:
    """Moved into [low, high]; engines' LEAST and GREATEST would turn missing into a bound."""
    inside = function("LEAST", function("GREATEST", node, low), high)
    return case((present(copy(node)), inside)) if nullable else inside


def aliased(node: Node, called: str) -> Node:
    """The SQL `node AS "called"`."""
    return exp.Alias(this=node, alias=exp.to_identifier(called, quoted=True))


def copy(node: Node) -> Node:
    """A node may stand in one place of a tree only."""
    return node.copy()


def table(called: str, *, within: Sequence[str] = ()) -> Node:
    """A named part of the statement; or a table, within a schema, or a catalog and a schema."""
    names = [exp.to_identifier(each, quoted=True) for each in (called, *reversed(within))]
    return exp.Table(**dict(zip(("this", "db", "catalog"), names, strict=False)))


def over(node: Node, partition: str, *, order: Sequence[Node] = ()) -> Node:
    """… OVER (PARTITION BY … ORDER BY …)."""
    listed = [exp.Ordered(this=copy(each)) for each in order]
    return exp.Window(
        this=node,
        partition_by=[name(partition)],
        order=exp.Order(expressions=listed) if listed else None,
    )
