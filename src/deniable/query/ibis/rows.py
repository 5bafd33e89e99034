"""Relations of Ibis → rows: tables, selections, filters and joins."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping
from typing import Any, Final

from ibis.expr import operations as ops

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import JoinKind, literal
from deniable.query.bind import scope as scopes
from deniable.query.bind.joins import join, paired
from deniable.query.bind.members import members
from deniable.query.bind.scope import Binding, Scope
from deniable.query.bind.spelling import fold, spelled, together
from deniable.query.bind.unions import union
from deniable.session.sources.ibis_tables import is_opened
from deniable.session.tables import Table

from .refusals import refused
from .values import IbisLowering, Node

_NAMED: Final = (ops.UnboundTable, ops.DatabaseTable)
_SAME: Final = (ops.SelfReference, ops.JoinReference, ops.AliasedRelation, ops.Sort)
_JOINS: Final = {"inner": JoinKind.INNER, "left": JoinKind.LEFT}


class Asking(scopes.Asking):
    """The surroundings of an expression."""

    def opened(self, node: Node) -> Table | None:
        """The session's table that a node is: the very one that was opened.

        `ibis.table(...)` leads to no rows, so it stands for the session's table of its name.
        """
        for table in self.tables.values():
            if is_opened(node, table):
                return table
        if type(node) not in _NAMED:
            return None
        if type(node) is ops.DatabaseTable and node.name in self.tables:
            raise UnsupportedQuery(
                f"`{node.name}` in this expression is not the `{node.name}` of this session",
                why="it is a table of another connection or schema, which the session did not open",
                fix=f'ibis.table({{...}}, name="{node.name}"), which stands for the session\'s own',
            )
        return self.table(node.name)


def rows_of(node: Node, asking: Asking) -> Scope:
    """The rows of a relation; each must stay somebody's, whatever others do."""
    table = asking.opened(node)
    if table is not None:
        asking.count_table(table.name)
        return asking.scan(table)
    kind = type(node)
    if kind in _SAME:
        return rows_of(node.parent, asking)
    if kind is ops.JoinChain:
        return _joined(node, asking)
    if kind in (ops.Aggregate, ops.Distinct):
        from .people import per_person

        return per_person(node, rows_of(node.parent, asking), asking)
    if kind is ops.Union:
        return _union(node, asking)
    if kind not in _STEPS:
        raise refused(node)
    scope = rows_of(node.parent, asking)
    rows = IbisLowering({node.parent: scope})
    if kind is ops.Filter:
        scope = _members(node, scope, rows, asking)
    return _STEPS[kind](node, scope, rows)


def bound(name: str, node: Node, rows: IbisLowering) -> Binding:
    """What a value is called from here on; a plain column stays what it was."""
    known = rows.plain(node)
    if known is not None:
        return dataclasses.replace(known, name=name, table="", hidden=False)
    return Binding(table="", name=name, expression=rows.lower(node))


# ---- row by row


def _project(node: Node, scope: Scope, rows: IbisLowering) -> Scope:
    bindings = tuple(bound(name, value, rows) for name, value in node.values.items())
    return dataclasses.replace(scope, bindings=bindings)


def _filter(node: Node, scope: Scope, rows: IbisLowering) -> Scope:
    for predicate in node.predicates:
        scope = scope.where(rows.condition(predicate))
    return scope


def _drop(node: Node, scope: Scope, _rows: IbisLowering) -> Scope:
    kept = tuple(b for b in scope.bindings if b.name not in node.columns_to_drop)
    return dataclasses.replace(scope, bindings=kept)


def _fill(node: Node, scope: Scope, _rows: IbisLowering) -> Scope:
    """Missing values replaced, in columns by name or in all that take the value's kind."""
    if not isinstance(node.replacements, Mapping):
        raise UnsupportedQuery(
            "fill_null of a whole table needs a value for each column", fix='.fill_null({"age": 0})'
        )

    def filled(binding: Binding) -> Binding:
        if binding.name not in node.replacements:
            return binding
        made = fold("coalesce", binding.value(), literal(node.replacements[binding.name]))
        return dataclasses.replace(binding, expression=made, person=False)

    return dataclasses.replace(scope, bindings=tuple(map(filled, scope.bindings)))


def _drop_missing(node: Node, scope: Scope, rows: IbisLowering) -> Scope:
    if node.subset is None or not node.subset:
        raise UnsupportedQuery("drop_null takes columns here", fix='.drop_null(["age"])')
    there = [spelled("present", rows.lower(column)) for column in node.subset]
    return scope.where(together("and" if node.how == "any" else "or", *there))


