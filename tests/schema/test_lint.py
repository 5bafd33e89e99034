"""Lint finds what is missing or dangerous, from the schema alone, and proposes what mends it."""

import pytest

import deniable as dp
from deniable.schema.lint import lint
from deniable.schema.typed import stated

PERSON = dp.person("id", rows=5)


def found(**columns):
    return lint(dp.Schema(columns=columns), unit=PERSON)


@pytest.mark.parametrize(
    ("column", "danger", "code"),
    [
        (dp.column("int"), False, "DP102"),
        (dp.column("float"), False, "DP102"),
        (dp.column("text"), False, "DP301"),
        (dp.column("date"), False, "DP301"),
        (dp.column("timestamp"), False, "DP301"),
        (dp.bounds(17.23, 90.351), True, "DP102"),
        (dp.bounds(-1e12, 1e12), False, "DP102"),
    ],
)
def test_each_fault_is_found_and_its_fix_mends_it(column, danger, code):
    (finding,) = found(x=column)
    assert (finding.danger, finding.code) == (danger, code)
    for fix in finding.fixes:
        typed = dict(fix.fields)
        mended = stated(
            typed.get("type", column.type),
            low=typed.get("low", ""),
            high=typed.get("high", ""),
            listed=typed.get("keys", "").split(),
        )
        assert not found(x=mended)


@pytest.mark.parametrize(
    "column",
    [
        dp.bounds(0, 125),
        dp.bounds(-40, 3.25e4),
        dp.bounds(0.001, 0.999),
        dp.keys(["a"]),
        dp.column("bool"),
        dp.bounds("2020-01-01", "2025-01-01", type="timestamp"),
    ],
)
def test_nothing_is_found_in_plausible_facts(column):
    assert not found(x=column)


@pytest.mark.parametrize(
    ("low", "high"), [(17.23, 90.351), (-3.14159, -2.71828), (1234567, 7654321)]
)
def test_rounded_bounds_contain_the_bounds(low, high):
    (finding, *_) = found(x=dp.bounds(low, high))
    fields = finding.fixes[0].fields
    assert float(fields["low"]) <= low < high <= float(fields["high"])


def test_a_published_list_of_people_is_dangerous():
    (finding,) = found(id=dp.keys([1, 2, 3]))
    assert finding.danger
    assert "who is there" in finding.what


def test_an_exact_size_is_dangerous_only_where_the_number_of_people_is_private():
    schema = dp.Schema(columns={"x": dp.bounds(0, 1)}, size=48_842)
    (finding,) = lint(schema, unit=PERSON)
    assert finding.fixes[0].fields == {"size": "48800"}
    assert not lint(schema, unit=dp.person("id", rows=5, relation="replace"))
    assert not lint(dp.Schema(columns={"x": dp.column("text")}, public=True), unit=PERSON)


def test_text_of_a_csv_may_be_a_number_or_a_date():
    schema = dp.Schema(columns={"day": dp.column("text")})
    (finding,) = lint(schema, unit=PERSON, typed=False)
    assert "if it is a number or a date, state its bounds" in finding.what
    assert "--type date --bounds 2000-01-01 2030-01-01" in [f.command for f in finding.fixes]


@pytest.mark.parametrize(
    ("low", "high", "wide"),
    [(-1e9, 1e9, False), (-1e10, 5, True), (-5, 1e10, True), (2, 1.01e9, True), (0, 1e9, False)],
)
def test_bounds_are_wide_if_either_end_is_beyond_a_thousand_million(low, high, wide):
    assert [each.danger for each in found(x=dp.bounds(low, high))] == [False] * wide


@pytest.mark.parametrize(("rows", "many"), [(1, False), (1000, False), (1001, True)])
def test_a_person_of_more_than_a_thousand_rows_is_told_the_noise(rows, many):
    schema = dp.Schema(columns={"x": dp.bounds(0, 1)})
    said = [each.what for each in lint(schema, unit=dp.person("id", rows=rows))]
    assert len(said) == many
    assert all("± 3,003" in each for each in said)
    assert not lint(schema, unit=None)


def test_dangerous_facts_come_first():
    columns = {"a": dp.column("int"), "b": dp.bounds(17.23, 90.0), "id": dp.keys([1, 2])}
    schema = dp.Schema(columns=columns, size=48_842)
    dangers = [each.danger for each in lint(schema, unit=dp.person("id", rows=5000))]
    assert dangers == [True, True, True, False, False]


def test_text_with_a_type_of_its_own_is_no_number():
    (finding,) = found(x=dp.column("text"))
    assert [fix.command for fix in finding.fixes] == ["--keys A,B,C"]
