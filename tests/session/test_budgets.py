"""Ceilings and spends: which are accepted, and what the others are told."""

import math

import pytest

import deniable as dp
from deniable.errors import BadParameter, BudgetExceeded, DeltaTooLarge, MixedLosses, NotAdaptive
from deniable.mechanisms.keys import PartitionSelection
from deniable.mechanisms.numbers import Gaussian, Laplace
from deniable.session.budgets import alone, ceiling, prices, spend, used


@pytest.mark.parametrize(
    "budget", [dp.epsilon(3), dp.epsilon(3, delta=1e-7), dp.rho(0.5), dp.mu(1)], ids=str
)
def test_the_four_kinds_may_be_ceilings(budget):
    assert ceiling(budget, size=None) is budget


@pytest.mark.parametrize("budget", [3, 3.0, "3", None, True, (3, 1e-7)])
def test_a_bare_number_is_no_budget(budget):
    with pytest.raises(BadParameter, match=r"dp\.epsilon"):
        ceiling(budget, size=None)


def test_a_loss_distribution_is_no_ceiling():
    with pytest.raises(NotAdaptive, match="fixed in advance"):
        ceiling(Gaussian(sigma=1.0).loss(dp.Profile), size=None)


@pytest.mark.parametrize("delta", [1e-3, 0.01, 0.5])
def test_a_large_delta_is_refused(delta):
    with pytest.raises(DeltaTooLarge, match="publishing 1 in"):
        ceiling(dp.epsilon(1, delta=delta), size=None)


def test_a_delta_is_compared_with_the_number_of_people_if_that_is_public():
    ceiling(dp.epsilon(1, delta=1e-5), size=10_000)
    with pytest.raises(DeltaTooLarge) as caught:
        ceiling(dp.epsilon(1, delta=1e-5), size=2_000_000)
    assert "2,000,000 people" in caught.value.fix
    assert "delta=5e-08" in caught.value.fix


@pytest.mark.parametrize("nothing", [dp.epsilon(0), dp.rho(0), dp.epsilon(0, delta=1e-9)], ids=str)
def test_nothing_is_neither_a_budget_nor_a_spend(nothing):
    with pytest.raises(BadParameter, match="above 0"):
        ceiling(nothing, size=None)
    with pytest.raises(BadParameter, match="above 0"):
        spend(nothing, budget=dp.epsilon(1))


@pytest.mark.parametrize("bad", [-1, "1", None, float("nan")])
def test_an_epsilon_that_cannot_be_is_refused_with_what_was_given(bad):
    with pytest.raises(BadParameter, match="epsilon must be"):
        dp.epsilon(bad)


def test_what_one_answer_loses_alone_is_told_tightly_and_in_the_sessions_currency():
    budget = dp.epsilon(3, delta=1e-7)
    assert alone(Laplace(scale=8.0), budget=budget) == dp.epsilon(0.125, delta=0.0)
    loss = alone(Gaussian(sigma=30.0), budget=budget)
    assert loss.delta == 1e-7
    assert loss.epsilon == pytest.approx(Gaussian(sigma=30.0).epsilon_at(1e-7))
    assert alone(Gaussian(sigma=1.0), budget=dp.rho(1)) == dp.rho(0.5)


def test_what_has_a_delta_of_its_own_is_told_with_that():
    budget = dp.epsilon(5, delta=1e-6)
    keys = PartitionSelection(epsilon=0.5, delta=2.5e-8)
    both = keys + Laplace(scale=2.0)
    assert alone(both, budget=budget) == dp.epsilon(1.0, delta=2.5e-8)
    assert both.delta_at(1.0) <= 2.5e-8
    mixed = alone(keys + Gaussian(sigma=30.0), budget=budget)
    assert mixed.delta == 1e-6, "Gaussian noise has none: it is told at the ceiling's"
    assert (keys + Gaussian(sigma=30.0)).delta_at(mixed.epsilon) <= 1e-6


def test_spends_are_in_the_sessions_currency():
    assert spend(dp.epsilon(1), budget=dp.epsilon(3, delta=1e-7)) == dp.epsilon(1)
    with pytest.raises(MixedLosses, match="budget is in ε, and you tried to spend ρ"):
        spend(dp.rho(0.1), budget=dp.epsilon(3))
    with pytest.raises(MixedLosses) as caught:
        spend(dp.epsilon(1), budget=dp.rho(1))
    assert caught.value.fix == f"spend=dp.rho({dp.epsilon(1).to(dp.Zcdp).rho:.3g})"
    with pytest.raises(MixedLosses, match="no δ"):
        spend(dp.epsilon(1, delta=1e-9), budget=dp.epsilon(3))
    with pytest.raises(BadParameter, match="must be a privacy loss"):
        spend(0.1, budget=dp.epsilon(3))