_STEPS: Final[dict[Any, Callable[[Node, Scope, IbisLowering], Scope]]] = {
    ops.Project: _project,
    ops.Filter: _filter,
    ops.DropColumns: _drop,
    ops.FillNull: _fill,
    ops.DropNull: _drop_missing,
}


def _members(node: Node, scope: Scope, rows: IbisLowering, asking: Asking) -> Scope:
    """The rows with a mark for every isin(column of a table)."""
    for predicate in node.predicates:
        for found in predicate.find(ops.InSubquery, filter=ops.Value):
            value = rows.plain(found.needle) or rows.lower(found.needle)
            among = rows_of(found.rel, asking)
            among = among.called(among.relation.scan.table)  # as SQL would call it
            negated = found not in _either(predicate)
            scope, made = members(scope, value, among, names=asking.names, negated=negated)
            rows.know(found, made)
    return scope


def _either(node: Node) -> list[Node]:
    """The conditions that a chain of ANDs and ORs is made of."""
    if type(node) not in (ops.And, ops.Or):
        return [node]
    return [part for side in (node.left, node.right) for part in _either(side)]


def _union(node: Node, asking: Asking) -> Scope:
    if node.distinct:
        raise UnsupportedQuery(
            "union(distinct=True) drops equal rows, whoever they belong to",
            why="one person's row would decide whether another's counts",
            fix=".union(other, distinct=False)",
        )
    sides = []
    for part in (node.left, node.right):
        scope = rows_of(part, asking)
        named = tuple(scope.find(name) for name in part.schema.names)
        sides.append(dataclasses.replace(scope, bindings=named))
    return union(sides[0], sides[1], asking)


# ---- joins


def _joined(node: Node, asking: Asking) -> Scope:
    aliases: dict[Node, str] = {}
    scope = _side(node.first, aliases, asking)
    for link in node.rest:
        if link.how not in _JOINS:
            raise UnsupportedQuery(
                f"{link.how}_join cannot be bounded",
                why="rows of different people would be combined, or included because of others",
                fix='.join(other, "column") or .left_join(other, "column")',
            )
        scope = _link(scope, link, aliases, asking)
    rows = _beside(scope, aliases)
    bindings = tuple(bound(name, value, rows) for name, value in node.values.items())
    return dataclasses.replace(scope, bindings=bindings)


def _side(reference: Node, aliases: dict[Node, str], asking: Asking) -> Scope:
    """One table of a join, under a name that no other has there."""
    scope = rows_of(reference.parent, asking)
    tables = {b.table for b in scope.bindings}
    wish = tables.pop() if len(tables) == 1 else ""
    wish, taken = wish or "subquery", set(aliases.values())
    names = itertools.chain([wish], (f"{wish}_{i}" for i in itertools.count(2)))
    aliases[reference] = next(name for name in names if name not in taken)
    return scope.called(aliases[reference])


def _beside(scope: Scope, aliases: Mapping[Node, str]) -> IbisLowering:
    """Fields of a join are read from one of its tables each."""
    parts = {
        reference: Scope(
            relation=scope.relation, bindings=tuple(b for b in scope.bindings if b.table == alias)
        )
        for reference, alias in aliases.items()
    }
    return IbisLowering(parts)


def _link(left: Scope, link: Node, aliases: dict[Node, str], asking: Asking) -> Scope:
    before = dict(aliases)
    right = _side(link.table, aliases, asking)
    sides = {"left": _beside(left, before), "right": IbisLowering({link.table: right})}
    pairs, rest = paired(
        link.predicates,
        ends=lambda each: (each.left, each.right) if type(each) is ops.Equals else (),
        where=lambda end: _belongs(end, link.table),
        side=lambda end, where: sides[where].plain(end) or sides[where].lower(end),
    )
    how = _JOINS[link.how]
    if rest and how is JoinKind.LEFT:
        raise UnsupportedQuery(
            "left_join takes only conditions that columns are equal",
            fix='filter the other table first: .left_join(other.filter(...), "column")',
        )
    scope = join(left, right, asking, on=pairs, kind=how)
    rows = _beside(scope, aliases)
    for predicate in rest:
        scope = scope.where(rows.condition(predicate))
    return scope


def _belongs(value: Node, right: Node) -> str:
    read = set(value.relations)
    if not read or (right in read and len(read) > 1):
        return ""
    return "right" if right in read else "left"
