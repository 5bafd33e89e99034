"""Commas in FROM: the same questions, and the same refusals, as the joins they stand for."""

import duckdb
import pyarrow as pa
import pytest
from tests.query.front.front_tables import ROWS, ask, asked, table

import deniable as dp
from deniable.query.sql.select import question_from_sql

JOINED = {
    "visits v, zips z WHERE (v.zip = z.zip)": "visits v JOIN zips z ON v.zip = z.zip",
    "visits v, zips z WHERE v.zip = z.zip": "visits v JOIN zips z ON v.zip = z.zip",
    "zips z, visits v WHERE z.zip = v.zip": "zips z JOIN visits v ON z.zip = v.zip",
    "visits v, people p WHERE p.user_id = v.user_id AND age > 3": (
        "visits v JOIN people p ON v.user_id = p.user_id WHERE age > 3"
    ),
    "visits v, people p WHERE age > 3 AND (v.user_id = p.user_id AND cost < 9) AND stay = 2": (
        "visits v JOIN people p ON v.user_id = p.user_id WHERE age > 3 AND cost < 9 AND stay = 2"
    ),
    "visits v, people p, zips z WHERE v.user_id = p.user_id AND z.zip = v.zip": (
        "visits v JOIN people p ON v.user_id = p.user_id JOIN zips z ON v.zip = z.zip"
    ),
    "people, visits v WHERE people.user_id = v.user_id AND sex = zip": (
        "people JOIN visits v ON people.user_id = v.user_id AND sex = zip"
    ),
    "visits v, (SELECT zip, region FROM zips) z WHERE lower(v.zip) = z.zip": (
        "visits v JOIN (SELECT zip, region FROM zips) z ON lower(v.zip) = z.zip"
    ),
    "visits v, zips z WHERE v.zip = z.zip AND v.zip IN (SELECT zip FROM zips)": (
        "visits v JOIN zips z ON v.zip = z.zip WHERE v.zip IN (SELECT zip FROM zips)"
    ),
    "visits v JOIN zips z": None,
    "visits v, zips z": None,
    "visits v, zips z WHERE v.zip = 'a' OR v.zip = z.zip": None,
    "visits v, zips z WHERE v.zip < z.zip": None,
    "visits v, zips z WHERE v.zip = v.zip": None,
}


@pytest.mark.parametrize("listed", JOINED)
def test_a_comma_is_the_join_that_its_conditions_make_it(listed):
    if JOINED[listed] is None:
        with pytest.raises(dp.UnsupportedQuery, match="no condition of WHERE links `z`") as caught:
            ask(f"SELECT COUNT(*) AS n FROM {listed}")
        assert caught.value.fix == "JOIN zips z ON v.zip = z.zip"
        assert caught.value.snippet is not None
        return
    one, other = (f"SELECT COUNT(*) AS n FROM {rows}" for rows in (listed, JOINED[listed]))
    assert asked(one) == asked(other)
    assert ask(one) == ask(other)


REFUSED_ALIKE = {
    "visits v, people p WHERE v.cost = p.wage": (
        "visits v JOIN people p ON v.cost = p.wage",
        "identifies people",
    ),
    "visits, visits WHERE visits.zip = visits.zip": (
        "visits JOIN visits ON visits.zip = visits.zip",
        "two tables are named",
    ),
}


@pytest.mark.parametrize("listed", REFUSED_ALIKE)
def test_a_comma_is_refused_for_the_reason_that_its_join_is(listed):
    joined, words = REFUSED_ALIKE[listed]
    for rows in (listed, joined):
        with pytest.raises(dp.UnsupportedQuery, match=words):
            ask(f"SELECT COUNT(*) AS n FROM {rows}")


def test_rows_as_units_are_not_joined_by_a_comma_either():
    with pytest.raises(dp.UnsupportedQuery, match="every row is a privacy unit"):
        ask("SELECT COUNT(*) FROM visits v, people p WHERE v.user_id = p.user_id", unit=ROWS)
    one = ask("SELECT COUNT(*) AS n FROM visits v, zips z WHERE v.zip = z.zip", unit=ROWS)
    assert one.relation.unique


def test_a_name_of_two_tables_links_none():
    """`zip` is of visits and of zips, whatever the comma between people and visits could mean."""
    with pytest.raises(dp.UnsupportedQuery, match="`zip` is a column of"):
        ask(
            "SELECT COUNT(*) FROM people p, visits v, zips z "
            "WHERE p.user_id = v.user_id AND v.zip = z.zip AND city = zip"
        )


