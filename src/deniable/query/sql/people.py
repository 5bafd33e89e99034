"""Subqueries that sum up each person's own rows: GROUP BY the person, or SELECT DISTINCT with them.

What is computed here is exact and never shown: it is a value of one person, made of their rows
alone, and is bounded like any other when it is aggregated outside. Sums are of whole numbers, so
that the order in which an engine adds, which depends on other people's rows, cannot matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sqlglot import exp

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import (
    Column,
    Expression,
    Function,
    Kind,
    PerPerson,
    Summary,
    Summed,
    call,
    literal,
)
from deniable.query.bind.arguments import check_bounds
from deniable.query.bind.scope import Binding, Scope

from .aggregates import Asked, asked
from .answers import Answer, binding_of
from .asking import Asking
from .groups import Item, grouping
from .lower import is_aggregate

_SUMMARIES = {
    Function.COUNT: Summary.COUNT,
    Function.DISTINCT: Summary.COUNT_DISTINCT,
    Function.MIN: Summary.MIN,
    Function.MAX: Summary.MAX,
}
_BITS = 40


def per_person(select: exp.Expr, items: list[Item], scope: Scope, asking: Asking) -> Scope:
    """The rows of a subquery that has one row for each person (and key)."""
    text = asking.text
    nodes = _grouped_by(select, items, scope, asking)
    persons = [node for node in nodes if _is_person(node, scope)]
    if not persons:
        first = nodes[0] if nodes else items[0].node
        whom = asking.unit.column
        raise UnsupportedQuery(
            "a subquery that aggregates must do so for each person",
            why="otherwise one person's rows would count for others, out of sight",
            fix=f"GROUP BY {whom}, or ask the inner question by itself"
            if whom is not None and scope.relation.private
            else "ask the inner question by itself",
            snippet=text.snippet(text.span_of(first)),
        )
    people = People(asking, scope)
    people.group_own([node for node in nodes if not _is_person(node, scope)])
    bindings = [people.binding(item) for item in items]
    having = select.args.get("having")
    condition = None if having is None else people.condition(having.this)
    relation = PerPerson(
        source=scope.relation, keys=tuple(people.own), summaries=tuple(people.summaries)
    )
    made = Scope(relation=relation, bindings=tuple(bindings))
    return made if condition is None else made.where(condition)


class People(Answer):
    """Turns parts of the text into expressions about one person's own rows, summed up."""

    def __init__(self, asking: Asking, scope: Scope) -> None:
        super().__init__(asking, scope)
        self.own: list[tuple[str, Expression]] = []
        self.summaries: list[Summed] = []

    def group_own(self, nodes: Sequence[exp.Expr]) -> None:
        """Keys within a person: private values of their own rows."""
        for node in nodes:
            wish = node.name if isinstance(node, exp.Column) else "key"
            self.own.append((self.asking.names.fresh(wish), self.rows.lower(node)))

    def binding(self, item: Item) -> Binding:
        """What one thing selected is called outside."""
        if any(item.name.lower() == known for known in self.made):
            raise UnsupportedQuery(
                f"two columns of the subquery are called `{item.name}`",
                fix=f"{item.name} AS another_name",
                snippet=self.text.snippet(self.text.span_of(item.node)),
            )
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
            value = self.rows.lower(node)
            return self._summed(Summary.MIN, value, None, wish=node.name)
        return super().column(node)

    def aggregate(self, node: exp.Expr, *, wish: str = "") -> Expression:
        """An exact summary of one person's rows."""
        ask = asked(node, self.rows)
        conditions = [self.rows.condition(part) for part in ask.where]
        where = call("and", *conditions) if len(conditions) > 1 else next(iter(conditions), None)
        wish = wish or ask.function.value
        if ask.argument is None:
            return self._summed(Summary.COUNT, None, where, wish=wish)
        argument = self.rows.lower(ask.argument)
        if ask.function in _SUMMARIES:
            return self._summed(_SUMMARIES[ask.function], argument, where, wish=wish)
        if ask.function in (Function.SUM, Function.AVG):
            return self._sum(ask, argument, where, wish=wish)
        raise UnsupportedQuery(
            f"{ask.function.value.upper()} of one person's rows is not among what can be asked",
            fix="COUNT, SUM, AVG, MIN, MAX or COUNT(DISTINCT ...)",
        )

    def _sum(
        self, ask: Asked, argument: Expression, where: Expression | None, *, wish: str
    ) -> Expression:
        """Of whole numbers; fractions are put on a grid of 2⁻⁴⁰ of their bounds first."""
        if argument.kind is Kind.BOOL:
            argument = call("to_int", argument)
        if not argument.domain.numeric:
            raise UnsupportedQuery(f"SUM and AVG need numbers, not {argument.kind.value}")
        check_bounds(
            argument,
            what=self.text.written(ask.node),
            names=self.asking.names,
            snippet=self.text.snippet(self.text.span_of(ask.node)),
        )
        step = 1.0
        whole = argument
        if argument.kind is Kind.FLOAT:
            step = _step(argument)
            whole = call("to_int", call("multiply", argument, literal(1 / step)))
        made = self._summed(Summary.SUM, whole, where, wish=wish)
        total = made if step == 1.0 else call("multiply", made, literal(step))
        if ask.function is Function.SUM:
            return total
        count = self._summed(Summary.COUNT, whole, where, wish="count")
        low, high = argument.domain.low, argument.domain.high
        assert low is not None
        assert high is not None
        return call("clip", call("divide", total, count), literal(low), literal(high))

    def _summed(
        self,
        summary: Summary,
        argument: Expression | None,
        where: Expression | None,
        *,
        wish: str,
    ) -> Column:
        for known in self.summaries:
            if (known.summary, known.argument, known.where) == (summary, argument, where):
                return known.column
        name = self.asking.names.fresh(wish)
        made = Summed(name=name, summary=summary, argument=argument, where=where)
        self.summaries.append(made)
        return made.column

    def _key(self, node: exp.Expr) -> Expression | None:
        if isinstance(node, exp.Literal) or any(map(is_aggregate, node.walk())):
            return None
        if not self.own or _is_person(node, self.scope):
            return None
        found = self._row_value(node)
        for name, key in self.own:
            if key == found:
                return Column(name=name, domain=key.domain, span=self.text.span_of(node))
        return None


def _grouped_by(
    select: exp.Expr, items: list[Item], scope: Scope, asking: Asking
) -> list[exp.Expr]:
    if not select.args.get("distinct"):
        nodes, sets = grouping(select, items, scope, asking.text)
        if len(sets) == 1:
            return nodes
        raise UnsupportedQuery(
            "a subquery has one grouping",
            snippet=asking.text.snippet(asking.text.span_of(select.args["group"])),
        )
    if select.args.get("group") is not None or any(item.has_aggregate for item in items):
        raise UnsupportedQuery(
            "DISTINCT and GROUP BY are one thing too many",
            fix="leave out DISTINCT",
            snippet=asking.text.snippet(asking.text.span_of(items[0].node)),
        )
    return [item.node for item in items]


def _is_person(node: exp.Expr, scope: Scope) -> bool:
    binding = binding_of(node, scope)
    return binding is not None and binding.person


def _step(argument: Expression) -> float:
    """A power of two, about 2⁻⁴⁰ of the farther bound."""
    low, high = argument.domain.low, argument.domain.high
    most = max(abs(low), abs(high))  # type: ignore[arg-type]
    exponent = math.frexp(most)[1] if most else 0
    return math.ldexp(1.0, max(exponent - _BITS, -900))
