# ruff: noqa: E501  (questions are shown as one would type them)
"""The invariant behind every bound: taking a person away takes their rows away and nothing else."""

import dataclasses
import datetime as dt
import functools
import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.query import reference
from tests.query.front.front_tables import ROWS, TABLES, ask

from deniable.query.algebra import Join

PRIVATE = [
    "SELECT SUM(age) FROM people WHERE sex = 'f' OR wage > 10",
    "SELECT SUM(v.cost) FROM visits v JOIN people p ON v.user_id = p.user_id AND v.stay < p.age",
    "SELECT SUM(cost) FROM visits LEFT JOIN people USING (user_id) WHERE age IS NULL OR age > 3",
    "SELECT SUM(cost) FROM visits JOIN zips USING (zip) WHERE region = 'N'",
    "SELECT SUM(big) FROM visits LEFT JOIN (SELECT zip, size + 1 AS big FROM zips) z USING (zip)",
    "SELECT SUM(a.cost) FROM visits a JOIN visits b USING (user_id) WHERE a.stay < b.stay",
    "SELECT SUM(CLAMP(s, 0, 50)) FROM (SELECT user_id, SUM(cost) AS s FROM visits GROUP BY 1) t",
    "SELECT SUM(m) FROM (SELECT user_id, zip, AVG(stay) AS m FROM visits GROUP BY ALL) t",
    "SELECT SUM(LEAST(n, 3)) FROM (SELECT user_id, COUNT(*) AS n FROM visits GROUP BY 1 HAVING MAX(cost) > 2) t",
    "SELECT COUNT(zip) FROM (SELECT DISTINCT user_id, zip FROM visits) t",
    "WITH t AS (SELECT user_id, MIN(stay) AS m FROM visits GROUP BY 1) SELECT SUM(m) FROM t JOIN people USING (user_id) WHERE sex = 'm'",
    "SELECT SUM(s) FROM visits v LEFT JOIN (SELECT user_id, age * 2 AS s, age AS a FROM people) p ON v.user_id = p.user_id AND v.stay + 0 = p.a",
]

BY_ROW = ask("SELECT SUM(cost) FROM visits JOIN zips USING (zip)", unit=ROWS)

_IDS = st.none() | st.integers(1, 3) | st.just(math.nan)
_ZIPS = st.sampled_from(["1", "2", "3", None])
_NUMBERS = st.none() | st.sampled_from([-5, 0, 1, 2, 7, 1e9, math.nan, math.inf, "x"])
_ROWS = {
    "people": {"user_id": _IDS, "age": _NUMBERS, "wage": _NUMBERS, "sex": st.sampled_from("fmx")},
    "visits": {"user_id": _IDS, "cost": _NUMBERS, "zip": _ZIPS, "stay": _NUMBERS},
    "zips": {"zip": _ZIPS, "region": st.sampled_from(["N", "S", "?"]), "size": _NUMBERS},
}
DATA = st.fixed_dictionaries(
    {name: st.lists(st.fixed_dictionaries(row), max_size=6) for name, row in _ROWS.items()}
)


@pytest.mark.parametrize("sql", PRIVATE)
@settings(max_examples=20)
@given(data=DATA, who=st.integers(1, 3))
def test_nobody_else_notices_that_a_person_is_gone(sql, data, who):
    question = _asked(sql)
    full = _own(question, data)
    rest = {
        name: [row for row in rows if TABLES[name].public or row["user_id"] != who]
        for name, rows in data.items()
    }
    assert _own(question, rest) == Counter({key: n for key, n in full.items() if key[0] != who})


@settings(max_examples=30)
@given(data=DATA, gone=st.integers(0, 5))
def test_where_rows_are_units_one_row_stays_one_row_in_a_join(data, gone):
    question = BY_ROW
    assert isinstance(question.relation, Join)
    rest = data | {"visits": [r for i, r in enumerate(data["visits"]) if i != gone]}
    full, less = (len(reference.rows_of(question.relation, each)) for each in (data, rest))
    assert 0 <= full - less <= 1


@settings(max_examples=20)
@given(data=DATA)
def test_every_argument_of_an_aggregate_is_within_its_bounds(data):
    for sql in PRIVATE:
        question = _asked(sql)
        for row in reference.rows_of(question.relation, data):
            for asked in question.aggregates:
                value = reference.evaluate(asked.argument, row)
                if value is not None and asked.argument.domain.numeric:
                    assert asked.low <= value <= asked.high


def test_the_reference_answers_as_one_would_by_hand():
    people = [
        {"user_id": 1, "age": 30, "sex": "f", "born": dt.date(1990, 5, 1)},
        {"user_id": 2, "age": 200, "sex": "m", "born": None},
        {"user_id": None, "age": 40, "sex": "f", "born": dt.date(1990, 5, 1)},
        {"user_id": 3, "age": None, "sex": "f", "born": dt.date(1991, 7, 1)},
    ]
    question = ask(
        "SELECT sex, COUNT(*) AS n, AVG(age) AS a, COUNT(DISTINCT user_id) AS p, "
        "COUNT(*) FILTER (WHERE year(born) = 1990) AS y FROM people GROUP BY ROLLUP (sex)"
    )
    found = reference.groups(question, {"people": people})
    assert found == {
        (0, ("f",)): {"n": 2, "a": 30.0, "p": 2, "y": 1},
        (0, ("m",)): {"n": 1, "a": 125.0, "p": 1, "y": 0},
        (1, ()): {"n": 3, "a": 77.5, "p": 3, "y": 1},
    }


def test_a_join_that_is_not_on_the_person_would_be_caught():
    question = ask("SELECT SUM(cost) FROM visits JOIN people USING (user_id)")
    careless = dataclasses.replace(
        question, relation=dataclasses.replace(question.relation, same_person=False)
    )
    visits = [{"user_id": 1, "cost": 1, "zip": "1", "stay": 1}]
    both = {"visits": visits, "people": [{"user_id": 1, "age": 1}, {"user_id": 2, "age": 1}]}
    one = both | {"people": both["people"][:1]}
    assert _own(question, both) == _own(question, one)
    assert _own(careless, both) != _own(careless, one)


@functools.cache
def _asked(sql):
    return ask(sql)


def _own(question, data) -> Counter:
    """How often each row occurs, with whose it is; rows of nobody do not count."""
    rows = reference.rows_of(question.relation, data)
    kept = [row for row in rows if row[question.person] is not None]
    return Counter((row[question.person], repr(sorted(row.items()))) for row in kept)
