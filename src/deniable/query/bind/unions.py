"""Rows of several relations, one after the other; shared by front ends.

Every row stays its person's, and a person's rows are counted after the union: weights see all of
them. Where every row is a unit there is no such union of private tables: one row must stay one.
"""

from __future__ import annotations

from deniable import fixes
from deniable.errors import UnsupportedQuery
from deniable.query.algebra import Expression, Project, Union
from deniable.query.algebra.expressions import alike, in_floats

from .scope import Asking, Binding, Scope


def union(left: Scope, right: Scope, asking: Asking) -> Scope:
    """The rows of both, under the names of the left."""
    if len(left.bindings) != len(right.bindings):
        raise UnsupportedQuery(
            f"the sides of the union have {len(left.bindings)} and {len(right.bindings)} columns",
            fix="name the same columns on both sides: SELECT a, b ... UNION ALL SELECT a, b ...",
        )
    if left.relation.private != right.relation.private:
        raise UnsupportedQuery(
            "a union cannot mix private and public tables",
            why="rows that belong to no person would be counted",
        )
    if asking.unit.column is None and left.relation.private:
        raise UnsupportedQuery(
            "if every row is a privacy unit, a union can take public tables only",
            why="two tables may contain the same row (a view, a copy), which would count twice",
            fix=("query both, and add up the answers", fixes.person("...")),
        )
    pairs = list(zip(left.bindings, right.bindings, strict=True))
    made = {asking.names.fresh(a.name): _alike(a, b) for a, b in pairs if not _unread(a, b)}
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


def _unread(a: Binding, b: Binding) -> bool:
    """Ids of a type that nobody stated: they identify people, and are used for nothing else."""
    return a.person and b.person and None in (a.expression, b.expression)


def _alike(a: Binding, b: Binding) -> tuple[Expression, Expression]:
    """Both in one kind; whole numbers beside fractions are fractions."""
    return in_floats(*alike((a.value(), b.value())))
