"""The price of Gaussian thresholds: by 50 digits, over every split of a person's keys."""

import dataclasses
import math

import numpy as np
import pytest
from mpmath import mp

import deniable as dp
from deniable.mechanisms import Gaussian, GaussianThreshold

ONE = GaussianThreshold(sigma=2.0, threshold=9, delta=1e-3)
BAD = [
    *[("sigma", bad) for bad in (0, -1.0, math.nan, math.inf, "2")],
    *[("threshold", bad) for bad in (1, 2.5, -3, True)],
    *[("delta", bad) for bad in (0, 1, 1.5, math.nan)],
    *[("groups", bad) for bad in (0, 1.5, None)],
]


@pytest.mark.parametrize(("name", "bad"), BAD)
def test_parameters_that_mean_nothing_are_refused(name, bad):
    with pytest.raises(dp.BadParameter, match=name):
        dataclasses.replace(ONE, **{name: bad})


def test_parameters_are_plain_numbers():
    one, three = np.int64(9), np.int8(3)
    made = GaussianThreshold(sigma=2, threshold=one, delta=np.float64(1e-3), groups=three)
    kinds = [type(getattr(made, each.name)) for each in dataclasses.fields(made)]
    assert kinds == [float, int, float, int]


def tail(x):
    return mp.erfc(mp.mpf(x) / mp.sqrt(2)) / 2


def gaussian_delta(mu, epsilon):
    """Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ)."""
    if mu == 0:
        return mp.mpf(0)
    return tail(epsilon / mu - mu / 2) - mp.exp(epsilon) * tail(epsilon / mu + mu / 2)


def delta(m, epsilon):
    """The largest over how many of a person's keys are new; beyond 64 keys, of each term."""
    with mp.workdps(50):
        sigma, epsilon = mp.mpf(m.sigma), mp.mpf(epsilon)
        new = tail((m.threshold - mp.mpf("1.5")) / sigma)
        old = [gaussian_delta(mp.sqrt(g) / sigma, epsilon) for g in range(m.groups + 1)]
        if m.groups > 64:
            return min(1, old[-1] + m.groups * new)
        return min(1, max(d + (m.groups - g) * new for g, d in enumerate(old)))


@pytest.mark.parametrize("groups", [1, 2, 7, 64, 65, 200])
@pytest.mark.parametrize("sigma", [0.7, 3.0, 20.0])
@pytest.mark.parametrize("threshold", [2, 9, 60])
def test_delta_is_the_largest_over_all_splits(sigma, threshold, groups):
    m = GaussianThreshold(sigma=sigma, threshold=threshold, delta=0.5, groups=groups)
    for epsilon in (0.0, 0.3, 2.0):
        truth = delta(m, epsilon)
        assert truth <= m.delta_at(epsilon) <= truth * (1 + mp.mpf(1e-9)) + mp.mpf(2) ** -990


@pytest.mark.parametrize("groups", [1, 7, 65])
@pytest.mark.parametrize("share", [1e-9, 1e-3, 0.2])
def test_epsilon_is_the_least_at_which_delta_is_met(groups, share):
    m = GaussianThreshold(sigma=1.5, threshold=12, delta=share, groups=groups)
    epsilon = m.epsilon_at(share)
    assert m.approx() == (epsilon, share)
    if math.isinf(epsilon):
        assert delta(m, 1e5) > share
    else:
        assert delta(m, epsilon) <= share
        assert epsilon == 0 or delta(m, epsilon * (1 - 1e-6)) > share


def test_where_any_epsilon_will_do_it_is_none_and_where_none_will_it_is_infinite():
    assert GaussianThreshold(sigma=50.0, threshold=400, delta=0.1).epsilon_at(0.1) == 0.0
    assert GaussianThreshold(sigma=5.0, threshold=2, delta=1e-3).epsilon_at(1e-3) == math.inf
    narrow = GaussianThreshold(sigma=0.05, threshold=3, delta=1e-6)
    assert 100 < narrow.epsilon_at(1e-6) < 1000


class Counted(GaussianThreshold):
    """Counts how often it is priced."""

    priced = 0

    def delta_at(self, epsilon):
        Counted.priced += 1
        return super().delta_at(epsilon)


@pytest.mark.parametrize("groups", [1, 3, 64, 70])
@pytest.mark.parametrize(("epsilon", "share"), [(1.0, 1e-6), (0.1, 1e-3), (3.0, 0.99), (9.0, 0.4)])
def test_noise_takes_half_of_delta_and_the_threshold_the_rest(epsilon, share, groups):
    Counted.priced = 0
    m = Counted.calibrate(epsilon=epsilon, delta=share, groups=groups)
    assert Counted.priced <= 2
    m = GaussianThreshold(**{f.name: getattr(m, f.name) for f in dataclasses.fields(m)})
    plain = Gaussian.calibrate(epsilon=epsilon, delta=share / 2, sensitivity=math.sqrt(groups))
    assert m.sigma == pytest.approx(plain.sigma, rel=1e-6)
    assert gaussian_delta(mp.sqrt(groups) / mp.mpf(m.sigma), epsilon) <= share / 2
    with mp.workdps(50):
        reach = m.sigma * mp.sqrt(2) * mp.erfinv(1 - mp.mpf(share) / groups)
    lowest = max(2, int(mp.floor(mp.mpf("1.5") + reach)))
    while delta(dataclasses.replace(m, threshold=lowest), epsilon) > share:
        lowest += 1
    assert m.threshold == lowest


def test_no_far_tail_is_rounded_below_the_truth():
    """Far out an ulp of the argument is x² ulps of the tail."""
    for threshold in range(200, 2600, 11):
        m = GaussianThreshold(
            sigma=threshold / (15 + threshold % 23), threshold=threshold, delta=0.5
        )
        x = (mp.mpf(threshold) - mp.mpf(1.5)) / mp.mpf(m.sigma)
        truth = mp.erfc(x / mp.sqrt(2)) / 2
        assert truth <= m._shown_alone() <= truth * (1 + mp.mpf(1e-11))
