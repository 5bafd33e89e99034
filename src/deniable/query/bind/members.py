"""x IN (SELECT ...): which rows have a value that another relation holds; shared by front ends.

Two kinds are about each row's own person alone: a value among those of a public table, and a person
among those whose own rows meet a condition. Both are a LEFT JOIN in which every row of the left
stays one row and finds a mark or nothing.
"""

from __future__ import annotations

import dataclasses

from deniable import fixes
from deniable.errors import UnsupportedQuery
from deniable.query.algebra import (
    Column,
    Expression,
    Filter,
    Join,
    JoinKind,
    Kind,
    PerPerson,
    Project,
    Relation,
    call,
    conjuncts,
    literal,
)
from deniable.query.algebra.expressions import alike

from .scope import Binding, Names, Scope

OTHERS = "one person's row would affect how others count, by an unknown amount"


def members(
    scope: Scope, value: Binding | Expression, among: Scope, *, names: Names, negated: bool
) -> tuple[Scope, Expression]:
    """The rows with a mark for each, and the condition that a row's value is among the others.

    `negated`: whether the condition is false or missing matters, and so do missing values.
    """
    if len(among.bindings) != 1:
        raise UnsupportedQuery(
            "IN (SELECT ...) takes one column", fix="x IN (SELECT column FROM ...)"
        )
    other = among.bindings[0]
    if not among.relation.private:
        return _of_public(scope, value, among.relation, other, names=names, negated=negated)
    if other.person and isinstance(value, Binding) and value.person:
        own = PerPerson(source=among.relation)
        joined, mark = _marked(scope, own, (), names=names, called=other.table, same_person=True)
        return joined, call("coalesce", mark, literal(value=False))
    raise UnsupportedQuery(
        "looking up a value in a private table reads other people's rows",
        why=OTHERS,
        fix=fixes.sql(
            "the person's column on both sides, a public table, or a list: IN ('a', 'b')",
            'the person\'s column on both sides, a public table, or .isin(["a", "b"])',
        ),
    )


def _of_public(
    scope: Scope,
    value: Binding | Expression,
    relation: Relation,
    other: Binding,
    *,
    names: Names,
    negated: bool,
) -> tuple[Scope, Expression]:
    x = value.value() if isinstance(value, Binding) else value
    held = other.value()
    if negated and held.domain.nullable and not _filled(relation, held):
        raise UnsupportedQuery(
            f"NOT IN needs a column without missing values, and `{other.name}` may be missing",
            why="a comparison with a missing value is never true",
            fix=fixes.sql(
                f"add WHERE ... IS NOT NULL there, for `{other.name}`",
                f"add .drop_null([...]) there, for `{other.name}`",
            ),
        )
    x, held = alike((x, held))
    called = f"{other.table}.{other.name}" if other.table else other.name
    joined, mark = _marked(scope, relation, ((x, held),), names=names, called=called)
    there = call("coalesce", mark, literal(value=False))
    if not (negated and x.domain.nullable):  # where it is not negated, missing is as good as false
        return joined, there
    return joined, call("case", call("is_null", x), literal(None, kind=Kind.BOOL), there)


def _marked(
    scope: Scope,
    others: Relation,
    on: tuple[tuple[Expression, Expression], ...],
    *,
    names: Names,
    called: str,
    same_person: bool = False,
) -> tuple[Scope, Column]:
    mark = names.fresh(f"in {called}")
    held = [
        (made.name if isinstance(made, Column) else names.fresh(called), made) for _, made in on
    ]
    right = Project(source=others, named=(*held, (mark, literal(value=True))))
    relation = Join(
        left=scope.relation,
        right=right,
        on=tuple(
            (x, Column(name=name, domain=made.domain))
            for (x, _), (name, made) in zip(on, held, strict=True)
        ),
        kind=JoinKind.LEFT,
        same_person=same_person,
        unique=not same_person,
    )
    found = next(column for column in relation.columns if column.name == mark)
    return dataclasses.replace(scope, relation=relation), found


def _filled(relation: Relation, value: Expression) -> bool:
    """Whether rows where the value is missing were left out."""
    while isinstance(relation, Filter | Project):
        present = call("not", call("is_null", value))
        if isinstance(relation, Filter) and present in conjuncts(relation.where):
            return True
        relation = relation.source
    return False
