# ruff: noqa: E501  (questions are shown as one would type them)
"""Which rows a question is about, on every engine: IN (SELECT ...), UNION ALL, RIGHT JOIN."""

import dataclasses

import pytest
from tests.query.executing import execute

import deniable as dp
from deniable.query.integers import WEIGHT, in_integers
from deniable.query.sql.select import question_from_sql

from ..reference import groups  # noqa: TID252  (the folder above has no name of its own)

PEOPLE = {
    "user_id": dp.column("int"),
    "age": dp.bounds(0, 99, type="int"),
    "city": dp.column("text"),
}
VISITS = {"user_id": dp.column("int"), "stay": dp.bounds(0, 9), "zip": dp.column("text")}
ZIPS = {"zip": dp.column("text"), "size": dp.bounds(0, 100, type="int", missing=0)}
DATA = {
    "people": [
        {"user_id": 1, "age": 20, "city": "a"},
        {"user_id": 2, "age": 40, "city": None},
        {"user_id": 3, "age": 60, "city": "b"},
        {"user_id": 4, "age": None, "city": "é"},
        {"user_id": None, "age": 50, "city": "a"},
    ],
    "visits": [
        {"user_id": 1, "stay": 1.5, "zip": "a"},
        {"user_id": 1, "stay": 9.0, "zip": "b"},
        {"user_id": 3, "stay": 0.0, "zip": None},
        {"user_id": 3, "stay": 3.0, "zip": "a"},
        {"user_id": 7, "stay": 2.0, "zip": "b"},
        {"user_id": None, "stay": 2.0, "zip": "b"},
    ],
    "zips": [
        {"zip": "a", "size": 10},
        {"zip": "a", "size": 20},
        {"zip": "é", "size": 30},
        {"zip": None, "size": 40},
    ],
}
BOTH = "SELECT user_id, age AS x, city AS c FROM people UNION ALL SELECT user_id, stay, zip FROM visits"
ASKED = [
    ("SELECT COUNT(*) AS n FROM people WHERE city IN (SELECT zip FROM zips)", 2),
    ("SELECT COUNT(*) AS n FROM visits WHERE zip IN (SELECT zip FROM zips WHERE size > 15)", 2),
    ("SELECT COUNT(*) AS n FROM people WHERE age > 30 OR city IN (SELECT zip FROM zips WHERE zip IS NOT NULL)", 4),
    ("SELECT COUNT(*) AS n FROM people WHERE age > 30 OR (age > 10 AND city IN (SELECT zip FROM zips))", 3),
    ("SELECT COUNT(*) AS n FROM people WHERE city NOT IN (SELECT zip FROM zips WHERE zip IS NOT NULL)", 1),
    ("SELECT COUNT(*) AS n FROM people WHERE (city IN (SELECT zip FROM zips WHERE zip IS NOT NULL)) IS NULL", 1),
    ("SELECT COUNT(*) AS n FROM people WHERE age IN (SELECT size * 2 FROM zips)", 3),
    ("SELECT COUNT(*) AS n FROM visits WHERE user_id IN (SELECT user_id FROM people WHERE age > 30)", 2),
    ("SELECT COUNT(*) AS n FROM people WHERE user_id NOT IN (SELECT user_id FROM visits)", 2),
    ("SELECT COUNT(*) AS n FROM people WHERE user_id IN (SELECT user_id FROM visits WHERE zip IN (SELECT zip FROM zips))", 2),
    (f"SELECT COUNT(*) AS n FROM ({BOTH}) u", 9),
    (f"SELECT SUM(CAST(COALESCE(x, 0) AS BIGINT)) AS n FROM ({BOTH}) u WHERE c IS NOT NULL", 80 + 2 + 9 + 3 + 2),
    (f"SELECT COUNT(DISTINCT user_id) AS n FROM ({BOTH}) u", 5),
    ("SELECT COUNT(*) AS n FROM visits RIGHT JOIN people USING (user_id)", 6),
    ("SELECT COUNT(stay) AS n FROM visits v RIGHT JOIN people p ON v.user_id = p.user_id AND v.zip = p.city", 1),
]  # fmt: skip


def tables(holding, **types):
    held = {
        name: holding.table(name, DATA[name], facts, types.get(name))
        for name, facts in (("people", PEOPLE), ("visits", VISITS), ("zips", ZIPS))
    }
    return held | {"zips": dataclasses.replace(held["zips"], public=True)}


def counted(sql, held, *, unit):
    question = question_from_sql(sql, tables=held, unit=unit)
    plan = in_integers(question)
    cells = execute(plan, tables=held)
    (exact,) = groups(question, DATA).values()
    tally = plan.parts["n"].count or plan.parts["n"].sum
    return int(cells.numbers[tally.name][0]), exact["n"] * tally.denominator


def test_every_engine_finds_the_rows_that_the_reference_finds(holding):
    held = tables(holding)
    for sql, wanted in ASKED:
        found, exact = counted(sql, held, unit=dp.person("user_id", rows=9))
        assert found == exact, sql
        assert exact == wanted * (1 if "DISTINCT" in sql else WEIGHT), sql


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM people JOIN visits USING (user_id)",
        "SELECT COUNT(*) AS n FROM people WHERE user_id IN (SELECT user_id FROM visits)",
        "SELECT COUNT(*) AS n FROM (SELECT age FROM people UNION ALL SELECT stay FROM visits)",
    ],
)
def test_ids_of_numbers_do_not_meet_ids_of_text(holding, sql):
    """A cast to one type could fail on a row, or make one id of two."""
    as_text = {"user_id": "text", "stay": "float", "zip": "text"}
    texts = [r | {"user_id": None if r["user_id"] is None else "x"} for r in DATA["visits"][:4]]
    held = tables(holding)
    facts = VISITS | {"user_id": dp.column("text")}
    held["visits"] = holding.table("visits", texts, facts, as_text)
    unit = dp.person("user_id", rows=9)
    with pytest.raises(dp.UnsupportedQuery):
        execute(in_integers(question_from_sql(sql, tables=held, unit=unit)), tables=held)


def test_a_person_on_both_sides_of_a_union_counts_as_one(holding):
    """Weights are of the rows after the union: five rows of person 1 and 3 weigh two each."""
    plan = in_integers(
        question_from_sql(
            f"SELECT COUNT(*) AS n FROM ({BOTH}) u",
            tables=(held := tables(holding)),
            unit=dp.person("user_id", rows=2),
        )
    )
    cells = execute(plan, tables=held)
    third = 2 * WEIGHT // 3
    assert int(cells.numbers[plan.parts["n"].count.name][0]) == 6 * third + 3 * WEIGHT


def test_where_rows_are_units_no_row_becomes_two():
    from deniable.query.algebra import Scan, Union

    people = {"people": dp.open(_arrow(), unit=dp.rows(), budget=dp.epsilon(1), name="people")}
    session = people["people"]
    twice = "SELECT COUNT(*) FROM (SELECT age FROM people UNION ALL SELECT age FROM people) t"
    with pytest.raises(dp.UnsupportedQuery, match="public tables only"):
        session.sql(twice)
    question = session.sql("SELECT COUNT(*) AS n FROM people").question
    scan = question.relation
    assert isinstance(scan, Scan)
    with pytest.raises(dp.UnsupportedQuery, match="may not become several"):
        in_integers(dataclasses.replace(question, relation=Union(left=scan, right=scan)))


def _arrow():
    import pyarrow as pa

    return pa.table({"age": [1, 2]})
