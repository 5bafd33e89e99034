"""What the frameworks promise beyond the conformance suite."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from tests import goodness

import deniable as dp
from deniable.mechanisms import Catastrophe, ProposeTestRelease, SmoothNoise


def test_at_distance_zero_the_test_passes_with_probability_delta():
    for delta in (1e-2, 1e-5, 1e-9):
        proposal = ProposeTestRelease(bound=1.0, epsilon_test=0.5, epsilon_release=0.5, delta=delta)
        chance = math.exp(-proposal.threshold * 0.5) / 2
        assert chance <= delta
        assert chance == pytest.approx(delta, rel=1e-9)


def test_the_textbook_threshold_would_pass_far_too_often():
    epsilon, delta = 1.0, 1e-5
    textbook = math.log(2 / delta) / (2 * epsilon)
    assert math.exp(-textbook * epsilon) / 2 == pytest.approx(math.sqrt(delta / 2) / 2)
    ours = ProposeTestRelease(bound=1.0, epsilon_test=1.0, epsilon_release=1.0, delta=delta)
    assert ours.threshold > 1.7 * textbook


@pytest.mark.statistical
def test_it_answers_far_from_danger_and_refuses_near_it():
    proposal = ProposeTestRelease(bound=0.1, epsilon_test=1.0, epsilon_release=1.0, delta=1e-6)
    answers = [proposal.release((5.0, 10**6)) for _ in range(2000)]
    assert all(a is not None for a in answers)
    assert goodness.law(np.array(answers) - 5, stats.laplace(scale=0.1).cdf) > 1e-8
    assert all(proposal.release((5.0, 0)) is None for _ in range(200))


def test_it_costs_both_parts_also_when_it_refuses():
    proposal = ProposeTestRelease(bound=0.1, epsilon_test=0.25, epsilon_release=0.5, delta=1e-6)
    assert proposal.loss(dp.Approx) == dp.Approx(0.75, delta=1e-6)
    with pytest.raises(dp.NoBound):
        proposal.loss(dp.Pure)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 5.0])
def test_student_noise_is_pure_at_every_corner(epsilon: float):
    mechanism = SmoothNoise(epsilon=epsilon, low=0.0, high=1.0)
    s = (epsilon - 2 * mechanism.beta) * 2 * math.sqrt(2) / 3
    z = np.concatenate([-np.logspace(6, -6, 40_001), np.logspace(-6, 6, 40_001)])
    here = stats.t.logpdf(z, 2)
    for dilation in (-mechanism.beta, 0.0, mechanism.beta):
        for shift in (-s, s):
            factor = math.exp(dilation)
            there = stats.t.logpdf((z - shift) / factor, 2) - dilation
            assert np.abs(here - there).max() <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("delta", [0.9, 0.5, 0.1, 1e-3, 1e-6])
def test_laplace_noise_meets_its_delta_at_every_corner(epsilon: float, delta: float):
    mechanism = SmoothNoise(epsilon=epsilon, delta=delta, low=0.0, high=1.0)
    for dilation in (-mechanism.beta, 0.0, mechanism.beta):
        factor = math.exp(dilation)
        for shift in (0.0, epsilon / 2 * min(1.0, factor)):  # at most S(x) and at most S(x′)

            def excess(z, factor=factor, shift=shift):
                here = math.exp(-abs(z)) / 2
                there = math.exp(-abs(z - shift) / factor) / (2 * factor)
                return max(0.0, here - math.exp(epsilon) * there)

            spent = sum(
                integrate.quad(excess, a, b, limit=500)[0]
                for a, b in ((-60, -10), (-10, 0), (0, 10), (10, 60))
            )
            assert spent <= delta * (1 + 1e-6)


@pytest.mark.statistical
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_smooth_noise_has_its_law(delta: float):
    mechanism = SmoothNoise(epsilon=1.0, delta=delta, low=-1000.0, high=1000.0)
    drawn = np.array([mechanism.release((3.0, 0.5)) for _ in range(1500)])
    if delta:
        law = stats.laplace(loc=3, scale=2 * 0.5 / 1.0)
    else:
        law = stats.t(2, loc=3, scale=0.5 / ((1 - 1 / 3) * 2 * math.sqrt(2) / 3))
    inside = np.abs(drawn) < 999
    assert inside.mean() > 0.99
    assert goodness.law(drawn[inside], law.cdf) > 1e-8
    assert (drawn / mechanism.lattice.width % 1 == 0).all()


def test_smooth_noise_shows_no_error():
    with pytest.raises(dp.NoBound, match="±"):
        SmoothNoise(epsilon=1.0, low=0.0, high=1.0).error()


def test_tiny_bounds_give_tiny_noise_and_no_crash():
    mechanism = SmoothNoise(epsilon=1.0, delta=1e-6, low=0.0, high=1.0)
    assert mechanism.release((0.5, 1e-200)) == 0.5


@pytest.mark.parametrize("value", [(math.nan, 1.0), (1.0, 0.0), (1.0, -1.0), (1.0, math.inf)])
def test_bad_values_are_refused(value):
    with pytest.raises(dp.BadParameter):
        SmoothNoise(epsilon=1.0, low=0.0, high=1.0).release(value)


@pytest.mark.statistical
def test_the_catastrophe_happens_as_often_as_its_delta_says():
    disaster = Catastrophe(delta=0.25)
    n = 8000
    seen = sum(disaster.release("rows") == "rows" for _ in range(n))
    assert goodness.count(seen, n, 0.25) > 1e-8
    assert disaster.loss(dp.Approx) == dp.Approx(0.0, delta=0.25)


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None, max_examples=200)
@given(
    st.floats(2.0**-17, 1e300),
    st.sampled_from([0.0, 1e-9]),
    NUMBERS,
    NUMBERS,
    NUMBERS,
    st.floats(5e-324, 1.7e308),
)
def test_smooth_noise_answers_whatever_the_value_and_its_bound(epsilon, delta, low, high, f, bound):
    """A failure would tell of S(x): parameters are refused at once, values never."""
    try:
        m = SmoothNoise(epsilon=epsilon, delta=delta, low=low, high=high)
    except dp.BadParameter:
        return
    assert m.lattice.width > 0
    assert low <= m.release((f, bound)) <= high


@pytest.mark.parametrize(("low", "high"), [(-1e308, 1e308), (0, 1e-300), (0, 1e300), (1, 1)])
def test_ranges_without_a_lattice_are_refused_when_the_mechanism_is_made(low, high):
    with pytest.raises(dp.BadParameter):
        SmoothNoise(epsilon=1.0, low=low, high=high)


@pytest.mark.parametrize(("bound", "epsilon"), [(2.0**-890, 2.0**800), (2.0**890, 2.0**-800)])
def test_a_test_whose_noise_has_no_lattice_is_refused_before_the_charge(bound, epsilon):
    m = ProposeTestRelease(bound=bound, epsilon_test=1.0, epsilon_release=epsilon, delta=1e-6)
    with pytest.raises(dp.BadParameter):
        m.on(dp.Sensitive(lambda: (0.0, 1), linf=1))
