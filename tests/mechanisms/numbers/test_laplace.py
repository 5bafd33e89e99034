"""Laplace noise costs what the theorems say, for numbers and for vectors."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.mechanisms import Laplace

POSITIVE = st.floats(1e-6, 1e6)


@given(POSITIVE, POSITIVE)
def test_calibrated_noise_meets_the_claim_in_floats_and_exactly(epsilon, sensitivity):
    m = Laplace.calibrate(epsilon=epsilon, sensitivity=sensitivity)
    assert m.epsilon_at() <= epsilon
    assert Fraction(m.sensitivity) / Fraction(m.scale) <= Fraction(epsilon)
    less = math.nextafter(m.scale, 0.0)
    assert Fraction(m.sensitivity) / Fraction(less) > Fraction(epsilon)


def test_the_classic_example():
    m = dp.Laplace.calibrate(epsilon=0.1, sensitivity=1)
    assert m.scale == 10.0
    assert m.epsilon_at() == 0.1
    assert m.error(0.95) == pytest.approx(10 * math.log(20), rel=1e-6)


def test_a_lone_answer_follows_the_closed_form_of_delta():
    """δ(ε′) = 1 − e^((ε′ − ε)/2) below ε."""
    m = Laplace(scale=1.0)
    for epsilon in (0.0, 0.3, 0.9):
        expected = -math.expm1((epsilon - 1) / 2)
        assert expected <= m.delta_at(epsilon) <= expected * (1 + 1e-6)
    assert m.delta_at(1.0) == 0.0


def test_500_answers_cost_258_and_not_what_a_textbook_says():
    many = 500 * Laplace(scale=1.0)
    assert many.epsilon_at(1e-5) == pytest.approx(258.30, abs=0.01)
    assert many.delta_at(214.59) == pytest.approx(0.0396, rel=0.01)


def divergence(epsilon: float, order: float) -> float:
    from mpmath import mp

    with mp.workdps(50):
        e, a = mp.mpf(epsilon), mp.mpf(order)
        total = a * mp.exp((a - 1) * e) + (a - 1) * mp.exp(-a * e)
        return float(mp.log(total / (2 * a - 1)) / (a - 1))


@given(st.floats(1e-4, 20.0), st.floats(1.01, 500.0))
def test_renyi_is_exact_and_zcdp_is_above_it(epsilon, order):
    m = Laplace(scale=1 / epsilon)
    true = divergence(m.pure(), order)
    assert true <= m.renyi(order) <= true * (1 + 1e-6) + 1e-12
    assert m.zcdp() * order >= true
    assert m.zcdp() <= m.pure() * math.tanh(m.pure() / 2) * (1 + 1e-9)


def test_zcdp_is_the_least_that_holds():
    for epsilon in (1e-6, 0.005, 0.02, 1.0, 10.0):
        m = Laplace(scale=1 / epsilon)
        near_one = divergence(m.pure(), 1 + 1e-9)
        assert near_one <= m.zcdp() * (1 + 1e-9)
        assert m.zcdp() == pytest.approx(near_one, rel=1e-6)


def laplace_delta(shifts: list[float], epsilon: float) -> float:
    """δ of Laplace noise on two coordinates moved by these shifts, by numerical integration."""
    a, b = shifts
    x = np.linspace(-40, 40, 40_001)
    loss = np.clip(np.abs(x - b) - np.abs(x), -b, b)
    t = epsilon - loss
    inner = np.where(
        t > a, 0.0, np.where(t < -a, 1 - np.exp(np.minimum(t, 0)), 1 - np.exp((t - a) / 2))
    )
    return float(np.trapezoid(inner * np.exp(-np.abs(x)) / 2, x))


@pytest.mark.parametrize("shifts", [(0.5, 0.5), (1.0, 0.1), (2.0, 1.0), (0.2, 3.0)])
def test_moving_two_numbers_is_dominated_by_moving_one_as_far(shifts):
    total = sum(shifts)
    for epsilon in np.linspace(-total * 0.99, total * 0.99, 21):
        one = -math.expm1((epsilon - total) / 2)
        assert laplace_delta(list(shifts), epsilon) <= one + 1e-5


def test_l2_sensitivity_cannot_reach_laplace():
    with pytest.raises(dp.SensitivityMismatch):
        Laplace(scale=1.0).on(dp.Sensitive(lambda: 0, l2=1))
    assert Laplace(scale=1.0).on(dp.Sensitive(lambda: 0, l1=1))


def test_more_than_is_covered_is_refused():
    with pytest.raises(dp.SensitivityMismatch, match=r"sensitivity=2"):
        Laplace(scale=1.0).on(dp.Sensitive(lambda: 0, l1=2))


def test_a_loss_too_small_for_a_float_is_not_nothing():
    m = Laplace(scale=2.0**800)
    assert m.zcdp() > 0
    assert m.renyi(2.0) > 0


@pytest.mark.parametrize("exponent", [-150, -20, -9, -4, -2.01, -2, -1.99, -1, 0, 1, 2])
def test_the_divergence_is_the_truth_rounded_up_at_every_size(exponent):
    """ε − 1 + e⁻ᵋ with many digits: never below it, and above it by next to nothing."""
    m = Laplace(scale=1 / 10.0**exponent)
    with mpmath.workdps(700):
        epsilon = 1 / mpmath.mpf(m.scale)
        truth = epsilon - 1 + mpmath.exp(-epsilon)
        found = mpmath.mpf(m.zcdp())
        assert truth <= found
        assert found <= truth * (1 + mpmath.mpf(10) ** -7) or m.zcdp() == math.ulp(0.0)
