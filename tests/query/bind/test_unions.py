"""Rows of two relations in one: whose they are, which may follow one another, and in which kind."""

from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.errors import UnsupportedQuery
from deniable.query.algebra import Kind, Read, Scan, call
from deniable.query.bind.scope import Binding, Names, Scope
from deniable.query.bind.unions import union

PERSON, ROWS = dp.person("u", rows=3), dp.rows()
INT, REAL, TEXT = dp.bounds(0, 9, type="int"), dp.bounds(0.0, 9.0), dp.keys(["a", "b"])


def scope(table, facts, *, public=False, unread=None, persons=(0,)):
    """Columns with these facts; one without is of a type that nobody stated."""
    reads = [
        None if each is None else Read(name=f"{table}{i}", source=f"c{i}", facts=each)
        for i, each in enumerate(facts)
    ]
    bindings = tuple(
        Binding(
            table=table,
            name=f"c{i}",
            expression=None if read is None else read.column,
            person=i in persons and not public,
            unread=unread if read is None else None,
        )
        for i, read in enumerate(reads)
    )
    whose = None if public else Read(name=f"{table} id", source="c0")
    read = tuple(each for each in reads if each is not None)
    return Scope(relation=Scan(table=table, reads=read, id=whose, public=public), bindings=bindings)


def made(left, right, unit=PERSON):
    return union(left, right, SimpleNamespace(unit=unit, names=Names()))


def test_both_sides_have_as_many_columns():
    for fewer, more in (((INT,), (INT, INT)), ((INT, INT), (INT,))):
        with pytest.raises(UnsupportedQuery, match=f"{len(fewer)} and {len(more)} columns"):
            made(scope("a", fewer), scope("b", more))


def test_private_rows_are_never_beside_public_ones():
    private, public = scope("a", [INT]), scope("b", [INT], public=True)
    for left, right in ((private, public), (public, private)):
        with pytest.raises(UnsupportedQuery, match="mix private and public"):
            made(left, right)


@pytest.mark.parametrize("unit", [ROWS, PERSON])
@pytest.mark.parametrize("public", [False, True])
def test_where_rows_are_units_only_public_tables_follow_one_another(unit, public):
    sides = [scope(name, [TEXT], public=public) for name in "ab"]
    if unit is ROWS and not public:
        with pytest.raises(UnsupportedQuery, match="public tables only"):
            made(*sides, unit)
    else:
        assert made(*sides, unit).relation.private == (not public)


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [(INT, INT, Kind.INT), (REAL, REAL, Kind.FLOAT), (INT, REAL, Kind.FLOAT),
     (REAL, INT, Kind.FLOAT), (TEXT, TEXT, Kind.TEXT)],
)  # fmt: skip
def test_whole_numbers_beside_fractions_are_fractions(left, right, kind):
    first, second = scope("a", [left]), scope("b", [right])
    found = made(first, second)
    (binding,) = found.bindings
    assert binding.expression.kind is kind
    for side, own, facts in zip(
        (found.relation.left, found.relation.right), (first, second), (left, right), strict=True
    ):
        ((_, value),) = side.named
        plain = own.bindings[0].expression
        mixed = left is not right
        assert value == (call("to_float", plain) if mixed else plain)
        assert facts.type == plain.kind.value


def test_other_kinds_are_not_mixed():
    with pytest.raises(UnsupportedQuery, match="cannot be combined"):
        made(scope("a", [INT]), scope("b", [TEXT]))


@pytest.mark.parametrize("persons", [((0,), (0,)), ((0,), ()), ((), (0,)), ((), ())])
def test_a_column_identifies_people_if_it_does_so_on_both_sides(persons):
    sides = [scope(name, [INT, REAL], persons=who) for name, who in zip("ab", persons, strict=True)]
    found = made(*sides)
    assert [b.person for b in found.bindings] == [persons == ((0,), (0,)), False]
    assert [b.name for b in found.bindings] == ["c0", "c1"]
    assert [b.expression for b in found.bindings] == list(found.relation.columns)


@pytest.mark.parametrize("facts", [(None, None), (None, INT), (INT, None)])
def test_ids_of_a_type_that_nobody_stated_are_not_read(facts):
    unread = SimpleNamespace(name="t")
    sides = [
        scope(name, [each, REAL], unread=unread) for name, each in zip("ab", facts, strict=True)
    ]
    found = made(*sides)
    first, second = found.bindings
    assert (first.expression, first.person, first.unread) == (None, True, unread)
    assert (second.expression,) == found.relation.columns
    assert (second.person, second.unread) == (False, None)


def test_other_columns_of_a_type_that_nobody_stated_are_refused():
    def column(name):
        raise LookupError(name)

    unread = SimpleNamespace(name="t", column=column)
    for persons in ((), (0,)):
        sides = scope("a", [None], unread=unread, persons=persons), scope("b", [INT], persons=())
        with pytest.raises(LookupError, match="c0"):
            made(*sides)
