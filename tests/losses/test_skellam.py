"""The price of Skellam noise: above the truth by mpmath, close to it, and right for vectors."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy import special
from tests.losses import figures

import deniable as dp
from deniable import mechanisms as ms
from deniable.losses import Profile
from deniable.losses.pairs import SkellamPair
from deniable.losses.pairs.skellam import _far_step, _reach, gaussian_bound

VARIANCES = [0.05, 1.0, 10.0, 300.0]


def exact(variance, shift):
    """p(x) and p(x − shift) over all x that matter, to 40 digits."""
    with mp.workdps(40):
        reach = int(12 * math.sqrt(variance)) + 60
        p = {k: mp.besseli(k, variance) * mp.exp(-variance) for k in range(reach + shift + 1)}
        return [(p[abs(x)], p[abs(x - shift)]) for x in range(-reach, reach + 1)]


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("shift", [1, 3])
def test_delta_is_the_sum_over_whole_numbers(variance, shift):
    law = exact(variance, shift)
    priced = Profile.of(SkellamPair(variance=variance, shift=shift))
    for epsilon in (0.1, 1.0, 2.5):
        with mp.workdps(40):
            truth = float(sum(max(mp.mpf(0), p - mp.exp(epsilon) * q) for p, q in law))
        assert truth <= priced.delta_at(epsilon) <= truth * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("order", [1.25, 2.0, 9.0])
def test_renyi_divergences_are_above_the_truth_and_close(variance, order):
    for shift in (1, 2):
        law = exact(variance, shift)
        with mp.workdps(40):
            truth = float(mp.log(sum(p**order * q ** (1 - order) for p, q in law)) / (order - 1))
        found = SkellamPair(variance=variance, shift=shift).divergence(order)
        assert truth * (1 - 1e-12) <= found <= truth * (1 + 1e-7) + 1e-10


@pytest.mark.parametrize("variance", [0.05, 10.0, 300.0])
@pytest.mark.parametrize("shift", [1, 50])
def test_divergences_grow_with_the_order_and_are_infinite_where_the_sum_is_not_bounded(
    variance, shift
):
    pair = SkellamPair(variance=variance, shift=shift)
    orders = [1.0 + 10.0**k for k in range(-2, 13)]
    found = [pair.divergence(order) for order in orders]
    finite = [f for f in found if math.isfinite(f)]
    assert all(a <= b * (1 + 1e-9) for a, b in itertools.pairwise(found))
    assert len(finite) >= 3
    assert found[-1] == math.inf


def test_known_prices():
    """Computed independently, by direct summation: variance 10 and 100 at δ = 1e-6."""
    assert round(ms.Skellam(variance=10.0).epsilon_at(1e-6), 2) == 1.17
    assert round(ms.Skellam(variance=100.0).epsilon_at(1e-6), 3) == 0.389


@pytest.mark.parametrize("variance", VARIANCES)
def test_the_gaussian_bound_holds_at_every_threshold(variance):
    """q(t) − q(t − 1) ≤ μ by mpmath, and the bound is attained."""
    mu, worst = gaussian_bound(variance), 0.0
    with mp.workdps(50):
        p = [mp.besseli(k, variance) * mp.exp(-variance) for k in range(260)]
        tails = [mp.fsum(p[t:]) for t in range(1, 60)]
        q = [-mp.sqrt(2) * mp.erfinv(2 * tail - 1) for tail in tails if tail > mp.mpf(10) ** -40]
        steps = [2 * q[0], *(b - a for a, b in itertools.pairwise(q))]
        worst = float(max(steps))
    assert worst <= mu <= worst * (1 + 1e-6)


@pytest.mark.parametrize("variance", [0.05, 1.0, 20.0])
def test_the_bound_on_far_steps_holds_there(variance):
    t = _reach(variance)
    with mp.workdps(420):
        p = [mp.besseli(k, variance) for k in range(t - 1, t + 200)]
        all_of_it = mp.exp(variance)
        logs = [mp.log(mp.fsum(p[i:]) / all_of_it) for i in (1, 2)]
    q = [-float(special.ndtri_exp(float(log))) for log in logs]
    assert q[1] - q[0] <= _far_step(variance, t)


def test_ratios_of_bessel_functions_obey_the_bounds_that_the_proof_uses():
    for variance in (0.1, 1.0, 30.0):
        with mp.workdps(30):
            for n in range(40):
                ratio = mp.besseli(n + 1, variance) / mp.besseli(n, variance)
                assert ratio >= mp.exp(-mp.asinh(mp.mpf(n + 1) / variance))
                assert ratio <= mp.exp(-mp.asinh((n + mp.mpf(1) / 2) / variance))


@pytest.mark.parametrize("moves", [(1, 1), (2, 1), (1, 1, 1), (2, 2)])
@pytest.mark.parametrize("variance", [0.2, 2.0, 12.0])
def test_one_number_moved_by_all_dominates_several_moved_by_parts(moves, variance):
    """Every δ(ε) of the vector, enumerated, is at most that of the pair that is charged."""
    reach = int(8 * math.sqrt(variance)) + 12
    x = np.arange(-reach, reach + 1)
    first = second = np.ones(1)
    for move in moves:
        first = np.outer(first, special.ive(np.abs(x), variance)).ravel()
        second = np.outer(second, special.ive(np.abs(x - move), variance)).ravel()
    pair = Profile.of(SkellamPair(variance=variance, shift=sum(moves)))
    l2 = ms.SkellamL2(variance=variance, sensitivity=math.sqrt(sum(m * m for m in moves)))
    for epsilon in (0.0, 0.3, 1.0, 2.0, 4.0):
        delta = float(np.maximum(0.0, first - math.exp(epsilon) * second).sum())
        assert delta <= pair.delta_at(epsilon) + 1e-9
        assert delta <= l2.delta_at(epsilon) + 1e-9


@pytest.mark.parametrize("kind", [ms.Skellam, ms.SkellamL2])
def test_a_calibrated_variance_meets_its_target_and_little_less_does_not(kind):
    for target, price in (
        (dp.epsilon(1.0, delta=1e-6), lambda m: m.epsilon_at(1e-6) / 1.0),
        (dp.rho(0.1), lambda m: m.zcdp() / 0.1),
        (dp.mu(0.5), lambda m: m.gdp() / 0.5),
    ):
        made = kind.calibrate(to=target, sensitivity=2)
        less = kind(variance=made.variance * (1 - 1e-4), sensitivity=2)
        assert price(made) <= 1 < price(less)


PART = "skellam"
SMALL, LARGE = SkellamPair(variance=3.0, shift=2), SkellamPair(variance=900.0, shift=1)
CASES = {
    "atoms": lambda: [
        [part[::23] for part in SMALL.atoms()],
        [part[::99] for part in LARGE.atoms()],
    ],
    "divergence": lambda: [pair.divergence(a) for pair in (SMALL, LARGE) for a in (1.5, 4.0, 40.0)],
    "far divergence": lambda: [SkellamPair(variance=0.01).divergence(a) for a in (2.0, 1e4)],
    "gaussian": lambda: [gaussian_bound(v) for v in (0.3, 3.0, 900.0)],
    "far step": lambda: [_far_step(v, t) for v, t in ((0.3, 200), (3.0, 300), (900.0, 2000))],
    "reach": lambda: [_reach(v) for v in (1e-3, 0.3, 3.0, 900.0, 2.0**22)],
    "alone": lambda: [SMALL.delta_alone(0.4), LARGE.delta_alone(0.02)],
}


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case])
