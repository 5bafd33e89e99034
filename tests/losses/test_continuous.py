"""Gaussian, Laplace and bounded-range pairs: their closed forms, and what these allow."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from tests.losses import figures, truth

from deniable.errors import NoBound
from deniable.losses.pairs import BoundedRangePair, GaussianPair, LaplacePair
from deniable.losses.pairs.continuous import normal_masses

GAUSSIAN, LAPLACE, RANGE = GaussianPair(mu=0.7), LaplacePair(ratio=1.3), BoundedRangePair(epsilon=1)
EVERY = [GAUSSIAN, LAPLACE, RANGE]


def test_losses_reach_as_far_as_the_laws_say():
    assert GAUSSIAN.largest_loss() == math.inf
    assert GaussianPair(mu=0.0).largest_loss() == 0.0
    assert GAUSSIAN.origin() == 0.0
    for pair, end in ((LAPLACE, 1.3), (RANGE, 1.0)):
        assert pair.origin() == pair.largest_loss() == end
        assert pair.support(1e-9) == (-end, end)
        assert pair.two_sided
    assert not GAUSSIAN.two_sided


@pytest.mark.parametrize("mass", [0.3, 1e-3, 1e-12])
def test_the_support_of_a_gaussian_leaves_out_no_more_than_its_mass(mass):
    """Chernoff's bound is met within its factor, x·√(2π) and a little."""
    low, high = GAUSSIAN.support(mass)
    assert low + high == pytest.approx(0.49)
    x = mp.mpf(high - 0.245) / mp.mpf(0.7)
    assert mass / (3 * x + 3) < mp.ncdf(-x) <= mass


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.9, 1.0, 1.2999, 1.3, 4.0])
@pytest.mark.parametrize("ratio", [1e-9, 0.4, 1.3, 30.0])
def test_one_laplace_answer_costs_its_closed_form_and_never_less(ratio, epsilon):
    found, exact = LaplacePair(ratio=ratio).delta_alone(epsilon), truth.laplace(ratio, epsilon)
    assert exact <= found <= exact * (1 + mp.mpf(2) ** -47)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5, 0.9999, 1.0, 4.0])
@pytest.mark.parametrize("width", [1e-9, 0.4, 1.0, 30.0])
def test_one_answer_of_bounded_range_costs_the_envelope_and_never_less(width, epsilon):
    found = BoundedRangePair(epsilon=width).delta_alone(epsilon)
    e, x = mp.mpf(width), min(mp.mpf(width), mp.mpf(epsilon))
    exact = (mp.exp(e / 2) - mp.exp(x / 2)) ** 2 / mp.expm1(e)
    assert exact * (1 - mp.mpf(2) ** -60) <= found <= exact * (1 + mp.mpf(2) ** -46)


@pytest.mark.parametrize("pair", EVERY[1:], ids=repr)
def test_moments_of_order_c_are_those_of_the_divergence(pair):
    """Where many mechanisms stand behind one pair, their moments are below its own."""
    for c in (0.25, 1.0, 7.0):
        assert pair.log_moment(c) == pytest.approx(c * pair.divergence(1 + c))
    value, _ = RANGE.log_mgf(np.array([1 + 0j]))
    assert RANGE.log_moment(1.0) < value[0].real + 1.0


@pytest.mark.parametrize("c", [0.3, 2.0])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
def test_moments_of_bounded_range_decay_as_stated(epsilon, c):
    pair = BoundedRangePair(epsilon=epsilon)
    t = np.geomspace(0.01, 2000, 400) / epsilon
    ends = pair.log_mgf(c + 1j * np.concatenate([[0.0], t]))[0].real
    modulus = np.exp(ends[1:] - ends[0])
    stated = np.array([pair.decay(c, float(each)) for each in t])
    assert (modulus <= stated).all()
    assert (np.diff(stated) <= 0).all()
    assert stated[0] > 1 - 1e-6
    assert pair.decay(c, 0.0) == 1.0
    far = math.tanh((c + 0.5) * epsilon) * stated[-1] * t[-1] / (c + 0.5)
    assert far == pytest.approx(1.0, rel=1e-3)


def test_moments_of_a_gaussian_decay_as_its_law_does():
    for t in (0.0, 0.5, 3.0):
        exact = math.exp(-(0.7**2) * t**2 / 2)
        assert exact <= GAUSSIAN.decay(1.0, t) <= exact * (1 + 1e-12)
    assert LAPLACE.decay(1.0, 1e9) == 1.0


