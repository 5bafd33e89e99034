"""The outermost aggregate → a question: keys, aggregates, and what is made of them."""

from __future__ import annotations

from typing import Any

from ibis.common.exceptions import RelationError
from ibis.expr import operations as ops

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import Expression, Key, Output, Question
from deniable.query.bind.aggregates import Aggregates
from deniable.query.bind.builder import check_private, question
from deniable.query.bind.keys import group_key
from deniable.query.bind.scope import Names

from .after import After
from .reductions import Groups, asked, is_reduction
from .rows import Asking, rows_of
from .values import IbisLowering, Node

_AFTER = (ops.Project, ops.Filter, ops.DropColumns, ops.Sort, ops.Limit)


def ask(expression: Any, asking: Asking) -> Question:
    """The question that a whole expression asks."""
    node = expression.op()
    if not isinstance(node, ops.Relation):
        node = _as_table(expression, node)
    steps = []
    while type(node) in _AFTER and asking.opened(node) is None:
        steps.append(node)
        node = node.parent
    if type(node) is not ops.Aggregate or asking.opened(node) is not None:
        raise _rows_error(node)
    scope = rows_of(node.parent, asking)
    check_private(scope)
    rows, names = IbisLowering({node.parent: scope}), Names()
    keys = [_key(name, value, rows, names, asking) for name, value in node.groups.items()]
    aggregates = Aggregates(names, origins=asking.names)
    columns: dict[str, Expression] = dict(zip(node.groups, (k.column for k in keys), strict=True))
    groups = Groups(rows, aggregates.column)
    for name, value in node.metrics.items():
        whole = is_reduction(value)
        made = aggregates.column(asked(value, rows), wish=name) if whole else groups.lower(value)
        columns[name] = made
    if not aggregates.made:
        raise UnsupportedQuery("this query computes nothing for the groups", fix="agg(n=t.count())")
    after = After(node, columns)
    for step in reversed(steps):
        after.take(step)
    return question(
        scope,
        asking,
        keys=keys,
        aggregates=aggregates.made,
        outputs=[Output(name=n, expression=e) for n, e in after.columns.items()],
        having=after.having,
        order_by=after.orders,
        limit=after.limit,
        offset=after.offset,
    )


def _key(name: str, value: Node, rows: IbisLowering, names: Names, asking: Asking) -> Key:
    made, binding = rows.lower(value), rows.plain(value)
    by = name if binding is None else binding.name
    fresh = names.fresh(name)
    return group_key(
        made, asking, name=fresh, asked=f"group_by({by!r})", binding=binding, label=name
    )


def _as_table(expression: Any, node: Node) -> Node:
    if not node.find(ops.Reduction, filter=ops.Value):
        raise _rows_error(node)
    try:
        return expression.as_table().op()
    except RelationError:
        raise UnsupportedQuery(
            "this number is made of several tables",
            fix="join them first, or ask each as a question of its own",
        ) from None


def _rows_error(node: Node) -> UnsupportedQuery:
    what = f"`{node.name}`" if type(node) is ops.Field else "this"
    return UnsupportedQuery(
        f"{what} would publish rows; only aggregates can be private",
        why="a row is about one person",
        fix='t.count(), t.age.mean(), t.group_by("sex").agg(n=t.count())',
    )
