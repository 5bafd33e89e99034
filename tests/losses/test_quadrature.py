"""Moments of sampled losses by quadrature: its parts against their definitions."""

import math

import mpmath as mp
import numpy as np
import pytest
from tests.losses import figures

from deniable.losses.pairs.exponential import ExponentialMixture
from deniable.losses.pairs.mixture import NormalMixture
from deniable.losses.pairs.quadrature import WIDEST, log_between, log_mixed, log_shrinks
from deniable.losses.pairs.replaced import ReplacedMixture

REMOVED, ADDED = NormalMixture(0.9, 0.05, added=False), NormalMixture(0.9, 0.05, added=True)
ATOMS = ExponentialMixture(1.2, -math.log(4), 0.5, 0.2, added=False)
BACK = ExponentialMixture(1.2, -math.log(4), 0.5, 0.2, added=True)
BOTH = ReplacedMixture(0.7, 0.1)
EVERY = {"removed": REMOVED, "added": ADDED, "atoms": ATOMS, "back": BACK, "both": BOTH}


@pytest.mark.parametrize("rate", [1e-290, 1e-9, 0.3, 0.5, 1 - 1e-9])
@pytest.mark.parametrize("exponent", [-1e9, -40.0, -0.7, -1e-9, 0.0, 1e-9, 3.0, 699.9, 700.0, 1e9])
def test_a_mixed_ratio_is_right_to_sixteen_ulps(rate, exponent):
    found = float(log_mixed(np.array([exponent]), rate)[0])
    with mp.workdps(700):
        q = mp.mpf(rate)
        exact = mp.log(1 - q + q * mp.exp(mp.mpf(exponent)))
    if exponent < 700 or rate > 1e-9:  # beyond, 1 − q is left out
        assert abs(found - exact) <= abs(exact) * 16 * mp.mpf(2) ** -53


def test_the_rest_of_a_mixture_may_be_given_where_it_would_cancel():
    found = float(log_mixed(np.array([-60.0]), 1 - 2.0**-53, 2.0**-54)[0])
    assert found == pytest.approx(math.log(2.0**-54 + math.exp(-60)))


@pytest.mark.parametrize("slope", [0.0, 0.1, 0.25, 0.4, 1.0])
@pytest.mark.parametrize("height", [0.0, 0.3, 1.0])
def test_a_ratio_shrinks_above_the_real_line_by_no_more_than_stated(slope, height):
    """|r|² = r²(1 − 2s(1 − s)(1 − cos y)) at s = d ln r/dm."""
    stated = float(log_shrinks(np.array([slope]), np.array([height]))[0])
    exact = -math.log1p(-2 * slope * (1 - slope) * (1 - math.cos(height))) / 2
    assert exact <= stated + 1e-15
    assert stated == pytest.approx(-math.log1p(-min(slope, 0.25) * height**2) / 2)


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-2.0, 1.5), (3.0, 3.25)])
@pytest.mark.parametrize("bend", [0.5, 1.0, 4.0])
def test_an_integral_between_two_ends_is_bounded(low, high, bend):
    """The worst f is −b/2·(x − middle)² and equal at both ends."""
    middle, half = (low + high) / 2, (high - low) / 2
    top = 2.0 + bend * half**2 / 2
    exact = mp.log(mp.quad(lambda x: mp.exp(top - bend * (x - middle) ** 2 / 2), [low, high]))
    stated = log_between(2.0, low, high, bend)
    assert stated == pytest.approx(top + math.log(high - low))
    assert exact <= stated


def test_nothing_lies_between_ends_that_meet_and_too_much_between_far_ones():
    assert log_between(2.0, 1.0, 1.0) == log_between(2.0, 1.0, 0.0) == -math.inf
    assert log_between(2.0, 0.0, 999_999.0) < math.inf
    assert log_between(2.0, 0.0, 1e6) == log_between(2.0, 0.0, math.inf) == math.inf
    assert log_between(0.0, 0.0, 1.0) == 0.125


def summed(moments, z):
    """Σ density·e^(−zD) over a very fine rule, and the atoms."""
    low, high, _ = moments.limits(z.real)
    edges = np.linspace(low, high, 2001)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = np.diff(edges)[:, None] / 2
    x = ((edges[1:] + edges[:-1])[:, None] / 2 + half * nodes).ravel()
    logs = moments.log_weights(x, z.real) - 1j * z.imag * moments.deficits(x)
    total = (np.exp(logs) * (half * weights).ravel()).sum()
    for deficit, mass in zip(*(moments.point_masses() or ((), ())), strict=True):
        total += mass * np.exp(-z * deficit)
    return total


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("z", [0.5 + 0j, 3 + 2j])
def test_moments_are_the_integrals_of_the_stated_weights(name, z):
    moments = EVERY[name]
    value, bound = moments.log_mgf(np.array([z]))
    assert np.exp(value[0]) == pytest.approx(summed(moments, z), rel=1e-12)
    assert 0 < bound[0] < 1e-10
    if z.imag == 0:
        assert moments.rough_log_mgf(z.real) == pytest.approx(value[0].real, abs=1e-9)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("t", [0.0, 30.0])
def test_panels_cover_what_matters_and_are_no_wider_than_allowed(name, t):
    moments = EVERY[name]
    low, high, widest = moments.limits(2.0)
    edges = moments._panels(2.0, t)
    assert (np.diff(edges) > 0).all()
    assert np.diff(edges).max() <= 2 * widest
    assert edges[0] >= low
    assert edges[-1] <= high
    ends = moments.log_weights(np.array([edges[0], edges[-1]]), 2.0)
    top = moments.log_weights(np.linspace(low, high, 4001), 2.0).max()
    assert edges[0] == pytest.approx(low) or ends[0] < top - 99
    assert edges[-1] == pytest.approx(high) or ends[1] < top - 99
    assert widest * moments.steepness() <= WIDEST


PART = "quadrature"
Z, LINE = np.array([2 + 0j, 2 + 1.5j, 2 + 20j]), 2 + 1j * np.linspace(0, 30, 150)
X = np.array([-3.0, -0.2, 0.4, 2.0])
CASES = {
    "mixed": lambda: [log_mixed(X, 0.1), log_mixed(X, 0.9), log_mixed(X, 0.9, 0.2)],
} | {
    f"{case} {name}": lambda moments=moments, compute=compute: compute(moments)
    for name, moments in EVERY.items()
    for case, compute in {
        "moments": lambda m: m.log_mgf(Z),
        "line": lambda m: [part[[0, 5, 63, 64, 149]] for part in m.log_mgf(LINE)],
        "rough": lambda m: [m.rough_log_mgf(0.5), m.rough_log_mgf(9.0)],
        "panels": lambda m: [len(m._panels(2.0, t)) for t in (0.0, 30.0, 3000.0)],
        "edges": lambda m: m._panels(2.0, 30.0),
        "errors": lambda m: m._errors(np.linspace(0.1, 2.2, 5), 2.0, 30.0),
    }.items()
}


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case])
