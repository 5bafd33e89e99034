"""SUM beside a COUNT of the same rows: made of a centred sum, and not worse for it."""

import itertools

import pyarrow as pa
import pytest

import deniable as dp
from deniable.query.aggregates import linear

ENDS = [(0, 1), (0, 100), (-1, 0), (-3, 0), (-50, 50), (-10, 100), (1000, 1001), (-1001, -1000)]
SPENDS = [
    (dp.epsilon(9), dp.epsilon(0.5)),
    (dp.rho(1), dp.rho(0.01)),
    (dp.mu(1), dp.mu(0.1)),
    (dp.epsilon(3, delta=1e-6), dp.epsilon(1, delta=1e-7)),
]
HELD = pa.table({"x": [3, 4, None], "u": ["a", "b", "c"], "k": ["a", "b", "a"]})


def opened(ends=(0, 100), *, unit, budget, kind="int", missing="drop"):
    columns = {"x": dp.bounds(*ends, type=kind, missing=missing), "k": dp.keys(["a", "b"])}
    return dp.open(HELD, unit=unit, budget=budget, schema=dp.Schema(columns=columns), name="t")


def parts(sql, **options):
    given = {"unit": dp.rows(), "budget": dp.epsilon(9)}
    return opened(**given | options).sql(sql).integers.parts


@pytest.mark.parametrize("unit", [dp.rows(), dp.person("u", rows=5)], ids=["rows", "person"])
@pytest.mark.parametrize("grouped", [False, True])
def test_neither_sum_nor_count_is_worse(unit, grouped, monkeypatch):
    sql = "SELECT COUNT(x) AS n, SUM(x) AS s FROM t"
    sql = f"{sql.replace('SELECT', 'SELECT k,')} GROUP BY k" if grouped else sql
    for ends, kind, (budget, spend) in itertools.product(ENDS, ("int", "float"), SPENDS):
        query = opened(ends, unit=unit, budget=budget, kind=kind).sql(sql)
        now = query.explain(spend=spend).errors
        with monkeypatch.context() as patch:
            patch.setattr(linear, "_centred", lambda *_: False)
            apart = opened(ends, unit=unit, budget=budget, kind=kind).sql(sql)
            before = apart.explain(spend=spend).errors
        ratios = [now[name] / before[name] for name in now]
        if isinstance(spend, dp.Zcdp | dp.Gdp):
            assert max(ratios) <= 1 + 1e-6, (ends, kind, spend)
        else:  # both may also be told by one vector; far from 0 one gains what the other loses
            assert sum(r * r for r in ratios) <= 2.5, (ends, kind, spend)
        if ends == (0, 100) and kind == "float" and isinstance(spend, dp.Zcdp | dp.Gdp):
            assert now["s"] < 0.8 * before["s"]
            assert now["n"] < 0.9 * before["n"]


def test_only_a_count_of_the_same_rows_will_do():
    alone = parts("SELECT SUM(x) AS s FROM t")["s"]
    assert alone.count is None
    other = parts("SELECT SUM(x) AS s, COUNT(*) AS n FROM t")["s"]  # x may be missing
    assert other.count is None
    filtered = parts("SELECT SUM(x) AS s, COUNT(x) FILTER (WHERE k = 'a') AS n FROM t")["s"]
    assert filtered.count is None
    same = parts("SELECT SUM(x) AS s, COUNT(x) AS n FROM t")
    assert same["s"].count is same["n"].count
    assert same["s"].sum.centre == 50
    full = parts("SELECT SUM(x) AS s, COUNT(*) AS n FROM t", missing=0)
    assert full["s"].count is full["n"].count


def test_where_rows_are_replaced_a_sum_stays_as_it_is():
    unit = dp.rows(relation="replace")
    assert parts("SELECT SUM(x) AS s, COUNT(x) AS n FROM t", unit=unit)["s"].count is None


@pytest.mark.parametrize(
    ("budget", "spend"), [(dp.epsilon(1e6), dp.epsilon(1e5)), (dp.mu(1e6), dp.mu(1e5))]
)
def test_within_is_kept_and_the_sum_is_right(budget, spend):
    session = opened(unit=dp.rows(), budget=budget)
    query = session.sql("SELECT COUNT(x) AS n, SUM(x) AS s FROM t")
    plan = query.explain(within={"s": 100.0, "n": 30})
    assert plan.errors["s"] <= 100
    assert plan.errors["n"] <= 30
    gaussian = isinstance(spend, dp.Gdp)
    assert any("50 × the number of x" in step for step in plan.steps) == gaussian
    (row,) = query.release(spend=spend).rows()
    assert (row["n"], row["s"]) == (2, 7)
    assert row["s_error"] == pytest.approx(query.explain(spend=spend).errors["s"])
