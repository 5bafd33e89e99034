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
