"""A plan names what is really charged: a δ only where some noise needs one."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

import deniable as dp

ROWS = 200
TABLE = pd.DataFrame(
    {
        "g": ["a", "b"] * (ROWS // 2),
        "h": ["u", "u", "v", "v"] * (ROWS // 4),
        "x": np.arange(ROWS) % 90.0,
        "day": [dt.date(2024, 1, 1 + n % 20) for n in range(ROWS)],
    }
)
SCHEMA = dp.Schema(
    columns={
        "g": dp.keys(["a", "b"]),
        "h": dp.keys(["u", "v"]),
        "x": dp.bounds(0, 100),
        "day": dp.bounds(dt.date(2024, 1, 1), dt.date(2024, 1, 20), type="date"),
    }
)
QUESTIONS = {
    "sql": lambda s: s.sql("SELECT g, COUNT(*) AS n FROM data GROUP BY g"),
    "averages": lambda s: s.sql("SELECT g, AVG(x) AS x FROM data GROUP BY g"),
    "marginals": lambda s: s.marginals(["g", "h"]),
    "ranges": lambda s: s.ranges("x", bins=8),
    "many ranges": lambda s: s.ranges("x", bins=400),
    "hierarchy": lambda s: s.hierarchy(["g", "h"]),
    "running": lambda s: s.running("day"),
    "any function": lambda s: s.sample_and_aggregate(np.median, "x", parts=9),
}
SPENDS = [dp.epsilon(0.5, delta=1e-7), dp.epsilon(0.5)]


def opened():
    budget = dp.epsilon(3.0, delta=1e-6)
    return dp.open(TABLE, unit=dp.rows(), budget=budget, schema=SCHEMA)


@pytest.mark.parametrize("spend", SPENDS, ids=str)
@pytest.mark.parametrize("what", QUESTIONS)
def test_a_plan_costs_what_the_release_does(what, spend):
    session = opened()
    asked = QUESTIONS[what](session)
    plan = asked.explain(spend=spend)
    made = asked.release(spend=spend)
    loss = getattr(made, "release", made).loss
    assert plan.cost.epsilon >= loss.epsilon * (1 - 1e-9)
    if isinstance(plan.cost, dp.Pure) or not plan.cost.delta:
        assert loss.delta == 0
        assert plan.cost.epsilon == pytest.approx(loss.epsilon)
    assert session.ledger.left.epsilon == pytest.approx(plan.left.epsilon)


@pytest.mark.parametrize("what", [*QUESTIONS, "stream"])
def test_pure_noise_is_shown_without_a_delta(what):
    session = opened()
    asked = session.follow("day") if what == "stream" else QUESTIONS[what](session)
    plan = asked.explain(spend=dp.epsilon(0.5))
    assert getattr(plan.cost, "delta", 0) == 0
    assert "δ" not in str(plan)
    assert "δ" not in plan._repr_html_()


@pytest.mark.parametrize("what", ["marginals", "ranges", "hierarchy", "running"])
def test_a_delta_that_no_noise_uses_is_not_shown(what):
    """At this δ, and for so few cells, Laplace noise is the better one."""
    plan = QUESTIONS[what](opened()).explain(spend=dp.epsilon(1.0, delta=1e-12))
    assert "Laplace" in "".join(plan.steps)
    assert "δ" not in str(plan)


def test_gaussian_noise_has_a_delta():
    plan = opened().follow("day").explain(spend=dp.epsilon(1.0, delta=1e-7))
    assert plan.cost.delta > 0
    assert "δ 1e-07" in str(plan)
