"""A count beside a sum of its rows, where units are replaced: both do not move the most at once."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from tests import goodness
from tests.query.executing import execute

import deniable as dp
from deniable.query.allocate import allocation as allocating
from deniable.query.allocate.basis import side_by_side

ENDS = [(0, 100), (-3, 0), (-50, 50), (-10, 100), (7, 12), (-12, -7), (0, 1)]
UNITS = [dp.rows(relation="replace"), dp.person("u", rows=3, relation="replace")]
ASKED = "SELECT AVG(x) AS a FROM t"
VALUES = [10, 90, 55, 40, None, 70]
HELD = pa.table({"x": VALUES * 200, "u": [str(i) for i in range(1200)], "k": ["a"] * 1200})


def opened(ends=(0, 100), *, unit=UNITS[0], budget=None, kind="float"):
    columns = {"x": dp.bounds(*ends, type=kind), "k": dp.keys(["a", "b"])}
    schema = dp.Schema(columns=columns)
    return dp.open(HELD, unit=unit, budget=budget or dp.epsilon(99), schema=schema, name="t")


def corners(plan, basis, groups):
    """What a unit adds at most, in all coordinates: nothing, or all its weight at one end."""
    weight = plan.rows * plan.weight
    _, total = basis.tallies
    yield (0, 0) * groups
    for end, group in itertools.product((total.low, total.high), range(groups)):
        point = tuple(weight * (row[0] + row[1] * end) for row in basis.forth)
        yield (0, 0) * group + point + (0, 0) * (groups - group - 1)


@pytest.mark.parametrize(("law", "groups"), [("laplace", 1), ("gaussian", 1), ("gaussian", 2)])
def test_what_a_replaced_unit_moves_is_bounded_and_the_bound_is_reached(law, groups):
    sql = ASKED if groups == 1 else "SELECT k, AVG(x) AS a FROM t GROUP BY k"
    for ends, unit, kind in itertools.product(ENDS, UNITS, ("int", "float")):
        plan = opened(ends, unit=unit, kind=kind).sql(sql).integers
        (basis,) = side_by_side(plan.tallies, plan, law)
        pairs = list(itertools.combinations(corners(plan, basis, groups), 2))
        changes = [[abs(a - b) for a, b in zip(*pair, strict=True)] for pair in pairs]
        assert max(map(sum, changes)) == basis.moves.l1
        assert max(sum(c * c for c in each) for each in changes) == basis.moves.l2_squared
        assert max(map(max, changes)) == basis.moves.linf


def test_a_grouping_set_more_adds_as_much_again():
    one, two = (
        opened().sql(f"SELECT k, AVG(x) AS a FROM t GROUP BY {keys}").integers
        for keys in ("k", "ROLLUP (k)")
    )
    (first,), (both,) = (side_by_side(p.tallies, p, "gaussian") for p in (one, two))
    assert both.moves.l1 == 2 * first.moves.l1
    assert both.moves.l2_squared == 2 * first.moves.l2_squared


def test_only_where_units_are_replaced_and_laplace_noise_in_a_single_group():
    for unit in (dp.rows(), dp.person("u", rows=3)):
        plan = opened(unit=unit).sql(ASKED).integers
        assert not list(side_by_side(plan.tallies, plan, "laplace"))
    for sets in ("k", "ROLLUP (k)"):
        plan = opened().sql(f"SELECT k, AVG(x) AS a FROM t GROUP BY {sets}").integers
        assert not list(side_by_side(plan.tallies, plan, "laplace"))


@pytest.mark.parametrize("unit", UNITS, ids=repr)
@pytest.mark.parametrize(
    ("budget", "spend", "most"),
    [(dp.epsilon(9), dp.epsilon(1), 0.7), (dp.mu(9), dp.mu(1), 0.8), (dp.rho(9), dp.rho(1), 0.8)],
)
def test_a_mean_errs_less_for_it(unit, budget, spend, most, monkeypatch):
    grouped = "SELECT k, AVG(x) AS a FROM t GROUP BY k"
    cases = [(f"{ASKED} WHERE k = 'a'", most), *([(grouped, 0.87)] if most == 0.8 else [])]
    for ends, (sql, most) in itertools.product(ENDS, cases):
        query = opened(ends, unit=unit, budget=budget).sql(sql)
        now = query.explain(spend=spend, size=1000).errors["a"]
        with monkeypatch.context() as patch:
            patch.setattr(allocating, "side_by_side", lambda *_: ())
            assert now < most * query.explain(spend=spend, size=1000).errors["a"]


def test_the_plan_says_so():
    plan = opened().sql(f"{ASKED} WHERE k = 'a'").explain(spend=dp.epsilon(1))
    assert (
        "add Laplace noise to the number of x (b = 2) and to the sum of x − 50 (b = 100): "
        "a replaced row never changes both by the most it can"
    ) in plan.steps
    assert "compute a as 50 + (the sum of x − 50) / the number of x" in plan.steps


@pytest.mark.statistical
@pytest.mark.parametrize("budget", [dp.epsilon(9), dp.mu(9)], ids=["laplace", "gaussian"])
def test_means_and_counts_are_covered_as_often_as_is_said(budget):
    """4,000 draws; alarms at 1e-8 each. Counts are rounded, and covered more, but below 98 %.

    What is off by half of its ± is covered less than 90 % of the time: that is never missed.
    """
    spend = dp.epsilon(0.1) if isinstance(budget, dp.Pure) else dp.mu(0.1)
    query = opened(budget=budget).sql("SELECT AVG(x) AS a, COUNT(x) AS n FROM t WHERE k = 'a'")
    allocation = query._allocate(spend, None, None)
    (part,), (noise,) = allocation.parts, allocation.noise
    assert part.basis.folded
    assert not part.basis.turned
    exact = part.numbers(execute(query.integers, tables=query.session.tables))
    noisy = part.read(noise.draw(np.repeat(exact, 4_000, axis=0)))
    for name, truth, most in (("a", 53.0, 0.95), ("n", 1000, 0.98)):
        low, high = allocation.plan.parts[name].derive(allocation, noisy).interval(0.95)
        inside = int(np.sum((low <= truth) & (truth <= high)))
        assert goodness.covered(inside, 4_000, 0.95) > 1e-8, name
        assert goodness.covered(4_000 - inside, 4_000, 1 - most) > 1e-8, name
        off = truth + np.mean(high - low) / 4
        elsewhere = int(np.sum((low <= off) & (off <= high)))
        assert goodness.covered(elsewhere, 4_000, 0.95) < 1e-8, "more noise would be seen"


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("value", ["x * 0", "x * 0 + 5"])
def test_a_sum_that_cannot_move_stands_beside_nothing(law, value):
    """All values are one number, so their centred sum is 0 whoever is there."""
    plan = opened(kind="int").sql(f"SELECT AVG({value}) AS a FROM t").integers
    assert [t.moves.l1 for t in plan.tallies if t.measure == "sum"] == [0]
    assert not list(side_by_side(plan.tallies, plan, law))
