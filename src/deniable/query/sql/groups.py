"""GROUP BY: which parts of the text are keys, and in which combinations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlglot import exp

from deniable.errors import UnsupportedQuery
from deniable.query.bind.keys import MOST_SETS
from deniable.query.bind.scope import Scope

from .lower import is_aggregate
from .text import Text

Set = tuple[int, ...]
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Item:
    """One thing selected, and what it is called."""

    name: str
    node: exp.Expr
    aliased: bool

    @property
    def has_aggregate(self) -> bool:
        """Whether an aggregate is in it."""
        return any(map(is_aggregate, self.node.walk()))


def items_of(select: exp.Expr, text: Text) -> list[Item]:
    """What is selected, each with the name it will have."""
    if not select.expressions:
        raise UnsupportedQuery("nothing is selected", fix="SELECT COUNT(*)")
    return [_item(node, text) for node in select.expressions]


def _item(node: exp.Expr, text: Text) -> Item:
    if isinstance(node, exp.Alias):
        return Item(name=node.alias, node=node.this, aliased=True)
    plain = isinstance(node, exp.Column) and not isinstance(node.this, exp.Star)
    name = node.name if plain else text.written(node) or "value"
    return Item(name=name, node=node, aliased=False)


def grouping(
    select: exp.Expr, items: list[Item], scope: Scope, text: Text
) -> tuple[list[exp.Expr], list[Set]]:
    """The key nodes and the grouping sets as positions among them."""
    group = select.args.get("group")
    if group is None:
        return [], [()]
    if group.args.get("all"):
        nodes = [item.node for item in items if not item.has_aggregate]
        return nodes, [tuple(range(len(nodes)))]
    reader = _Reader(items=items, scope=scope, text=text, nodes=[])
    parts = [reader.part(node) for node in group.expressions]
    for clause in ("rollup", "cube", "grouping_sets"):
        for node in group.args.get(clause) or []:
            if node.expressions:
                parts.append(reader.part(node))
            else:  # GROUP BY a, b WITH ROLLUP
                flat = [i for part in parts for chosen in part for i in chosen]
                parts = [_expanded(type(node), [(i,) for i in flat])]
    if math.prod(map(len, parts)) > MOST_SETS:
        raise _too_many(group, text)
    sets = [sum(chosen, ()) for chosen in itertools.product(*parts)]
    # A grouping that is written twice would be paid for twice.
    return reader.nodes, list(dict.fromkeys(tuple(sorted(set(chosen))) for chosen in sets))


def _too_many(node: exp.Expr, text: Text) -> UnsupportedQuery:
    return UnsupportedQuery(
        f"a query can have at most {MOST_SETS} groupings", snippet=text.at(node)
    )


@dataclass(frozen=True, kw_only=True)
class _Reader:
    items: list[Item]
    scope: Scope
    text: Text
    nodes: list[exp.Expr]

    def part(self, node: exp.Expr) -> list[Set]:
        """The alternatives that one entry of GROUP BY stands for."""
        if isinstance(node, exp.GroupingSets):
            return [chosen for inner in node.expressions for chosen in self.part(inner)]
        if isinstance(node, exp.Rollup | exp.Cube):
            sets = [self._together(inner) for inner in node.expressions]
            if len(sets) > 6 and isinstance(node, exp.Cube):
                raise _too_many(node, self.text)
            return _expanded(type(node), sets)
        return [self._together(node)]

    def _together(self, node: exp.Expr) -> Set:
        """A key, or several in parentheses."""
        if isinstance(node, exp.Tuple):
            return sum((self._together(part) for part in node.expressions), ())
        return self._together(node.this) if isinstance(node, exp.Paren) else (self._key(node),)

    def _key(self, node: exp.Expr) -> int:
        meant = self._meant(node)
        if any(map(is_aggregate, meant.walk())):
            raise UnsupportedQuery("GROUP BY cannot take an aggregate", snippet=self.text.at(node))
        if meant not in self.nodes:
            self.nodes.append(meant)
        return self.nodes.index(meant)

    def _meant(self, node: exp.Expr) -> exp.Expr:
        """A position or a name of what is selected stands for that; columns come first."""
        if isinstance(node, exp.Literal) and not node.args.get("is_string"):
            return position_of(node, self.items, self.text).node
        plain = isinstance(node, exp.Column) and not node.text("table")
        if plain and not self.scope.has(node.name):
            for item in self.items:
                if item.aliased and item.name.lower() == node.name.lower():
                    return item.node
        return node


def position_of(node: exp.Expr, items: Sequence[T], text: Text) -> T:
    """What GROUP BY 1 or ORDER BY 2 stands for."""
    digits = str(node.this)
    if digits.isdigit() and len(digits) < 6 and 1 <= int(digits) <= len(items):
        return items[int(digits) - 1]
    raise UnsupportedQuery(
        f"there is no column {digits[:20]} among the {len(items)} selected", snippet=text.at(node)
    )


def _expanded(kind: type[exp.Expr], sets: list[Set]) -> list[Set]:
    """ROLLUP leaves out from the right, CUBE in every way."""
    if kind is exp.Rollup:
        return [sum(sets[:count], ()) for count in range(len(sets), -1, -1)]
    chosen = itertools.product((True, False), repeat=len(sets))
    return [sum((s for s, kept in zip(sets, keep, strict=True) if kept), ()) for keep in chosen]
