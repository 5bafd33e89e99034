"""Whole queries: free to look at, charged once, stored, and as good as they say."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.query.whole.asking import adult, without_noise

import deniable as dp
from deniable.curator import open as open_curator
from deniable.errors import BadParameter, BudgetExceeded, NotReady, UnknownName
from deniable.fixes import written

BY_EDUCATION = "SELECT education, COUNT(*) AS n, AVG(age) AS age FROM adult GROUP BY education"


@pytest.fixture
def session():
    return adult(budget=dp.epsilon(3, delta=1e-7))


class Unreadable:
    """A source that fails whenever it is read."""

    def __getattr__(self, name):
        raise AssertionError(f"the data were touched: {name}")


def blind(session):
    """The same session over a table that cannot be read."""
    table = session.tables["adult"]
    broken = replace(table, source=replace(table.source, held=Unreadable()))
    return type(session)(tables={"adult": broken}, schema=session.schema, ledger=session.ledger)


# ---- explain


def test_explaining_reads_no_data_and_spends_nothing(session):
    plan = blind(session).sql(BY_EDUCATION).explain(spend=dp.epsilon(0.5))
    assert plan.cost <= dp.epsilon(0.5, delta=1e-7)
    assert plan.errors["n"] > 0
    assert plan.errors["age"] is None
    assert "in a group of 100" in str(plan)
    assert len(session.ledger.entries) == 0
    with pytest.raises(NotReady):
        blind(session).sql(BY_EDUCATION).release(spend=dp.epsilon(0.5))
    assert len(session.ledger.entries) == 0


def test_what_was_foretold_is_what_is_given(session):
    query = session.sql("SELECT COUNT(*) AS n, SUM(age) AS s FROM adult WHERE age > 40")
    plan = query.explain(spend=dp.epsilon(0.3))
    release = query.release(spend=dp.epsilon(0.3))
    row = release.rows()[0]
    assert row["n_error"] == plan.errors["n"]
    assert row["s_error"] == pytest.approx(plan.errors["s"], rel=1e-3)
    assert release.loss <= dp.epsilon(0.3, delta=0.0) or release.loss == plan.cost


def test_a_plan_tells_its_steps_in_words(session):
    text = str(session.sql(BY_EDUCATION).explain(spend=dp.epsilon(0.5)))
    assert "16 public keys; every group is returned, even if empty" in text
    assert "protect one row" in text
    assert "Laplace noise" in text


def test_one_of_spend_and_within_is_needed(session):
    query = session.sql("SELECT COUNT(*) FROM adult")
    with pytest.raises(BadParameter, match="how much to spend"):
        query.explain()
    with pytest.raises(BadParameter, match="not both"):
        query.release(spend=dp.epsilon(1), within=3)


# ---- within


@pytest.mark.parametrize(
    "budget", [dp.epsilon(5), dp.epsilon(5, delta=1e-7), dp.rho(1), dp.mu(2)], ids=str
)
def test_asking_by_error_meets_it_at_the_least_price(budget):
    session = adult(budget=budget)
    query = session.sql("SELECT COUNT(*) AS n, SUM(age) AS s FROM adult")
    wanted = {"n": 100.0, "s": 5000.0}
    plan = query.explain(within=wanted)
    release = query.release(within=wanted)
    row = release.rows()[0]
    for name, most in wanted.items():
        assert plan.errors[name] <= most
        assert row[f"{name}_error"] <= most * (1 + 1e-6)
    # All but one column would be met by less: the least price has no slack in either.
    assert plan.errors["s"] >= 0.95 * wanted["s"]


def test_one_number_asks_all_columns_at_once(session):
    plan = session.sql("SELECT COUNT(*) AS n FROM adult").explain(within=100)
    assert plan.errors["n"] == 100
    assert plan.cost.epsilon == pytest.approx(np.log(20) / 100, rel=0.01)


def test_an_average_within_needs_a_size(session):
    query = session.sql(BY_EDUCATION)
    with pytest.raises(BadParameter, match="not known in advance") as refused:
        query.release(within={"age": 2})
    assert "if it is too low, you pay more than needed" in str(refused.value)
    assert "--spend 0.1; deniable explain shows its ±" in written(refused.value.fixes, "shell")
    assert query.explain(within={"n": 100, "age": 2}, size=500).errors["age"] <= 2
    with pytest.raises(UnknownName, match="did you mean `age`"):
        query.explain(within={"agee": 2}, size=500)


def test_the_size_of_the_schema_serves_for_the_whole_table():
    schema = dp.Schema(columns={"age": dp.bounds(0, 125, type="int")}, size=30_000)
    session = adult(schema=schema)
    plan = session.sql("SELECT AVG(age) AS age FROM adult").explain(within=0.5)
    assert plan.errors["age"] <= 0.5
    assert session.sql("SELECT AVG(age) AS a FROM adult WHERE age > 3").explain(
        spend=dp.epsilon(1)
    ).errors == {"a": None}


# ---- release


def test_the_same_question_again_is_free(session):
    first = session.sql("SELECT COUNT(*) AS n FROM adult").release(spend=dp.epsilon(0.5))
    again = session.sql("select count(*)  as n from ADULT").release(spend=dp.epsilon(0.5))
    assert again.value == first.value
    assert again.free
    assert session.spent <= dp.epsilon(0.5, delta=1e-7)


def test_every_charge_is_what_the_release_says():
    session = adult(budget=dp.epsilon(10))
    total = 0.0
    for sql in (
        "SELECT COUNT(*) FROM adult",
        "SELECT AVG(age), MEDIAN(age) FROM adult",
        BY_EDUCATION,
    ):
        release = session.sql(sql).release(spend=dp.epsilon(0.7))
        total += release.loss.epsilon
        assert release.loss <= dp.epsilon(0.7)
    assert session.spent.epsilon == pytest.approx(total, rel=1e-12)


def test_known_keys_come_back_even_when_empty(session):
    sql = "SELECT education, COUNT(*) AS n FROM adult WHERE age > 200 GROUP BY education"
    with without_noise():
        rows = session.sql(sql).release(spend=dp.epsilon(0.1)).rows()
    assert len(rows) == 16
    assert {row["n"] for row in rows} == {0}


def test_having_order_limit_and_expressions_work_on_noisy_answers(session):
    sql = (
        "SELECT education, COUNT(*) / 1000 AS thousands FROM adult GROUP BY education "
        "HAVING COUNT(*) > 5000 ORDER BY COUNT(*) DESC LIMIT 2"
    )
    rows = session.sql(sql).release(spend=dp.epsilon(0.5)).rows()
    assert [row["education"] for row in rows] == ["HS-grad", "Some-college"]
    assert rows[0]["thousands"] == pytest.approx(10.5, abs=0.1)
    assert rows[0]["thousands_error"] == pytest.approx(0.011, abs=0.001)  # for all 16 at once


def test_counts_are_whole_and_averages_within_their_bounds():
    table = pa.table({"g": [0] * 3, "x": [1.0, 2.0, 3.0]})
    schema = dp.Schema(columns={"g": dp.keys(range(50)), "x": dp.bounds(0, 10)})
    session = open_curator(table, unit=dp.rows(), budget=dp.epsilon(1), schema=schema)
    rows = (
        session.sql("SELECT g, COUNT(*) AS n, AVG(x) AS a, STDDEV(x) AS s FROM data GROUP BY g")
        .release(spend=dp.epsilon(0.01))
        .rows()
    )
    assert all(isinstance(row["n"], int) for row in rows)
    assert all(0 <= row["a"] <= 10 for row in rows)
    assert all(row["s"] >= 0 for row in rows)


def test_estimands_are_told(session):
    release = session.sql("SELECT AVG(age) AS a FROM adult").release(spend=dp.epsilon(0.1))
    assert release.answers["a"].estimand == "values are clipped to [0, 125]"


# ---- private keys


def test_rare_groups_are_not_shown():
    table = pa.table({"id": list(range(1001)), "city": ["Oslo"] * 1000 + ["Rare"]})
    schema = dp.Schema(columns={"city": dp.column("text")})
    for unit in (dp.rows(), dp.person("id", rows=2, groups=1)):
        session = open_curator(table, unit=unit, budget=dp.epsilon(2, delta=1e-6), schema=schema)
        query = session.sql("SELECT city, COUNT(*) AS n FROM data GROUP BY city")
        release = query.release(spend=dp.epsilon(1))
        assert [row["city"] for row in release.rows()] == ["Oslo"]
        assert release.loss <= dp.epsilon(1.0, delta=1e-6)
        assert query.release(spend=dp.epsilon(1)).free
        assert len(release.mechanisms) == 2


def test_keys_are_not_paid_for_if_numbers_cannot_be():
    table = pa.table({"city": ["Oslo"] * 1000})
    schema = dp.Schema(columns={"city": dp.column("text")})
    session = open_curator(table, unit=dp.rows(), budget=dp.epsilon(1, delta=1e-6), schema=schema)
    with pytest.raises(BudgetExceeded):
        session.sql("SELECT city, COUNT(*) FROM data GROUP BY city").release(spend=dp.epsilon(2))
    assert len(session.ledger.entries) == 0


def test_whole_numbers_at_the_end_of_64_bits_can_be_averaged():
    schema = dp.Schema(
        columns={"x": dp.bounds(2**63 - 2, 2**63 - 1, type="int", missing=2**63 - 1)}
    )
    table = pa.table({"x": [2**63 - 1] * 9})
    session = open_curator(table, unit=dp.rows(), budget=dp.epsilon(9), schema=schema)
    (row,) = session.sql("SELECT AVG(x) AS a FROM data").release(spend=dp.epsilon(1)).rows()
    assert row["a"] == pytest.approx(2.0**63)
    assert not session.failures


@pytest.mark.parametrize("budget", [dp.epsilon(5), dp.epsilon(5, delta=1e-6), dp.rho(1)], ids=str)
def test_asking_for_an_error_that_is_never_passed_is_refused_with_a_fix(budget):
    session = adult(budget=budget)
    query = session.sql("SELECT COUNT(*) AS n, AVG(age) AS a FROM adult")
    with pytest.raises(BadParameter, match="the ± of `a` is never above 126"):
        query.explain(within={"a": 500}, size=1000)
    assert query.explain(within={"n": 100, "a": 500}, size=1000).errors["n"] <= 100
    if isinstance(budget, dp.Approx):
        with pytest.raises(BadParameter, match="any spend, however small"):
            query.explain(within=1e12, size=1000)
    else:
        assert query.explain(within=1e12, size=1000).errors["n"] <= 1e12


def test_picked_groups_say_of_ranks_and_averages_what_holds_for_all():
    sql = "SELECT g, AVG(x) AS a, MEDIAN(x) AS m FROM data GROUP BY g"
    columns = {"g": dp.keys(range(500)), "x": dp.bounds(0, 9, type="int", missing=0)}
    table = pa.table({"g": pa.array([0]), "x": pa.array([0])})
    schema = dp.Schema(columns=columns)
    session = open_curator(table, unit=dp.rows(), budget=dp.epsilon(9), schema=schema)
    all_, few = (session.sql(sql + more) for more in ("", " ORDER BY a DESC LIMIT 3"))
    plans = (str(q.explain(spend=dp.epsilon(1))) for q in (all_, few))
    ranks = [plan.partition("the answer by up to ")[2] for plan in plans]
    assert float(ranks[0].split()[0]) < float(ranks[1].split()[0])
    rows = few.release(spend=dp.epsilon(1)).rows()
    assert all(row["a"] != 9.0 or row["a_error"] < 9 for row in rows)  # none is all of the bounds


# ---- stored answers


def test_an_answer_weighed_otherwise_is_another_answer():
    """Though both have the same noise: it is on other numbers."""
    schema = dp.Schema(columns={c: dp.bounds(0, 100, type="int", missing=0) for c in "ab"})
    table = pa.table({"a": [1], "b": [2]})
    session = open_curator(table, unit=dp.rows(), budget=dp.epsilon(9), schema=schema)
    query = session.sql("SELECT COUNT(*) AS n, SUM(a) AS a, SUM(b) AS b FROM data")
    for name in "ab":
        told = query.explain(spend=dp.epsilon(1), weights={name: 50}).errors
        release = query.release(spend=dp.epsilon(1), weights={name: 50})
        assert not release.free
        assert release.rows()[0][f"{name}_error"] == told[name]
    assert query.release(spend=dp.epsilon(1), weights={"b": 50}).free


def test_asking_by_error_treats_columns_alike():
    schema = dp.Schema(columns={c: dp.bounds(0, 100, missing=0) for c in "ab"})
    table = pa.table({"a": [1.0], "b": [2.0]})
    session = open_curator(table, unit=dp.rows(), budget=dp.epsilon(50), schema=schema)
    query = session.sql("SELECT COUNT(*) AS n, SUM(a) AS a, SUM(b) AS b FROM data")
    for one, other in [("a", "b"), ("b", "a")]:
        assert query.explain(within={one: 300}).cost.epsilon == pytest.approx(1.29, abs=0.01)
        both = {"n": 60, one: 300, other: 3000}
        assert query.explain(within=both).cost.epsilon == pytest.approx(1.05, abs=0.01)


def test_of_private_groups_picked_by_noise_the_error_comes_with_the_answer():
    table = pa.table({"u": list(range(3000)), "c": ["a", "b", "c"] * 1000})
    session = open_curator(
        table,
        unit=dp.person("u", rows=1, groups=1),
        budget=dp.epsilon(9, delta=1e-6),
        schema=dp.Schema(columns={"c": dp.column("text")}),
    )
    query = session.sql("SELECT c, COUNT(*) AS n FROM data GROUP BY c ORDER BY n DESC LIMIT 2")
    plan = query.explain(spend=dp.epsilon(1))
    assert plan.errors == {"n": None}
    assert "if 10 groups are found; n ± 20.3 if 1,000 groups are found" in str(plan)
    with pytest.raises(BadParameter, match="how many groups there are, which is private"):
        query.explain(within=10)
    release = query.release(spend=dp.epsilon(1))
    assert "for all 3 groups at once" in release.answers["n"].estimand
    assert release.rows()[0]["n_error"] > 4


# ---- budgets


def test_an_answer_that_costs_too_much_says_what_could_be_had():
    session = adult(budget=dp.epsilon(0.5))
    query = session.sql("SELECT COUNT(*) AS n FROM adult")
    query.release(spend=dp.epsilon(0.32))
    with pytest.raises(BudgetExceeded) as caught:
        query.release(spend=dp.epsilon(0.4))
    text = str(caught.value)
    assert text.startswith("error[DP201]: this would cost ε 0.4, and ε 0.18 is left")
    assert "spend=dp.epsilon(0.18)    what is left: n ± 17" in text
    assert text.endswith("cost: nothing was spent")


def test_a_session_in_any_currency_answers():
    for budget, spend in (
        (dp.epsilon(1), dp.epsilon(0.5)),
        (dp.epsilon(1, delta=1e-6), dp.epsilon(0.5, delta=1e-6)),
        (dp.rho(1), dp.rho(0.1)),
        (dp.mu(1), dp.mu(0.5)),
    ):
        session = adult(budget=budget)
        release = session.sql(BY_EDUCATION).release(spend=spend)
        assert release.rows()[11]["n"] == pytest.approx(10_501, abs=300)
        assert type(release.loss) is type(budget)
