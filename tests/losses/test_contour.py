"""The contour is never below the truth, hardly above it, and its bounds are needed."""

import dataclasses
import math

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.losses import truth

from deniable.losses import contour, grid
from deniable.losses.pairs import ApproxPair, GaussianPair, LaplacePair, SampledPair


def on_the_line(pairs, epsilon):
    tilt = contour.tilt_for(pairs, epsilon=epsilon)
    return contour.line(pairs, tilt, epsilon=epsilon)


def check(pairs, epsilon, exact, *, within=1e-6):
    """Never below the truth; above by less than a change of `within` in ε would make."""
    line = on_the_line(pairs, epsilon)
    bound = mp.exp(mp.mpf(line.log_delta(epsilon)))
    assert bound >= exact
    assert bound <= exact * mp.exp(2 * (1 + line.tilt.c) * within)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.01, 8), st.floats(0, 6))
def test_gaussians_agree_with_the_analytic_formula(mu, place):
    epsilon = place * mu + mu**2 / 2
    check([(GaussianPair(mu=mu), 1)], epsilon, truth.gaussian(mu, epsilon))


@settings(max_examples=30, deadline=None)
@given(st.floats(0.05, 4), st.floats(0, 6), st.floats(0, 12))
def test_far_from_where_it_was_laid_the_line_is_still_never_below(mu, laid, asked):
    line = on_the_line([(GaussianPair(mu=mu), 1)], laid * mu)
    assert mp.mpf(line.log_delta(asked * mu)) >= mp.log(truth.gaussian(mu, asked * mu))


@settings(max_examples=6, deadline=None)
@given(st.floats(0.02, 2), st.integers(1, 80), st.floats(0.05, 0.9))
def test_randomized_responses_agree_with_the_binomial_sum(epsilon0, times, place):
    epsilon = place * times * epsilon0 * min(1, 6 / math.sqrt(times))
    exact = truth.responses(epsilon0, times, epsilon)
    check([(ApproxPair(epsilon=epsilon0), times)], epsilon, exact, within=2e-6)


@settings(max_examples=10, deadline=None)
@given(st.floats(0.1, 2), st.floats(0.1, 2), st.floats(0.1, 3))
def test_a_laplace_then_a_gaussian_agree_with_one_integral(ratio, mu, epsilon):
    exact = truth.after_laplace(ratio, lambda e: truth.gaussian(mu, e), epsilon)
    check([(LaplacePair(ratio=ratio), 1), (GaussianPair(mu=mu), 1)], epsilon, exact)


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(st.floats(0.3, 1.5), st.floats(0.001, 0.9), st.floats(0.2, 1.5), st.floats(0.1, 3))
def test_a_sampled_gaussian_then_a_gaussian_agree_with_one_integral(mu, rate, other, epsilon):
    exact = truth.after_sampled_gaussian(mu, rate, lambda e: truth.gaussian(other, e), epsilon)
    pair = SampledPair(inner=GaussianPair(mu=mu), rate=rate)
    check([(pair, 1), (GaussianPair(mu=other), 1)], epsilon, exact)


@pytest.mark.parametrize("delta", [1e-10, 1e-30, 1e-100, 1e-290])
def test_tiny_deltas_keep_their_digits(delta):
    pairs = [(GaussianPair(mu=0.05), 1000)]
    tilt = contour.tilt_for(pairs, log_delta=math.log(delta))
    epsilon = (tilt.log_m + contour.log_chernoff(tilt.c) - math.log(delta)) / tilt.c
    line = contour.line(pairs, tilt, epsilon=epsilon)
    exact = truth.gaussian(mp.mpf(0.05) * mp.sqrt(1000), epsilon)
    assert 0 <= mp.mpf(line.log_delta(epsilon)) - mp.log(exact) < 1e-8


def test_the_two_directions_of_sampling_have_the_same_total_variation():
    """At ε = 0 both divergences are the total variation: an identity neither formula knows of."""
    inner = GaussianPair(mu=0.9)
    both = [
        on_the_line([(SampledPair(inner=inner, rate=0.01, direction=d), 10_000)], 0.0).log_delta(
            0.0
        )
        for d in ("remove", "add")
    ]
    assert both[0] == pytest.approx(both[1], abs=1e-8)


def test_without_the_bound_on_what_is_cut_the_price_would_be_too_low():
    """A sabotaged twin: a quarter of the nodes and no bound on the rest is below the truth."""
    pairs, below = [(LaplacePair(ratio=0.5), 2)], 0
    for step in range(8):
        epsilon = 0.1 * step
        exact = truth.after_laplace(
            0.5, lambda e: truth.laplace(0.5, e), epsilon, kinks=(-0.5, 0.5)
        )
        line = on_the_line(pairs, epsilon)
        assert mp.exp(mp.mpf(line.log_delta(epsilon))) >= exact
        cut = len(line.t) // 4
        twin = dataclasses.replace(
            line, t=line.t[:cut], terms=line.terms[:cut], errors=0 * line.errors[:cut], rest=0.0
        )
        below += mp.exp(mp.mpf(twin.log_delta(epsilon))) < exact
    assert below > 0


@settings(max_examples=8, deadline=None)
@given(st.data())
def test_both_engines_agree_on_lists_of_all_kinds(data):
    draw = data.draw
    pairs = [
        (LaplacePair(ratio=draw(st.floats(0.02, 0.5))), draw(st.integers(1, 20))),
        (GaussianPair(mu=draw(st.floats(0.02, 0.5))), draw(st.integers(1, 20))),
        (
            SampledPair(
                inner=GaussianPair(mu=draw(st.floats(0.3, 1.2))),
                rate=draw(st.floats(0.01, 0.5)),
                direction=draw(st.sampled_from(["remove", "add"])),
            ),
            draw(st.integers(1, 20)),
        ),
    ]
    tilt = contour.tilt_for(pairs, log_delta=math.log(1e-6))
    epsilon = (tilt.log_m + contour.log_chernoff(tilt.c) - math.log(1e-6)) / tilt.c
    line = contour.line(pairs, tilt, epsilon=epsilon)
    law = grid.grid(pairs, tilt, epsilon=epsilon, log_delta=math.log(1e-6))
    # Each is above the truth by at most about 1e-6 in ε, that is by c · 1e-6 in ln δ.
    assert line.log_delta(epsilon) == pytest.approx(law.log_delta(epsilon), abs=4e-6 * (1 + tilt.c))
