"""A CASE without ELSE is missing elsewhere: its bounds are those of what it does give."""

import pyarrow as pa
import pytest

import deniable as dp

TABLE = pa.table({"age": [10, 20, 30, 40] * 250, "sex": ["f", "m"] * 500})
SCHEMA = dp.Schema(columns={"age": dp.bounds(0, 50, type="int"), "sex": dp.keys(["f", "m"])})


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("SUM(CASE WHEN sex = 'm' THEN age END)", 15_000),
        ("SUM(CASE WHEN sex = 'm' THEN age ELSE NULL END)", 15_000),
        ("SUM(CASE WHEN sex = 'm' THEN age WHEN sex = 'f' THEN -age END)", 5_000),
        ("AVG(CASE WHEN sex = 'f' THEN age END)", 20),
    ],
)
def test_it_can_be_added_up(text, truth):
    s = dp.open(TABLE, unit=dp.rows(), budget=dp.epsilon(2000.0), schema=SCHEMA)
    release = s.sql(f"SELECT {text} AS x FROM data").release(spend=dp.epsilon(1000.0))
    assert release.value == pytest.approx(truth, abs=2)
