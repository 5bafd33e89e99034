"""Medians by name: where they lie, how sure they are, and what is refused."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.errors import BadParameter, MissingBounds, UnsupportedQuery
from deniable.server.jobs.kinds.robust import Median, _parted, _Values

LOW, HIGH = 10.0, 50.0
SQL = "SELECT AVG(age) AS a FROM data"
METHODS = {
    "smooth": {"method": "smooth"},
    "proposed": {"method": "propose_test_release", "bound": 4.0},
    "sampled": {"method": "sample_and_aggregate", "parts": 4},
}


def opened(values, *, unit=None, budget=None):
    schema = dp.Schema(columns={"age": dp.bounds(LOW, HIGH, missing="drop")})
    table = pd.DataFrame({"age": np.asarray(values, dtype=float)})
    budget = budget or dp.epsilon(1e9, delta=1e-4)
    return dp.open(table, unit=unit or dp.rows(), budget=budget, schema=schema)


def spend_of(name, epsilon):
    return dp.epsilon(epsilon, delta=1e-9) if name == "proposed" else dp.epsilon(epsilon)


@pytest.mark.parametrize("parts", [2, 5])
def test_however_much_noise_there_is_an_average_of_medians_stays_within_the_bounds(parts):
    session = opened([20.0] * 4)
    asked = Median(sql=SQL, method="sample_and_aggregate", parts=parts)
    planned = asked._planned(session, session.sql(SQL), dp.epsilon(1.0))
    whole = parts * planned.mechanism.sensitivity  # all parts at the upper end
    steps = [-(10**18), -1, 0, whole / 4, whole, whole + 1, 10**18]
    wanted = [LOW, LOW, LOW, LOW + (HIGH - LOW) / 4, HIGH, HIGH, HIGH]
    assert [planned.read(each) for each in steps] == pytest.approx(wanted, rel=1e-12)
    assert all(LOW <= planned.read(each) <= HIGH for each in steps)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("quantile", [0.0, 0.5, 1.0])
def test_where_all_values_are_one_the_quantile_is_that_one(name, quantile):
    """At ε = 10⁵ noise is below 0.01: with 400 equal values nobody moves the quantile, and no part
    of 100 is empty but with probability 4·0.75⁴⁰⁰ < 1e-49. One more value may move the least and
    the largest by more than the proposed 4: no answer then, but with probability δ = 1e-9.
    """
    asked = Median(sql=SQL, quantile=quantile, **METHODS[name])
    found = asked.release(opened([30.25] * 400), spend_of(name, 1e5)).release.value
    if name == "proposed" and quantile != 0.5:
        assert found is None
    else:
        assert found == pytest.approx(30.25, abs=0.01)


@pytest.mark.parametrize("parts", [2, 5, 20])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_the_error_of_an_average_over_parts_is_that_of_one_part_moved_from_end_to_end(
    parts, epsilon
):
    session = opened([20.0] * 40)
    asked = Median(sql=SQL, method="sample_and_aggregate", parts=parts)
    spend = dp.epsilon(epsilon)
    expected = (HIGH - LOW) / parts / epsilon * math.log(20)
    plan = asked.explain(session, spend)
    assert plan.errors["median"] == pytest.approx(expected, rel=1e-3)
    assert plan.cost.epsilon == pytest.approx(epsilon)
    released = asked.release(session, spend).release
    assert released.answers["median"].errors()[0] == pytest.approx(expected, rel=1e-3)
    assert released.loss.epsilon == pytest.approx(epsilon)


def test_without_a_number_there_are_twenty_parts():
    session, spend = opened([20.0] * 40), dp.epsilon(1.0)
    given, left = (
        Median(sql=SQL, method="sample_and_aggregate", parts=parts).explain(session, spend)
        for parts in (20, None)
    )
    assert given.errors == left.errors


def test_the_parts_hold_every_value_once_and_sorted():
    rng = np.random.default_rng(3)
    for parts in (2, 3, 7):
        found, placed = rng.normal(size=30), rng.integers(0, parts - 1, 30)  # the last is empty
        each = _parted(found, placed, parts)
        assert [part.tolist() for part in each] == [
            sorted(found[placed == i].tolist()) for i in range(parts)
        ]


@pytest.mark.parametrize(
    ("asked", "spend"),
    [
        ({"method": "smooth", "parts": 3}, dp.epsilon(1.0)),
        ({"method": "smooth", "bound": 3.0}, dp.epsilon(1.0)),
        ({"method": "sample_and_aggregate", "bound": 3.0}, dp.epsilon(1.0)),
        ({"method": "sample_and_aggregate"}, dp.epsilon(1.0, delta=1e-6)),
        ({"method": "propose_test_release", "bound": 3.0}, dp.epsilon(1.0)),
        ({"method": "propose_test_release"}, dp.epsilon(1.0, delta=1e-6)),
        ({"method": "propose_test_release", "bound": 3.0, "parts": 3}, dp.epsilon(1.0, delta=1e-6)),
    ],
)
def test_what_a_method_cannot_use_is_refused_for_free(asked, spend):
    session = opened([20.0] * 4)
    with pytest.raises(BadParameter):
        Median(sql=SQL, **asked).release(session, spend)
    assert session.spent == type(session.spent)(epsilon=0.0, delta=0.0)


@pytest.mark.parametrize("method", ["smooth", "sample_and_aggregate"])
def test_only_epsilon_pays_for_a_median(method):
    session = opened([20.0] * 4, budget=dp.rho(1.0))
    with pytest.raises(BadParameter, match="paid for in ε"):
        Median(sql=SQL, method=method).release(session, dp.rho(0.1))
    assert session.spent == dp.rho(0.0)


@pytest.mark.parametrize("name", METHODS)
def test_units_that_are_replaced_and_values_that_cannot_differ_are_refused(name):
    asked = Median(sql=SQL, **METHODS[name])
    with pytest.raises(UnsupportedQuery, match="not replaced"):
        asked.explain(opened([20.0], unit=dp.rows(relation="replace")), spend_of(name, 1.0))
    single = Median(sql="SELECT AVG(0 * age) AS a FROM data", **METHODS[name])
    with pytest.raises(MissingBounds, match="no median to find"):
        single.explain(opened([20.0]), spend_of(name, 1.0))


@pytest.mark.parametrize("asked", ["SUM(age)", "COUNT(*)"])
def test_only_the_values_of_one_average_have_a_median(asked):
    sql = f"SELECT {asked} AS a FROM data"
    with pytest.raises(UnsupportedQuery, match="one average"):
        Median(sql=sql, method="smooth").explain(opened([20.0]), dp.epsilon(1.0))


@pytest.mark.parametrize("asked", [{"bound": None}, {"bound": 3.0}])
def test_a_proposal_needs_a_bound_and_a_delta(asked):
    spend = dp.epsilon(1.0, delta=0.0 if asked["bound"] else 1e-6)
    with pytest.raises(BadParameter, match="needs `bound`, and an amount with a δ"):
        Median(sql=SQL, method="propose_test_release", **asked).explain(opened([20.0]), spend)


def test_groups_have_no_common_median():
    columns = {"age": dp.bounds(LOW, HIGH, missing="drop"), "city": dp.keys(["a", "b"])}
    table = pd.DataFrame({"age": [20.0, 30.0], "city": ["a", "b"]})
    session = dp.open(
        table, unit=dp.rows(), budget=dp.epsilon(9.0), schema=dp.Schema(columns=columns)
    )
    sql = "SELECT city, AVG(age) AS a FROM data GROUP BY city"
    with pytest.raises(UnsupportedQuery, match="without groups"):
        Median(sql=sql, method="smooth").explain(session, dp.epsilon(1.0))


@pytest.mark.parametrize(("quantile", "what"), [(0.5, "median"), (0.9, "0.9-quantile")])
def test_an_answer_says_what_it_is_about_and_why_it_has_no_error(quantile, what):
    session = opened([20.0] * 4)
    words = f"the {what} of each row's age in [10, 50]"
    told = {}
    for name, method in METHODS.items():
        asked = Median(sql=SQL, quantile=quantile, **method)
        told[name] = asked._planned(session, session.sql(SQL), spend_of(name, 1.0))
    assert told["sampled"].estimand == told["proposed"].estimand == words
    assert told["smooth"].estimand == f"{words}; the ± depends on the data, so it may not be shown"


def test_one_value_moves_a_median_by_the_width_of_its_bounds():
    session = opened([20.0] * 4)
    made = {
        name: Median(sql=SQL, **method)._planned(session, session.sql(SQL), spend_of(name, 1.0))
        for name, method in METHODS.items()
    }
    assert made["smooth"].value.bound("linf") == HIGH - LOW
    assert made["proposed"].value.bound("linf") == 1
    halves = made["proposed"].mechanism
    assert (halves.epsilon_test, halves.epsilon_release) == (0.5, 0.5)
    assert made["sampled"].value.bound("l1") == made["sampled"].mechanism.sensitivity


def test_a_unit_has_the_mean_of_its_own_rows_within_the_bounds_and_none_without_rows():
    number = SimpleNamespace(centre=30.0, worth=Fraction(1, 2))
    values = _Values(
        rows=SimpleNamespace(numbers=[number, None]), statistic=None, low=LOW, high=HIGH, words=""
    )
    people = np.array([0, 2, 0, 1, 3, 4, 6, 6])
    sums = np.array([4.0, 5.0, 8.0, -6.0, 1000.0, -1000.0, 2.0, 1.0])
    counts = np.array([1.0, 0.0, 1.0, 2.0, 1.0, 1.0, 3.0, 0.0])
    matrix = SimpleNamespace(people=people, points=np.column_stack([sums, counts]))
    assert values.of(matrix, 1, 0).tolist() == [33.0, 28.5, HIGH, LOW, 30.5]
    none = SimpleNamespace(people=np.zeros(0, dtype=np.int64), points=np.zeros((0, 2)))
    assert values.of(none, 1, 0).tolist() == []
