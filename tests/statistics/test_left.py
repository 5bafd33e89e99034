"""What a plan says that a question leaves is what is left after it."""

import datetime as dt
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.learn import LogisticRegression, Ridge
from deniable.release.numbers import remaining

ROWS = 400
TABLE = pa.table(
    {
        "person": [n // 2 for n in range(ROWS)],
        "age": [float(n % 80) for n in range(ROWS)],
        "kind": [("a", "b")[n % 2] for n in range(ROWS)],
        "when": [dt.date(2026, 1, 1 + n % 20) for n in range(ROWS)],
    }
)
SCHEMA = dp.Schema(
    columns={
        "person": dp.column("int"),
        "age": dp.bounds(0, 100),
        "kind": dp.keys(["a", "b"]),
        "when": dp.bounds(dt.date(2026, 1, 1), dt.date(2026, 1, 20), type="date"),
    }
)
BUDGETS = {
    "pure": (dp.epsilon(3), dp.epsilon(1)),
    "approximate": (dp.epsilon(3, delta=1e-5), dp.epsilon(1, delta=1e-6)),
    "zcdp": (dp.rho(1), dp.rho(0.3)),
    "gdp": (dp.mu(2), dp.mu(1)),
}
ASKED = {
    "sql": lambda s: s.sql("SELECT kind, COUNT(*) AS n, AVG(age) AS a FROM data GROUP BY kind"),
    "ranges": lambda s: s.ranges("age"),
    "marginals": lambda s: s.marginals(["age", "kind"], bins=4),
    "hierarchy": lambda s: s.hierarchy(["kind"]),
    "running": lambda s: s.running("when", every="day"),
    "sampled": lambda s: s.sample_and_aggregate(np.median, "age", parts=20),
}
FITS = {"logistic regression": (LogisticRegression(), "kind"), "ridge": (Ridge(), "age")}
NOT_PRICED = {*((fit, "pure") for fit in FITS), ("sampled", "gdp")}
CASES = [
    (what, budget)
    for what in [*ASKED, "follow", *FITS]
    for budget in BUDGETS
    if (what, budget) not in NOT_PRICED
]
UNITS = [dp.rows(), dp.person("person", rows=2)]


def opened(budget, unit):
    return dp.open(TABLE, unit=unit, budget=budget, schema=SCHEMA)


def ways(s, what):
    """How it is explained, and how it is paid for."""
    if what in ASKED:
        asked = ASKED[what](s)
        return asked.explain, asked.release
    if what == "follow":
        asked = s.follow("when", every="day")
        return asked.explain, asked.open
    model, target = FITS[what]
    options = {"target": target, "features": [{"age": "kind", "kind": "age"}[target]]}
    return partial(s.explain_fit, model, **options), partial(s.fit, model, **options)


@pytest.mark.parametrize("unit", UNITS, ids=["rows", "persons"])
@pytest.mark.parametrize(("what", "budget"), CASES)
def test_a_plan_states_what_is_left_after_it(what, budget, unit):
    ceiling, spend = BUDGETS[budget]
    s = opened(ceiling, unit)
    explain, pay = ways(s, what)
    plan, before = explain(spend=spend), s.left
    pay(spend=spend)
    assert plan.left == s.left != before
    assert plan.exceeded is None


@pytest.mark.parametrize("unit", UNITS, ids=["rows", "persons"])
@pytest.mark.parametrize(("what", "budget"), CASES)
def test_a_plan_that_costs_more_than_is_left_says_so_and_cannot_be_paid(what, budget, unit):
    _, spend = BUDGETS[budget]
    little = replace(spend, **{spend.figure: getattr(spend, spend.figure) / 2})
    s = opened(little, unit)
    explain, pay = ways(s, what)
    plan = explain(spend=spend)
    assert plan.left is None
    assert plan.exceeded == s.left
    shown = remaining(s.left, groups=getattr(plan.cost, "delta", 0) > 0)
    assert f" (more than is left: {shown})\n" in str(plan)
    with pytest.raises(dp.BudgetExceeded):
        pay(spend=spend)
