"""Asking by ±: the noise is chosen so that it fits into what is left, and the plan says so."""

import pyarrow as pa
import pytest

import deniable as dp

WARDS = [f"ward {i}" for i in range(12)]
PEOPLE = "SELECT ward, COUNT(DISTINCT patient) AS n FROM visits GROUP BY ward"
ERROR = 60.0


def opened(epsilon):
    visits = pa.table({"patient": list(range(600)), "ward": [WARDS[i % 12] for i in range(600)]})
    return dp.open(
        visits,
        name="visits",
        unit=dp.person("patient", rows=20),
        budget=dp.epsilon(epsilon, delta=1e-7),
        schema=dp.Schema(columns={"ward": dp.keys(WARDS)}),
    )


def test_gaussian_noise_is_cheaper_where_a_person_is_in_many_groups():
    plan = opened(5.0).sql(PEOPLE).explain(within=ERROR)
    assert "Gaussian" in str(plan)
    assert plan.cost.epsilon < opened(5.0).sql(PEOPLE).explain(spend=dp.epsilon(1)).cost.epsilon


def test_a_share_in_epsilon_is_asked_by_error_with_noise_that_it_can_pay_for():
    s = opened(5.0)
    s.ledger.share("ann", amount=dp.epsilon(1.1))
    query = s.for_("ann").sql(PEOPLE)
    plan = query.explain(within=ERROR)
    assert "Laplace" in str(plan)
    assert plan.exceeded is None
    answer = query.release(within=ERROR)
    assert answer.loss == plan.cost
    assert answer.rows()[0]["n_error"] == plan.errors["n"] <= ERROR
    assert query.release(within=ERROR).free, "also where nothing else fits any more"


def test_what_neither_noise_can_have_is_refused_with_a_cost_above_what_is_left():
    s = opened(5.0)
    s.ledger.share("ann", amount=dp.epsilon(0.5))
    with pytest.raises(dp.BudgetExceeded, match=r"cost ε 0\.991, and ε 0\.5 is left of your share"):
        s.for_("ann").sql(PEOPLE).release(within=ERROR)


def test_a_stored_answer_stays_free_when_its_noise_does_not_fit_any_more():
    s = opened(5.0)
    query = s.sql(PEOPLE)
    first = query.release(within=ERROR)
    s.count(spend=dp.epsilon(s.left.epsilon * 0.999))
    again = query.release(within=ERROR)
    assert again.free
    assert again.rows() == first.rows()


def test_a_plan_says_when_a_first_gaussian_answer_takes_more_than_its_cost():
    s = opened(5.0)
    query = s.sql(PEOPLE)
    said = "what is left falls by ε"
    assert said in str(query.explain(within=ERROR))
    query.release(within=ERROR)
    assert said not in str(query.explain(within=0.9 * ERROR))
    assert said not in str(opened(5.0).sql(PEOPLE).explain(spend=dp.epsilon(1)))


def test_half_the_error_is_priced_with_the_delta_that_it_takes():
    query = opened(50.0).sql(PEOPLE)
    plan = query.explain(within=ERROR)
    assert "with δ 1e-07" in str(plan)
    doubled = dp.epsilon(2 * plan.cost.epsilon, delta=1e-7)
    assert query.explain(spend=doubled).errors["n"] == pytest.approx(ERROR / 2, rel=0.1)
