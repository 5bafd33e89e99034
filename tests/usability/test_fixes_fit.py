"""A fix fits the session it is for: its tables, its columns, its budget, and kinds of values."""

import datetime as dt

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import BadParameter, DeniableError, UnknownName, UnsupportedQuery

VISITS = pa.table(
    {
        "id": [1, 2, 3],
        "cost": [1.0, 2.0, 3.0],
        "days": [1, 2, 3],
        "ward": ["a", "b", "a"],
        "day": [dt.date(2024, 1, 2)] * 3,
        "at": [dt.datetime(2024, 1, 2, 3)] * 3,  # noqa: DTZ001
        "new": [True, False, True],
    }
)
PEOPLE = pa.table({"id": [1, 2, 3], "age": [20, 30, 40], "town": ["x", "y", "x"]})
FACTS = dp.Schema(
    columns={
        "cost": dp.bounds(0, 100),
        "days": dp.bounds(0, 30, type="int"),
        "ward": dp.keys(["a", "b"]),
        "day": dp.bounds(dt.date(2024, 1, 1), dt.date(2024, 1, 9), type="date"),
        "at": dp.bounds(dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 9), type="timestamp"),  # noqa: DTZ001
        "new": dp.column("bool", missing="drop"),
    }
)
TOWNS = dp.Schema(columns={"age": dp.bounds(0, 99, type="int"), "town": dp.keys(["x", "y"])})
SPEND = dp.epsilon(0.5)


def opened(name="visits", **options):
    held = {"codes": pa.table({"k": ["a"]}), name: VISITS, "people": PEOPLE}
    public = dp.Schema(columns={"k": dp.column("text")}, public=True)
    schema = dp.Schema(tables={"codes": public, name: FACTS, "people": TOWNS})
    given = {"unit": dp.person("id", rows=2), "budget": dp.epsilon(99), "schema": schema}
    return dp.open(held, **given | options)


def refusal(call):
    with pytest.raises(DeniableError) as caught:
        call()
    return caught.value


@pytest.mark.parametrize(
    ("ask", "table"),
    [
        (lambda s, **t: s.mean("age", spend=SPEND, **t), "people"),
        (lambda s, **t: s.mean("COST", spend=SPEND, **t), "visits"),
        (lambda s, **t: s.median("days", by="ward", spend=SPEND, **t), "visits"),
        (lambda s, **t: s.top_k("town", k=1, spend=SPEND, **t), "people"),
        (lambda s, **t: s.histogram("age", bins=3, spend=SPEND, **t), "people"),
        (lambda s, **t: s.crosstab("ward", "new", spend=SPEND, **t), "visits"),
        (lambda s, **t: s.count(by="town", spend=SPEND, **t), "people"),
        (lambda s, **t: s.count(by=["ward", "new"], spend=SPEND, **t), "visits"),
        (lambda s, **t: s.describe(["age"], spend=SPEND, **t), "people"),
        (lambda s, **t: s.ranges("age", bins=3, spend=SPEND, **t).release, "people"),
        (lambda s, **t: s.marginals(["ward", "new"], spend=SPEND, **t), "visits"),
    ],
)
def test_a_statistic_finds_the_one_table_that_has_its_columns(ask, table):
    s = opened()
    found, again = ask(s), ask(s, table=table)
    assert not found.free
    assert again.free
    assert again.rows() == found.rows()


def test_the_bounds_and_contributions_of_a_column_find_its_table():
    s = opened()
    assert len(s.bounds("age", spend=SPEND)) == 2
    assert "ward" in str(s.contributions(by="ward", spend=SPEND))


def test_where_several_tables_could_be_meant_the_fix_names_one_that_has_the_columns():
    s = opened()
    for ask in (
        lambda **t: s.count(spend=SPEND, **t),
        lambda **t: s.count(by=[], spend=SPEND, **t),
    ):
        error = refusal(ask)
        assert isinstance(error, BadParameter)
        assert error.fix == "table='visits'"  # not the public one, which comes first
        ask(table="visits")


