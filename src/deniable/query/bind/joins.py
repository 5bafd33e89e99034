"""Which rows may stand side by side.

A row of a join must belong to one person, whatever others do. So a private table may be joined
with a public one on any equal columns (rows of one person may multiply: they are counted after the
join), and with a private one only if both rows are the same person's. Where every row is a unit,
the public side is made unique, since one row must stay one row.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from deniable import fixes
from deniable.errors import UnsupportedQuery
from deniable.query.algebra import Column, Expression, Join, JoinKind, Project
from deniable.query.algebra.expressions import alike
from deniable.units import Unit

from .scope import Asking, Binding, Names, Scope

Pair = tuple[Binding | Expression, Binding | Expression]
Node = TypeVar("Node")
Equal = tuple[Expression, Expression]


def join(left: Scope, right: Scope, asking: Asking, *, on: Sequence[Pair], kind: JoinKind) -> Scope:
    """The rows of two relations that agree, with the names of both."""
    swapped = not left.relation.private and right.relation.private
    if swapped:
        if kind is JoinKind.LEFT:
            raise UnsupportedQuery(
                "a left join must start from the private table",
                why="rows that belong to nobody would be counted",
                fix=fixes.sql(
                    "FROM the private table LEFT JOIN the public one",
                    "private.left_join(public, ...)",
                ),
            )
        left, right, on = right, left, [(b, a) for a, b in on]
    same_person = _same_person(left, right, on, asking.unit)
    pairs = [_equal(a, b) for a, b in on if not (same_person and _both_persons((a, b)))]
    if kind is JoinKind.LEFT:
        right, pairs = _as_columns(right, pairs, asking.names)
    relation = Join(
        left=left.relation,
        right=right.relation,
        on=tuple(pairs),
        kind=kind,
        same_person=same_person,
        unique=asking.unit.column is None,
    )
    right_bindings = _after(right, relation) if kind is JoinKind.LEFT else right.bindings
    both = (right_bindings, left.bindings) if swapped else (left.bindings, right_bindings)
    return Scope(relation=relation, bindings=both[0] + both[1])


def paired(
    conditions: Iterable[Node],
    *,
    ends: Callable[[Node], Sequence[Node]],
    where: Callable[[Node], str],
    side: Callable[[Node, str], Binding | Expression],
) -> tuple[list[Pair], list[Node]]:
    """Equalities between the two sides of a join, and all other conditions.

    A front end says what the `ends` of an equality are, `where` each of them is computed ("left",
    "right", or neither), and what it is on that `side`.
    """
    pairs: list[Pair] = []
    rest = []
    for condition in conditions:
        found = {where(end): end for end in ends(condition)}
        if found.keys() == {"left", "right"}:
            pairs.append((side(found["left"], "left"), side(found["right"], "right")))
        else:
            rest.append(condition)
    return pairs, rest


def _same_person(left: Scope, right: Scope, on: Sequence[Pair], unit: Unit) -> bool:
    if not left.relation.private:
        raise UnsupportedQuery(
            "a question starts from the private table",
            fix=fixes.sql(
                "FROM the private table JOIN the public ones", "private.join(public, ...)"
            ),
        )
    if not right.relation.private:
        if not on:
            raise UnsupportedQuery(
                "a join needs columns that must be equal",
                fix=fixes.sql("JOIN ... USING (column)", '.join(other, "column")'),
            )
        return False
    if unit.column is None:
        raise UnsupportedQuery(
            "two private tables cannot be joined where every row is a unit",
            why="nobody says which rows are of the same person",
            fix=fixes.person("user_id"),
        )
    if not any(_both_persons(pair) for pair in on):
        raise UnsupportedQuery(
            "private tables can be joined only where both rows are the same person's",
            why="one person's row beside others' rows would change all of them",
            fix=fixes.sql(f"JOIN ... USING ({unit.column})", f'.join(other, "{unit.column}")'),
        )
    return True


def _both_persons(pair: Pair) -> bool:
    return all(isinstance(side, Binding) and side.person for side in pair)


def _equal(a: Binding | Expression, b: Binding | Expression) -> Equal:
    left, right = (side.value() if isinstance(side, Binding) else side for side in (a, b))
    first, second = alike((left, right))
    return first, second


def _as_columns(scope: Scope, on: list[Equal], names: Names) -> tuple[Scope, list[Equal]]:
    """Every name a plain column: what is computed must be missing where nothing is found."""
    if all(b.expression is None or isinstance(b.expression, Column) for b in scope.bindings):
        return scope, on
    named: list[tuple[str, Expression]] = []

    def column(wish: str, made: Expression) -> Column:
        named.append((names.fresh(wish), made))
        return Column(name=named[-1][0], domain=made.domain)

    bindings = tuple(
        b
        if b.expression is None
        else dataclasses.replace(b, expression=column(f"{b.table}.{b.name}", b.expression))
        for b in scope.bindings
    )
    pairs: list[Equal] = [(a, column("on", b)) for a, b in on]
    relation = Project(source=scope.relation, named=tuple(named))
    return Scope(relation=relation, bindings=bindings), pairs


def _after(right: Scope, relation: Join) -> tuple[Binding, ...]:
    """The right side's names after a LEFT JOIN: they may be missing, also the person."""
    by_name = {column.name: column for column in relation.columns}
    made = []
    for binding in right.bindings:
        found = binding.expression
        if isinstance(found, Column):
            found = by_name[found.name]
        made.append(dataclasses.replace(binding, expression=found, person=False))
    return tuple(made)
