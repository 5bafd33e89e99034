"""What is known of a table from public facts: types, names, consent, and whose its rows are."""

from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.errors import MissingUnit, UnknownName
from deniable.session.tables import (
    TableOutline,
    check_names,
    check_unit,
    connecting,
    described,
    no_file,
    type_of,
)

PLACE = SimpleNamespace(complete=True)


@pytest.mark.parametrize(
    ("spelling", "kind"),
    [
        ("BIGINT", "int"), ("UTINYINT", "int"), ("int8", "int"), ("!Int64", "int"),
        ("double[pyarrow]", "float"), ("DECIMAL(9,2)", "float"), ("VARCHAR(9)", "text"),
        ("large_string", "text"), ("dictionary<values=string, indices=int8>", "text"),
        ("boolean", "bool"), ("date32[day]", "date"), ("timestamp[us, tz=UTC]", "timestamp"),
        ("INTEGER[]", None), ("text[]", None), ("timestamp<x>", None), ("BLOB", None),
        ("dictionary<values=int64, indices=int8>", None), ("", None),
    ],
)  # fmt: skip
def test_engines_spell_types_in_many_ways(spelling, kind):
    assert type_of(spelling) == kind


def test_columns_have_names_that_differ_in_more_than_case():
    assert check_names(["b", "A"], table="t") == ["b", "A"]
    for names, said in (
        ([], "has no columns"), ([1], "names that are text"), ([""], "names that are text"),
        (["a", "b", "A"], "two columns named `a` and `A`"),
    ):  # fmt: skip
        with pytest.raises(dp.BadParameter, match=said):
            check_names(names, table="t")


def outline(types, **more):
    return TableOutline(name="visits", types=types, source=PLACE, **more)


def test_the_word_of_the_schema_on_a_type_is_final_and_what_nobody_states_is_unread():
    found = outline({"age": "int", "city": None, "x": None}, likely={"x": "date"})
    facts = dp.Schema(columns={"city": dp.column("text")}, size=9, public=True)
    table = described(found, facts)
    assert {name: column.type for name, column in table.columns.items()} == {
        "age": "int", "city": "text",
    }  # fmt: skip
    assert (table.unread, table.size, table.public) == (("x",), 9, True)
    assert table.column("age").type == "int"
    with pytest.raises(dp.BadParameter, match="the type of `x` in `visits` is unknown") as unknown:
        table.column("x")
    assert unknown.value.fixes[0].command.endswith("--type date")
    with pytest.raises(UnknownName, match="`ages`"):
        table.column("ages")
    plain = described(found, None)
    assert (plain.unread, plain.public, plain.size) == (("city", "x"), False, None)
    with pytest.raises(dp.BadParameter) as unread:
        plain.column("city")
    assert unread.value.fixes[0].command.endswith("--type text")


def test_what_cannot_be_read_or_is_not_there_is_refused():
    found = outline({"age": "int", "list": None}, refused={"list": "INTEGER[]"})
    with pytest.raises(UnknownName, match="`city`"):
        described(found, dp.Schema(columns={"city": dp.column("text")}))
    with pytest.raises(dp.BadParameter, match="lists and structs"):
        described(found, dp.Schema(columns={"list": dp.column("text")}))
    table = described(found, None)
    with pytest.raises(dp.BadParameter, match="lists and structs"):
        table.column("list")


@pytest.mark.parametrize(
    ("kind", "fine"),
    [("bool", True), ("text", True), (None, True), ("int", False), ("float", False)],
)
def test_consent_is_a_truth_value_and_not_a_code(kind, fine):
    facts = dp.Schema(columns={"agreed": dp.column("bool")}, consent="agreed")
    if fine:
        assert described(outline({"agreed": kind}), facts).consent == "agreed"
    else:
        with pytest.raises(dp.BadParameter, match=f"states consent and is stored as {kind}"):
            described(outline({"agreed": kind}), facts)


def tables(**columns):
    outlines = {name: outline(dict.fromkeys(each, "int")) for name, each in columns.items()}
    return {name: described(each, None) for name, each in outlines.items()}


def test_every_private_table_says_whose_its_rows_are():
    person = dp.person("patient", rows=2)
    check_unit(person, tables(visits=["patient", "age"]))
    check_unit(dp.rows(), tables(visits=["age"]))
    unread = {"visits": described(outline({"patient": None}), None)}
    check_unit(person, unread)
    public = described(outline({"age": "int"}), dp.Schema(public=True))
    check_unit(person, {"visits": public})
    with pytest.raises(MissingUnit, match="`visits` has no column `patient`"):
        check_unit(person, tables(visits=["age"]))


def fixes(unit, made):
    with pytest.raises(MissingUnit) as refused:
        check_unit(unit, made)
    return str(refused.value)


def test_another_column_is_proposed_only_as_another_spelling_that_all_private_tables_have():
    person = dp.person("patient", rows=2)
    assert 'dp.person("Patients", rows=2)' in fixes(person, tables(visits=["Patients", "age"]))
    assert "parent" not in fixes(person, tables(visits=["parent"])).partition("hint")[0]
    both = tables(visits=["patients", "age"], homes=["patients"])
    assert 'dp.person("patients", rows=2)' in fixes(person, both)
    some = tables(visits=["patients"], homes=["size"])
    assert 'dp.person("patients"' not in fixes(person, some)
    assert "leave `visits` out of the source" in fixes(person, some)


def test_a_file_without_types_has_the_columns_that_its_schema_lists():
    csv = TableOutline(name="visits", types={"age": "int"}, source=SimpleNamespace(complete=False))
    with pytest.raises(MissingUnit, match="the schema of `visits` does not list `id`"):
        check_unit(dp.person("id", rows=1), {"visits": described(csv, None)})


def test_a_file_that_is_not_there_is_told_with_the_nearest_one(tmp_path):
    (tmp_path / "visits.csv").touch()
    near = no_file(tmp_path / "visit.csv")
    assert "did you mean `visits.csv`?" in str(near)
    assert str(tmp_path / "visits.csv") in near.fix
    assert "did you mean" not in str(no_file(tmp_path / "other.parquet"))
    assert "duckdb.connect" in no_file(tmp_path / "held.duckdb").fix
    assert "there is no folder" in str(no_file(tmp_path / "none" / "visits.csv"))


@pytest.mark.parametrize(
    ("path", "known"), [("a.duckdb", True), ("a.DDB", True), ("a.db", True), ("a.csv", False)]
)
def test_a_database_is_opened_by_its_connection(path, known):
    assert bool(connecting(path)) == known
