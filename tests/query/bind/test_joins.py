"""Joins and IN: only a person's own rows, or public ones, may decide about a row."""

from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.errors import UnsupportedQuery
from deniable.query.algebra import (
    Column,
    Domain,
    Filter,
    Join,
    JoinKind,
    Kind,
    PerPerson,
    Read,
    Scan,
    call,
    literal,
)
from deniable.query.bind.joins import _as_columns, _both_persons, join, paired
from deniable.query.bind.members import members
from deniable.query.bind.scope import Binding, Names, Scope

PERSON, ROWS = dp.person("u", rows=3), dp.rows()


def scope(table, *columns, public=False, person=True, nullable=False):
    """A table whose first column tells people apart, unless it is public."""
    reads = []
    bindings = []
    for i, name in enumerate(columns):
        facts = dp.keys(["a", "b"]) if not nullable else dp.column("text")
        read = Read(name=f"{table}.{name}", source=name, facts=facts)
        made = Column(name=read.name, domain=Domain(kind=Kind.TEXT, nullable=nullable))
        reads.append(read)
        whose = i == 0 and person and not public
        bindings.append(Binding(table=table, name=name, expression=made, person=whose))
    whose = Read(name=f"{table} id", source=columns[0]) if person and not public else None
    relation = Scan(table=table, reads=tuple(reads), id=whose, public=public)
    return Scope(relation=relation, bindings=tuple(bindings))


def asking(unit=PERSON):
    return SimpleNamespace(unit=unit, names=Names())


def on(left, right, *places):
    return [(left.bindings[i], right.bindings[j]) for i, j in places]


MINE, ALSO, TOWNS = scope("m", "u", "k"), scope("n", "u", "k"), scope("p", "k", "r", public=True)


def test_only_what_is_computed_is_made_a_column_before_it_is_joined():
    plain = [*TOWNS.bindings, Binding(table="p", name="z", expression=None)]
    unread = Scope(relation=TOWNS.relation, bindings=tuple(plain))
    assert _as_columns(unread, [], Names()) == (unread, [])
    made = Binding(table="p", name="z", expression=literal(1))
    computed, _ = _as_columns(Scope(relation=TOWNS.relation, bindings=(*plain, made)), [], Names())
    assert isinstance(computed.bindings[-1].expression, Column)
    assert computed.relation.source is TOWNS.relation


@pytest.mark.parametrize("kind", JoinKind)
def test_two_private_tables_are_joined_person_by_person(kind):
    made = join(MINE, ALSO, asking(), on=on(MINE, ALSO, (0, 0), (1, 1)), kind=kind)
    assert made.relation.same_person
    assert not made.relation.unique
    assert len(made.relation.on) == 1
    assert [(b.table, b.name) for b in made.bindings] == [
        ("m", "u"),
        ("m", "k"),
        ("n", "u"),
        ("n", "k"),
    ]
    assert [b.person for b in made.bindings] == [True, False, kind is JoinKind.INNER, False]


@pytest.mark.parametrize("places", [[], [(1, 1)], [(0, 1)], [(1, 0)]])
def test_private_tables_are_never_joined_on_anything_else_alone(places):
    with pytest.raises(UnsupportedQuery, match="identifies people"):
        join(MINE, ALSO, asking(), on=on(MINE, ALSO, *places), kind=JoinKind.INNER)


def test_private_tables_of_rows_are_not_joined():
    with pytest.raises(UnsupportedQuery, match="every row is a privacy unit"):
        join(MINE, ALSO, asking(ROWS), on=on(MINE, ALSO, (0, 0)), kind=JoinKind.INNER)


def test_a_public_table_may_stand_first_but_not_in_a_left_join():
    given = on(TOWNS, MINE, (0, 1))
    made = join(TOWNS, MINE, asking(), on=given, kind=JoinKind.INNER)
    assert made.relation.left == MINE.relation
    assert made.relation.on == ((MINE.bindings[1].expression, TOWNS.bindings[0].expression),)
    assert [b.table for b in made.bindings] == ["p", "p", "m", "m"]
    with pytest.raises(UnsupportedQuery, match="start from the private table"):
        join(TOWNS, MINE, asking(), on=given, kind=JoinKind.LEFT)
    for kind in JoinKind:
        with pytest.raises(UnsupportedQuery, match="a query must start from the private table"):
            join(TOWNS, TOWNS, asking(), on=on(TOWNS, TOWNS, (0, 0)), kind=kind)
    with pytest.raises(UnsupportedQuery, match="needs a condition"):
        join(MINE, TOWNS, asking(), on=[], kind=JoinKind.INNER)


@pytest.mark.parametrize("unit", [ROWS, PERSON])
@pytest.mark.parametrize("kind", JoinKind)
def test_a_row_stays_one_row_where_rows_are_units(unit, kind):
    made = join(MINE, TOWNS, asking(unit), on=on(MINE, TOWNS, (1, 0)), kind=kind)
    assert made.relation.unique == (unit is ROWS)
    assert not made.relation.same_person
    right = made.bindings[2:]
    assert all(b.expression.domain.nullable == (kind is JoinKind.LEFT) for b in right)
    assert not any(b.person for b in right)


def test_what_is_computed_is_a_column_of_its_own_before_a_left_join():
    made = call("upper", TOWNS.bindings[1].expression)
    computed = Scope(
        relation=TOWNS.relation,
        bindings=(TOWNS.bindings[0], Binding(table="p", name="big", expression=made)),
    )
    joined = join(MINE, computed, asking(), on=on(MINE, computed, (1, 0)), kind=JoinKind.LEFT)
    assert isinstance(joined.bindings[3].expression, Column)
    assert joined.bindings[3].expression.domain.nullable
    names = {c.name for c in joined.relation.columns}
    assert {b.expression.name for b in joined.bindings[2:]} <= names
    assert all(pair[1].name in names for pair in joined.relation.on)


