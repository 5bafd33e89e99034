"""Running totals: the noise of the theorems, and totals that are right but for it."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import goodness

import deniable as dp
from deniable.mechanisms import (
    BinaryTreeCounter,
    Gaussian,
    Laplace,
    OpenEndedCounter,
    OpenEndedTreeCounter,
    SquareRootCounter,
    ToeplitzCounter,
    UnboundedCounter,
)
from deniable.mechanisms.counting.toeplitz import _decoder, _square_root

TREE = BinaryTreeCounter(steps=1024, noise=Gaussian(sigma=math.sqrt(11)))
ROOT = ToeplitzCounter(steps=1024, sigma=1.0)


def test_at_equal_privacy_the_root_has_a_tenth_of_the_noise_of_the_tree():
    assert TREE.variance * TREE.gdp() ** 2 == pytest.approx(110, rel=1e-9)
    assert ROOT.variance * ROOT.gdp() ** 2 == pytest.approx(10.7, abs=0.02)


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 7, 8, 1023, 1024])
def test_a_value_is_in_as_many_stretches_as_is_paid_for(steps):
    """Count the stretches a step is in: ⌊log₂ T⌋ + 1 for the first, and never more."""
    members = [0] * (steps + 1)
    for t in range(1, steps + 1):
        for s in range(t - (t & -t) + 1, t + 1):
            members[s] += 1
    assert max(members) == BinaryTreeCounter(steps=steps, noise=Laplace(scale=1.0)).levels


def test_prices_are_those_of_the_noise():
    tree = BinaryTreeCounter(steps=100, noise=Laplace(scale=14.0, sensitivity=2.0))
    assert tree.epsilon_at() == pytest.approx(7 * 2 / 14)
    assert tree.epsilon_at(1e-6) == (7 * tree.noise).epsilon_at(1e-6)
    assert tree.loss(dp.Zcdp) == 7 * tree.noise.loss(dp.Zcdp)
    assert ROOT.loss(dp.Gdp).mu == ROOT.priced_as.gdp()


@pytest.mark.parametrize("sigma", [2.0**-30, 1.0, 1e3, 2.0**37])
def test_the_column_norm_is_rounded_up_and_close(sigma):
    counter = ToeplitzCounter(steps=100, sigma=sigma, sensitivity=3.0)
    exact = np.cumprod([1.0] + [1 - 1 / (2 * k) for k in range(1, 100)])
    norm = 3 * math.sqrt(np.sum(exact**2))
    used = (
        3 * math.sqrt(sum(c * c for c in _square_root(100, counter.digits))) / 2.0**counter.digits
    )
    assert counter.priced_as.sensitivity >= used
    assert counter.priced_as.sensitivity == pytest.approx(norm, rel=1e-3)


def test_decoding_undoes_the_square_root():
    column = np.array(_square_root(200, 40)) / 2.0**40
    root = np.array([[column[i - j] if i >= j else 0.0 for j in range(200)] for i in range(200)])
    decoder = _decoder(200, 40)
    undo = np.array([[decoder[i - j] if i >= j else 0.0 for j in range(200)] for i in range(200)])
    assert np.allclose(undo @ root, np.tril(np.ones((200, 200))), atol=1e-9)


@pytest.mark.parametrize(
    "counter", [TREE, ROOT, BinaryTreeCounter(steps=300, noise=Laplace(scale=1.0))]
)
def test_totals_follow_the_stream(counter):
    stream = np.arange(300) % 7
    totals = counter.release(stream)
    assert totals.shape == (300,)
    assert np.abs(totals - np.cumsum(stream)).max() < 12 * math.sqrt(counter.variance) + 5


@pytest.mark.statistical
@pytest.mark.parametrize(
    "counter",
    [ToeplitzCounter(steps=16, sigma=3.0), BinaryTreeCounter(steps=16, noise=Gaussian(sigma=3.0))],
)
def test_the_noise_has_the_stated_variance_at_its_worst_step(counter):
    """600 runs; false alarm below 1e-8: squares of normals over their variance."""
    worst = 15 if isinstance(counter, ToeplitzCounter) else 14
    noise = np.array([counter.release([0] * 16)[worst] for _ in range(600)])
    extra = 1 / 3 if isinstance(counter, BinaryTreeCounter) else 0.0  # four roundings of 1/12
    stated = counter.variance + extra
    fit = [
        goodness.mean(each**2 / stated, lambda t: -math.log1p(-2 * t) / 2, spread=math.sqrt(2))
        for each in (noise, 1.5 * noise)
    ]
    assert fit[0] > 1e-8 > fit[1]


@pytest.mark.statistical
@pytest.mark.parametrize("noise", [Gaussian(sigma=2.0), Laplace(scale=2.0)], ids=lambda m: m.name)
def test_the_error_covers_the_worst_step(noise):
    """500 runs at 90 %; false alarm below 1e-8."""
    counter = BinaryTreeCounter(steps=31, noise=noise)
    totals = np.array([counter.release([0] * 31)[30] for _ in range(500)])
    inside = int((np.abs(totals) <= counter.error(0.9)).sum())
    assert goodness.covered(inside, 500, 0.9) > 1e-8


def test_calibration_meets_the_target():
    for target in ({"mu": 0.7}, {"rho": 0.1}, {"epsilon": 1.0, "delta": 1e-6}):
        counter = ToeplitzCounter.calibrate(steps=500, sensitivity=2.0, **target)
        plain = Gaussian.calibrate(sensitivity=1.0, **target)
        assert counter.gdp() <= plain.gdp() * (1 + 1e-12)
        assert counter.gdp() >= plain.gdp() * (1 - 1e-6)


def test_large_counts_do_not_overflow_the_lattice():
    totals = ROOT.release([2**40] * 50)
    assert np.abs(totals - 2**40 * np.arange(1, 51)).max() < 2**40 * 1e-9 + 100


@pytest.mark.parametrize("counter", [TREE, ROOT], ids=lambda m: m.name)
def test_opened_it_takes_one_value_a_step_until_its_steps_are_used_up(counter):
    short = type(counter).from_dict(counter.to_dict() | {"steps": 3})
    running = short.begin()
    for _ in range(3):
        assert running.answering() is short
        assert isinstance(running.ask(1), float)
    assert running.answering() is None


@pytest.mark.parametrize("counter", [TREE, ROOT], ids=lambda m: m.name)
def test_streams_are_whole_numbers_and_not_too_long(counter):
    for bad in ([], [1.5], 3, [[1]], [1] * 1025, [True]):
        with pytest.raises(dp.BadParameter):
            counter.release(bad)
    with pytest.raises(dp.BadParameter):
        counter.begin().ask(1.5)


BOUNDS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([None, "a", "b"])), max_size=8)


@settings(deadline=None)
@given(BOUNDS)
def test_an_opened_counter_covers_what_one_unit_moves_over_the_whole_stream(bounds):
    """Whatever was admitted: a unit that moves every value as far as declared stays within Δ₁."""
    s = dp.open(pa.table({"x": [1]}), unit=dp.rows(), budget=dp.epsilon(1e4))
    covered = 4
    counter = BinaryTreeCounter(steps=8, noise=Laplace(scale=10.0, sensitivity=covered))
    handle, alone, streams = s.open(counter), 0, {}
    for bound, stream in bounds:
        total = alone + sum(streams.values())
        grown = streams | {stream: max(bound, streams.get(stream, 0))} if stream else streams
        after = alone + (0 if stream else bound) + sum(grown.values())
        value = dp.Sensitive(lambda: 1, l1=bound, stream=stream)
        if after <= covered:
            s.release(handle.on(value))
            alone, streams = alone + (0 if stream else bound), grown
        else:
            with pytest.raises(dp.SensitivityMismatch, match="together"):
                s.release(handle.on(value))
            assert alone + sum(streams.values()) == total
    assert s.spent == s.ledger.spent


def test_a_counter_asked_every_step_about_whole_bounds_is_refused_at_the_second():
    """With Δ₁ = 1 in each of eight steps the true ε would be eight times the charge."""
    s = dp.open(pa.table({"x": [1]}), unit=dp.rows(), budget=dp.epsilon(100.0, delta=1e-6))
    handle = s.open(BinaryTreeCounter(steps=8, noise=Laplace(scale=1.0)))
    s.release(handle.on(dp.Sensitive(lambda: 1, l1=1)))
    with pytest.raises(dp.SensitivityMismatch) as seen:
        s.release(handle.on(dp.Sensitive(lambda: 1, l1=1)))
    assert "stream=" in seen.value.fix
    assert "sensitivity=8" in seen.value.fix
    handle = s.open(ToeplitzCounter(steps=8, sigma=1e3))
    for _ in range(8):
        s.release(handle.on(dp.Sensitive(lambda: 1, l1=1, stream="arrivals")))


def test_an_open_ended_counter_goes_on_and_errs_as_stated():
    """300 × 70 totals: one beyond 7 deviations has odds of 1e-7.

    The deviation of 300 is 1.3 times the stated one with odds of 1e-12 for each of 70 (χ²).
    """
    counter = OpenEndedCounter(sigma=1.0, first=4)
    found = np.array([counter.release([1] * 70) for _ in range(300)]) - np.arange(1, 71)
    stated = np.array([counter.deviation(t) for t in range(1, 71)])
    assert np.abs(found / stated).max() < 7
    spread = found.std(axis=0) / stated
    assert 0.5 < spread.min() < spread.max() < 1.3


def test_every_epoch_is_within_the_price_of_all():
    counter = OpenEndedCounter(sigma=3.0, sensitivity=2.0, first=8)
    assert all(counter._epoch(e).gdp() <= counter.gdp() for e in range(8))


def test_the_variance_of_an_epoch_is_within_its_bound():
    for epoch in range(9):
        made = OpenEndedCounter(sigma=1.0, first=1)._epoch(epoch)
        bound = 1.07 + math.log(1 << epoch) / math.pi
        assert math.sqrt(made.variance) <= bound * (1 + 1e-3)


@pytest.mark.parametrize("first", [1, 3, 64])
@pytest.mark.parametrize("steps", [1, 50, 700])
@pytest.mark.parametrize("bits", [36.0, 36.9, 37.1, 37.3, 37.5, 37.9, 38.0, 39.0])
def test_an_open_ended_counter_that_is_made_can_draw_its_last_epoch(first, steps, bits):
    try:
        counter = OpenEndedCounter(sigma=2.0**bits, first=first, steps=steps)
    except dp.BadParameter:
        assert bits > 36.9
        return
    assert bits < 38
    epoch, end = 0, first
    while end < steps:
        epoch += 1
        end += first << epoch
    assert counter._epoch(epoch).steps == counter._longest


COUNTERS = [
    SquareRootCounter(steps=40, sigma=2.0),
    UnboundedCounter(sigma=2.0),
    ToeplitzCounter(steps=40, sigma=2.0),
    BinaryTreeCounter(steps=40, noise=Laplace(scale=2.0)),
    BinaryTreeCounter(steps=40, noise=Gaussian(sigma=2.0)),
    OpenEndedCounter(sigma=2.0, first=4),
    OpenEndedTreeCounter(scale=2.0, first=4),
]


@pytest.mark.statistical
@pytest.mark.parametrize("counter", COUNTERS, ids=lambda m: m.name)
def test_every_total_errs_as_stated(counter):
    """300 runs of 40 steps.

    The mean of 300 squares of a step over their stated variance is 2.2 or more with odds of 4e-9
    for one Laplace noise (by convolution of its law; sums of noises stray less): 3e-7 for all. Of
    three times the noise it is 9, and below 2.2 with odds far below 1e-9.
    """
    found = np.array([counter.release([3] * 40) for _ in range(300)]) - 3 * np.arange(1, 41)
    ratios = np.square(found / counter.deviations(40)).mean(axis=0)
    assert ratios.max() < 2.2
    assert np.square(3 * found / counter.deviations(40)).mean() > 2.2
    assert len(counter.deviations(40)) == 40


@pytest.mark.parametrize("scale", [0.1, 0.7, 3.0, 1e6])
@pytest.mark.parametrize("sensitivity", [1.0, 0.3, 7.0])
def test_an_open_ended_tree_costs_no_less_than_any_of_its_epochs(scale, sensitivity):
    counter = OpenEndedTreeCounter(scale=scale, sensitivity=sensitivity, first=8)
    stated = Fraction(counter.pure())
    assert stated == pytest.approx(Fraction(sensitivity) / Fraction(scale))
    for made in map(counter._epoch, range(20)):
        assert made.levels * Fraction(sensitivity) / Fraction(made.noise.scale) <= stated


def test_the_error_of_an_open_ended_tree_covers_each_step():
    """400 runs at 95 %, of 30 steps each: fewer than 345 covered has odds below 1e-9 a step."""
    counter = OpenEndedTreeCounter(scale=1.0, first=2)
    found = np.array([counter.release([1] * 30) for _ in range(400)]) - np.arange(1, 31)
    stated = np.array([counter.error(0.95, step=t) for t in range(1, 31)])
    assert (np.abs(found) <= stated).sum(axis=0).min() >= 345
