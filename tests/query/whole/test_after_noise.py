"""Groupings told apart, orders, and quantiles of moments, with hardly any noise."""

import datetime as dt

import pyarrow as pa
import pytest

import deniable as dp

START = dt.datetime.fromisoformat("2024-01-01")
SEEN = [START + dt.timedelta(hours=7 * i, seconds=i) for i in range(1001)]
HELD = pa.table(
    {
        "k": ["a", "b", "b"] * 333 + ["a", "b"],
        "b": [True, False, None] * 333 + [True, True],
        "seen": pa.array(SEEN, pa.timestamp("us")),
        "day": [t.date() for t in SEEN],
    }
)
SCHEMA = dp.Schema(
    columns={
        "k": dp.keys(["a", "b"]),
        "b": dp.column("bool"),
        "seen": dp.bounds(START, START + dt.timedelta(days=366), type="timestamp", missing="drop"),
        "day": dp.bounds(START.date(), dt.date(2024, 12, 31), type="date", missing="drop"),
    }
)


@pytest.fixture(scope="module")
def session():
    return dp.open(HELD, unit=dp.rows(), budget=dp.epsilon(1e9), schema=SCHEMA, name="t")


def rows(session, sql):
    found = session.sql(sql).release(spend=dp.epsilon(1e5)).rows()
    return [{k: v for k, v in row.items() if not k.endswith("_error")} for row in found]


def test_grouping_tells_which_keys_were_left_out(session):
    found = rows(
        session,
        "SELECT k, b, GROUPING(k, b) AS g, GROUPING(b) AS h, COUNT(*) AS n FROM t"
        " GROUP BY ROLLUP (k, b) HAVING GROUPING(k) = 1 OR GROUPING_ID(b) = 1 ORDER BY g DESC, k",
    )
    assert [(r["k"], r["b"], r["g"], r["h"]) for r in found] == [
        (None, None, 3, 1),
        ("a", None, 1, 1),
        ("b", None, 1, 1),
    ]
    assert [r["n"] for r in found] == [1001, 334, 667]


def test_missing_values_come_first_where_that_is_asked(session):
    sql = "SELECT k, COUNT(*) AS n FROM t GROUP BY CUBE (k) ORDER BY k"
    assert [r["k"] for r in rows(session, f"{sql} DESC NULLS FIRST")] == [None, "b", "a"]
    assert [r["k"] for r in rows(session, f"{sql} NULLS LAST")] == ["a", "b", None]
    assert [r["k"] for r in rows(session, "SELECT k, COUNT(*) AS n FROM t GROUP BY k ORDER BY ALL DESC")] == ["b", "a"]  # fmt: skip  # noqa: E501


def test_moments_have_quantiles(session):
    (found,) = rows(
        session,
        "SELECT MEDIAN(seen) AS m, QUANTILE(day, 0.9) AS d FROM t",
    )
    assert abs(found["m"] - SEEN[500]) < dt.timedelta(hours=8)
    assert abs(found["d"] - SEEN[900].date()) <= dt.timedelta(days=1)
    (ends,) = rows(session, "SELECT MIN(seen) AS a, MAX(seen) AS b FROM t")
    assert abs(ends["a"] - SEEN[0]) < dt.timedelta(hours=8)
    assert abs(ends["b"] - SEEN[-1]) < dt.timedelta(hours=8)


def test_hours_are_added_to_timestamps(session):
    (found,) = rows(
        session,
        "SELECT COUNT(*) AS n FROM t WHERE seen + INTERVAL 36 HOUR <= '2024-01-03 12:00:00'",
    )
    assert found["n"] == 4
