"""Rényi differential privacy on many orders."""

import math

import pytest
from dp_accounting import dp_event
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.losses import convert
from deniable.losses._loss import Stated
from deniable.losses.renyi import ORDERS


def test_the_grid_increases_and_reaches_far():
    assert list(ORDERS) == sorted(set(ORDERS))
    assert ORDERS[0] < 1.01
    assert ORDERS[-1] > 1e5
    assert set(range(2, 65)) <= set(ORDERS)
    assert all(order == round(order) for order in ORDERS if order >= 17)


@settings(max_examples=40)
@given(st.floats(1e-7, 1e3), st.sampled_from([1e-12, 1e-9, 1e-6, 1e-3]))
def test_the_grid_costs_little_over_the_best_order(rho: float, delta: float):
    best = dp.Zcdp(rho).epsilon_at(delta)
    on_grid = dp.Zcdp(rho).to(dp.Renyi).epsilon_at(delta)
    assert best * (1 - 1e-12) <= on_grid <= best * 1.002


@pytest.mark.parametrize("bad", [1.0, 0.5, -2.0, math.nan, math.inf, "2"])
def test_orders_are_above_one(bad):
    with pytest.raises(dp.BadParameter):
        dp.Renyi(orders=(bad,), values=(1.0,))


@pytest.mark.parametrize(
    ("orders", "values"),
    [
        ((2.0,), ()),
        ((), ()),
        ((2.0,), (1.0, 2.0)),
        ((3.0, 2.0), (1.0, 2.0)),
        ((2.0,), (-1.0,)),
        (2.0, 1.0),
    ],
)
def test_curves_that_are_not_curves_are_refused(orders, values):
    with pytest.raises(dp.BadParameter):
        dp.Renyi(orders=orders, values=values)


def test_curves_add_on_the_orders_they_share():
    a = dp.Renyi(orders=(2.0, 4.0), values=(1.0, 2.0))
    b = dp.Renyi(orders=(4.0, 8.0), values=(0.5, 0.75))
    assert a + b == dp.Renyi(orders=(4.0,), values=(2.5,))
    with pytest.raises(dp.MixedLosses):
        a + dp.Renyi(orders=(3.0,), values=(1.0,))


@given(st.floats(0.01, 5), st.floats(1.05, 90_000))
@settings(max_examples=40)
def test_between_orders_the_curve_stays_above_the_truth(epsilon: float, order: float):
    curve = dp.Pure(epsilon).to(dp.Renyi)
    truth = convert.pure_to_renyi(epsilon, order)
    assert truth * (1 - 1e-12) <= curve.at(order) <= truth * 1.2


def test_beyond_the_last_order_nothing_is_known():
    assert dp.Renyi(orders=(2.0,), values=(1.0,)).at(2.5) == math.inf
    assert dp.Renyi(orders=(2.0,), values=(1.0,)).at(1.5) == 1.0


def test_one_curve_is_within_another_if_it_is_so_at_every_order_of_the_other():
    low = dp.Renyi(orders=(2.0, 4.0, 8.0), values=(1.0, 2.0, 4.0))
    assert low <= dp.Renyi(orders=(4.0,), values=(2.0,))
    assert not low <= dp.Renyi(orders=(4.0, 16.0), values=(2.0, 99.0))
    assert not low <= dp.Renyi(orders=(2.0, 4.0), values=(9.0, 1.9))


def test_groups_follow_mironov_where_he_leads():
    curve = dp.Zcdp(0.1).to(dp.Renyi)
    group = curve.group(4)
    assert min(group.orders) >= 2
    assert max(group.orders) * 4 <= ORDERS[-1]
    assert group.at(3.0) == pytest.approx(9 * 0.1 * 12)
    # Weaker than the theorem for zCDP, as it must be: 16·ρ·α.
    assert group.at(3.0) >= dp.Zcdp(0.1).group(4).rho * 3 * 0.6
    with pytest.raises(dp.NoBound):
        dp.Renyi(orders=(2.0, 3.0), values=(1.0, 1.0)).group(2)


def test_what_is_stated_and_what_follows_are_combined_order_by_order():
    curve = dp.Renyi.from_facts(Stated(epsilon=1.0, rho=0.1))
    assert curve.at(2.0) == pytest.approx(0.2)
    assert curve.at(ORDERS[-1]) == pytest.approx(1.0, abs=1e-4)
    with pytest.raises(dp.NoBound):
        dp.Renyi.from_facts(Stated(epsilon=1.0, delta=1e-6))


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
def test_prices_agree_with_an_independent_accountant(delta: float):
    accountant = RdpAccountant(ORDERS)
    accountant.compose(dp_event.GaussianDpEvent(5.0), 40)
    accountant.compose(dp_event.LaplaceDpEvent(10.0), 7)

    class Laplace:
        def pure(self):
            return 0.1

        def zcdp(self):
            return math.inf

        gdp = zcdp

        def renyi(self, order):
            rest = order + (order - 1) * math.exp((1 - 2 * order) * 0.1)
            return 0.1 + math.log(rest / (2 * order - 1)) / (order - 1)

    ours = 40 * dp.Gdp(0.2).to(dp.Renyi) + 7 * dp.Renyi.from_facts(Laplace())
    assert ours.epsilon_at(delta) == pytest.approx(accountant.get_epsilon(delta), rel=1e-6)


@pytest.mark.parametrize("size", [2, 3, 4, 7, 8])
def test_groups_are_priced_at_the_orders_that_reach_far_enough(size):
    """The Gaussian's own group divergence, α·size²·ρ, is below; the other orders are gone."""
    orders = (1.5, 2.0, 3.0, 4.0, 8.0, 16.0, 32.0)
    alone = dp.Renyi(orders=orders, values=tuple(0.1 * a for a in orders))
    group, factor = alone.group(size), 2 ** (size - 1).bit_length()
    assert group.orders == tuple(a for a in orders if a >= 2 and a * factor <= 32)
    for order, value in zip(group.orders, group.values, strict=True):
        assert 0.1 * order * size**2 <= value < math.inf


def test_a_group_beyond_all_orders_has_no_bound():
    with pytest.raises(dp.NoBound):
        dp.Renyi(orders=(2.0, 4.0), values=(0.1, 0.2)).group(5)
