"""The price of Laplace thresholds, by 50 digits, and the lowest threshold it allows."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

import deniable as dp
from deniable.mechanisms import LaplaceThreshold

ONE = LaplaceThreshold(scale=2.0, threshold=9)
BAD = [
    *[("scale", bad) for bad in (0, -1.0, math.nan, math.inf, "2")],
    *[("threshold", bad) for bad in (1, 2.5, -3, True)],
    *[("groups", bad) for bad in (0, 1.5, None)],
]


@pytest.mark.parametrize(("name", "bad"), BAD)
def test_parameters_that_mean_nothing_are_refused(name, bad):
    with pytest.raises(dp.BadParameter, match=name):
        dataclasses.replace(ONE, **{name: bad})


def test_parameters_are_plain_numbers():
    made = LaplaceThreshold(scale=2, threshold=np.int64(9), groups=np.int8(3))
    assert [type(getattr(made, each.name)) for each in dataclasses.fields(made)] == [
        float,
        int,
        int,
    ]


def lost(m):
    """g·P(1 + Z ≥ T)."""
    with mp.workdps(50):
        return min(1, m.groups * mp.exp((mp.mpf("1.5") - m.threshold) / mp.mpf(m.scale)) / 2)


@pytest.mark.parametrize("groups", [1, 3, 10**6])
@pytest.mark.parametrize("scale", [0.013, 0.1, 0.7, 3.0, 40.0])
def test_the_price_is_never_below_the_truth_and_close_to_it(scale, groups):
    """Also far out, where the exponent is rounded by more than the figure itself."""
    for threshold in (*range(2, 60), 300):
        m = LaplaceThreshold(scale=scale, threshold=threshold, groups=groups)
        epsilon, delta = m.approx()
        assert Fraction(epsilon) >= Fraction(groups) / Fraction(scale)
        assert epsilon == pytest.approx(groups / scale, rel=1e-12)
        assert lost(m) <= delta <= lost(m) * (1 + mp.mpf(1e-9)) + mp.mpf(2) ** -990


class Counted(LaplaceThreshold):
    """Counts how often it is priced."""

    priced = 0

    def approx(self):
        Counted.priced += 1
        return super().approx()


@pytest.mark.parametrize("groups", [1, 3, 1000])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 1e-9), (2.0, 1e-3), (1.0, 0.4), (0.5, 0.99)])
def test_the_lowest_threshold_is_found_within_two_tries(epsilon, delta, groups):
    Counted.priced = 0
    m = Counted.calibrate(epsilon=epsilon, delta=delta, groups=groups)
    assert Counted.priced <= 2
    assert Fraction(groups) / Fraction(m.scale) <= Fraction(epsilon)
    assert m.scale == pytest.approx(groups / epsilon, rel=1e-12)
    assert lost(m) <= delta
    assert m.threshold == 2 or lost(dataclasses.replace(m, threshold=m.threshold - 1)) > delta
    at_the_limit = LaplaceThreshold.calibrate(epsilon=epsilon, delta=m.approx()[1], groups=groups)
    assert at_the_limit.threshold == m.threshold
