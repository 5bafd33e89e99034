"""Rényi and zCDP prices of mechanisms whose law is known, against the law itself.

The truth is enumerated: every pair of answers of a randomized response, and exponential mechanisms
over all scores that neighbours may have. A price is never below it, and reaches it.
"""

import itertools

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

import deniable as dp
from deniable.losses import convert
from deniable.losses.renyi import ORDERS
from deniable.mechanisms import (
    IntervalExponential,
    QuantileSearch,
    RandomizedResponse,
    Staircase,
    TopK,
)

TABLE = pa.table({"a": [1, 2, 3]})
ALPHAS = [1.0078125, 1.5, 2.0, 7.0, 64.0]


def divergence(p, q, order):
    """D_α(P‖Q) of two lists of probabilities, to 30 digits."""
    with mp.workdps(40):
        total = mp.fsum(
            mp.mpf(a) ** order * mp.mpf(b) ** (1 - mp.mpf(order)) for a, b in zip(p, q, strict=True)
        )
        return mp.log(total) / (mp.mpf(order) - 1)


def response_law(epsilon, categories, true):
    with mp.workdps(40):
        weights = [mp.exp(epsilon) if k == true else mp.mpf(1) for k in range(categories)]
        return [w / mp.fsum(weights) for w in weights]


@pytest.mark.parametrize("order", ALPHAS)
@pytest.mark.parametrize("categories", [2, 3, 10])
@pytest.mark.parametrize("epsilon", [0.001, 0.3, 1.0, 3.192151, 9.0])
def test_randomized_response_costs_its_own_divergence(epsilon, categories, order):
    """The worst over all pairs of true answers, in both directions."""
    laws = [response_law(epsilon, categories, true) for true in range(min(3, categories))]
    truth = max(divergence(p, q, order) for p, q in itertools.permutations(laws, 2))
    price = RandomizedResponse(epsilon=epsilon, categories=categories).renyi(order)
    assert truth <= price <= truth * (1 + mp.mpf(1e-9))


def test_ten_categories_cost_less_than_two():
    ten, two = (RandomizedResponse(epsilon=3.192151, categories=k) for k in (10, 2))
    assert ten.loss(dp.Renyi).at(1.5) == pytest.approx(2.695, abs=1e-3)
    assert two.loss(dp.Renyi).at(1.5) == pytest.approx(3.115, abs=1e-3)
    assert ten.loss(dp.Zcdp).rho < two.loss(dp.Zcdp).rho


def exponential_law(scores, epsilon):
    with mp.workdps(40):
        weights = [mp.exp(mp.mpf(epsilon) * mp.mpf(u) / 2) for u in scores]
        return [w / mp.fsum(weights) for w in weights]


@settings(max_examples=150, deadline=None)
@given(
    st.floats(0.01, 12),
    st.sampled_from(ALPHAS),
    st.lists(st.tuples(st.floats(-20, 20), st.floats(-1, 1)), min_size=2, max_size=5),
)
def test_no_scores_make_the_exponential_mechanism_cost_more(epsilon, order, candidates):
    """Any scores, each moved by at most Δ = 1."""
    before = exponential_law([u for u, _ in candidates], epsilon)
    after = exponential_law([u + move for u, move in candidates], epsilon)
    truth = max(divergence(before, after, order), divergence(after, before, order))
    assert truth <= dp.Exponential(epsilon=epsilon).renyi(order) * (1 + mp.mpf(1e-14))


@pytest.mark.parametrize("order", ALPHAS)
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 5.0, 20.0])
def test_some_scores_reach_the_price_of_the_exponential_mechanism(epsilon, order):
    """Two candidates, one score up and one down by Δ; the best lead of one over the other."""

    def reached(lead):
        laws = (exponential_law(scores, epsilon) for scores in ([lead, 0], [lead - 1, 1]))
        return divergence(*laws, order)

    low, high = mp.mpf(-1 - 40 / epsilon), mp.mpf(1 + 40 / epsilon)
    for _ in range(120):
        third = (high - low) / 3
        if reached(low + third) < reached(high - third):
            low += third
        else:
            high -= third
    truth = reached(low)
    price = dp.Exponential(epsilon=epsilon).renyi(order)
    assert truth * (1 - mp.mpf(1e-25)) <= price <= truth * (1 + mp.mpf(1e-9))


