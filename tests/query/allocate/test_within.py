"""A wanted ± of the same number under two names is the smaller of both."""

import itertools

import pyarrow as pa
import pytest

import deniable as dp


@pytest.mark.parametrize(("first", "second"), [(2.0, 9.0), (9.0, 2.0), (5.0, 5.0)])
def test_the_smaller_of_two_wanted_errors_is_met(first, second):
    table = pa.table({"a": [1, 2, 3]})
    session = dp.open(table, unit=dp.rows(), budget=dp.epsilon(100), name="t")
    query = session.sql("SELECT COUNT(*) AS n, COUNT(*) AS m FROM t")
    plan = query.explain(within={"n": first, "m": second})
    assert max(plan.errors.values()) <= min(first, second)
    one = session.sql("SELECT COUNT(*) AS n FROM t").explain(within=min(first, second))
    assert plan.cost.epsilon == pytest.approx(one.cost.epsilon, rel=1e-6)


def test_wanted_errors_of_different_numbers_are_all_met():
    table = pa.table({"a": [1, 2, 3], "b": [True, False, True]})
    facts = dp.Schema(
        columns={"a": dp.bounds(0, 10, type="int", missing=0), "b": dp.column("bool")}
    )
    session = dp.open(table, unit=dp.rows(), budget=dp.epsilon(100), schema=facts, name="t")
    query = session.sql("SELECT COUNT(*) AS n, SUM(a) AS s FROM t")
    for n, s in itertools.product([2.0, 30.0], [15.0, 300.0]):
        found = query.explain(within={"n": n, "s": s}).errors
        assert found["n"] <= n
        assert found["s"] <= s


@pytest.mark.parametrize("unit", [dp.person("id", rows=10), dp.person("id", rows=1)])
@pytest.mark.parametrize("within", [0.5, 0.25, 1e-6])
def test_an_error_that_no_loss_reaches_is_refused_with_one_that_is_reached(unit, within):
    table = pa.table({"id": [1, 2, 3]})
    session = dp.open(table, unit=unit, budget=dp.epsilon(1e5), name="t")
    query = session.sql("SELECT COUNT(*) AS n FROM t")
    with pytest.raises(dp.errors.BadParameter, match="would need the exact `n`") as caught:
        query.explain(within=within)
    (fix,) = caught.value.fixes
    plan = query.explain(within=float(fix.fields["within"]))
    assert plan.cost.epsilon < 100
    assert caught.value.code == "DP111"


def test_a_small_error_of_a_real_number_has_its_price():
    table = pa.table({"x": [1.0, 2.0]})
    facts = dp.Schema(columns={"x": dp.bounds(0, 1)}, size=1000)
    session = dp.open(table, unit=dp.rows(), budget=dp.epsilon(1), schema=facts, name="t")
    plan = session.sql("SELECT AVG(x) AS a FROM t").explain(within=1e-12, size=1000)
    assert plan.cost.epsilon > 1e6
