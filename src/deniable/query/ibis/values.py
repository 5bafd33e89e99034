"""Values of Ibis → our operators, for single rows."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ibis.expr import operations as ops

from deniable.errors import UnknownName, UnsupportedQuery
from deniable.query.algebra import Expression, Literal, literal
from deniable.query.bind.scope import Binding, Scope
from deniable.query.bind.spelling import condition, spelled

from .functions import FUNCTIONS
from .refusals import refused, shown
from .spellings import SPELLINGS

# Nodes of Ibis are not typed for us: every one is looked up by its class before it is used.
Node = Any


class IbisLowering:
    """Turns values of Ibis into expressions about rows; `scopes` are what its fields may read."""

    def __init__(self, scopes: Mapping[Node, Scope]) -> None:
        self.scopes = scopes
        self._known: dict[Node, Expression] = {}

    def lower(self, node: Node) -> Expression:
        """The expression that a value stands for."""
        if node not in self._known:
            self._known[node] = self.made(node)
        return self._known[node]

    def know(self, node: Node, made: Expression) -> None:
        """What a value came to that cannot be read row by row."""
        self._known[node] = made

    def made(self, node: Node) -> Expression:
        """The expression of a value that is met for the first time."""
        kind = type(node)
        if kind is ops.Alias:
            return self.lower(node.arg)
        if kind is ops.Field:
            return self.field(node)
        if kind is ops.Literal:
            return constant(node)
        if kind in SPELLINGS:
            return SPELLINGS[kind](self, node)
        if kind in FUNCTIONS:
            op, names = FUNCTIONS[kind]
            parts = [part for name in names for part in _listed(getattr(node, name))]
            return spelled(op, *map(self.lower, parts))
        if isinstance(node, ops.Reduction):
            raise UnsupportedQuery(
                f"{shown(node)} cannot be used here",
                why="an aggregate needs a group of rows, and this place works on single rows",
                fix=".agg(...) first; what follows it is about groups",
            )
        raise refused(node)

    def condition(self, node: Node) -> Expression:
        """A condition: true, false or missing."""
        return condition(self.lower(node))

    def field(self, node: Node) -> Expression:
        """A column by its name."""
        return self.binding(node).value()

    def binding(self, node: Node) -> Binding:
        """The binding of a plain column; UnknownName where the session's table has none."""
        scope = self.scopes.get(node.rel)
        if scope is None:
            raise UnsupportedQuery(
                f"`{node.name}` is read from another table than the one that is asked about",
                fix="join the tables first",
            )
        found = scope.find(node.name)
        if found.name != node.name:  # Ibis tells cases apart
            raise UnknownName.of("column", node.name, known={b.name for b in scope.bindings})
        return found

    def plain(self, node: Node) -> Binding | None:
        """The binding of a value if it is a plain column; None for anything else."""
        while type(node) is ops.Alias:
            node = node.arg
        return self.binding(node) if type(node) is ops.Field else None


def constant(node: Node) -> Literal:
    """A constant of one of our kinds."""
    value = number(node.value)
    zoned = isinstance(value, dt.datetime) and value.tzinfo is not None
    plain = value is None or isinstance(value, bool | int | float | str | dt.date)
    if zoned or not plain or node.dtype.is_interval():
        raise UnsupportedQuery(
            f"constants of type {node.dtype} are not among what can be asked",
            fix="a number, text, a truth value, a date, or a timestamp without a zone",
        )
    return literal(_as_plain(value))


def number(value: Any) -> Any:
    """A number as SQL would read it: a decimal, or one beyond 64 bits, is a float."""
    wide = isinstance(value, int) and not -(2**63) <= value < 2**63
    try:
        found = float(value) if wide or isinstance(value, Decimal) else value
    except (OverflowError, ValueError):  # 10**400, a signalling NaN
        found = math.inf
    if isinstance(found, float) and not math.isfinite(found):
        raise UnsupportedQuery(
            "a constant must be a finite number", fix="ibis.null() is a missing value"
        )
    return found


def _as_plain(value: Any) -> Any:
    """Subclasses of numbers, text and moments (NumPy's, pandas') as what they stand for."""
    match value:
        case None | bool():
            return value
        case dt.datetime():
            return dt.datetime.combine(value.date(), value.time())
        case dt.date():
            return dt.date(value.year, value.month, value.day)
    return next(kind(value) for kind in (int, float, str) if isinstance(value, kind))


def _listed(value: Node) -> tuple[Node, ...]:
    return value if isinstance(value, tuple) else (value,)
