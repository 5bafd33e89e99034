"""Prices add, and never round down."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.losses.filters import Price, filter_for

FIGURES = st.floats(0, 1e6) | st.just(math.inf)
PRICES = st.builds(
    lambda e, d, r, m, curve: Price(epsilon=e, delta=d, rho=r, mu_squared=m, renyi=curve),
    FIGURES, FIGURES, FIGURES, FIGURES, st.tuples(FIGURES, FIGURES),
)  # fmt: skip


@given(PRICES, PRICES)
def test_prices_add_componentwise_and_never_round_down(a, b):
    total = a + b
    assert total == b + a
    for name in ("epsilon", "delta", "rho", "mu_squared"):
        assert getattr(total, name) >= max(getattr(a, name), getattr(b, name))
    assert a + Price.zero == a
    assert sum([a]) == a


@given(PRICES)
def test_a_price_survives_its_record(price):
    assert Price.from_dict(json.loads(json.dumps(price.to_dict()))) == price


@given(PRICES, st.integers(0, 50))
def test_a_multiple_of_a_price_is_not_above_the_sum_and_hardly_below(price, times):
    summed = sum([price] * times, start=Price.zero)
    multiple = times * price
    assert multiple.epsilon <= summed.epsilon
    assert math.isinf(multiple.epsilon) or multiple.epsilon >= summed.epsilon * (1 - 1e-13)


def test_prices_of_different_filters_do_not_add():
    with pytest.raises(dp.MixedLosses):
        Price(renyi=(1.0,)) + Price(renyi=(1.0, 2.0))
    with pytest.raises(dp.BadParameter):
        Price.from_dict({"magic": 1.0})


def test_equal_entries_priced_at_once_cost_what_a_running_total_costs():
    ceiling = filter_for(dp.epsilon(1.0, delta=1e-6))
    one = ceiling.price_of(dp.rho(1e-9))
    assert ceiling.admits(10**6 * one)
    total = Price.zero
    for _ in range(20_000):
        total += one
    assert total.renyi[0] == pytest.approx((20_000 * one).renyi[0], rel=1e-11)
