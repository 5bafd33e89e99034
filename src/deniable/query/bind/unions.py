"""Rows of several relations, one after the other; shared by front ends.

Every row stays its person's, and a person's rows are counted after the union: weights see all of
them. Where every row is a unit, no table may be on both sides, since one row must stay one row.
"""

from __future__ import annotations

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import (
    Expression,
    Join,
    Kind,
    Project,
    Relation,
    Scan,
    Union,
    call,
)
from deniable.query.algebra.expressions import alike
from deniable.units import Unit

from .scope import Binding, Names, Scope


def union(left: Scope, right: Scope, *, unit: Unit, names: Names) -> Scope:
    """The rows of both, under the names of the left."""
    if len(left.bindings) != len(right.bindings):
        raise UnsupportedQuery(
            f"the sides of UNION ALL have {len(left.bindings)} and {len(right.bindings)} columns",
            fix="name the same columns on both sides: SELECT a, b ... UNION ALL SELECT a, b ...",
        )
    if left.relation.private != right.relation.private:
        raise UnsupportedQuery(
            "UNION ALL takes private tables, or public ones, not both",
            why="rows that belong to nobody would be counted",
        )
    shared = private_tables(left.relation) & private_tables(right.relation)
    if unit.column is None and shared:
        raise UnsupportedQuery(
            f"`{min(shared)}` is on both sides of UNION ALL",
            why="where every row is a unit, a row may not become two",
            fix="one SELECT whose WHERE says both, joined by OR",
        )
    pairs = list(zip(left.bindings, right.bindings, strict=True))
    made = {names.fresh(a.name): _alike(a, b) for a, b in pairs if not _unread(a, b)}
    sides = [
        Project(source=scope.relation, named=tuple((n, both[i]) for n, both in made.items()))
        for i, scope in enumerate((left, right))
    ]
    relation = Union(left=sides[0], right=sides[1])
    columns = iter(relation.columns)
    bindings = tuple(
        Binding(
            table="",
            name=a.name,
            expression=None if _unread(a, b) else next(columns),
            person=a.person and b.person,
            unread=a.unread or b.unread,
        )
        for a, b in pairs
    )
    return Scope(relation=relation, bindings=bindings)


def private_tables(relation: Relation) -> frozenset[str]:
    """The private tables whose rows are among those of a relation."""
    match relation:
        case Scan():
            return frozenset() if relation.public else frozenset({relation.table})
        case Join() | Union():
            return private_tables(relation.left) | private_tables(relation.right)
    return private_tables(relation.source)  # type: ignore[attr-defined]


def _unread(a: Binding, b: Binding) -> bool:
    """Ids of a type that nobody stated: they tell people apart, and nothing else is asked."""
    return a.person and b.person and None in (a.expression, b.expression)


def _alike(a: Binding, b: Binding) -> tuple[Expression, Expression]:
    """Both in one kind; whole numbers beside fractions are fractions."""
    first, second = alike((a.value(), b.value()))
    if {first.kind, second.kind} == {Kind.INT, Kind.FLOAT}:
        return call("to_float", first), call("to_float", second)
    return first, second
