"""How many groups an answer may have: what is collected has an end, what is asked hardly any."""

import pandas as pd
import pytest

import deniable as dp
from deniable.errors import UnsupportedQuery


def test_more_groups_than_can_be_collected_are_refused_before_the_charge():
    columns = {name: dp.keys(range(3000)) for name in ("a", "b")}
    frame = pd.DataFrame({"a": [1], "b": [2]})
    with dp.open(
        frame, unit=dp.rows(), budget=dp.epsilon(1.0), schema=dp.Schema(columns=columns)
    ) as session:
        query = session.sql("SELECT a, b, COUNT(*) AS n FROM data GROUP BY a, b")
        assert query.explain(spend=dp.epsilon(0.1)).errors["n"] == 30
        with pytest.raises(UnsupportedQuery, match="9,000,000 groups") as told:
            query.release(spend=dp.epsilon(0.1))
        assert "release_to" in told.value.fix
        assert session.spent == dp.epsilon(0.0)


def test_more_groups_than_can_be_written_are_no_question():
    columns = {name: dp.keys(range(3000)) for name in ("a", "b", "c", "d")}
    frame = pd.DataFrame({name: [1] for name in columns})
    with (
        dp.open(
            frame, unit=dp.rows(), budget=dp.epsilon(1.0), schema=dp.Schema(columns=columns)
        ) as session,
        pytest.raises(UnsupportedQuery, match="the limit is"),
    ):
        session.sql("SELECT a, b, c, d, COUNT(*) AS n FROM data GROUP BY a, b, c, d")
