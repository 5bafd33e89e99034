"""Gaussian noise costs what the analytic formula says, at any ε."""

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

import deniable as dp
from deniable.mechanisms import Gaussian

KNOWN = {0.1: 36.3047, 0.5: 8.0576, 1: 4.22468, 2: 2.23048, 4: 1.19352, 8: 0.652935}


@pytest.mark.parametrize("epsilon", KNOWN)
def test_analytic_noise_is_known(epsilon):
    m = dp.Gaussian.calibrate(epsilon=epsilon, delta=1e-6, sensitivity=1)
    assert m.sigma == pytest.approx(KNOWN[epsilon], rel=1e-5)


@settings(max_examples=30)
@given(st.floats(0.01, 50.0), st.floats(1e-12, 0.5), st.floats(1e-3, 1e3))
def test_calibrated_noise_meets_the_claim_and_wastes_nothing(epsilon, delta, sensitivity):
    m = Gaussian.calibrate(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    assert m.delta_at(epsilon) <= delta
    assert m.epsilon_at(delta) <= epsilon
    less = Gaussian(sigma=m.sigma * (1 - 1e-6), sensitivity=sensitivity)
    assert less.delta_at(epsilon) > delta * (1 - 1e-12)


@given(st.floats(1e-6, 1e3), st.floats(1e-3, 1e3))
def test_rho_and_mu_are_met(amount, sensitivity):
    by_rho = Gaussian.calibrate(rho=amount, sensitivity=sensitivity)
    assert by_rho.loss(dp.Zcdp).rho <= amount
    assert by_rho.zcdp() >= amount * (1 - 1e-14)
    by_mu = Gaussian.calibrate(mu=amount, sensitivity=sensitivity)
    assert by_mu.loss(dp.Gdp).mu <= amount


@pytest.mark.parametrize(
    "given_",
    [{}, {"epsilon": 1.0}, {"delta": 1e-5}, {"rho": 1.0, "mu": 1.0}, {"epsilon": 1, "rho": 1}],
)
def test_calibration_needs_one_target(given_):
    with pytest.raises(dp.BadParameter, match="epsilon and delta, or rho, or mu"):
        Gaussian.calibrate(**given_)


def test_the_classic_formula_fails_above_eight():
    """√(2·ln(1.25/δ))/ε at ε = 20, δ = 1e-5: the true δ is 1.5e-3."""
    classic = Gaussian(sigma=math.sqrt(2 * math.log(1.25 / 1e-5)) / 20)
    assert classic.delta_at(20) == pytest.approx(1.5e-3, rel=0.05)


def test_a_thousand_answers_are_one_with_less_noise():
    many = 1000 * Gaussian(sigma=20.0)
    assert many.gdp() == pytest.approx(math.sqrt(1000) / 20, rel=1e-12)
    assert many.epsilon_at(1e-6) == pytest.approx(8.306225049955, rel=1e-9)


def test_gaussian_noise_is_never_pure():
    assert Gaussian(sigma=100.0).epsilon_at(0.0) == math.inf
    with pytest.raises(dp.NoBound):
        Gaussian(sigma=100.0).loss(dp.Pure)


def test_l1_bounds_l2_but_not_the_other_way():
    assert Gaussian(sigma=1.0).on(dp.Sensitive(lambda: 0, l1=1))
    with pytest.raises(dp.SensitivityMismatch):
        Gaussian(sigma=1.0).on(dp.Sensitive(lambda: 0, linf=1))


@pytest.mark.parametrize("sigma", [0.05, 0.3, 0.5, 1.0, 1.7, 1.999, 2.0, 2.5, 40.0])
def test_rounding_to_whole_numbers_adds_to_the_variance(sigma):
    """Σ k²·P(k − ½ < Z < k + ½), over all k that matter."""
    with mp.workdps(30):
        edges = [mp.ncdf((k - mp.mpf("0.5")) / sigma) for k in range(-400, 402)]
        chances = [high - low for low, high in pairwise(edges)]
        exact = mp.fsum(k * k * p for k, p in zip(range(-400, 401), chances, strict=True))
    assert Gaussian(sigma=sigma).rounded_variance == pytest.approx(float(exact), rel=1e-9)
