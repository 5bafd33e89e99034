"""Aggregates inside a question: one row for each person (and key), summed up exactly.

Why they are sound is said in `bind.summaries`.
"""

from __future__ import annotations

from ibis.expr import operations as ops

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import Column, Expression, Function, Kind, PerPerson, Summary, call
from deniable.query.bind.arguments import check_bounds
from deniable.query.bind.scope import Binding, Scope
from deniable.query.bind.summaries import SUMMARIES, Summaries

from .reductions import asked, is_reduction
from .rows import Asking
from .values import Node, Rows


def per_person(node: Node, scope: Scope, asking: Asking) -> Scope:
    """The rows of an inner aggregate, or of distinct: one for each person (and key)."""
    grouped = type(node) is ops.Aggregate
    groups = node.groups if grouped else node.parent.fields
    rows = Rows({node.parent: scope})
    person = {name for name, value in groups.items() if _is_person(value, rows)}
    if not person:
        whom = asking.unit.column
        raise UnsupportedQuery(
            "an aggregate inside a question must be about each person",
            why="otherwise one person's rows would count for others, out of sight",
            fix=f'group_by("{whom}"), or ask the inner question by itself'
            if whom is not None and scope.relation.private
            else "ask the inner question by itself",
        )
    people = People(node, scope, asking)
    for name, value in groups.items():
        if name not in person:
            people.own.append((asking.names.fresh(name), rows.lower(value)))
    bindings = [people.key(name, value) for name, value in groups.items()]
    for name, value in node.metrics.items() if grouped else ():
        bindings.append(Binding(table="", name=name, expression=people.lower(value)))
    relation = PerPerson(
        source=scope.relation, keys=tuple(people.own), summaries=tuple(people.summaries.made)
    )
    return Scope(relation=relation, bindings=tuple(bindings))


class People(Rows):
    """Turns values into expressions about one person's own rows, summed up.

    Ibis itself sees to it that only aggregates and constants stand in an aggregate.
    """

    def __init__(self, node: Node, scope: Scope, asking: Asking) -> None:
        super().__init__({})
        self.rows = Rows({node.parent: scope})
        self.asking = asking
        self.own: list[tuple[str, Expression]] = []
        self.summaries = Summaries(asking.names)

    def key(self, name: str, value: Node) -> Binding:
        """What a key is called outside; the person stays the person."""
        known = self.rows.plain(value)
        if known is not None and known.expression is None:
            return Binding(
                table="", name=name, expression=None, person=known.person, unread=known.unread
            )
        person = known is not None and known.person
        if person:
            # The id is the same in all rows of a person: their least is it.
            made: Expression = self.summaries.once(
                Summary.MIN, self.rows.lower(value), None, wish=name
            )
        else:
            value = self.rows.lower(value)
            own = next(key for key, found in self.own if found == value)
            made = Column(name=own, domain=value.domain)
        return Binding(table="", name=name, expression=made, person=person)

    def made(self, node: Node) -> Expression:
        """A summary, or an expression about summaries."""
        return self.aggregate(node) if is_reduction(node) else super().made(node)

    def aggregate(self, node: Node) -> Expression:
        """An exact summary of one person's rows."""
        ask = asked(node)
        where = None if ask.where is None else self.rows.condition(ask.where)
        wish = ask.function.value
        if ask.argument is None:
            return self.summaries.once(Summary.COUNT, None, where, wish=wish)
        argument = self.rows.lower(ask.argument)
        if ask.function in SUMMARIES:
            return self.summaries.once(SUMMARIES[ask.function], argument, where, wish=wish)
        if ask.function not in (Function.SUM, Function.AVG):
            raise UnsupportedQuery(
                f"{ask.function.value} of one person's rows is not among what can be asked",
                fix="count, sum, mean, min, max or nunique",
            )
        if argument.kind is Kind.BOOL:
            argument = call("to_int", argument)
        if not argument.domain.numeric:
            raise UnsupportedQuery(f"sum and mean need numbers, not {argument.kind.value}")
        check_bounds(argument, what=ask.what, names=self.asking.names, snippet=None)
        mean = ask.function is Function.AVG
        return self.summaries.total(argument, where, mean=mean, wish=wish)


def _is_person(value: Node, rows: Rows) -> bool:
    known = rows.plain(value)
    return known is not None and known.person
