"""No price is above the trivial one, also where rounding up would carry it there."""

import math

import pytest

from deniable.losses import amplify, convert, textbook

EPSILONS = [1e-300, 1e-12, 1e-3, 0.7, 5.0, 40.0, 700.0]
NEARLY = [math.nextafter(1.0, 0.0), 1 - 1e-12, 0.999, 0.5, 1e-9, 1e-300]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("rate", NEARLY)
def test_a_sample_never_costs_more_than_everybody(epsilon, rate):
    found, delta = amplify.poisson(epsilon, delta=0.01, rate=rate)
    assert found <= epsilon
    assert delta <= 0.01 * (1 + 1e-12)
    grown = math.log1p(rate * math.expm1(min(epsilon, 30.0)))
    assert found >= grown * (1 - 1e-9) * (epsilon <= 30)
    floor = amplify.poisson_floor(epsilon, rate=rate)
    assert 0 <= floor <= epsilon
    assert amplify.poisson(epsilon, delta=0.01, rate=1.0) == (epsilon, 0.01)
    assert amplify.poisson(epsilon, delta=0.01, rate=0.0) == (0.0, 0.0)


@pytest.mark.parametrize("population", [1, 2, 3, 10**6, 10**12])
def test_samples_without_replacement_are_priced_by_their_share(population):
    for size in {1, population // 2, population - 1, population} - {0}:
        found, delta = amplify.without_replacement(
            0.5, delta=1e-3, population=population, size=size
        )
        assert (found, delta) == amplify.poisson(0.5, delta=1e-3, rate=size / population)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
@pytest.mark.parametrize("population", [2, 50, 10**4])
def test_shuffling_never_costs_more_than_not_shuffling(epsilon, population):
    assert 0 < amplify.shuffled(epsilon, delta=1e-6, population=population) <= epsilon
    assert 0 <= amplify.shuffled_delta(epsilon, at=0.0, population=population) <= 1.0
    assert amplify.shuffled_delta(epsilon, at=epsilon, population=population) <= 1e-9


@pytest.mark.parametrize("order", [1.5, 2.0, 7.0, 33.5])
@pytest.mark.parametrize("sigma", [0.3, 1.0, 50.0])
@pytest.mark.parametrize("rate", NEARLY[:5])
def test_a_gaussian_sample_never_diverges_more_than_everybody(order, sigma, rate):
    plain = order / (2 * sigma * sigma)
    found = amplify.sampled_gaussian_renyi(order, rate=rate, sigma=sigma)
    assert 0 <= found <= plain * (1 + 1e-12)
    if rate == NEARLY[0]:
        assert found == pytest.approx(plain, rel=1e-6)


@pytest.mark.parametrize("times", [1, 2, 9, 400])
@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 2.0, 50.0])
def test_no_composition_of_a_textbook_is_above_the_sum_nor_any_delta_above_one(times, epsilon):
    most = textbook.basic(epsilon, times=times)
    assert most == pytest.approx(times * epsilon)
    assert textbook.kov_optimal(epsilon, times=times, delta=1e-6) <= most * (1 + 1e-12)
    for at in (0.0, epsilon, most / 2, most, 2 * most):
        for each in (0.0, 1e-9, 0.5, 0.999):
            found = textbook.kov_delta(epsilon, times=times, at=at, each_delta=each)
            assert 1 - (1 - each) ** times - 1e-12 <= found <= 1.0
    assert textbook.kov_delta(epsilon, times=times, at=most * (1 + 1e-9)) <= 1e-300


@pytest.mark.parametrize("order", [1.0001, 2.0, 64.0, 1e6])
@pytest.mark.parametrize("divergence", [0.0, 1e-12, 0.3, 40.0, 1e4])
def test_conversions_of_a_curve_stay_between_nothing_and_certainty(order, divergence):
    for delta in (1e-300, 1e-9, 0.5, math.nextafter(1.0, 0.0)):
        found = convert.renyi_to_epsilon(divergence, order, delta)
        assert (
            0
            <= found
            <= convert.renyi_to_epsilon_classic(divergence, order, delta) * (1 + 1e-9) + 1e-12
        )
    for epsilon in (0.0, 0.1, 30.0, 1e6):
        assert 0 <= convert.renyi_to_delta(divergence, order, epsilon) <= 1.0


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.5, 20.0, 300.0])
@pytest.mark.parametrize("delta", [0.0, 1e-12, 0.2, 0.9])
@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_a_group_loses_no_less_than_one_and_never_more_than_all(epsilon, delta, size):
    found = convert.approx_group_delta(epsilon, delta, size)
    assert delta <= found * (1 + 1e-12) <= 1.0 + 1e-12
    assert found <= 1.0


@pytest.mark.parametrize("mu", [1e-9, 0.1, 1.0, 8.0, 30.0])
def test_the_gaussian_trade_off_stays_between_nothing_and_certainty(mu):
    for epsilon in (0.0, 1e-6, 1.0, 50.0, 1e4):
        assert 0 <= convert.gdp_to_delta(mu, epsilon) <= 1.0
    for delta in (1e-300, 1e-6, 0.5, math.nextafter(1.0, 0.0)):
        assert 0 <= convert.gdp_to_epsilon(mu, delta) < math.inf
    rho = mu * mu / 2
    for delta in (1e-100, 1e-6, 0.9):
        tight = convert.zcdp_to_approx(rho, delta)
        assert 0 <= tight <= convert.zcdp_to_approx_classic(rho, delta) * (1 + 1e-9)
