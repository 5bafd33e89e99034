"""Aggregates inside a question: one row for each person (and key), summed up exactly.

`bind.summaries` says why they are sound.
"""

from __future__ import annotations

from ibis.expr import operations as ops

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import Column, Expression, PerPerson, Summary
from deniable.query.bind.scope import Binding, Scope
from deniable.query.bind.summaries import Summaries

from .reductions import Groups
from .rows import Asking
from .values import IbisLowering, Node


def per_person(node: Node, scope: Scope, asking: Asking) -> Scope:
    """The rows of an inner aggregate, or of distinct: one for each person (and key)."""
    grouped = type(node) is ops.Aggregate
    groups = node.groups if grouped else node.parent.fields
    rows = IbisLowering({node.parent: scope})
    person = {name for name, value in groups.items() if _is_person(value, rows)}
    if not person:
        whom = asking.unit.column
        raise UnsupportedQuery(
            "an aggregate inside a question must be about each person",
            why="otherwise one person's rows would affect how others count",
            fix=f'group_by("{whom}"), or ask the inner question by itself'
            if whom is not None and scope.relation.private
            else "ask the inner question by itself",
        )
    summaries = Summaries(asking.names)
    own = [
        (asking.names.fresh(name), rows.lower(value))
        for name, value in groups.items()
        if name not in person
    ]
    bindings = [_key(name, value, rows, own, summaries) for name, value in groups.items()]
    summed = Groups(rows, summaries.of)
    for name, value in node.metrics.items() if grouped else ():
        bindings.append(Binding(table="", name=name, expression=summed.lower(value)))
    relation = PerPerson(source=scope.relation, keys=tuple(own), summaries=tuple(summaries.made))
    return Scope(relation=relation, bindings=tuple(bindings))


def _key(
    name: str,
    value: Node,
    rows: IbisLowering,
    own: list[tuple[str, Expression]],
    summaries: Summaries,
) -> Binding:
    """What a key is called outside; the person stays the person."""
    known = rows.plain(value)
    person = known is not None and known.person
    if known is not None and known.expression is None:
        return Binding(table="", name=name, expression=None, person=person, unread=known.unread)
    made = rows.lower(value)
    if person:  # the id is the same in all rows of a person: their least is it
        made = summaries.once(Summary.MIN, made, None, wish=name)
    else:
        made = Column(name=next(key for key, found in own if found == made), domain=made.domain)
    return Binding(table="", name=name, expression=made, person=person)


def _is_person(value: Node, rows: IbisLowering) -> bool:
    known = rows.plain(value)
    return known is not None and known.person
