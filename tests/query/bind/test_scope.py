"""Which column a name stands for, which names are free, and what a scan knows of its table."""

from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.errors import UnknownName, UnsupportedQuery
from deniable.query.algebra import Column, Domain, Filter, Kind, Scan, call, literal
from deniable.query.bind.scope import _MOST_TABLES, Asking, Binding, Names, Scope


def column(name):
    return Column(name=name, domain=Domain(kind=Kind.INT))


def binding(table, name, **more):
    return Binding(table=table, name=name, expression=column(f"{table}.{name}"), **more)


SCOPE = Scope(
    relation=Scan(table="t"),
    bindings=(
        binding("people", "age"), binding("people", "Name"), binding("people", "name"),
        binding("visits", "id"), binding("Other", "id"), binding("visits", "secret", hidden=True),
        binding("visits", "AGE_2"), binding("people", "secret", hidden=True),
    ),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "table", "found"),
    [
        ("age", None, "people.age"), ("AGE", None, "people.age"), ("Name", None, "people.Name"),
        ("name", None, "people.name"), ("age_2", None, "visits.AGE_2"),
        ("id", "visits", "visits.id"),
        ("id", "VISITS", "visits.id"), ("id", "other", "Other.id"), ("ID", "Other", "Other.id"),
        ("secret", "visits", "visits.secret"), ("SECRET", "People", "people.secret"),
    ],
)  # fmt: skip
def test_a_name_is_found_exactly_else_ignoring_case(name, table, found):
    assert SCOPE.find(name, table=table).expression.name == found
    assert SCOPE.has(name, table=table)


@pytest.mark.parametrize(
    ("name", "table", "error"),
    [
        ("secret", None, UnknownName), ("height", None, UnknownName),
        ("age", "visits", UnknownName),
        ("age", "nowhere", UnknownName), ("id", None, UnsupportedQuery),
        ("NAME", None, UnsupportedQuery),
    ],
)  # fmt: skip
def test_hidden_unknown_and_ambiguous_names_are_refused(name, table, error):
    with pytest.raises(error):
        SCOPE.find(name, table=table)
    assert not SCOPE.has(name, table=table)


def test_a_column_whose_type_nobody_stated_is_refused_as_its_table_says():
    def refuse(name):
        raise UnsupportedQuery(f"the type of {name} is not known", fix="state it")

    unread = Binding(table="t", name="x", expression=None, unread=SimpleNamespace(column=refuse))
    with pytest.raises(UnsupportedQuery, match="the type of x"):
        unread.value()


def test_under_another_name_all_columns_are_shown():
    renamed = SCOPE.called("p")
    assert {b.table for b in renamed.bindings} == {"p"}
    assert not any(b.hidden for b in renamed.bindings)
    assert len(renamed.bindings) == len(SCOPE.bindings)


def test_conditions_of_one_place_are_one_filter():
    first, second = (call("gt", column("a"), literal(n)) for n in (1, 2))
    once = SCOPE.where(first)
    assert once.relation == Filter(source=SCOPE.relation, where=first)
    twice = once.where(second)
    assert isinstance(twice.relation.source, Scan)
    assert twice.relation.where == call("and", first, second)


def test_fresh_names_are_never_taken_whatever_their_case():
    names = Names()
    assert [names.fresh("a", "t.a") for _ in range(4)] == ["a", "t.a", "t.a_2", "t.a_3"]
    assert names.fresh("A") == "A_2"
    assert names.fresh("T.A_2") == "T.A_2_2"


def asking(unit, *, size=9, public=False, complete=True, facts=None, **more):
    facts = facts or {"u": dp.column("text"), "x": dp.bounds(0, 9)}
    source = SimpleNamespace(complete=complete)
    table = SimpleNamespace(
        name="T",
        zoned=frozenset(),
        columns=facts,
        public=public,
        source=source,
        size=size,
        **{"unread": ("odd",), "consent": None} | more,
    )
    return Asking(tables={"T": table, "b": table, "B": table}, unit=unit, private_keys=False), table


PERSON = dp.person("u", rows=2)


@pytest.mark.parametrize("unit", [dp.rows(), dp.rows(relation="replace"), PERSON])
@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("complete", [False, True])
def test_a_scan_knows_whose_rows_are_and_how_many_there_are(unit, public, complete):
    asked, table = asking(unit, public=public, complete=complete)
    scope = asked.scan(table, alias="z")
    scan = scope.relation
    whose = unit.column is not None and not public
    assert (scan.id is not None) == whose
    assert [b.person for b in scope.bindings] == [whose, False, False]
    assert [(b.table, b.name) for b in scope.bindings] == [("z", "u"), ("z", "x"), ("z", "odd")]
    assert [b.expression is None for b in scope.bindings] == [False, False, True]
    assert (scan.public, scan.complete) == (public, complete)
    exact = unit.sides == 2 and unit.column is None and not public
    assert scan.size == (9 if exact else None)
    if whose:
        assert (scan.id.source, scan.id.kind) == ("u", Kind.TEXT)


def test_tables_are_found_exactly_else_ignoring_case_if_one_is_meant():
    asked, table = asking(dp.rows())
    assert asked.table("T") is asked.table("t") is table
    assert asked.table("b") is asked.tables["b"]
    with pytest.raises(UnknownName):
        asked.table("c")


def test_a_name_that_two_tables_share_but_for_case_is_refused():
    tables = {"aB": 1, "Ab": 2}
    asked = Asking(tables=tables, unit=dp.rows(), private_keys=False)
    assert (asked.table("aB"), asked.table("Ab")) == (1, 2)
    with pytest.raises(UnknownName):
        asked.table("ab")


def test_a_query_reads_at_most_so_many_tables():
    asked, _ = asking(dp.rows())
    for _ in range(_MOST_TABLES):
        asked.count_table("T")
    with pytest.raises(UnsupportedQuery, match=f"at most {_MOST_TABLES} tables"):
        asked.count_table("T")


@pytest.mark.parametrize("public", [False, True])
def test_the_column_that_identifies_people_is_remembered_also_where_its_type_is_not(public):
    asked, table = asking(PERSON, public=public)
    asked.scan(table)
    assert asked.names.persons == (set() if public else {"u"})
    asked, table = asking(PERSON, public=public, facts={"x": dp.bounds(0, 9)}, unread=("u", "odd"))
    scope = asked.scan(table)
    assert asked.names.persons == set()
    assert [(b.name, b.person) for b in scope.bindings] == [
        ("x", False), ("u", not public), ("odd", False),
    ]  # fmt: skip
    if not public:
        assert (scope.relation.id.source, scope.relation.id.kind) == ("u", None)


@pytest.mark.parametrize("consent", [None, "x", "ok"])
def test_only_rows_of_those_who_agreed_are_read(consent):
    facts = {"x": dp.column("bool"), "ok": dp.column("bool"), "u": dp.column("int")}
    asked, table = asking(PERSON, facts=facts, consent=consent)
    relation = asked.scan(table).relation
    if consent is None:
        assert isinstance(relation, Scan)
    else:
        assert isinstance(relation.source, Scan)
        assert relation.where.name == consent


def test_an_alias_is_the_name_of_the_table_unless_it_is_given():
    asked, table = asking(dp.rows())
    assert {b.table for b in asked.scan(table).bindings} == {"T"}
    assert {b.table for b in asked.scan(table, alias="a").bindings} == {"a"}
