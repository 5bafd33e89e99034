"""Discrete Gaussian noise has its own price: never that of the real one."""

import math

import numpy as np
import pytest
from mpmath import mp

import deniable as dp
from deniable.mechanisms import DiscreteGaussian, Gaussian


def pmf(sigma: float, shift: int) -> np.ndarray:
    weights = np.exp(-((np.arange(-400, 401) - shift) ** 2) / (2 * sigma**2))
    return weights / weights.sum()


def true_delta(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.parametrize("sigma", [1.0, 4.0, 10.0])
@pytest.mark.parametrize("shift", [1, 3])
def test_delta_is_the_sum_over_whole_numbers(sigma, shift):
    m = DiscreteGaussian(sigma=sigma, sensitivity=shift)
    for epsilon in (0.5, 1.0, 3.0):
        true = true_delta(pmf(sigma, 0), pmf(sigma, shift), epsilon)
        assert true * (1 - 1e-9) <= m.delta_at(epsilon) <= true * (1 + 1e-3)


def test_the_formula_of_the_real_gaussian_would_promise_too_much():
    for sigma, epsilon, factor in [(1.0, 3.0, 1.2), (1.0, 9.4, 3.0), (4.0, 3.0, 1.15)]:
        real = Gaussian(sigma=sigma).delta_at(epsilon)
        assert DiscreteGaussian(sigma=sigma).delta_at(epsilon) > factor * real
    with pytest.raises(dp.NoBound):
        DiscreteGaussian(sigma=1.0).loss(dp.Gdp)


def test_four_numbers_moved_by_one_are_worse_than_one_moved_by_two():
    """Why arrays of which one unit moves several numbers are refused."""
    sigma = 0.5
    p, q = pmf(sigma, 0)[396:406], pmf(sigma, 1)[396:406]
    four_p, four_q = p, q
    for _ in range(3):
        four_p, four_q = np.outer(four_p, p).ravel(), np.outer(four_q, q).ravel()
    epsilon = 2.2 / sigma**2
    assert true_delta(four_p, four_q, epsilon) > 2 * true_delta(
        pmf(sigma, 0), pmf(sigma, 2), epsilon
    )
    with pytest.raises(dp.BadParameter, match="one number at a time"):
        DiscreteGaussian(sigma=sigma, sensitivity=2).release([1, 2, 3, 4])
    assert isinstance(DiscreteGaussian(sigma=sigma, sensitivity=2).release(3), int)


def test_rho_is_exact():
    assert DiscreteGaussian(sigma=2.0).loss(dp.Zcdp).rho == 0.125
    m = DiscreteGaussian.calibrate(rho=0.3, sensitivity=2)
    assert 0.3 * (1 - 1e-14) <= m.zcdp() <= 0.3


@pytest.mark.parametrize("sigma", [0.3, 1.0, 7.5, 200.0])
def test_the_error_is_the_least_whole_number_that_covers(sigma):
    x = np.arange(-4000, 4001)
    weights = np.exp(-(x**2) / (2 * sigma**2))
    weights /= weights.sum()
    k = DiscreteGaussian(sigma=sigma).error(0.95)
    assert weights[np.abs(x) > k].sum() <= 0.05 * (1 + 1e-9)
    assert k == 0 or weights[np.abs(x) > k - 1].sum() > 0.05


@pytest.mark.parametrize("sigma", [0.2, 0.5, 0.9, 1.0, 1.7, 5.0, 40.0])
@pytest.mark.parametrize("tail", [0.9, 0.5, 0.1, 1e-3, 1e-9, 1e-30])
def test_the_quantile_is_where_the_exact_tail_is_met(sigma, tail):
    with mp.workdps(60):
        weights = [mp.exp(-mp.mpf(k * k) / (2 * mp.mpf(sigma) ** 2)) for k in range(1200)]
        whole = 2 * mp.fsum(weights) - 1
        found = int(DiscreteGaussian(sigma=sigma).quantile(tail))
        beyond = 2 * mp.fsum(weights[found + 1 :]) / whole
        assert beyond <= tail
        assert beyond + (2 if found else 1) * weights[found] / whole > tail


def test_wide_noise_has_the_error_of_the_real_one():
    assert DiscreteGaussian(sigma=1e6).error(0.95) == pytest.approx(1.959964e6, rel=1e-5)


def test_noise_too_wide_to_sum_is_priced_by_rho():
    m = DiscreteGaussian(sigma=1e5, sensitivity=10**4)
    real = Gaussian(sigma=1e5, sensitivity=1e4)
    assert real.epsilon_at(1e-6) <= m.epsilon_at(1e-6) <= 1.2 * real.epsilon_at(1e-6)
    assert m.loss(dp.Zcdp).epsilon_at(1e-6) >= m.epsilon_at(1e-6)


@pytest.mark.parametrize("sigma", [9999.0, 1e4])
@pytest.mark.parametrize("tail", [0.05, 1e-6])
def test_the_quantile_is_the_least_that_covers_as_long_as_terms_can_be_summed(sigma, tail):
    k = np.arange(-90_000, 90_001)
    law = np.exp(-np.square(k / sigma) / 2)
    law /= law.sum()
    found = DiscreteGaussian(sigma=sigma).quantile(tail)
    assert law[np.abs(k) > found].sum() <= tail < law[np.abs(k) >= found].sum()