@pytest.mark.parametrize("size", [2, 3, 7])
def test_groups_are_that_many_times_as_far_and_rounded_up(size):
    for mu in (0.1, 0.3, 0.7, 1.1):
        assert mp.mpf(GaussianPair(mu=mu).group(size).mu) > mp.mpf(mu) * size
        assert mp.mpf(LaplacePair(ratio=mu).group(size).ratio) > mp.mpf(mu) * size
        assert GaussianPair(mu=mu).group(size).mu == pytest.approx(mu * size)
        assert LaplacePair(ratio=mu).group(size).ratio == pytest.approx(mu * size)
    with pytest.raises(NoBound):
        RANGE.group(size)


def test_each_kind_dominates_itself_and_less_of_its_kind_alone():
    for make in (
        lambda x: GaussianPair(mu=x),
        lambda x: LaplacePair(ratio=x),
        lambda x: BoundedRangePair(epsilon=x),
    ):
        assert make(1.0).dominates(make(1.0))
        assert make(1.0).dominates(make(0.5))
        assert not make(0.5).dominates(make(1.0))
    for one, other in itertools.permutations(EVERY, 2):
        assert not one.dominates(other)


@pytest.mark.parametrize("start", [-45.0, -9.0, -1.5, -0.5, 0.0, 1.0, 8.0, 37.0])
def test_normal_masses_are_within_their_stated_error_in_both_tails(start):
    x = start + np.array([0.0, 1e-6, 0.3, 2.0])
    masses, errors = normal_masses(x)
    with mp.workdps(400):
        for mass, error, (a, b) in zip(masses, errors, itertools.pairwise(x), strict=True):
            low, high = sorted([abs(a), abs(b)]) if a * b > 0 else (a, b)
            exact = mp.ncdf(-low) - mp.ncdf(-high) if a * b > 0 else mp.ncdf(high) - mp.ncdf(low)
            assert abs(mp.mpf(mass) - exact) <= error + 5e-324
            nearer = mp.ncdf(-abs(a if a > 0 else b)) if a * b > 0 or a > 0 else mp.ncdf(b)
            reach = min(abs(a if a > 0 else b), 40)
            assert error == pytest.approx(float(nearer * 2**-53 * (32 + 4 * reach**2)), rel=1e-9)


def test_masses_hold_atoms_at_the_right_ends_of_intervals():
    a = LAPLACE.ratio
    cells = LAPLACE.masses(np.array([-a - 1, -a, -a / 2, a / 2, a, a + 1]))
    half, low = 0.5, 0.5 * math.exp(-a)
    density = [2 * math.exp(-a / 2) / 4 * (math.exp(e / 2)) for e in (-a, -a / 2, a / 2, a)]
    middle = np.diff(density)
    assert cells.p == pytest.approx([low, *middle[:2], middle[2] + half, 0.0])
    assert cells.q == pytest.approx([half, middle[2], middle[1], middle[0] + low, 0.0])


PART = "continuous"
Z = np.array([2 + 0j, 2 + 1.5j, 2 + 40j])
EDGES = np.linspace(-1.5, 1.4, 7)
CASES = {
    "moments": lambda: [pair.log_mgf(Z) for pair in EVERY],
    "moments near 0": lambda: [
        LaplacePair(ratio=1e-6).log_mgf(Z),
        LaplacePair(ratio=30).log_mgf(Z),
    ],
    "range near 0": lambda: [BoundedRangePair(epsilon=x).log_mgf(Z) for x in (1e-6, 30.0)],
    "decay": lambda: [pair.decay(0.5, t) for pair in EVERY for t in (0.1, 3.0, 100.0)],
    "masses": lambda: [pair.masses(EDGES) for pair in EVERY],
    "support": lambda: [pair.support(1e-9) for pair in EVERY],
    "alone": lambda: [pair.delta_alone(x) for pair in EVERY for x in (0.0, 0.4)],
    "moment": lambda: [pair.log_moment(c) for pair in EVERY for c in (0.5, 4.0)],
    "divergence": lambda: [pair.divergence(a) for pair in EVERY for a in (1.5, 5.0)],
    "normal": lambda: normal_masses(np.array([-50.0, -3.0, -0.1, 0.2, 5.0, 45.0])),
}


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case])
