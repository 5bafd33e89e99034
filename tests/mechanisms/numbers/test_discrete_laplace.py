"""Discrete Laplace noise has its own price."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

import deniable as dp
from deniable.mechanisms import DiscreteLaplace, Laplace, RandomizedResponse


def test_at_sensitivity_one_it_is_priced_as_randomized_response():
    many = 500 * DiscreteLaplace(scale=1.0)
    assert many.epsilon_at(1e-5) == pytest.approx(311.77, abs=0.01)
    assert many.epsilon_at(1e-5) == pytest.approx(
        (500 * RandomizedResponse(epsilon=1.0)).epsilon_at(1e-5), rel=1e-6
    )
    assert many.epsilon_at(1e-5) > (500 * Laplace(scale=1.0)).epsilon_at(1e-5) + 50


def test_on_a_fine_lattice_its_price_comes_down_to_the_real_one():
    fine = 100 * DiscreteLaplace(scale=100.0, sensitivity=100)
    assert fine.epsilon_at(1e-5) == pytest.approx(
        (100 * Laplace(scale=1.0)).epsilon_at(1e-5), rel=1e-3
    )


def pmf(scale: float, shift: int, reach: int = 400) -> np.ndarray:
    q = math.exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** np.abs(np.arange(-reach, reach + 1) - shift)


def renyi(scale: float, shift: int, order: float) -> float:
    x = np.arange(-400, 401)
    log_p, log_q = -np.abs(x) / scale, -np.abs(x - shift) / scale
    norm = math.log(math.tanh(1 / (2 * scale)))
    return (logsumexp(order * log_p + (1 - order) * log_q) + norm) / (order - 1)


@given(st.floats(0.5, 8.0), st.integers(1, 6), st.floats(1.01, 20.0))
def test_zcdp_holds_at_every_order(scale, shift, order):
    m = DiscreteLaplace(scale=scale, sensitivity=shift)
    assert m.zcdp() * order >= renyi(scale, shift, order) - 1e-12


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 1), (2.0, 3), (5.0, 7), (0.5, 4)])
def test_zcdp_is_the_divergence_of_kullback_and_leibler(scale, shift):
    p, q = pmf(scale, 0), pmf(scale, shift)
    kept = (p > 0) & (q > 0)
    true = float(np.sum(p[kept] * np.log(p[kept] / q[kept])))
    m = DiscreteLaplace(scale=scale, sensitivity=shift)
    assert true <= m.zcdp() * (1 + 1e-12)
    assert m.zcdp() == pytest.approx(true, rel=1e-9)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 1), (2, 2), (5, 3)])
@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
def test_moving_two_numbers_is_dominated_by_moving_one_as_far(a, b, scale):
    p, q = (np.outer(pmf(scale, i, 60), pmf(scale, j, 60)).ravel() for i, j in ((0, 0), (a, b)))
    one_p, one_q = pmf(scale, 0), pmf(scale, a + b)
    for epsilon in np.linspace(-(a + b) / scale, (a + b) / scale, 101):
        both = np.maximum(p - math.exp(epsilon) * q, 0).sum()
        one = np.maximum(one_p - math.exp(epsilon) * one_q, 0).sum()
        assert both <= one + 1e-9


def test_sensitivity_is_a_whole_number():
    with pytest.raises(dp.BadParameter):
        DiscreteLaplace(scale=1.0, sensitivity=1.5)
    assert DiscreteLaplace.calibrate(epsilon=0.3, sensitivity=3).epsilon_at() <= 0.3


def test_the_error_is_the_least_whole_number_that_covers():
    for scale in (0.1, 0.7, 3.0, 1000.0):
        k = DiscreteLaplace(scale=scale).error(0.95)
        q = math.exp(-1 / scale)
        assert 2 * q ** (k + 1) / (1 + q) <= 0.05 * (1 + 1e-9)
        assert k == 0 or 2 * q**k / (1 + q) > 0.05


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 17, 1000, 10**7])
def test_the_divergence_is_never_below_the_truth_however_little_a_unit_moves(steps):
    """The Kullback–Leibler divergence with 60 digits, where terms of the closed form cancel."""
    random = np.random.default_rng(steps)
    for epsilon in 10 ** np.append(random.uniform(-2.999, -2.6, 60), random.uniform(-5, 0.7, 60)):
        m = DiscreteLaplace(scale=float(steps / epsilon), sensitivity=steps)
        with mpmath.workdps(60):
            b = mpmath.mpf(m.scale)
            q, power = mpmath.exp(-1 / b), mpmath.exp(-steps / b)
            inner = q * (1 - q ** (steps - 1)) / (1 - q) - (steps - 1) * power
            truth = (steps * (1 - power) + steps * (q - power) - 2 * inner) / ((1 + q) * b)
            room = mpmath.mpf(2) ** -24 if epsilon > 1e-3 else mpmath.mpf(1) / 1000
            assert truth <= m.zcdp() <= truth * (1 + room), m