@pytest.mark.parametrize("kind", JoinKind)
def test_a_column_without_a_stated_type_stays_one_in_every_join(kind):
    unread = Binding(table="p", name="blob", expression=None)
    computed = Binding(table="p", name="big", expression=call("upper", TOWNS.bindings[1].value()))
    for others in ((), (computed,)):
        right = Scope(relation=TOWNS.relation, bindings=(*TOWNS.bindings, unread, *others))
        joined = join(MINE, right, asking(), on=on(MINE, right, (1, 0)), kind=kind)
        assert [b.name for b in joined.bindings if b.expression is None] == ["blob"]


def test_only_two_columns_that_tell_people_apart_are_both_persons():
    u, k = MINE.bindings
    assert _both_persons((u, ALSO.bindings[0]))
    for pair in ((u, k), (k, u), (k, k), (u, u.expression), (u.expression, u)):
        assert not _both_persons(pair)


def test_equalities_between_both_sides_are_told_from_other_conditions():
    found, rest = paired(
        ["l=r", "r=l", "l=l", "x=r", "l"],
        ends=lambda c: c.split("="),
        where=lambda e: {"l": "left", "r": "right"}.get(e, ""),
        side=lambda e, s: (e, s),
    )
    assert found == [(("l", "left"), ("r", "right"))] * 2
    assert rest == ["l=l", "x=r", "l"]


# ---- IN (SELECT ...)


def one(made, place):
    return Scope(relation=made.relation, bindings=(made.bindings[place],))


@pytest.mark.parametrize("negated", [False, True])
def test_a_person_may_be_among_those_whose_own_rows_meet_a_condition(negated):
    given = {"names": Names(), "negated": negated}
    made, condition = members(MINE, MINE.bindings[0], one(ALSO, 0), **given)
    assert isinstance(made.relation, Join)
    assert (made.relation.kind, made.relation.same_person) == (JoinKind.LEFT, True)
    assert not made.relation.unique
    assert isinstance(made.relation.right.source, PerPerson)
    assert not condition.domain.nullable


@pytest.mark.parametrize(("value", "place"), [(0, 1), (1, 0), (1, 1), ("expression", 0)])
def test_no_other_value_is_looked_up_in_a_private_table(value, place):
    held = MINE.bindings[0].expression if value == "expression" else MINE.bindings[value]
    with pytest.raises(UnsupportedQuery, match="other people's rows"):
        members(MINE, held, one(ALSO, place), names=Names(), negated=False)


def test_one_column_is_looked_up():
    with pytest.raises(UnsupportedQuery, match="takes one column"):
        members(MINE, MINE.bindings[1], TOWNS, names=Names(), negated=False)


SOME = scope("p", "k", public=True, nullable=True)


@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_a_value_may_be_among_those_of_a_public_table(negated, missing):
    rows = scope("m", "u", "k", nullable=missing)
    given = {"names": Names(), "negated": negated}
    made, condition = members(rows, rows.bindings[1], one(TOWNS, 0), **given)
    assert (made.relation.kind, made.relation.unique) == (JoinKind.LEFT, True)
    assert not made.relation.same_person
    assert condition.op == ("case" if negated and missing else "coalesce")
    assert made.bindings == rows.bindings


def test_nothing_is_known_not_to_be_among_what_may_be_missing():
    given = {"names": Names()}
    members(MINE, MINE.bindings[1], SOME, negated=False, **given)
    with pytest.raises(UnsupportedQuery, match="may be missing"):
        members(MINE, MINE.bindings[1], SOME, negated=True, **given)
    held = SOME.bindings[0].expression
    present = call("not", call("is_null", held))
    for where in (present, call("and", call("eq", held, literal("a")), present)):
        filtered = Scope(relation=Filter(source=SOME.relation, where=where), bindings=SOME.bindings)
        members(MINE, MINE.bindings[1], filtered, negated=True, **given)
    other = Filter(source=SOME.relation, where=call("eq", held, literal("a")))
    still = Scope(relation=other, bindings=SOME.bindings)
    with pytest.raises(UnsupportedQuery, match="may be missing"):
        members(MINE, MINE.bindings[1], still, negated=True, **given)


def test_what_is_computed_may_be_looked_up_on_either_side():
    x, held = (made.bindings[place].expression for made, place in ((MINE, 1), (TOWNS, 0)))
    given = {"names": Names(), "negated": False}
    made, _ = members(MINE, call("upper", x), one(TOWNS, 0), **given)
    assert made.relation.on == ((call("upper", x), held),)
    computed = Binding(table="p", name="big", expression=call("upper", held))
    among = Scope(relation=TOWNS.relation, bindings=(computed,))
    made, _ = members(MINE, MINE.bindings[1], among, **given)
    ((left, right),) = made.relation.on
    assert left == x
    assert dict(made.relation.right.named)[right.name] == computed.expression
    assert right.name not in {column.name for column in TOWNS.relation.columns}


def test_a_plain_column_keeps_its_name_where_it_is_looked_up():
    held = TOWNS.bindings[0].expression
    renamed = Binding(table="elsewhere", name="shown", expression=held)
    among = Scope(relation=TOWNS.relation, bindings=(renamed,))
    made, _ = members(MINE, MINE.bindings[1], among, names=Names(), negated=False)
    ((_, right),) = made.relation.on
    assert right.name == held.name
