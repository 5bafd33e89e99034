"""A stored answer is given again to the same question only."""

import pandas as pd
import pytest

import deniable as dp

ROWS = pd.DataFrame({"city": ["a"] * 10 + ["y"] * 5 + ["z"] * 7})


def asked(ledger, cities):
    schema = dp.Schema(columns={"city": dp.keys(cities)})
    with dp.open(
        ROWS, unit=dp.rows(), budget=dp.epsilon(1e9), schema=schema, ledger=ledger
    ) as session:
        query = session.sql("SELECT city, COUNT(*) AS n FROM data GROUP BY city")
        return query.release(spend=dp.epsilon(1e6))


@pytest.mark.parametrize("extra", [1, 5, 60])
def test_lists_of_keys_that_look_alike_in_words_are_two_questions(tmp_path, extra):
    ledger = tmp_path / "ledger.db"
    alike = ["a", "b", "c", *(f"d{i}" for i in range(extra))]
    first, second = (asked(ledger, [*alike, last]) for last in ("y", "z"))
    assert not second.free
    assert first.keys["city"][-1] == "y"
    assert (second.keys["city"][-1], second.answers["n"].cells[-1]) == ("z", 7)
    assert asked(ledger, [*alike, "y"]).free


def test_columns_come_back_in_the_order_in_which_they_were_asked_for(tmp_path):
    sql = "SELECT city AS z, city AS a, COUNT(*) AS n, COUNT(*) + 1 AS m FROM data GROUP BY city"
    schema = dp.Schema(columns={"city": dp.keys(["a", "y"])})
    with dp.open(
        ROWS, unit=dp.rows(), budget=dp.epsilon(1), schema=schema, ledger=tmp_path / "ledger.db"
    ) as session:
        first, again = (session.sql(sql).release(spend=dp.epsilon(0.5)) for _ in range(2))
    assert again.free
    assert list(again.rows()[0]) == list(first.rows()[0])
    assert [*again.keys, *again.answers] == ["z", "a", "n", "m"]


def test_the_ledger_shows_what_the_analyst_wrote():
    schema = dp.Schema(columns={"city": dp.keys(["a", "y"])})
    with dp.open(ROWS, unit=dp.rows(), budget=dp.epsilon(1), schema=schema) as session:
        session.sql("SELECT COUNT(*) FROM data").release(spend=dp.epsilon(0.5))
        (charge, *_) = session.ledger.entries
    assert charge.what == "SELECT COUNT(*) FROM data"


FIRST = "SELECT COUNT(*) AS n FROM data WHERE x >= 1 AND x <= 3"


@pytest.mark.parametrize(
    ("spelling", "free"),
    [
        ("select  count(*)  as n\nfrom data -- all\nwhere x >= 1 and x <= 3", True),
        ("SELECT COUNT(*) AS n FROM data AS d WHERE d.x >= 1 AND d.x <= 3", True),
        ("SELECT COUNT(*) AS n FROM data WHERE x BETWEEN 1 AND 3", True),
        ("SELECT COUNT(*) AS n FROM data WHERE x <= 3 AND x >= 1", False),
        ("SELECT COUNT(*) AS n FROM data WHERE 1 <= x AND x <= 3", False),
        ("SELECT COUNT(*) AS n FROM data WHERE x >= 1.0 AND x <= 3", False),
        ("SELECT COUNT(*) AS m FROM data WHERE x >= 1 AND x <= 3", False),
    ],
)
def test_the_guide_says_which_spellings_are_one_query(spelling, free):
    schema = dp.Schema(columns={"x": dp.bounds(0, 9, missing=0.0)})
    rows = pd.DataFrame({"x": [1.0, 2.0]})
    session = dp.open(rows, unit=dp.rows(), budget=dp.epsilon(9), schema=schema)
    session.sql(FIRST).release(spend=dp.epsilon(1))
    assert bool(session.sql(spelling).release(spend=dp.epsilon(1)).free) is free
