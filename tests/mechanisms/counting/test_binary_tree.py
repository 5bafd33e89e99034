"""Binary trees: each total holds the noise of the stretches it is made of, and errs as they do."""

import math

import numpy as np
import pytest
from mpmath import mp

import deniable as dp
from deniable.mechanisms import BinaryTreeCounter, Gaussian, Laplace
from deniable.mechanisms.counting.binary_tree import laplace_reach

NOISES = [Gaussian(sigma=3.0), Laplace(scale=3.0)]


def stretches(step):
    """The last steps of the stretches that make up 1 … step: ones of its binary digits, cut off."""
    found = []
    while step:
        found.append(step)
        step -= step & -step
    return found


@pytest.mark.parametrize("steps", [1, 2, 3, 7, 8, 21])
def test_a_total_holds_exactly_the_noises_of_its_stretches(steps, monkeypatch):
    counter = BinaryTreeCounter(steps=steps, noise=NOISES[1])
    drawn = [1000 * 2**t for t in range(1, steps + 1)]
    left = iter(drawn)
    monkeypatch.setattr(Laplace, "draw", lambda _, value: value + next(left))
    stream = [3 * t - 8 for t in range(1, steps + 1)]
    found = counter.draw(stream)
    for t in range(1, steps + 1):
        noise = sum(drawn[end - 1] for end in stretches(t))
        assert found[t - 1] == sum(stream[:t]) + noise


@pytest.mark.parametrize("steps", [*range(1, 20), 1023, 1024])
def test_the_worst_total_has_as_many_terms_as_any_step_has_ones(steps):
    counter = BinaryTreeCounter(steps=steps, noise=NOISES[0])
    assert counter.most_terms == max(t.bit_count() for t in range(1, steps + 1))


@pytest.mark.parametrize("noise", NOISES, ids=lambda m: m.name)
def test_variances_are_those_of_the_terms(noise):
    counter = BinaryTreeCounter(steps=11, noise=noise)
    one = 9.0 if isinstance(noise, Gaussian) else 18.0
    assert counter.variance == pytest.approx(3 * one)
    ones = [t.bit_count() for t in range(1, 12)]
    assert counter.deviations(11) ** 2 == pytest.approx(noise.rounded_variance * np.array(ones))
    assert noise.rounded_variance == pytest.approx(one + 1 / 12, rel=1e-3)
    assert counter.sensitivity == noise.sensitivity
    assert counter.priced_as.parts == ((noise, 4),)


def test_the_error_of_normal_noise_is_its_quantile_and_half_a_number_for_each_term():
    counter = BinaryTreeCounter(steps=7, noise=NOISES[0])
    assert counter.error(0.9) == pytest.approx(3.0 * math.sqrt(3) * 1.6448536 + 1.5, rel=1e-4)
    laplace = BinaryTreeCounter(steps=7, noise=NOISES[1])
    assert laplace.error(0.9) == laplace_reach([(3.0, 3)], 1 - 0.9) + 1.5
    for wrong in (0.0, 1.0):
        with pytest.raises(dp.BadParameter):
            counter.error(wrong)


@pytest.mark.parametrize("noise", [None, 1.0, dp.DiscreteLaplace(scale=1.0), Laplace])
def test_the_noise_is_normal_or_laplace(noise):
    with pytest.raises(dp.BadParameter, match="noise must be"):
        BinaryTreeCounter(steps=3, noise=noise)


@pytest.mark.parametrize("terms", [[(1.0, 1)], [(2.0, 5)], [(1.0, 3), (4.0, 2), (0.5, 7)]], ids=str)
@pytest.mark.parametrize("tail", [0.3, 0.05, 1e-9])
def test_the_reach_of_laplace_noises_is_the_best_of_chernoffs_bounds(terms, tail):
    def bound(s):
        """t at which 2·e^(−st)·Π E e^(sX) is the tail, with E e^(sX) = 1/(1 − s²b²)."""
        moments = mp.fprod((1 - (s * b) ** 2) ** -n for b, n in terms)
        return mp.log(2 * moments / tail) / s

    largest = max(b for b, _ in terms)
    best = min(bound(mp.mpf(j) / 4000 / largest) for j in range(20, 4000, 7))
    found = laplace_reach(terms, tail)
    assert best * (1 - mp.mpf(1e-4)) <= found <= best * mp.mpf(1.01)
