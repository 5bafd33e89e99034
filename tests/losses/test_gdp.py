"""Gaussian differential privacy."""

import math

import pytest

import deniable as dp
from deniable.losses._loss import Stated


def test_squares_add_exactly():
    assert dp.Gdp(3.0) + dp.Gdp(4.0) == dp.Gdp(5.0)
    assert 1000 * dp.Gdp(0.05) == sum([dp.Gdp(0.05)] * 1000)


def test_a_thousand_gaussians_cost_what_the_formula_says():
    thousand = 1000 * dp.Gdp(1 / 20)
    assert thousand.epsilon_at(1e-6) == pytest.approx(8.306225049955, abs=1e-11)


def test_groups_pay_in_proportion():
    assert dp.Gdp(0.5).group(3) == dp.Gdp(1.5)


def test_pure_facts_are_gaussian_too():
    assert dp.Gdp.from_facts(Stated(mu=0.25, epsilon=1.0)) == dp.Gdp(0.25)
    assert dp.Gdp.from_facts(Stated(epsilon=1.0)).mu == pytest.approx(1.2320353853, abs=1e-9)
    with pytest.raises(dp.NoBound):
        dp.Gdp.from_facts(Stated(rho=0.5))


def test_half_a_standard_deviation_apart_is_told_by_chance_and_little_more():
    assert dp.Gdp(0.5).delta_at(0.0) == pytest.approx(math.erf(0.25 / math.sqrt(2)), rel=1e-12)
