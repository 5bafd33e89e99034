"""The grid is never below the truth, and its rounding up is needed."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.losses import truth

from deniable.losses import contour, grid
from deniable.losses.pairs import ApproxPair, GaussianPair, LaplacePair, SampledPair


def law_of(pairs, epsilon, known=None):
    tilt = contour.tilt_for(known or pairs, epsilon=epsilon)
    log_delta = tilt.log_m - tilt.c * epsilon + contour.log_chernoff(tilt.c)
    return tilt.c, grid.grid(pairs, tilt, epsilon=epsilon, log_delta=log_delta)


def check(pairs, epsilon, exact):
    c, law = law_of(pairs, epsilon)
    bound = mp.exp(mp.mpf(law.log_delta(epsilon)))
    assert bound >= exact
    assert bound <= exact * mp.exp(4e-6 * (1 + c)) + 1e-13


@settings(max_examples=10, deadline=None)
@given(st.floats(0.1, 2), st.floats(0, 4))
def test_gaussians_agree_with_the_analytic_formula(mu, place):
    epsilon = place * mu + mu**2 / 2
    check([(GaussianPair(mu=mu), 1)], epsilon, truth.gaussian(mu, epsilon))


@settings(max_examples=8, deadline=None)
@given(st.floats(0.1, 1), st.floats(0.1, 1), st.floats(0.01, 0.9))
def test_two_laplaces_agree_with_one_integral(first, second, place):
    epsilon = place * (first + second)
    exact = truth.after_laplace(
        first, lambda e: truth.laplace(second, e), epsilon, kinks=(-second, second)
    )
    check([(LaplacePair(ratio=first), 1), (LaplacePair(ratio=second), 1)], epsilon, exact)


@pytest.mark.slow
@settings(max_examples=2, deadline=None)
@given(st.floats(0.3, 1.2), st.floats(0.01, 0.6), st.floats(0.05, 1))
def test_two_sampled_gaussians_agree_with_one_integral(mu, rate, epsilon):
    exact = truth.after_sampled_gaussian(
        mu, rate, lambda e: truth.sampled_gaussian(mu, rate, e), epsilon
    )
    check([(SampledPair(inner=GaussianPair(mu=mu), rate=rate), 2)], epsilon, exact)


@settings(max_examples=15, deadline=None)
@given(st.floats(0.05, 2), st.integers(2, 600), st.floats(0.02, 0.95))
def test_lattices_agree_with_the_binomial_sum(epsilon0, times, place):
    epsilon = place * times * epsilon0
    exact = truth.responses(epsilon0, times, epsilon)
    pair = ApproxPair(epsilon=epsilon0)
    tilt = contour.tilt_for([(pair, times)], epsilon=epsilon)
    law = grid.lattice([(pair.lattice(), times)], tilt, epsilon=epsilon)
    excess = mp.mpf(law.log_delta(epsilon)) - mp.log(exact)
    assert 0 <= excess < 1e-6


@settings(max_examples=25, deadline=None)
@given(st.floats(0.05, 2), st.integers(2, 60), st.floats(0.02, 1.1), st.floats(0, 1.1))
def test_far_from_where_it_was_laid_the_law_is_still_never_below(epsilon0, times, laid, asked):
    pair = ApproxPair(epsilon=epsilon0)
    tilt = contour.tilt_for([(pair, times)], epsilon=laid * times * epsilon0)
    law = grid.lattice([(pair.lattice(), times)], tilt, epsilon=laid * times * epsilon0)
    epsilon = asked * times * epsilon0
    exact = truth.responses(epsilon0, times, epsilon)
    assert exact == 0 or mp.mpf(law.log_delta(epsilon)) >= mp.log(exact)


def test_without_rounding_up_the_price_would_be_too_low():
    """A sabotaged twin, whose losses are all understated by one step of the lattice, is caught."""
    mu, epsilon = 0.5, 1.0
    _, law = law_of([(GaussianPair(mu=mu), 1)], epsilon)
    exact = truth.gaussian(mu, epsilon)
    assert mp.exp(mp.mpf(law.log_delta(epsilon))) >= exact
    step = float(law.losses[1] - law.losses[0])
    assert mp.exp(mp.mpf(law.log_delta(epsilon + step))) < exact


def test_connected_dots_keep_both_masses():
    pair = GaussianPair(mu=0.8)
    first, masses, lost = grid.connect(pair, 1e-2, 1e-12)
    losses = 1e-2 * (first + np.arange(len(masses)))
    assert math.fsum(masses) + lost == pytest.approx(1, abs=1e-11)
    assert math.fsum(masses * np.exp(-losses)) == pytest.approx(1, abs=1e-9)