def test_a_right_join_beside_a_comma_is_refused():
    with pytest.raises(dp.UnsupportedQuery, match="cannot follow a comma"):
        ask(
            "SELECT COUNT(*) FROM people p, zips z RIGHT JOIN visits v ON v.zip = z.zip "
            "WHERE p.user_id = v.user_id"
        )


def test_the_fix_names_the_column_that_tells_people_apart():
    with pytest.raises(dp.UnsupportedQuery) as caught:
        ask("SELECT COUNT(*) FROM visits, people")
    assert caught.value.fix == "JOIN people ON visits.user_id = people.user_id"


def test_odd_names_are_quoted_in_the_fix():
    odd = {"my t": table("my t", {"user id": dp.column("int"), "x": dp.bounds(0, 1)})}
    with pytest.raises(dp.UnsupportedQuery) as caught:
        question_from_sql(
            'SELECT COUNT(*) FROM "my t", "my t" AS u',
            tables=odd,
            unit=dp.person("user id", rows=2),
        )
    assert caught.value.fix == 'JOIN "my t" AS u ON "my t"."user id" = u."user id"'


def test_columns_keep_the_order_in_which_tables_are_listed():
    """UNION ALL pairs columns by place: it fails if `*` follows the order of the joins instead."""
    rows = "FROM (SELECT size FROM zips) z, (SELECT stay FROM visits) v WHERE z.size = v.stay"
    question = ask(
        f"SELECT SUM(size) AS s FROM (SELECT * {rows} UNION ALL SELECT size, stay FROM visits JOIN "
        "zips USING (zip)) u"
    )
    assert question.aggregates[0].argument.domain.high == 1e6
    assert (
        ask(question.text.replace("SUM(size)", "SUM(stay)")).aggregates[0].argument.domain.high
        == 10
    )


SAME_AS_AN_ENGINE = [
    (
        "SELECT SUM(cost + age) AS s FROM zips z, people p, visits v "
        "WHERE v.zip = z.zip AND region <> 'x' AND p.user_id = v.user_id AND age > 20"
    ),
    (
        "SELECT SUM(cost + age) AS s FROM people p, visits v JOIN zips z ON v.zip = z.zip "
        "WHERE v.user_id = p.user_id"
    ),
    (
        "SELECT SUM(cost + age) AS s FROM visits v LEFT JOIN zips z ON v.zip = z.zip, people p "
        "WHERE v.user_id = p.user_id AND region IS NULL"
    ),
    "SELECT SUM(cost) AS s FROM visits v, zips z WHERE z.zip = v.zip",
    (
        "SELECT SUM(cost) AS s FROM zips z, zips y, visits v "
        "WHERE z.region = y.region AND v.zip = z.zip"
    ),
]


@pytest.mark.parametrize("sql", SAME_AS_AN_ENGINE)
def test_the_answer_is_that_of_an_engine(sql):
    """With noise far below 1: what is left is what was counted."""
    tables = {
        "visits": pa.table(
            {"user_id": [1, 1, 2, 2, 3], "zip": ["a", "b", "a", "z", "c"], "cost": [1, 2, 3, 4, 5]}
        ),
        "zips": pa.table({"zip": ["a", "b", "d"], "region": ["N", "S", "S"]}),
        "people": pa.table({"user_id": [1, 2, 4], "age": [30, 40, 50]}),
    }
    schema = {
        "visits": dp.Schema(columns={"cost": dp.bounds(0, 10, type="int")}),
        "zips": dp.Schema(public=True),
        "people": dp.Schema(columns={"age": dp.bounds(0, 99, type="int")}),
    }
    with duckdb.connect() as engine:
        for name, table in tables.items():
            engine.register(name, table)
        (expected,) = engine.execute(sql).fetchone()
    unit = dp.person("user_id", rows=4)
    s = dp.open(tables, unit=unit, schema=dp.Schema(tables=schema), budget=dp.epsilon(1e12))
    assert round(s.sql(sql).release(spend=dp.epsilon(1e12)).value) == expected


def test_a_slip_in_a_name_is_what_is_told():
    with pytest.raises(dp.errors.UnknownName, match="zap"):
        ask("SELECT COUNT(*) FROM visits v, zips z WHERE v.zap = z.zip")
