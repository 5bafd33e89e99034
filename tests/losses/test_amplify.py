"""What sampling and shuffling save, and not more."""

import itertools
import math
from collections import Counter

import mpmath as mp
import pytest
from dp_accounting import dp_event
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.losses import figures

import deniable as dp
from deniable.losses import amplify

EPSILONS = st.floats(1e-6, 600)


@given(EPSILONS, st.floats(1e-9, 1), st.floats(0, 0.1))
@settings(max_examples=60)
def test_sampling_follows_the_theorem_from_above(epsilon, rate, delta):
    found, lost = amplify.poisson(epsilon, delta=delta, rate=rate)
    with mp.workdps(60):
        truth = mp.log1p(mp.mpf(rate) * mp.expm1(epsilon))
        assert mp.mpf(found) >= truth * (1 - mp.mpf(10) ** -50)
        assert found <= truth * (1 + mp.mpf(1e-12)) + mp.mpf(1e-300)
        assert lost >= mp.mpf(rate) * mp.mpf(delta)
    assert found <= epsilon


def test_the_theorem_is_tight_for_randomized_response():
    """A sampled bit, answered by randomized response or by its background if not sampled."""
    epsilon, rate = 1.3, 0.2
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    q = 1 - p
    ratio = (rate * p + (1 - rate) * q) / q
    assert amplify.poisson(epsilon, rate=rate)[0] == pytest.approx(math.log(ratio))


def test_sampling_all_saves_nothing_and_sampling_none_costs_nothing():
    assert amplify.poisson(1.0, delta=1e-6, rate=1.0) == (1.0, 1e-6)
    assert amplify.poisson(1.0, delta=1e-6, rate=0.0) == (0.0, 0.0)
    assert amplify.without_replacement(1.0, size=10, population=10) == (1.0, 0.0)


def test_a_sample_without_replacement_has_the_rate_of_its_size():
    assert amplify.without_replacement(1.0, size=1, population=10) == amplify.poisson(1.0, rate=0.1)
    with pytest.raises(dp.BadParameter):
        amplify.without_replacement(1.0, size=11, population=10)


# ---- shuffling


def shuffled_reports(table, randomizer):
    """The exact law of the multiset of reports."""
    law = Counter()
    for outcome in itertools.product(range(len(randomizer[0])), repeat=len(table)):
        probability = math.prod(randomizer[x][y] for x, y in zip(table, outcome, strict=True))
        law[tuple(sorted(outcome))] += probability
    return law


def randomized_response(epsilon, categories):
    keep = math.exp(epsilon) / (math.exp(epsilon) + categories - 1)
    rest = (1 - keep) / (categories - 1)
    return [[keep if x == y else rest for y in range(categories)] for x in range(categories)]


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("categories", [2, 3])
@pytest.mark.parametrize("population", [1, 2, 5])
def test_shuffled_reports_are_at_least_as_private_as_claimed(epsilon, categories, population):
    randomizer = randomized_response(epsilon, categories)
    worst = Counter()
    for others in itertools.combinations_with_replacement(range(categories), population - 1):
        first = shuffled_reports((0, *others), randomizer)
        second = shuffled_reports((1, *others), randomizer)
        for at in (0.0, 0.1, 0.25 * epsilon, 0.6 * epsilon, 0.95 * epsilon):
            exact = sum(max(0.0, first[y] - math.exp(at) * second[y]) for y in first)
            worst[at] = max(worst[at], exact)
    for at, exact in worst.items():
        assert amplify.shuffled_delta(epsilon, at=at, population=population) >= exact * (1 - 1e-12)


