"""Reductions of Ibis: which aggregate, of what, of which rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ibis.expr import operations as ops

from deniable.errors import UnsupportedQuery
from deniable.query.aggregates import FAMILIES, spelled
from deniable.query.algebra import Function

from .refusals import refused, shown

Node = Any

_SPELLED: Final = spelled("ibis")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """An aggregate as it was written: the parts still to be read row by row."""

    function: Function
    argument: Node | None
    where: Node | None
    q: float | None = None
    other: Node | None = None
    what: str = ""


def asked(node: Node) -> Asked:
    """What a reduction asks for."""
    name, how = type(node).__name__, getattr(node, "how", "")
    function = _SPELLED.get(f"{name}.{how}" if how else name)
    if function is None:
        raise refused(node)
    if type(node) is ops.CountStar:
        return Asked(function=function, argument=None, where=node.where)
    if FAMILIES[function].pair:
        first, second, what = node.left, node.right, f"{name}({shown(node.left)})"
        return Asked(function=function, argument=first, other=second, where=node.where, what=what)
    q = _share(node) if function is Function.QUANTILE else None
    return Asked(function=function, argument=node.arg, where=node.where, q=q, what=shown(node))


def is_reduction(node: Node) -> bool:
    """Whether a value is itself an aggregate."""
    return isinstance(node, ops.Reduction)


def _share(node: Node) -> float:
    if isinstance(node, ops.Median):
        return 0.5
    value = node.quantile.value if type(node.quantile) is ops.Literal else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise UnsupportedQuery("a quantile is a number from 0 to 1", fix=".quantile(0.9)")
    return float(value)
