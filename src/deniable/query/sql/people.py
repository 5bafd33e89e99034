"""Subqueries that sum up each person's own rows: GROUP BY the person, or SELECT DISTINCT with them.

`bind.summaries` says why they are sound.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from deniable import fixes
from deniable.errors import UnsupportedQuery
from deniable.query.algebra import Column, Expression, PerPerson, Summary
from deniable.query.bind.scope import Binding, Scope
from deniable.query.bind.summaries import Summaries

from .aggregates import asked
from .answers import Answer
from .groups import Item, grouping
from .lower import binding_of
from .text import Asking, named_twice


def per_person(select: exp.Expr, items: list[Item], scope: Scope, asking: Asking) -> Scope:
    """The rows of a subquery that has one row for each person (and key)."""
    text = asking.text
    nodes = _grouped_by(select, items, scope, asking)
    persons = [node for node in nodes if _is_person(node, scope)]
    if not persons:
        first = nodes[0] if nodes else items[0].node
        own = asking.unit.column is not None and scope.relation.private
        can, rows = ("can", "person's rows") if own else ("cannot", "row")
        raise UnsupportedQuery(
            f"a subquery {can} aggregate {'only per person' if own else 'here'}",
            why=f"otherwise one {rows} would affect how others count",
            fix=(
                "release the inner query, then compute on its answer for free",
                *(
                    [fixes.own_rows("or GROUP BY user_id, to summarise each person's own rows")]
                    * own
                ),
            ),
            snippet=text.at(first),
        )
    people = People(asking, scope)
    people.group_own([node for node in nodes if not _is_person(node, scope)])
    bindings = [people.binding(item) for item in items]
    having = select.args.get("having")
    condition = None if having is None else people.condition(having.this)
    relation = PerPerson(
        source=scope.relation, keys=tuple(people.own), summaries=tuple(people.summaries.made)
    )
    made = Scope(relation=relation, bindings=tuple(bindings))
    return made if condition is None else made.where(condition)


class People(Answer):
    """Turns parts of the text into expressions about one person's own rows, summed up."""

    def __init__(self, asking: Asking, scope: Scope) -> None:
        super().__init__(asking, scope)
        self.own: list[tuple[str, Expression]] = []
        self.summaries = Summaries(asking.names)

    def group_own(self, nodes: Sequence[exp.Expr]) -> None:
        """Keys within a person: private values of their own rows."""
        for node in nodes:
            wish = node.name if isinstance(node, exp.Column) else "key"
            self.own.append((self.asking.names.fresh(wish), self.rows.lower(node)))

    def binding(self, item: Item) -> Binding:
        """What one thing selected is called outside."""
        if item.name.lower() in self.made:
            raise named_twice(item.name, "subquery", at=self.text.at(item.node))
        known = binding_of(item.node, self.scope)
        person = known is not None and known.person
        unread = None if known is None or known.expression is not None else known.unread
        made = None if unread is not None else self.lower(item.node)
        if made is not None:
            self.made[item.name.lower()] = made
        return Binding(table="", name=item.name, expression=made, person=person, unread=unread)

    def column(self, node: exp.Expr) -> Expression:
        """The person's id is the same in all their rows: their least is it."""
        if _is_person(node, self.scope):
            return self.summaries.once(Summary.MIN, self.rows.lower(node), None, wish=node.name)
        return super().column(node)

    def aggregate(self, node: exp.Expr, *, wish: str = "") -> Expression:
        """An exact summary of one person's rows."""
        return self.summaries.of(asked(node, self.rows), wish=wish)

    def _key(self, node: exp.Expr) -> Expression | None:
        keys = [(key, Column(name=name, domain=key.domain)) for name, key in self.own]
        return None if _is_person(node, self.scope) else self._among(keys, node)


def _grouped_by(
    select: exp.Expr, items: list[Item], scope: Scope, asking: Asking
) -> list[exp.Expr]:
    if not select.args.get("distinct"):
        nodes, sets = grouping(select, items, scope, asking.text)
        if len(sets) == 1:
            return nodes
        raise UnsupportedQuery(
            "a subquery can have only one grouping", snippet=asking.text.at(select.args["group"])
        )
    if select.args.get("group") is not None or any(item.has_aggregate for item in items):
        raise UnsupportedQuery(
            "use DISTINCT or GROUP BY, not both",
            fix="leave out DISTINCT",
            snippet=asking.text.at(items[0].node),
        )
    return [item.node for item in items]


def _is_person(node: exp.Expr, scope: Scope) -> bool:
    binding = binding_of(node, scope)
    return binding is not None and binding.person
