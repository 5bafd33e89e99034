"""Divergences of given distributions: against exact arithmetic, and against what is proved."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.divergences import hockey_stick, max_divergence, privacy_loss, renyi_divergence
from deniable.errors import BadParameter, NoBound


@st.composite
def distributions(draw):
    weights = draw(
        st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6)
    )
    sums = [sum(pair[i] for pair in weights) for i in (0, 1)]
    if not all(sums):
        weights, sums = [*weights, (1, 1)], [total + 1 for total in sums]
    return tuple([Fraction(pair[i], sums[i]) for pair in weights] for i in (0, 1))


def events(p, q):
    """P and Q of every event: the definitions, without any shortcut."""
    for chosen in itertools.product([0, 1], repeat=len(p)):
        yield (
            sum((x for x, c in zip(p, chosen, strict=True) if c), Fraction(0)),
            sum((x for x, c in zip(q, chosen, strict=True) if c), Fraction(0)),
        )


@given(distributions(), st.sampled_from([0.0, 0.125, 0.5]))
@settings(max_examples=40)
def test_the_max_divergence_is_the_worst_event(pair, delta):
    best = 0.0
    for p, q in events(*pair):
        if p > delta:
            best = max(best, math.log((p - Fraction(delta)) / q) if q else math.inf)
    found = max_divergence(*pair, delta=delta)
    assert found == pytest.approx(best, rel=1e-12, abs=1e-15)


@given(distributions(), st.floats(-2, 5))
@settings(max_examples=40)
def test_the_hockey_stick_is_the_worst_event_and_never_below_it(pair, epsilon):
    best = max(float(p) - math.exp(epsilon) * float(q) for p, q in events(*pair))
    found = hockey_stick(*pair, epsilon=epsilon)
    assert found == pytest.approx(best, abs=1e-13)
    if epsilon == 0:
        assert Fraction(found) >= max(p - q for p, q in events(*pair))


@given(distributions(), st.sampled_from([0.5, 1.0, 1.5, 2.0, 7.0, 64.0]))
@settings(max_examples=40)
def test_the_renyi_divergence_follows_its_formula(pair, order):
    p, q = (np.array([float(x) for x in side]) for side in pair)
    keep = p > 0
    p, q = p[keep], q[keep]
    with np.errstate(divide="ignore"):
        if order == 1:
            wanted = float(np.sum(p * np.log(p / q)))
        else:
            wanted = float(np.log(np.sum(p**order * q ** (1 - order))) / (order - 1))
    assert renyi_divergence(*pair, order=order) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@given(distributions())
@settings(max_examples=30)
def test_divergences_grow_with_the_order_up_to_the_max(pair):
    orders = [0.5, 1.0, 1.5, 2.0, 16.0, 256.0, math.inf]
    values = [renyi_divergence(*pair, order=order) for order in orders]
    assert all(a <= b * (1 + 1e-14) + 1e-300 for a, b in itertools.pairwise(values))


@given(distributions())
@settings(max_examples=30)
def test_delta_is_zero_at_the_max_divergence_and_not_below_it(pair):
    epsilon = max_divergence(*pair)
    if math.isfinite(epsilon):
        assert hockey_stick(*pair, epsilon=epsilon) < 1e-40
        assert epsilon == 0 or hockey_stick(*pair, epsilon=epsilon - 1e-3) > 0


def test_results_are_rounded_up():
    """1/3 and 2/3 as fractions: the true values are ln 2, 1/3 and ln 3/2."""
    one, other = [Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 3), Fraction(2, 3)]
    high, exact = max_divergence(one, other), hockey_stick(one, other, epsilon=0.0)
    assert high == math.nextafter(math.log(2), math.inf) or high == math.log(2)
    assert Fraction(exact) >= Fraction(1, 3)
    assert exact <= math.nextafter(1 / 3, 1)
    assert math.exp(renyi_divergence(one, other, order=2)) == pytest.approx(1.5, rel=1e-15)


def test_the_losses_of_randomized_response_are_its_divergences():
    """What `losses` proves about the mechanism is what the given distributions say."""
    survey = dp.RandomizedResponse(epsilon=1.0, categories=4)
    guess = (1 - survey.truth) / 4
    p, q = ([guess + survey.truth * (i == j) for i in range(4)] for j in (0, 1))
    assert max_divergence(p, q) <= 1.0
    assert max_divergence(p, q) == pytest.approx(1.0, abs=1e-12)
    for delta in (1e-3, 0.05):
        assert survey.delta_at(epsilon=0.5) == pytest.approx(hockey_stick(p, q, epsilon=0.5))
        assert survey.epsilon_at(delta=delta) == pytest.approx(
            max_divergence(p, q, delta=delta), rel=1e-6
        )
    said = [privacy_loss(survey, o, first=0, second=1) for o in range(4)]
    assert said == pytest.approx([1.0, -1.0, 0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize(
    "mechanism", [dp.Laplace(scale=2.0), dp.DiscreteLaplace(scale=2.0)], ids=["real", "discrete"]
)
def test_laplace_losses_reach_epsilon_and_no_further(mechanism):
    losses = [privacy_loss(mechanism, y, first=0, second=1) for y in range(-5, 6)]
    assert max(losses) == -min(losses) == 0.5
    assert privacy_loss(mechanism, [0, 0], first=[0, 0], second=[1, 1]) == 1.0


def test_gaussian_losses_are_linear_in_the_output():
    for mechanism in (dp.Gaussian(sigma=2.0), dp.DiscreteGaussian(sigma=2.0)):
        losses = [privacy_loss(mechanism, y, first=0, second=1) for y in range(-3, 4)]
        assert losses == [(0.5 - y) / 4 for y in range(-3, 4)]


def test_the_discrete_laplace_law_has_the_losses_that_are_stated():
    """An independent computation: likelihoods from the definition, on a long enough stretch."""
    places = np.arange(-60, 61)
    laws = [np.exp(-np.abs(places - c)) / np.sum(np.exp(-np.abs(places - c))) for c in (0, 1)]
    direct = np.log(laws[0] / laws[1])
    stated = [
        privacy_loss(dp.DiscreteLaplace(scale=1.0), int(y), first=0, second=1) for y in places
    ]
    assert np.allclose(stated, direct, atol=1e-9)


def test_exponential_losses_are_ratios_of_its_probabilities():
    mechanism = dp.Exponential(epsilon=1.0, sensitivity=1.0)
    first, second = [0, 1, 2], [1, 0, 2]
    weights = [np.exp(np.array(s) / 2) for s in (first, second)]
    wanted = np.log(weights[0] / weights[0].sum()) - np.log(weights[1] / weights[1].sum())
    found = [privacy_loss(mechanism, i, first=first, second=second) for i in range(3)]
    assert np.allclose(found, wanted, atol=1e-14)
    assert max(map(abs, found)) <= 1.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: max_divergence([0.5, 0.5], [1.0]),
        lambda: max_divergence([0.5, 0.6], [0.5, 0.5]),
        lambda: max_divergence([1.5, -0.5], [0.5, 0.5]),
        lambda: max_divergence({"a": 1}, [1]),
        lambda: max_divergence("ab", [1]),
        lambda: max_divergence([math.nan, 1], [0.5, 0.5]),
        lambda: renyi_divergence([1], [1], order=0),
        lambda: hockey_stick([1], [1], epsilon=math.nan),
        lambda: privacy_loss(dp.Laplace(scale=1.0), [1, 2], first=1, second=2),
        lambda: privacy_loss(dp.Laplace(scale=1.0), "1", first=1, second=2),
        lambda: privacy_loss(dp.RandomizedResponse(epsilon=1.0), 2, first=0, second=1),
        lambda: privacy_loss(dp.Exponential(epsilon=1.0), 3, first=[1, 2], second=[1, 2]),
    ],
)
def test_what_is_not_a_distribution_or_an_output_is_refused(call):
    with pytest.raises(BadParameter):
        call()


def test_a_mechanism_without_a_formula_says_so():
    with pytest.raises(NoBound, match="closed form"):
        privacy_loss(dp.Laplace(scale=1.0) + dp.Laplace(scale=1.0), 0, first=0, second=1)
