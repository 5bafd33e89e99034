"""Counters by a factor of the running sum: their price holds exactly, their errors as stated."""

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dp
from deniable.mechanisms import SquareRootCounter, UnboundedCounter
from deniable.mechanisms.counting.square_root import _shape

LENGTHS = [*range(1, 13), 40, 200]
SIGMAS = [2.0**-38, 1e-3, 1.0, 1e3, 2.0**31, 2.0**38]


def figure(steps):
    return 0.846 + math.log(steps) / math.pi


def moved(counter, step, steps):
    """Σ (what 1 more at a step moves y by, over its noise)², in fractions."""
    column = counter._column(steps).astype(np.int64).tolist()
    weight = counter._weight(step)
    return sum(
        Fraction(column[t - step] * weight) ** 2 / Fraction(counter._spread(t)) ** 2
        for t in range(step, steps)
    )


@pytest.mark.parametrize("steps", LENGTHS)
@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("kind", [SquareRootCounter, UnboundedCounter])
def test_no_step_moves_the_noisy_numbers_further_than_is_charged(kind, steps, sigma):
    counter = kind(steps=steps, sigma=sigma)
    found = max(moved(counter, step, steps) for step in range(steps)) * Fraction(sigma) ** 2
    assert found <= 1
    assert counter.gdp() == pytest.approx(1 / sigma)
    if sigma < 2**31:  # with fewer digits c is rougher
        assert found > 0.999


@pytest.mark.parametrize("steps", [1023, 1024, 1025, 5000, 2**17])
def test_a_long_column_is_within_its_bound_and_close_to_it(steps):
    counter = UnboundedCounter(steps=steps, sigma=1.0)
    column = counter._column(steps).astype(np.int64).astype(object)
    square = Fraction(int((column**2).sum())) / Fraction(counter._spread(0)) ** 2
    assert 0.999 < square <= 1


@pytest.mark.parametrize("steps", [*range(10, 40), 64, 365, 1000, 1499, 1500, 5000, 2**16])
def test_the_largest_error_of_a_known_length_is_below_the_figure(steps):
    assert SquareRootCounter(steps=steps, sigma=1.0).deviations(steps).max() <= figure(steps)
    assert dp.workload.prefixes(steps).plan(spend=dp.mu(1.0)).worst <= figure(steps)
    stream = dp.workload.stream(steps=steps)
    assert stream.plan(spend=dp.mu(1.0)).worst <= figure(steps)


@pytest.mark.parametrize("step", [64, 100, 1000, 2**14, 2**20, 2**30, 2**40])
def test_the_error_of_an_unknown_length_is_as_documented(step):
    assert UnboundedCounter(sigma=1.0).deviation(step) <= 1.46 * figure(step)


def exact_deviations(counter, steps):
    """By the matrices themselves."""
    column = counter._column(steps) / 2.0**counter.digits
    lags = np.subtract.outer(np.arange(steps), np.arange(steps))
    factor = np.where(lags >= 0, column[np.abs(lags)], 0.0)
    weights = np.array([counter._weight(t) for t in range(steps)])
    spreads = np.array([counter._spread(t) for t in range(steps)]) / 2.0**counter.digits
    undo = np.tril(np.ones((steps, steps))) @ np.linalg.inv(factor * weights)
    return np.sqrt(np.square(undo * spreads).sum(axis=1))


@pytest.mark.parametrize("sigma", [1.0, 2.0**33])
@pytest.mark.parametrize("steps", [1, 2, 9, 77])
@pytest.mark.parametrize("kind", [SquareRootCounter, UnboundedCounter])
def test_errors_are_those_of_the_matrices(kind, steps, sigma):
    counter = kind(steps=steps, sigma=sigma)
    assert counter.deviations(steps) == pytest.approx(exact_deviations(counter, steps), rel=1e-6)


def test_errors_between_the_places_that_are_computed_are_not_too_small():
    counter = SquareRootCounter(steps=1800, sigma=1.0)
    ratio = counter.deviations(1800) / exact_deviations(counter, 1800)
    assert ratio.min() >= 1
    assert ratio.max() < 1.01


@pytest.mark.parametrize("kind", [SquareRootCounter, UnboundedCounter])
@pytest.mark.parametrize("steps", [1, 63, 300, 1000])
def test_totals_are_exact_but_for_the_noise(kind, steps):
    """Noise of a millionth: beyond 12 deviations has odds below 1e-30."""
    draw = np.random.default_rng(steps)
    values = draw.integers(-(10**6), 10**6, steps)
    counter = kind(steps=steps, sigma=1e-6)
    off = np.abs(counter.release(values) - np.cumsum(values))
    assert (off <= 12 * counter.deviations(steps) + 1e-5).all()


@pytest.mark.parametrize("kind", [SquareRootCounter, UnboundedCounter])
@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), 2**50, 2**40])
def test_values_of_any_size_can_be_counted(kind, value):
    """Beyond 2⁵⁰ they are clipped, as the docstring says."""
    counter = kind(steps=500, sigma=1.0)
    held = min(max(value, -(2**50)), 2**50)
    totals = counter.release(np.full(200, value, dtype=np.int64))
    expected = float(held) * np.arange(1, 201)
    assert np.abs(totals - expected).max() < abs(expected[-1]) * 1e-9 + 100


@pytest.mark.statistical
@pytest.mark.parametrize(
    "counter", [SquareRootCounter(steps=200, sigma=2.0), UnboundedCounter(sigma=2.0)]
)
def test_noise_follows_its_covariance(counter):
    """400 runs of 200 steps, each y alone: z/σ has mean square 1 ± 6·√(2/80000) but for 1e-9.

    Noise of 0.95 of its width misses that.
    """
    steps, column = 200, counter._column(200) / 2.0**counter.digits
    weights = np.array([counter._weight(t) for t in range(steps)])
    spreads = np.array([counter._spread(t) for t in range(steps)]) / 2.0**counter.digits
    found = []
    for _ in range(400):
        cells = np.diff(counter.release([0] * steps), prepend=0.0) * weights
        found.append(np.convolve(column, cells)[:steps] / spreads)
    assert abs(np.square(found).mean() - 1) < 6 * math.sqrt(2 / 80_000)
    assert abs(0.95**2 * np.square(found).mean() - 1) > 6 * math.sqrt(2 / 80_000)


def test_weights_are_even():
    column, weights, spreads = _shape(100, 40)
    assert column[0] == 2**40
    assert weights.min() >= 100
    assert 1 <= spreads.max() / spreads.min() < math.e
