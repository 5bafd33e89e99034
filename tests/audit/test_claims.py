import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import deniable as dp
from deniable.audit.claims import Curve, EpsilonDelta, Gaussian, claim_of

STATED = {"epsilon": None, "delta": 0.0, "mu": None, "loss": None, "group": 1}
RATES = st.floats(1e-6, 0.99)


def claim(**stated):
    return claim_of(**{**STATED, **stated})


@given(RATES, RATES, st.floats(0.01, 3), st.sampled_from([0.0, 1e-5, 0.1]), st.integers(1, 5))
def test_a_claim_is_broken_exactly_where_the_lower_bound_passes_it(p, q, epsilon, delta, group):
    made = claim(epsilon=epsilon, delta=delta, group=group)
    lower = float(made.lower(np.array(p), np.array(q)))
    if abs(lower - epsilon) > 1e-9:
        assert (p > float(made.most(np.array(q)))) == (lower > epsilon)


@given(RATES, RATES, st.floats(0.05, 4), st.integers(1, 4))
def test_the_same_holds_for_gaussian_claims(p, q, mu, group):
    made = claim(mu=mu, group=group)
    lower = float(made.lower(np.array(p), np.array(q)))
    if abs(lower - mu) > 1e-9:
        assert (p > float(made.most(np.array(q)))) == (lower > mu)


@given(RATES, st.floats(0.2, 3))
def test_a_curve_allows_at_least_what_its_mechanism_does(q, mu):
    """A Gaussian meets its own ρ = μ²/2: its trade-off never passes the curve of that ρ."""
    curve = claim(loss=dp.rho(mu * mu / 2))
    assert isinstance(curve, Curve)
    truth = special.ndtr(special.ndtri(q) + mu)
    assert float(curve.most(np.array(q))) >= truth - 1e-12
    assert float(curve.lower(np.array(truth), np.array(q))) <= 1e-9


def test_a_curve_names_the_point_that_is_passed_the_furthest():
    curve = claim(loss=dp.rho(0.1))
    lower, claimed, delta = curve.epsilon(0.05, 1e-4)
    assert lower > claimed > 0
    assert delta == pytest.approx(dp.rho(0.1).delta_at(claimed))
    assert lower == pytest.approx(math.log((0.05 - delta) / 1e-4))


def test_group_privacy_of_delta_grows_faster_than_the_group():
    made = EpsilonDelta(0.5, delta=1e-3, group=4)
    expected = math.exp(2.0) * 0.1 + 1e-3 * (math.exp(2.0) - 1) / (math.exp(0.5) - 1)
    assert float(made.most(np.array(0.1))) == pytest.approx(expected)


def test_losses_become_the_claims_they_state():
    assert claim(loss=dp.epsilon(2.0)) == EpsilonDelta(2.0, delta=0.0, group=1)
    assert claim(loss=dp.epsilon(2.0, delta=1e-6)) == EpsilonDelta(2.0, delta=1e-6, group=1)
    assert claim(loss=dp.mu(1.5), group=3) == Gaussian(1.5, group=3)


@pytest.mark.parametrize(
    "stated",
    [
        {},
        {"epsilon": 1.0, "mu": 1.0},
        {"epsilon": -1.0},
        {"epsilon": math.nan},
        {"epsilon": 1.0, "delta": 1.0},
        {"epsilon": 1.0, "group": 0},
        {"mu": 0.0},
        {"mu": 1.0, "delta": 1e-5},
        {"loss": 1.0},
    ],
)
def test_a_claim_that_cannot_be_right_is_refused(stated):
    with pytest.raises(dp.BadParameter):
        claim(**stated)


@pytest.mark.parametrize("made", [EpsilonDelta(1.0, delta=0.0, group=2), Gaussian(1.0, group=2)])
def test_noise_of_the_right_size_meets_the_claim_it_is_measured_by(made):
    p, q = made.rates(1.0)
    assert (p <= made.most(q) * (1 + 1e-12)).all()
    p, q = made.rates(0.9)
    assert (p > made.most(q)).any()