def test_two_categories_all_alike_but_one_meet_the_bound_exactly_when_alone():
    found = amplify.shuffled_delta(1.0, at=0.25, population=1)
    assert found == pytest.approx(dp.Pure(1.0).delta_at(0.25), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
@pytest.mark.parametrize("population", [1_000, 100_000])
def test_the_exact_law_beats_the_closed_form(epsilon, population):
    exact = amplify.shuffled(epsilon, delta=1e-6, population=population)
    closed = amplify.shuffled_closed_form(epsilon, delta=1e-6, population=population)
    assert 0 < exact < closed <= epsilon
    assert amplify.shuffled_delta(epsilon, at=exact, population=population) <= 1e-6
    assert amplify.shuffled_delta(epsilon, at=0.999 * exact, population=population) > 1e-6


def test_a_larger_crowd_hides_better():
    found = [amplify.shuffled(2.0, delta=1e-6, population=n) for n in (10, 100, 1_000, 10_000)]
    assert found == sorted(found, reverse=True)


def test_the_law_of_clones_is_summed_in_full():
    epsilon, at, n = 1.5, 0.2, 30
    with mp.workdps(40):
        h, g = mp.exp(epsilon), mp.exp(mp.mpf(at))
        share, truth = 2 / (h + 1), mp.mpf(0)
        for c in range(n):
            weight = mp.binomial(n - 1, c) * share**c * (1 - share) ** (n - 1 - c)
            coin = [mp.binomial(c, k) / 2**c if 0 <= k <= c else 0 for k in range(-1, c + 2)]
            for x in range(c + 2):
                here, shifted = coin[x + 1], coin[x]
                p, q = (h * shifted + here) / (h + 1), (shifted + h * here) / (h + 1)
                truth += weight * max(0, p - g * q)
        found = amplify.shuffled_delta(epsilon, at=at, population=n)
        assert truth <= found <= truth * (1 + mp.mpf(1e-8))


def test_hopeless_randomizers_are_not_amplified():
    assert amplify.shuffled(700.0, delta=1e-6, population=10) == 700.0
    assert amplify.shuffled_delta(700.0, at=1.0, population=10) == 1.0
    assert amplify.shuffled(1e6, delta=1e-6, population=10) == 1e6  # e^ε₀ is no double
    assert amplify.shuffled_delta(1e6, at=1.0, population=10) == 1.0
    assert amplify.shuffled_delta(1e6, at=1e6, population=10) == 0.0
    assert amplify.shuffled(0.0, delta=1e-6, population=10) == 0.0


# ---- the sampled Gaussian


def moment(order, rate, sigma):
    a, q, s = mp.mpf(order), mp.mpf(rate), mp.mpf(sigma)

    def integrand(x):
        return mp.npdf(x, 0, s) * (1 - q + q * mp.exp((2 * x - 1) / (2 * s * s))) ** a

    ends = sorted({-20 * s, -5 * s, mp.mpf(0), a / 2, a, a + 5 * s, a + 20 * s})
    return mp.log(mp.quad(integrand, ends)) / (a - 1)


@pytest.mark.parametrize("order", [1.01, 1.5, 2, 3.7, 8, 20.3])
@pytest.mark.parametrize(("rate", "sigma"), [(1e-6, 1.1), (0.01, 0.3), (0.3, 5.0), (0.9, 1.1)])
def test_the_divergence_of_the_sampled_gaussian_is_right_and_not_below_the_truth(
    order, rate, sigma
):
    with mp.workdps(30):
        truth = moment(order, rate, sigma)
        found = amplify.sampled_gaussian_renyi(order, rate=rate, sigma=sigma)
        assert truth <= found <= truth * (1 + mp.mpf(3e-9))


@pytest.mark.parametrize("order", [2, 16, 64, 256])
@pytest.mark.parametrize("rate", [0.001, 0.1])
def test_whole_orders_agree_with_an_independent_accountant(order, rate):
    accountant = RdpAccountant([order])
    accountant.compose(dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(1.1)))
    found = amplify.sampled_gaussian_renyi(order, rate=rate, sigma=1.1)
    assert found == pytest.approx(float(accountant._rdp[0]), rel=1e-8)


@given(st.floats(1.05, 300), st.floats(1e-4, 1), st.floats(0.4, 20))
@settings(max_examples=60)
def test_sampling_saves_and_less_noise_or_more_sampling_or_a_higher_order_costs(order, rate, sigma):
    found = amplify.sampled_gaussian_renyi(order, rate=rate, sigma=sigma)
    almost = 1 + 1e-8
    assert 0 < found <= order / (2 * sigma**2) * almost
    assert found <= amplify.sampled_gaussian_renyi(order, rate=rate, sigma=0.9 * sigma) * almost
    assert amplify.sampled_gaussian_renyi(order, rate=rate / 2, sigma=sigma) <= found * almost
    assert found <= amplify.sampled_gaussian_renyi(1.1 * order, rate=rate, sigma=sigma) * almost


def test_sampling_all_is_the_gaussian_and_none_is_nothing():
    assert amplify.sampled_gaussian_renyi(3.0, rate=1.0, sigma=2.0) == pytest.approx(3 / 8)
    assert amplify.sampled_gaussian_renyi(3.0, rate=0.0, sigma=2.0) == 0.0
    with pytest.raises(dp.BadParameter):
        amplify.sampled_gaussian_renyi(1.0, rate=0.1, sigma=1.0)


PART = "amplify"
SIGMAS = [(a, q, s) for a in (1.5, 2, 7.25, 40, 90.5) for q in (1e-3, 0.2) for s in (0.4, 3.0)]
CASES = {
    "poisson": lambda: [
        (amplify.poisson(e, delta=1e-6, rate=q), amplify.poisson_floor(e, rate=q))
        for e in (0.0, 0.3, 29.9, 30.1, 80.0)
        for q in (0.0, 0.05, 1.0)
    ],
    "without": lambda: amplify.without_replacement(0.7, delta=1e-6, size=3, population=40),
    "closed form": lambda: [
        amplify.shuffled_closed_form(e, delta=1e-6, population=n)
        for e in (0.1, 1.0, 4.0)
        for n in (100, 10_000)
    ],
    "shuffled": lambda: [
        amplify.shuffled(e, delta=1e-6, population=n) for e in (0.3, 2.0) for n in (9, 3000)
    ],
    "shuffled delta": lambda: [
        amplify.shuffled_delta(1.0, at=x, population=n)
        for x in (0.0, 0.3, 0.99)
        for n in (1, 2, 300)
    ],
    "gaussian": lambda: [amplify.sampled_gaussian_renyi(a, rate=q, sigma=s) for a, q, s in SIGMAS],
    "whole": lambda: [
        amplify._whole_log_moment(a, 0.05, s) for a in (2, 9, 64) for s in (0.4, 3.0)
    ],
    "integrated": lambda: [
        amplify._integrated_log_moment(a, 0.05, s) for a in (1.3, 9.5) for s in (0.4, 3.0)
    ],
}


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case], within=1e-7)
