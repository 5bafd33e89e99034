"""Reductions of Ibis: which aggregate, of what, of which rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ibis.expr import operations as ops

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import Function

from .refusals import refused, shown

Node = Any

_FUNCTIONS: Final[dict[Any, Function]] = {
    ops.Count: Function.COUNT,
    ops.CountDistinct: Function.DISTINCT,
    ops.ApproxCountDistinct: Function.DISTINCT,
    ops.Sum: Function.SUM,
    ops.Mean: Function.AVG,
    ops.Min: Function.MIN,
    ops.Max: Function.MAX,
    ops.Median: Function.QUANTILE,
    ops.ApproxMedian: Function.QUANTILE,
    ops.Quantile: Function.QUANTILE,
    ops.ApproxQuantile: Function.QUANTILE,
}
_SPREADS: Final[dict[Any, dict[str, Function]]] = {
    ops.Variance: {"sample": Function.VAR_SAMP, "pop": Function.VAR_POP},
    ops.StandardDev: {"sample": Function.STDDEV_SAMP, "pop": Function.STDDEV_POP},
}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """An aggregate as it was written: the parts still to be read row by row."""

    function: Function
    argument: Node | None
    where: Node | None
    q: float | None = None
    what: str = ""


def asked(node: Node) -> Asked:
    """What a reduction asks for."""
    kind = type(node)
    if kind is ops.CountStar:
        return Asked(function=Function.COUNT, argument=None, where=node.where)
    if kind in _SPREADS:
        function = _SPREADS[kind][node.how]
    elif kind in _FUNCTIONS:
        function = _FUNCTIONS[kind]
    else:
        raise refused(node)
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
