"""Bins: `bucket` between edges, `histogram` between the bounds of a column, `clip`."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ibis.expr import operations as ops

from deniable.errors import MissingBounds
from deniable.query.algebra import Expression, literal
from deniable.query.bind.spelling import fold, together

if TYPE_CHECKING:
    from .values import IbisLowering, Node


def bucket(rows: IbisLowering, node: Node) -> Expression:
    """The number of the bucket a value is in; missing outside of all."""
    value = rows.lower(node.arg)
    edges = [literal(edge) for edge in node.buckets]
    last = len(edges) - 2
    left, extreme = node.closed == "left", node.close_extreme and last >= 0
    parts: list[Expression] = []

    def put(*conditions: Expression) -> None:
        parts.extend([together("and", *conditions), literal(len(parts) // 2)])

    def compare(op: str, edge: Expression) -> Expression:
        return fold(op, value, edge)

    if node.include_under:
        put(compare("lt" if extreme or left else "le", edges[0]))
    for place, (low, high) in enumerate(itertools.pairwise(edges)):
        lowest = extreme and not left and place == 0
        highest = extreme and left and place == last
        put(
            compare("ge" if left or lowest else "gt", low),
            compare("le" if not left or highest else "lt", high),
        )
    if node.include_over:
        put(compare("gt" if extreme or not left else "ge", edges[-1]))
    return fold("case", *parts, literal(None))


def clip(rows: IbisLowering, node: Node) -> Expression:
    """A value moved between ends; `histogram` arrives here, too."""
    node = _between_bounds(rows, node)
    value = rows.lower(node.arg)
    low, high = (None if end is None else rows.lower(end) for end in (node.lower, node.upper))
    if low is not None and high is not None:
        return fold("clip", value, low, high)
    if low is not None:
        value = fold("greatest", value, low)
    return value if high is None else fold("least", value, high)


def _between_bounds(rows: IbisLowering, node: Node) -> Node:
    """`histogram` counts bins from the least to the greatest value: here, between the bounds.

    Ibis writes it as clip(floor((x − base) / width), …) with min(x) and max(x) inside. Those are
    private, the bounds of x are not, and they hold every x.
    """
    counted = node.arg if type(node.arg) is ops.Floor else None
    divided = counted.arg if counted is not None and type(counted.arg) is ops.Divide else None
    if divided is None or type(divided.left) is not ops.Subtract:
        return node
    column = divided.left.left
    ends = {ops.Min(column): "low", ops.Max(column): "high"}
    found = {
        part: ends[inner]
        for part in node.find((ops.Min, ops.Max, ops.WindowFunction))
        if (inner := part.func if type(part) is ops.WindowFunction else part) in ends
    }
    if not found:
        return node
    known = rows.lower(column).domain
    if not known.bounded:
        raise MissingBounds(
            "histogram needs bounds: its bins lie between them",
            why="the least and the greatest value belong to somebody",
            fix="bounds for the column in the schema, or .bucket([0, 10, 20])",
        )
    return node.replace(
        {part: ops.Literal(getattr(known, end), part.dtype) for part, end in found.items()}
    )