@pytest.mark.parametrize(
    ("delta", "fine"),
    [(1e-9, True), (1e-7, True), (1e-7 * (1 + 5e-10), True), (1e-7 * (1 + 5e-9), False),
     (2e-7, False)],
)  # fmt: skip
def test_a_delta_above_that_of_the_budget_cannot_be_spent_but_for_a_rounding(delta, fine):
    amount, budget = dp.epsilon(0.5, delta=delta), dp.epsilon(3, delta=1e-7)
    if fine:
        assert spend(amount, budget=budget) is amount
    else:
        with pytest.raises(BudgetExceeded, match="the budget's δ is 1e-07"):
            spend(amount, budget=budget)


@pytest.mark.parametrize(
    ("size", "fine"), [(None, True), (9_999, True), (10_000, True), (10_001, False)]
)
def test_a_delta_of_one_in_all_people_is_the_most(size, fine):
    budget = dp.epsilon(1, delta=1e-4)
    if fine:
        assert ceiling(budget, size=size) is budget
    else:
        with pytest.raises(DeltaTooLarge):
            ceiling(budget, size=size)


def test_a_delta_that_buys_next_to_nothing_is_not_named():
    """Laplace noise has a δ of 0; where ε at the ceiling's δ is 1 % smaller, it is told so."""
    budget = dp.epsilon(9, delta=1e-4)
    told = {scale: alone(Laplace(scale=scale), budget=budget) for scale in (100.0, 0.5)}
    for scale, loss in told.items():
        pure, tight = 1 / scale, Laplace(scale=scale).epsilon_at(1e-4)
        expected = (pure, 0.0) if pure <= 1.01 * tight else (tight, 1e-4)
        assert (loss.epsilon, loss.delta) == pytest.approx(expected)
    assert {loss.delta for loss in told.values()} == {0.0, 1e-4}


def test_a_curve_is_no_ceiling_either():
    with pytest.raises(BadParameter, match="a Renyi cannot be a session's budget"):
        ceiling(dp.Renyi(orders=(2.0, 8.0), values=(0.5, 2.0)), size=None)


@pytest.mark.parametrize(
    ("given", "number"), [(3, "3"), (0.25, "0.25"), (True, None), ("3", None), (None, None)]
)
def test_a_bare_number_is_proposed_as_an_epsilon_and_nothing_else_is(given, number):
    with pytest.raises(BadParameter) as refused:
        ceiling(given, size=None)
    assert ("dp.rho" in refused.value.fix) == (number is None)
    assert number is None or f"budget=dp.epsilon({number})" in refused.value.fix
    with pytest.raises(BadParameter) as refused:
        spend(given, budget=dp.epsilon(3))
    assert refused.value.fix == f"spend=dp.epsilon({number or 0.1})"


@pytest.mark.parametrize(
    ("amount", "budget", "fix"),
    [
        (
            dp.rho(0.1),
            dp.epsilon(3, delta=1e-7),
            "spend=dp.epsilon(0.3)    a tenth of what is left",
        ),
        (dp.rho(0.1), dp.epsilon(3), "spend=dp.epsilon(0.3)    a tenth of what is left"),
        (dp.mu(0.5), dp.rho(1), "spend=dp.rho(0.125)"),
    ],
)
def test_another_currency_is_proposed_at_its_worth_where_a_theorem_gives_one(amount, budget, fix):
    with pytest.raises(MixedLosses) as refused:
        spend(amount, budget=budget)
    assert refused.value.fix == fix


@pytest.mark.parametrize(
    ("amount", "scales", "taken"),
    [
        (dp.epsilon(0.5, delta=1e-7), [2.0], dp.epsilon(0.5, delta=0.0)),
        (dp.epsilon(0.5, delta=1e-7), [4.0, 4.0], dp.epsilon(0.5, delta=0.0)),
        (dp.epsilon(0.5, delta=1e-7), [10.0], dp.epsilon(0.1, delta=0.0)),
        (dp.epsilon(0.5, delta=1e-7), [4.0, 3.9], dp.epsilon(0.5, delta=1e-7)),
        (dp.epsilon(0.5), [10.0], dp.epsilon(0.5)),
        (dp.rho(0.5), [10.0], dp.rho(0.5)),
    ],
)
def test_an_amount_needs_no_delta_where_all_that_it_pays_for_is_pure(amount, scales, taken):
    assert used(amount, *(Laplace(scale=scale) for scale in scales)) == taken


def test_a_rounding_does_not_make_a_delta_necessary():
    amount = dp.epsilon(0.5 * (1 - 2.0**-42), delta=1e-7)
    assert used(amount, Laplace(scale=2.0)).delta == 0.0
    amount = dp.epsilon(0.5 * (1 - 2.0**-38), delta=1e-7)
    assert used(amount, Laplace(scale=2.0)) is amount


@pytest.mark.parametrize(("delta", "epsilon"), [(1e-6, 0.5), (1e-5, math.inf)])
def test_a_delta_beyond_the_ceilings_leaves_no_epsilon_that_the_ceiling_could_hold(delta, epsilon):
    budget, keys = dp.epsilon(5, delta=1e-6), PartitionSelection(epsilon=0.5, delta=delta)
    assert prices(budget)(keys) == alone(keys, budget=budget)
    assert alone(keys, budget=budget).epsilon == epsilon
