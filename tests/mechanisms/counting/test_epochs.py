"""Counters in epochs: variances add up, and each epoch starts from the last total."""

import math

import numpy as np
import pytest

import deniable as dp
from deniable.mechanisms import Gaussian, Laplace, OpenEndedCounter, OpenEndedTreeCounter
from deniable.mechanisms.counting.binary_tree import laplace_reach

TREE = OpenEndedTreeCounter(scale=2.0, first=3)
ROOT = OpenEndedCounter(sigma=2.0, first=3)


def epochs(step, first):
    """(epoch, length, steps in it) of all epochs that the first steps fall into."""
    found, epoch = [], 0
    while step > 0:
        length = first * 2**epoch
        found.append((epoch, length, min(step, length)))
        step, epoch = step - length, epoch + 1
    return found


def variance(counter, step):
    total = 0.0
    for _, length, steps in epochs(step, 3):
        if counter is ROOT:
            total += 4.0 * (1.07 + math.log(length) / math.pi) * (1.07 + math.log(steps) / math.pi)
        else:
            noise = Laplace(scale=2.0 * length.bit_length())
            total += steps.bit_count() * noise.rounded_variance
    return total


@pytest.mark.parametrize("counter", [TREE, ROOT], ids=lambda m: m.name)
def test_the_variance_of_a_total_is_the_sum_over_its_epochs(counter):
    wanted = np.sqrt([variance(counter, step) for step in range(1, 60)])
    assert counter.deviations(59) == pytest.approx(wanted)
    for step in (1, 3, 4, 9, 10, 21, 22, 59, 10**6):
        assert counter.deviation(step) == pytest.approx(math.sqrt(variance(counter, step)))
    for wrong in (0, -1, 1.5):
        with pytest.raises(dp.BadParameter, match="step"):
            counter.deviation(wrong)


@pytest.mark.parametrize("steps", [1, 3, 4, 9, 10, 21, 22, 700])
@pytest.mark.parametrize("first", [1, 3, 64])
def test_the_longest_epoch_is_that_of_the_last_step(first, steps):
    for kind, noise in ((OpenEndedTreeCounter, {"scale": 1.0}), (OpenEndedCounter, {"sigma": 1.0})):
        made = kind(**noise, first=first, steps=steps)
        assert made._longest == epochs(steps, first)[-1][1]


@pytest.mark.parametrize("counter", [TREE, ROOT], ids=lambda m: m.name)
def test_without_noise_totals_are_running_sums_over_all_epochs(counter, monkeypatch):
    for kind in (Laplace, Gaussian):
        monkeypatch.setattr(kind, "draw", lambda _, value: value)
    stream = np.arange(40) % 7 - 2
    assert counter.draw(stream) == pytest.approx(np.cumsum(stream), abs=1e-6)


def test_errors_are_those_of_the_noises_after_a_step():
    for step in (1, 4, 50):
        parts = epochs(step, 3)
        terms = [(2.0 * length.bit_length(), steps.bit_count()) for _, length, steps in parts]
        half = sum(ones for _, ones in terms) / 2
        wanted = laplace_reach(terms, 1 - 0.9) + half
        assert TREE.error(0.9, step=step) == pytest.approx(wanted, rel=1e-12)
        normal = Gaussian(sigma=math.sqrt(variance(ROOT, step))).quantile(1 - 0.9)
        assert ROOT.error(0.9, step=step) == pytest.approx(normal + 2e-3, rel=1e-9)
    short = OpenEndedTreeCounter(scale=2.0, first=3, steps=50)
    assert short.error(0.9) == TREE.error(0.9, step=50)
    assert OpenEndedCounter(sigma=2.0, first=3, steps=50).error(0.9) == ROOT.error(0.9, step=50)


@pytest.mark.parametrize("wrong", [{"first": 0}, {"first": 1.5}, {"sensitivity": 0.0}], ids=str)
def test_each_parameter_is_checked(wrong):
    for kind, noise in ((OpenEndedTreeCounter, {"scale": 1.0}), (OpenEndedCounter, {"sigma": 1.0})):
        with pytest.raises(dp.BadParameter):
            kind(**(noise | wrong))
        with pytest.raises(dp.BadParameter):
            kind(**dict.fromkeys(noise, -1.0))
    with pytest.raises(dp.BadParameter):
        OpenEndedTreeCounter(scale=1e300)
    with pytest.raises(dp.BadParameter):
        OpenEndedCounter(sigma=2.0**-39)
