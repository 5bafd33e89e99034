"""Rare losses: what is left of an integral without the bulk of the law, and its bounds."""

import math

import mpmath as mp
import numpy as np
import pytest
from tests.losses import figures

from deniable.losses.pairs import GaussianPair, LaplacePair, SampledPair
from deniable.losses.pairs.upper import Share, Slower, _lost, upper_parts

PAIR = SampledPair(inner=GaussianPair(mu=0.9), rate=0.05)
OTHER = SampledPair(inner=GaussianPair(mu=2.0), rate=0.01)
C = 3.0


@pytest.mark.parametrize("times", [1, 2, 7, 1000])
@pytest.mark.parametrize("share", [1e-15, 1e-5, 0.0999, 0.1001, 0.5])
def test_what_is_lost_of_a_power_keeps_its_digits(times, share):
    """1 − (1 − x)ᵏ, by the series below 0.1/k and by the power above."""
    ratio = np.array([share / times * np.exp(0.7j), share / times])
    found = _lost(ratio, times)
    with mp.workdps(40):
        for each, value in zip(ratio, found, strict=True):
            exact = 1 - (1 - mp.mpc(complex(each))) ** times
            assert abs(mp.mpc(complex(value)) / exact - 1) < 1e-12


def test_upper_parts_start_where_the_lower_ones_cannot_reach_the_loss():
    parts = upper_parts([(PAIR, 3), (OTHER, 2)], 2.0)
    each = 2.0 * (1 - 1e-9) / 5
    assert parts == [PAIR.above(each), OTHER.above(each)]
    assert upper_parts([(PAIR, 3)], 0.0) == []
    assert upper_parts([(PAIR, 3), (LaplacePair(ratio=1.0), 1)], 2.0) == []
    assert upper_parts([(LaplacePair(ratio=1.0), 1)], 2.0) == []


def moments(pair, z):
    value, _ = pair.log_mgf(np.array([z]))
    return np.exp(value[0])


def test_the_slower_decay_is_that_of_the_pair_and_the_share_of_its_upper_part():
    upper = PAIR.above(0.5)
    slower = Slower(PAIR, upper, C)
    share = (moments(upper, C + 0j) / moments(PAIR, C + 0j)).real
    for t in (0.0, 1.0, 30.0):
        wanted = (PAIR.decay(C, t) + share) / (1 - share)
        assert slower.decay(C, t) == pytest.approx(wanted, rel=1e-9)
        for s in (t, 2 * t + 1, 5 * t + 9):
            left = abs(moments(PAIR, C + 1j * s) - moments(upper, C + 1j * s))
            assert left <= slower.decay(C, t) * moments(PAIR, C + 0j).real * (1 - share)
    whole = Slower(PAIR, PAIR, C)
    assert whole.decay(C, 0.0) >= 1e9


@pytest.mark.parametrize("times", [(1, 1), (3, 2), (200, 50)])
def test_a_share_is_one_less_the_product_of_what_is_left(times):
    z = C + 1j * np.array([0.0, 1.3, 9.0])
    share, log_d, left = Share(z), np.zeros(3, complex), np.ones(3, complex)
    for pair, count in zip((PAIR, OTHER), times, strict=True):
        upper, (value, slip) = pair.above(0.4), pair.log_mgf(z)
        share.add(upper, count, value, slip)
        log_d += count * value
        left *= (1 - np.exp(upper.log_mgf(z)[0] - value)) ** count
    assert share.value == pytest.approx(1 - left, rel=1e-10)
    found, bound = share.of(log_d, np.full(3, 1e-3))
    assert np.exp(found - log_d) == pytest.approx(1 - left, rel=1e-11)
    assert (bound > 1e-3).all()
    if times[0] < 9:  # with many uses its modulus is far above its value
        assert (bound < 1e-3 + 1e-6).all()


def test_a_share_of_nothing_is_as_small_as_floats_allow():
    share = Share(np.array([C + 0j]))
    found, _ = share.of(np.array([2.0 + 0j]), np.array([0.0]))
    assert found[0].real == pytest.approx(2 + math.log(1e-290))


PART = "upper"


def shared():
    z = C + 1j * np.array([0.0, 1.3, 9.0])
    share, steps = Share(z), []
    for pair, count in ((PAIR, 30), (OTHER, 20)):
        share.add(pair.above(0.4), count, *pair.log_mgf(z))
        steps.append((share.value, share.error, share.most))
    return steps, share.of(z, np.full(3, 1e-3))


CASES = {
    "share": shared,
    "slower": lambda: [Slower(PAIR, PAIR.above(x), C).decay(C, 2.0) for x in (0.2, 1.0)],
    "parts": lambda: [part.start for part in upper_parts([(PAIR, 3), (OTHER, 2)], 2.0)],
    "lost": lambda: _lost(np.array([1e-9 + 0j, 0.05 + 0.01j, 0.3 - 0.2j]), 3),
}


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case])
