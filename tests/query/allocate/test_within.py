"""Ask by ±: which targets ask anything, which can be met, and for how much."""

import itertools

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import BadParameter, UnknownName
from deniable.query.allocate import within as module
from deniable.query.allocate.within import _refuse_exact


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


# ---- which targets are refused, and why


def opened(*, budget=None, unit=None, size=None):
    columns = {"x": dp.bounds(0, 10, type="int", missing=0), "y": dp.bounds(0, 8, missing=0.0)}
    schema = dp.Schema(columns=columns, size=size)
    table = pa.table({"x": [1, 2, 3], "y": [1.0, 2.0, 3.0], "k": ["a", "b", "c"]})
    unit, budget = unit or dp.rows(), budget or dp.epsilon(100)
    return dp.open(table, unit=unit, budget=budget, schema=schema, name="t")


REPLACED = dp.rows(relation="replace")


@pytest.mark.parametrize(
    ("much", "more", "refused"),
    [(2.0, 2.0, True), (2.0, 1.01, True), (2.0, 1.0, False), (2.0, 0.0, False), (1.5, 1.5, True),
     (1.4, 1.4, False)],
)  # fmt: skip
def test_only_an_error_that_hardly_falls_is_one_that_no_loss_reaches(much, more, refused):
    wanted = {"n": 1.5, "other": 9.0}
    given = wanted, {"n": much, "other": 0.1}, {"n": more, "other": 0.1}
    if not refused:
        _refuse_exact(*given)
        return
    with pytest.raises(BadParameter, match="would need the exact `n`"):
        _refuse_exact(*given)


@pytest.mark.parametrize("within", [{"n": 0.3, "s": 500.0}, {"s": 500.0, "n": 0.3}])
def test_one_target_that_no_loss_reaches_is_enough_to_refuse(within):
    table = pa.table({"id": [1, 2, 3], "x": [1, 2, 3]})
    schema = dp.Schema(columns={"x": dp.bounds(0, 10, type="int", missing=0)})
    unit = dp.person("id", rows=10)
    session = dp.open(table, unit=unit, budget=dp.epsilon(1e5), schema=schema, name="t")
    query = session.sql("SELECT COUNT(*) AS n, SUM(x) AS s FROM t")
    with pytest.raises(BadParameter, match="would need the exact `n`"):
        query.explain(within=within)


def test_where_all_is_public_any_error_is_met_for_nothing():
    query = opened(unit=REPLACED, size=3).sql("SELECT COUNT(*) AS n FROM t")
    plan = query.explain(within=5)
    assert plan.cost.epsilon == 0
    assert plan.errors == {"n": 0.0}


def test_columns_must_be_named_and_known():
    query = opened().sql("SELECT COUNT(*) AS n, x AS k FROM t GROUP BY x")
    for named in ("m", "k"):
        with pytest.raises(UnknownName):
            query.explain(within={named: 3})
    with pytest.raises(BadParameter, match="names no column"):
        query.explain(within={})
    for nonsense in (0, -1, "2", {"n": 0}, {"n": float("nan")}):
        with pytest.raises(BadParameter):
            query.explain(within=nonsense)


def test_an_average_needs_a_size_and_a_group_that_noise_picks_has_none():
    query = opened().sql("SELECT AVG(y) AS m FROM t")
    with pytest.raises(BadParameter, match="how many rows a group has") as caught:
        query.explain(within=1)
    assert len(caught.value.fixes) == 2
    assert query.explain(within=1, size=50).errors["m"] <= 1
    session = opened(budget=dp.epsilon(9, delta=1e-6))
    query = session.sql("SELECT k, COUNT(*) AS n FROM t GROUP BY k ORDER BY n DESC LIMIT 1")
    with pytest.raises(BadParameter, match="how many groups there are") as caught:
        query.explain(within=1, size=50)
    assert len(caught.value.fixes) == 1


@pytest.mark.parametrize(
    ("within", "said"),
    [
        ({"m": 8}, "has no effect: the ± of `m` is never above 8"),
        ({"m": 7.99}, None),
        ({"n": 3}, "`n` is public and has no noise"),
        ({"n": 3, "m": 9}, "has no effect: the ± of `m`"),
        ({"m": 9, "n": 3}, "has no effect: the ± of `m`"),
        ({"n": 3, "m": 2}, None),
        ({"m": 2, "n": 3}, None),
    ],
)
def test_a_target_that_every_loss_meets_asks_nothing(within, said):
    """An average between 0 and 8 is off by 8 at most; a public number of rows is not off at all."""
    query = opened(unit=REPLACED, size=3).sql("SELECT COUNT(*) AS n, AVG(y) AS m FROM t")
    if said is None:
        assert query.explain(within=within).errors["m"] <= within["m"]
        return
    with pytest.raises(BadParameter, match=said):
        query.explain(within=within)


@pytest.mark.parametrize(
    ("budget", "power"), [(dp.epsilon(99), 1), (dp.mu(99), 1), (dp.rho(99), 2)], ids=str
)
@pytest.mark.parametrize(
    ("columns", "alone"), [("COUNT(*) AS n", True), ("COUNT(*) AS n, SUM(x) AS s", False)]
)
def test_the_price_is_sought_as_errors_fall_with_the_loss(
    budget, power, columns, alone, monkeypatch
):
    """With the root of ρ, in proportion to ε and μ; one vector alone has nothing to balance."""
    seen = []

    def sought(*given, **named):
        seen.append(named)
        return cheapest(*given, **named)

    cheapest = module.cheapest
    monkeypatch.setattr(module, "cheapest", sought)
    opened(budget=budget).sql(f"SELECT {columns} FROM t").explain(within={"n": 20})
    (named,) = seen
    assert (named["power"], named["alone"]) == (power, alone)
    assert len(named["others"]) == (0 if alone else 1)
    assert list(named["wanted"].values()) == [20.0]
