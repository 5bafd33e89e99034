"""That a column was clipped is said wherever something is made of it, in plans and in answers."""

import pyarrow as pa
import pytest

import deniable as dp

VISITS = pa.table(
    {
        "u": [1, 1, 2],
        "cost": [1.0, 2000.0, 3.0],
        "days": [1, 2, 3],
        "code": ["a", "b", "a"],
        "free": [1.0, 2.0, 3.0],
    }
)
SCHEMA = dp.Schema(
    columns={
        "cost": dp.bounds(0, 1000),
        "days": dp.bounds(0, 30, type="int"),
        "code": dp.keys(["a", "b"]),
        "free": dp.column("float", missing="drop"),
    }
)
PER_PERSON = "(SELECT u, {} AS x FROM visits GROUP BY u) t"
MADE = {
    "SELECT AVG(LEAST(x, 5000)) AS a FROM " + PER_PERSON.format("SUM(cost)"): ["cost"],
    "SELECT AVG(x) AS a FROM " + PER_PERSON.format("AVG(cost + days)"): ["cost", "days"],
    "SELECT COUNT(*) AS a FROM " + PER_PERSON.format("SUM(cost)") + " GROUP BY x > 7": ["cost"],
    "SELECT SUM(LEAST(x, 9)) AS a FROM " + PER_PERSON.format("COUNT(*) FILTER (WHERE cost > 9)"): [
        "cost"
    ],
    "SELECT bin(cost, 100) AS b, COUNT(*) AS a FROM visits GROUP BY b": ["cost"],
    "SELECT days, code, COUNT(DISTINCT u) AS a FROM visits GROUP BY days, code": ["days"],
    "SELECT SUM(cost * days) AS a FROM visits": ["cost", "days"],
    "SELECT AVG(GREATEST(LEAST(free + cost, 9), 0)) AS a FROM visits": ["cost"],
    "SELECT AVG(x) AS a FROM (SELECT u, cost AS x FROM visits UNION ALL "
    "SELECT u, days AS x FROM visits) t": ["days"],
}
PLAIN = [
    "SELECT AVG(cost) AS a FROM visits",
    "SELECT AVG(days) AS a FROM visits",
    "SELECT COUNT(*) AS a FROM visits",
    "SELECT COUNT(cost) AS a FROM visits",
    "SELECT code, MEDIAN(cost) AS a FROM visits GROUP BY code",
    "SELECT AVG(x) AS a FROM (SELECT u, cost AS x FROM visits) t",
]
ENDS = {"cost": "[0, 1000]", "days": "[0, 30]"}


@pytest.fixture(scope="module")
def session():
    unit = dp.person("u", rows=2)
    return dp.open(VISITS, unit=unit, budget=dp.epsilon(1000), schema=SCHEMA, name="visits")


@pytest.mark.parametrize("sql", MADE)
def test_what_is_made_of_clipped_columns_says_so(session, sql):
    query, columns = session.sql(sql), MADE[sql]
    steps = query.explain(spend=dp.epsilon(1)).steps
    told = query.release(spend=dp.epsilon(1)).answers["a"].estimand
    for column in columns:
        assert f"clip {column} to {ENDS[column]}" in steps
        assert f"{column} is clipped to {ENDS[column]}" in told.split("; ")


@pytest.mark.parametrize("sql", PLAIN)
def test_a_plain_column_is_clipped_once(session, sql):
    query = session.sql(sql)
    assert not [s for s in query.explain(spend=dp.epsilon(1)).steps if s.startswith("clip")]
    assert " is clipped" not in query.release(spend=dp.epsilon(1)).answers["a"].estimand


@pytest.mark.parametrize("way", ["histogram", "ranges"])
def test_bins_say_that_their_ends_hold_what_lies_beyond(session, way):
    made = getattr(session, way)("cost", bins=4, spend=dp.epsilon(1))
    release = getattr(made, "release", made)
    assert "cost is clipped to [0, 1000]" in str(release)


def test_only_a_list_drops_other_values(session):
    def steps(sql):
        return "\n".join(session.sql(sql).explain(spend=dp.epsilon(1)).steps)

    counted = "SELECT {0} AS k, COUNT(*) AS n FROM visits GROUP BY k"
    assert "; rows with other values are dropped" in steps(counted.format("code"))
    assert "; rows with other values are dropped" in steps(counted.format("UPPER(code)"))
    for clipped in ("bin(cost, 100)", "days"):
        said = steps(counted.format(clipped))
        assert "; rows without a value are dropped" in said
        assert "other values" not in said