@settings(max_examples=60, deadline=None)
@given(st.floats(1e-4, 60), st.integers(2, 10**6))
def test_the_zcdp_of_a_response_is_the_highest_divergence_per_order(epsilon, categories):
    price = RandomizedResponse(epsilon=epsilon, categories=categories).zcdp()
    with mp.workdps(40):
        truth_telling = 1 / (1 + (categories - 1) * mp.exp(-mp.mpf(epsilon)))

        def share(x):
            less = mp.e**x
            grown = truth_telling * (
                mp.expm1(less * epsilon) + mp.exp(-mp.mpf(epsilon)) * mp.expm1(-less * epsilon)
            )
            return mp.log1p(grown) / less / (1 + less)

        points = [mp.mpf(j) / 2 for j in range(-40, 40)]
        best = max(points, key=share)
        low, high = best - mp.mpf(1) / 2, best + mp.mpf(1) / 2
        for _ in range(60):
            third = (high - low) / 3
            low, high = (
                (low + third, high)
                if share(low + third) < share(high - third)
                else (low, high - third)
            )
        truth = share(low)
        assert truth * (1 - mp.mpf(1e-15)) <= price <= truth * (1 + mp.mpf(1e-8))


@given(st.floats(1e-6, 200), st.floats(1e-6, 1e5))
def test_the_zcdp_of_bounded_range_covers_every_order_and_is_met_near_one(epsilon, less):
    rho = convert.bounded_range_to_zcdp(epsilon)
    assert convert.bounded_range_to_renyi(epsilon, 1 + less) <= rho * (1 + less) * (1 + 1e-12)
    assert rho <= epsilon**2 / 8 * (1 + 1e-12)
    with mp.workdps(60):
        t, order = mp.mpf(epsilon) / 2, 1 + mp.mpf(10) ** -12
        phi = lambda y: y * mp.log(mp.sinh(y * t) / (y * t))  # noqa: E731
        near_one = (phi(order) - phi(order - 1) - phi(mp.mpf(1))) / (order - 1)
        assert near_one <= rho * order
        assert rho <= near_one * (1 + mp.mpf(1e-9))


@pytest.mark.parametrize(
    "mechanism",
    [
        RandomizedResponse(epsilon=2.0, categories=10),
        Staircase(epsilon=2.0),
        dp.Exponential(epsilon=2.0),
        dp.NoisyMax(epsilon=2.0, noise="gumbel"),
        IntervalExponential(epsilon=2.0, low=0.0, high=1.0),
        TopK(k=4, epsilon=2.0),
        QuantileSearch(epsilon=2.0, share=0.5),
        dp.DiscreteLaplace(scale=2.0, sensitivity=3),
        RandomizedResponse(epsilon=2.0, categories=10).sampled(rate=0.1),
    ],
    ids=lambda m: m.name,
)
def test_known_laws_beat_the_black_box_at_every_order(mechanism):
    """All that is known of the law enters the curve, and a session that counts in it."""
    curve = mechanism.loss(dp.Renyi)
    box = [convert.pure_to_renyi(mechanism.pure(), order) for order in ORDERS]
    assert all(mine < worst for mine, worst in zip(curve.values, box, strict=True))
    assert all(a <= b for a, b in itertools.pairwise(curve.values))


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_a_session_charges_the_tight_price_under_both_relations(relation):
    pick = dp.Exponential(epsilon=1.0)
    s = dp.open(TABLE, unit=dp.rows(relation=relation), budget=3 * pick.loss(dp.Zcdp))
    assert answers_within(s, pick) == 3
    assert s.spent == 3 * pick.loss(dp.Zcdp)
    assert pick.loss(dp.Zcdp).rho < 1 / 8


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_an_approximate_budget_lasts_as_long_as_the_tight_curve_says(relation):
    counts = []
    for noise in ("gumbel", "laplace"):
        budget = dp.epsilon(2.0, delta=1e-6)
        s = dp.open(TABLE, unit=dp.rows(relation=relation), budget=budget)
        counts.append(answers_within(s, dp.NoisyMax(epsilon=0.3, noise=noise)))
    assert counts[0] > counts[1]


def answers_within(session, mechanism):
    for count in range(1000):
        try:
            session.release(mechanism.on(dp.Sensitive(lambda: [0, 1, 2], linf=1, shape=3)))
        except dp.BudgetExceeded:
            return count
    raise AssertionError("the budget has no end")
