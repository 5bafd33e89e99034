"""set and check: what is known, said a column at a time, and what is still to be said."""

import shlex
from pathlib import Path

import pytest

import deniable as dp


@pytest.fixture
def known(people, say):
    say("init", "people.parquet", "--unit", "user_id", "--rows", "2")
    return lambda column: dp.Schema.from_toml("people.toml")[column]


def test_bounds_are_in_the_columns_own_type(known, say):
    say("set", "people.age", "--bounds", "-0", "1.25e2")
    say("set", "people.income", "--bounds", "-10", "2e5")
    assert known("age") == dp.bounds(0, 125, type="int")
    assert known("income") == dp.bounds(-10, 200_000)


def test_keys_are_split_at_commas_and_quotes_keep_them(known, say):
    say("set", "people.city", "--keys", 'Oslo,"Bergen, west"', "--keys", "Bodø")
    assert known("city") == dp.keys(["Oslo", "Bergen, west", "Bodø"])


def test_what_missing_values_count_as_is_kept_when_bounds_change(known, say):
    say("set", "people.age", "--bounds", "0", "125", "--missing", "40")
    say("set", "people.age", "--bounds", "0", "100")
    assert known("age") == dp.bounds(0, 100, type="int", missing=40)
    say("set", "people.age", "--missing", "drop")
    assert known("age").missing == "drop"


def test_zero_is_a_value_like_any_other(known, say):
    say("set", "people.age", "--keys", "0,1", "--missing", "0")
    assert known("age") == dp.keys([0, 1], missing=0)


def test_another_type_can_be_said(known, say):
    say("set", "people.city", "--type", "date")
    say("set", "people.city", "--bounds", "2020-01-01", "2021-01-01")
    assert known("city").type == "date"


def test_the_size_is_said_of_the_table(known, say, read):
    assert read("set", "people", "--size", "2000")["facts"] == {"size": 2000}
    assert dp.Schema.from_toml("people.toml").size == 2000


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["people.incom", "--bounds", "0", "1"], "DP320"),
        (["persons.income", "--bounds", "0", "1"], "DP320"),
        (["people.age", "--bounds", "9", "1"], "DP111"),
        (["people.age", "--bounds", "low", "high"], "DP111"),
        (["people.age", "--bounds", "0", "0.5"], "DP111"),
        (["people.age", "--bounds", "0", "inf"], "DP111"),
        (["people.age", "--bounds", "0", "nan"], "DP111"),
        (["people.age"], "DP111"),
        (["people.", "--bounds", "0", "1"], "DP111"),
        (["people", "--bounds", "0", "1"], "DP111"),
        (["people.city", "--bounds", "a", "b"], "DP111"),
        (["people.age", "--bounds", "0", "1", "--keys", "a"], "DP111"),
        (["people.age", "--size", "3"], "DP111"),
    ],
)
def test_what_cannot_be_is_refused_and_the_file_stays(known, say, arguments, code):
    before = Path("people.toml").read_text()
    assert say("set", *arguments, code=1).stderr.startswith(f"error[{code}]")
    assert Path("people.toml").read_text() == before


def test_check_lists_what_is_still_to_be_said_with_its_fix(known, say, read):
    codes = {w["target"]: w["code"] for w in read("check")["warnings"]}
    assert codes == {"people.age": "DP102", "people.income": "DP102", "people.city": "DP301"}
    said = say("check").stdout
    assert "fix:  one of these\n        deniable set people.age --bounds 0 100\n" in said
    assert "fix:  deniable set people.city --keys A,B,C\n" in said + "\n"


def test_check_is_silent_when_all_is_said(known, say, read):
    say("set", "people.age", "--bounds", "0", "125")
    say("set", "people.income", "--bounds", "0", "50000")
    say("set", "people.city", "--keys", "Oslo,Bergen")
    assert read("check")["warnings"] == []
    assert "nothing is missing" in say("check").stdout


def test_the_fixes_that_check_names_are_commands_that_work(known, say, read):
    for warning in read("check")["warnings"]:
        words = shlex.split(warning["fix"].splitlines()[0])
        say(*words[1:])
    assert read("check")["warnings"] == []


def test_a_schema_that_no_longer_fits_the_data_is_refused(known, say):
    text = Path("people.toml").read_text().replace("[columns.age]", "[columns.years]")
    Path("people.toml").write_text(text)
    assert "error[DP320]" in say("check", code=1).stderr


def test_toml_that_is_none_is_refused(folder, say):
    Path("people.toml").write_text("columns = [")
    assert "error[DP111]" in say("check", "--schema", "people.toml", code=1).stderr


@pytest.mark.parametrize(
    ("word", "type_"), [("datetime", "timestamp"), ("VARCHAR", "text"), ("double", "float")]
)
def test_types_of_other_tools_are_understood(known, say, word, type_):
    say("set", "people.city", "--type", word)
    assert known("city").type == type_


def test_what_a_new_fact_replaces_is_said(known, say):
    assert "replaces" not in say("set", "people.city", "--keys", "Oslo,Bergen").stdout
    said = say("set", "people.city", "--type", "int", "--bounds", "0", "100").stdout
    assert "(replaces keys(['Oslo', 'Bergen']))" in said
    assert "replaces" not in say("set", "people.city", "--bounds", "0", "100").stdout


@pytest.mark.parametrize("ends", [("0", "10"), ("-5", "5"), ("2020-01-01", "2021-01-01")])
def test_what_is_text_in_its_file_gets_bounds_only_with_a_type(known, say, ends):
    say("set", "people.city", "--keys", "Oslo,Bergen")
    refused = say("set", "people.city", "--bounds", *ends, code=1).stderr
    assert "people.city is text in its file, and text has no bounds" in refused
    assert known("city") == dp.keys(["Oslo", "Bergen"])
    fix = next(line for line in refused.splitlines() if "--type" in line)
    say("set", "people.city", "--bounds", *ends, *fix.split()[:2])
    assert known("city").low is not None


def test_the_columns_of_a_csv_get_the_type_that_bounds_suggest(folder, say):
    Path("visits.csv").write_text("who,cost\n1,2\n")
    say("init", "visits.csv", "--unit", "row", "--header")
    say("set", "visits.cost", "--bounds", "0", "10")
    assert dp.Schema.from_toml("visits.toml")["cost"].type == "float"


def test_a_column_that_got_bounds_can_get_a_list_of_texts(known, say):
    say("set", "people.city", "--type", "float", "--bounds", "0", "10")
    assert "fix:  --type text " in say("set", "people.city", "--keys", "Oslo,Bodø", code=1).stderr
    say("set", "people.city", "--keys", "Oslo,Bodø", "--type", "text")
    assert known("city") == dp.keys(["Oslo", "Bodø"])
