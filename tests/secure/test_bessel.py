"""The bounds on ratios of Bessel functions that Skellam noise is priced with, at many points."""

import math

import mpmath
import numpy as np
import pytest


def ratio(n, v):
    with mpmath.workdps(60):
        return mpmath.besseli(n + 1, v) / mpmath.besseli(n, v)


def bounds(n, v):
    with mpmath.workdps(60):
        v = mpmath.mpf(v)
        return [mpmath.exp(-mpmath.asinh((n + a) / v)) for a in (1, mpmath.mpf(1) / 2)]


def test_ratios_of_bessel_functions_lie_between_their_bounds():
    """Both bounds are attained in the limit, so a wrong constant would show at the ends."""
    worst = [mpmath.inf, mpmath.inf]
    for n in (0, 1, 2, 3, 7, 20, 100, 1000):
        for v in np.geomspace(1e-6, 4e4, 24):
            low, high = bounds(n, float(v))
            found = ratio(n, float(v))
            assert low <= found <= high, (n, v)
            worst = [min(worst[0], found / low - 1), min(worst[1], high / found - 1)]
    assert max(map(float, worst)) < 1e-3  # tight somewhere: not by a loose constant


@pytest.mark.parametrize("wrong", [(0.9, 0.5), (1, 0.6)])
def test_smaller_constants_would_be_wrong(wrong):
    points = [(n, v) for n in (0, 3, 50) for v in (0.01, 1.0, 30.0, 3000.0)]
    with mpmath.workdps(60):
        broken = [
            (n, v)
            for n, v in points
            if not mpmath.exp(-mpmath.asinh((n + mpmath.mpf(wrong[0])) / v))
            <= ratio(n, v)
            <= mpmath.exp(-mpmath.asinh((n + mpmath.mpf(wrong[1])) / v))
        ]
    assert broken


def test_the_bound_on_far_steps_falls():
    """√(1 + z²)·asinh²z ≥ 2(z·asinh z − √(1 + z²) + 1), with equality at 0 alone."""
    for point in np.geomspace(1e-6, 1e6, 200):
        with mpmath.workdps(60):
            z = mpmath.mpf(float(point))
            root, a = mpmath.sqrt(1 + z * z), mpmath.asinh(z)
            assert root * a * a > 2 * (z * a - root + 1)


def test_the_mean_beyond_a_threshold_is_bounded():
    """E[J] ≤ t + v/(t + ½) for Skellam numbers J beyond t."""
    for v in (0.1, 1.0, 10.0, 200.0):
        with mpmath.workdps(40):
            far = range(60 + 12 * math.isqrt(int(v) + 1) * 3)
            masses = [mpmath.besseli(n, v) for n in far]
            for t in (0, 1, 3, 10, 40):
                rest = masses[t:]
                mean = sum(n * m for n, m in enumerate(rest, t)) / sum(rest)
                assert mean <= t + v / (t + mpmath.mpf(1) / 2)
