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
