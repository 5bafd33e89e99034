"""The outermost aggregate → a question: keys, aggregates, and what is made of them."""

from __future__ import annotations

from typing import Any

from ibis.common.exceptions import RelationError
from ibis.expr import operations as ops

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import (
    Aggregate,
    Expression,
    Function,
    Key,
    Literal,
    Output,
    Question,
)
from deniable.query.bind.aggregates import Aggregates, argument_of
from deniable.query.bind.keys import check_cells, key_values, refuse_person
from deniable.query.bind.prune import prune
from deniable.query.bind.scope import Names, Scope

from .after import After
from .reductions import Asked, asked, is_reduction
from .refusals import shown
from .rows import Asking, rows_of
from .values import Node, Rows

_AFTER = (ops.Project, ops.Filter, ops.DropColumns, ops.Sort, ops.Limit)


def ask(expression: Any, asking: Asking) -> Question:
    """The question that a whole expression asks."""
    node = expression.op()
    if not isinstance(node, ops.Relation):
        node = _as_table(expression, node)
    steps = []
    while type(node) in _AFTER and asking.table(node) is None:
        steps.append(node)
        node = node.parent
    if type(node) is not ops.Aggregate or asking.table(node) is not None:
        raise _rows_error(node)
    scope = rows_of(node.parent, asking)
    if not scope.relation.private:
        raise UnsupportedQuery(
            "this question is about public tables alone",
            why="nobody is protected here, so nothing need be spent",
            fix="ask the engine itself",
        )
    answer = Answer(node, scope, asking)
    after = After(node, answer.outputs())
    if not answer.aggregates.made:
        raise UnsupportedQuery("nothing is computed of the groups", fix="agg(n=t.count())")
    for step in reversed(steps):
        after.take(step)
    return _question(answer, after, asking)


def _as_table(expression: Any, node: Node) -> Node:
    if not node.find(ops.Reduction, filter=ops.Value):
        raise _rows_error(node)
    try:
        return expression.as_table().op()
    except RelationError:
        raise UnsupportedQuery(
            "this number is made of several tables",
            fix="join them first, or ask each as a question of its own",
        ) from None


def _rows_error(node: Node) -> UnsupportedQuery:
    what = "this" if isinstance(node, ops.Relation) else shown(node)
    return UnsupportedQuery(
        f"{what} would publish rows; only aggregates can be private",
        why="a row is about one person",
        fix='t.count(), t.age.mean(), t.group_by("sex").agg(n=t.count())',
    )


def _question(answer: Answer, after: After, asking: Asking) -> Question:
    sets = (tuple(range(len(answer.keys))),)
    check_cells(answer.keys, sets)
    used = [key.expression for key in answer.keys]
    used += [e for a in answer.aggregates.made for e in a.expressions]
    return Question(
        unit=asking.unit,
        relation=prune(answer.scope.relation, used),
        keys=tuple(answer.keys),
        grouping_sets=sets,
        aggregates=tuple(answer.aggregates.made),
        outputs=tuple(Output(name=n, expression=e) for n, e in after.columns.items()),
        having=after.having,
        order_by=tuple(after.orders),
        limit=after.limit,
        offset=after.offset,
    )


class Answer(Rows):
    """Turns values of an aggregate into expressions about noisy numbers.

    Ibis itself sees to it that only aggregates and constants stand in an aggregate; a column would
    find no scope to be read from.
    """

    def __init__(self, node: Node, scope: Scope, asking: Asking) -> None:
        super().__init__({})
        self.node = node
        self.scope = scope
        self.asking = asking
        self.rows = Rows({node.parent: scope})
        self.names = Names()
        self.keys: list[Key] = []
        self.aggregates = Aggregates(self.names)

    def outputs(self) -> dict[str, Expression]:
        """Every column of the aggregate by name: keys first."""
        for name, value in self.node.groups.items():
            self._add_key(name, value)
        columns: list[Expression] = [key.column for key in self.keys]
        made = dict(zip(self.node.groups, columns, strict=True))
        for name, value in self.node.metrics.items():
            whole = is_reduction(value)
            made[name] = self.aggregate(value, wish=name) if whole else self.lower(value)
        return made

    def _add_key(self, name: str, value: Node) -> None:
        expression = self.rows.lower(value)
        binding = self.rows.plain(value)
        if binding is not None:
            refuse_person(binding, asked=f"group_by({binding.name!r})")
        if isinstance(expression, Literal):
            raise UnsupportedQuery("group_by a constant makes no groups", fix="leave it out")
        values = key_values(
            expression,
            name=name,
            unit=self.asking.unit,
            private_keys=self.asking.private_keys,
            names=self.asking.names,
            snippet=None,
        )
        key = Key(name=self.names.fresh(name), expression=expression, values=values)
        self.keys.append(key)

    def made(self, node: Node) -> Expression:
        """An aggregate, or an expression about aggregates."""
        return self.aggregate(node) if is_reduction(node) else super().made(node)

    def aggregate(self, node: Node, *, wish: str = "") -> Expression:
        """A noisy number; the same aggregate asked twice is computed once."""
        wanted = asked(node)
        where = None if wanted.where is None else self.rows.condition(wanted.where)
        function, argument = self._argument(wanted, wanted.argument)
        _, other = self._argument(wanted, wanted.other)
        made = Aggregate(
            name="", function=function, argument=argument, other=other, where=where, q=wanted.q
        )
        return self.aggregates.column(made, wish=wish)

    def _argument(self, wanted: Asked, node: Node | None) -> tuple[Function, Expression | None]:
        if node is None:
            return wanted.function, None
        binding = self.rows.plain(node)
        return argument_of(
            wanted.function,
            lambda: self.rows.lower(node),
            person=binding is not None and binding.person,
            what=wanted.what,
            names=self.asking.names,
            snippet=None,
        )
