"""Reductions of Ibis: which aggregate, of what, of which rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ibis.expr import operations as ops

from deniable.errors import UnsupportedQuery
from deniable.query.aggregates import FAMILIES, spelled
from deniable.query.algebra import Expression, Function
from deniable.query.bind.aggregates import Asked

from .refusals import refused, shown
from .values import IbisLowering, Node

_SPELLED: Final = spelled("ibis")


def asked(node: Node, rows: IbisLowering) -> Asked:
    """What a reduction asks for."""
    name, how = type(node).__name__, getattr(node, "how", "")
    function = _SPELLED.get(f"{name}.{how}" if how else name)
    if function is None:
        raise refused(node)
    where = None if node.where is None else rows.condition(node.where)
    if type(node) is ops.CountStar:
        return Asked(function=function, where=where)
    pair = FAMILIES[function].pair
    argument = node.left if pair else node.arg
    known = rows.plain(argument)
    return Asked(
        function=function,
        argument=lambda: rows.lower(argument),
        other=(lambda: rows.lower(node.right)) if pair else None,
        person=known is not None and known.person,
        where=where,
        q=_share(node) if function is Function.QUANTILE else None,
        what=shown(node),
    )


class Groups(IbisLowering):
    """Turns values of an aggregate into expressions about groups of rows.

    `aggregate` makes one of a reduction. Ibis itself sees to it that only aggregates and constants
    stand in an aggregate; a column would find no scope to be read from.
    """

    def __init__(self, rows: IbisLowering, aggregate: Callable[[Asked], Expression]) -> None:
        super().__init__({})
        self.rows = rows
        self.aggregate = aggregate

    def made(self, node: Node) -> Expression:
        """An aggregate, or an expression about aggregates."""
        return self.aggregate(asked(node, self.rows)) if is_reduction(node) else super().made(node)


def is_reduction(node: Node) -> bool:
    """Whether a value is itself an aggregate."""
    return isinstance(node, ops.Reduction)


def _share(node: Node) -> float:
    if isinstance(node, ops.Median):
        return 0.5
    value = node.quantile.value if type(node.quantile) is ops.Literal else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise UnsupportedQuery(
            "the level of a quantile must be a number from 0 to 1", fix=".quantile(0.9)"
        )
    return float(value)