def test_columns_that_no_table_has_together_are_refused_for_that():
    s = opened()
    error = refusal(lambda: s.mean("cost", by="town", spend=SPEND))
    assert isinstance(error, UnsupportedQuery)
    assert "no table has all of these columns: `cost`, `town`" in str(error)
    error = refusal(lambda: s.mean("agee", spend=SPEND))
    assert isinstance(error, UnknownName)
    assert "did you mean `age`?" in str(error)


@pytest.mark.parametrize("name", ["visits", "visits-2"])
@pytest.mark.parametrize("text", ["", " ; ", "SELECT COUNT(* FROM x", "SELECT 1", 5])
def test_an_example_is_about_a_table_that_there_is(text, name):
    s = opened(name)
    (fix,) = refusal(lambda: s.sql(text)).fixes
    query = s.sql(fix.python) if text != 5 else eval(fix.python, {"s": s})
    assert query.explain(spend=SPEND).errors


@pytest.mark.parametrize("epsilon", [0.5, 2, 3.25])
@pytest.mark.parametrize("sql", [True, False])
def test_a_delta_is_added_to_the_budget_that_there_is(epsilon, sql):
    columns = {name: FACTS[name] for name in ("cost", "days")}
    s = opened(
        schema={"visits": dp.Schema(columns=columns), "codes": dp.Schema(public=True)},
        budget=dp.epsilon(epsilon),
        unit=dp.person("id", rows=2, groups=2),
    )
    asked = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    ask = (lambda: s.sql(asked)) if sql else (lambda: s.count(by="ward", spend=SPEND))
    fix = next(each for each in refusal(ask).fixes if "small groups" in each.lead)
    assert eval(f"dict({fix.python})", {"dp": dp})["budget"] == dp.epsilon(epsilon, delta=1e-7)
    assert f"--budget {epsilon:g},1e-7" in fix.command


@pytest.mark.parametrize("column", ["cost", "days", "cost + days"])
@pytest.mark.parametrize("number", ["10", "2.5", "-3"])
def test_a_number_in_quotes_is_compared_without_them(column, number):
    s, asked = opened(), f"SELECT COUNT(*) AS n FROM visits WHERE {column} > "
    (fix,) = refusal(lambda: s.sql(f"{asked}'{number}'")).fixes
    assert (fix.python, fix.note) == (number, "without quotes")
    s.sql(asked + fix.python)


def test_numbers_are_not_to_be_converted_to_text_where_that_is_refused():
    s, asked = opened(), "SELECT COUNT(*) AS n FROM visits WHERE "
    for column, said in (("cost", "`cost` is a float"), ("days", "`days` is an int")):
        (fix,) = refusal(lambda column=column: s.sql(f"{asked}{column} > 'many'")).fixes
        assert fix.python == f"{said}: compare it with a number"
    for other in ("ward", "new"):
        fix = refusal(lambda other=other: s.sql(f"{asked}cost = {other}")).fix
        assert "CAST(x AS DOUBLE)" in fix
        s.sql(f"{asked}cost = CAST({other} AS DOUBLE)")


@pytest.mark.parametrize("column", ["cost", "days", "day", "at", "new", "id"])
def test_a_column_outside_group_by_can_be_asked_for_as_the_fix_says(column):
    s, asked = opened(), "SELECT {}, COUNT(*) AS n FROM visits GROUP BY {}"
    (fix,) = refusal(lambda: s.sql(asked.format(f"ward, {column}", "ward"))).fixes
    ways = fix.python.split(", or ")
    s.sql(asked.format(f"ward, {ways[-1]} AS a", "ward"))
    if len(ways) > 1:
        key = ways[0].removeprefix("GROUP BY ").removesuffix(", here and in GROUP BY")
        s.sql(asked.format(f"ward, {key}", f"ward, {key}"))


def test_bounds_that_are_lacking_are_said_to_be_added_to_the_schema():
    s = opened(schema={"visits": dp.Schema(), "codes": dp.Schema(public=True)})
    error = refusal(lambda: s.sql("SELECT AVG(cost) AS a FROM visits"))
    assert error.hint.endswith("and add them to the schema you have")
