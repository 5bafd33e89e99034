"""What the mechanisms that pick promise beyond the conformance suite."""

import itertools
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests import goodness

import deniable as dp
from deniable.mechanisms import BestOf, IntervalExponential, TopK
from deniable.mechanisms.selection import best_of

ALARM = 1e-8
ALL = [dp.Exponential, dp.PermuteAndFlip, dp.NoisyMax]


def picks(mechanism, scores, n):
    return np.bincount([mechanism.release(scores) for _ in range(n)], minlength=len(scores))


def fit(seen, weights):
    return goodness.cells(seen, np.asarray(weights) / np.sum(weights))


@pytest.mark.statistical
def test_the_auction_sells_at_a_good_price():
    """Bids 1, 1, 1, 3.01: a price of 1.00 brings 4, of 3.01 brings 3.01, and just above nothing."""
    prices = [1.00, 1.01, 3.01, 3.02]
    revenue = [p * sum(bid >= p for bid in (1, 1, 1, 3.01)) for p in prices]
    assert revenue == [4.0, 1.01, 3.01, 0.0]
    auction = dp.Exponential(epsilon=2.0, sensitivity=3.02)
    seen = picks(auction, revenue, 4000)
    assert fit(seen, np.exp(np.array(revenue) / 3.02)) > ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("monotonic", [False, True])
def test_permute_and_flip_has_the_law_of_its_two_descriptions(monotonic):
    scores, epsilon = np.array([0.0, 1.0, 2.0]), 1.5
    mechanism = dp.PermuteAndFlip(epsilon=epsilon, monotonic=monotonic)
    rate = epsilon if monotonic else epsilon / 2
    coin = np.exp(rate * (scores - 2))
    law = [permute_and_flip(i, coin, frozenset(range(3))) for i in range(3)]
    assert sum(law) == pytest.approx(1)
    assert fit(picks(mechanism, scores, 6000), law) > ALARM


def permute_and_flip(target, coin, left):
    """P(target is taken): any of those left is next, and taken if its coin says so."""
    total = 0.0
    for i in left:
        share = 1 / len(left)
        total += share * coin[i] * (i == target)
        if len(left) > 1:
            total += share * (1 - coin[i]) * permute_and_flip(target, coin, left - {i})
    return total


@pytest.mark.statistical
def test_top_k_is_the_exponential_mechanism_peeled():
    scores = [0.0, 1.0, 2.0]
    mechanism = TopK(k=2, epsilon=4.0)
    seen: dict[tuple[int, ...], int] = {}
    for _ in range(5000):
        order = tuple(mechanism.release(scores).tolist())
        seen[order] = seen.get(order, 0) + 1
    weights = np.exp(np.array(scores) * 4.0 / 2 / 2)
    law = {
        (i, j): weights[i] / weights.sum() * weights[j] / (weights.sum() - weights[i])
        for i in range(3)
        for j in range(3)
        if i != j
    }
    assert fit([seen.get(o, 0) for o in law], list(law.values())) > ALARM


def test_top_k_costs_less_in_zcdp_than_its_epsilon_says():
    mechanism = TopK(k=10, epsilon=1.0)
    assert mechanism.pure() == 1.0
    assert mechanism.zcdp() == pytest.approx(10 * 0.1**2 / 8, rel=2e-4)
    assert mechanism.zcdp() < 10 * 0.1**2 / 8


@pytest.mark.parametrize("kind", ALL)
def test_scores_of_any_size_are_handled(kind):
    assert kind(epsilon=1.0).release([-1e300, 1e300, 0.0]) == 1
    assert kind(epsilon=1.0).release([5e15, 5e15 - 1000]) == 0


WHOLE = [TopK(k=1, epsilon=1.0), *(kind(epsilon=1.0) for kind in ALL)]


@pytest.mark.parametrize("mechanism", WHOLE, ids=lambda m: m.name)
@pytest.mark.parametrize("kind", [list, np.int64, np.uint64], ids=["list", "int64", "uint64"])
def test_whole_scores_that_floats_cannot_tell_apart_are_refused(mechanism, kind):
    """2⁵³ + 1 would count as 2⁵³: a score that one unit moves by 1 would not move, or by 2."""
    as_given = list if kind is list else lambda scores: np.array(scores, dtype=kind)
    most = 2**53
    mechanism.release(as_given([most, most - 1, 0]))
    signed = [] if kind is np.uint64 else [[-most - 1, 0], [-most - 2, most]]
    for scores in ([most + 1, most], [0, most + 1], [2**62, 0], [most + 2, most], *signed):
        with pytest.raises(dp.BadParameter, match="2⁵³"):
            mechanism.release(as_given(scores))
    if signed:
        mechanism.release(as_given([-most, most]))


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("scores", [[], [[1.0]], ["a"], [math.inf], [True], [None]])
def test_bad_scores_are_refused(kind, scores):
    with pytest.raises(dp.BadParameter, match="scores"):
        kind(epsilon=1.0).release(scores)


def test_only_bounded_range_gets_less_than_an_eighth():
    for bounded in (dp.Exponential(epsilon=1.0), dp.NoisyMax(epsilon=1.0, noise="gumbel")):
        assert 0.12 < bounded.zcdp() < 1 / 8
    assert dp.NoisyMax(epsilon=1.0).zcdp() > 0.4
    assert dp.PermuteAndFlip(epsilon=1.0).zcdp() > 0.4


@pytest.mark.statistical
def test_an_interval_is_picked_by_width_and_score():
    pick = IntervalExponential(epsilon=2.0, low=-1.0, high=3.0)
    edges, scores = [-1.0, 0.0, 0.5, 3.0], [0.0, 1.0, -1.0]
    drawn = np.array([pick.release((edges, scores)) for _ in range(4000)])
    weights = np.diff(edges) * np.exp(np.array(scores))
    assert fit(np.histogram(drawn, edges)[0], weights) > ALARM
    inside = drawn[(drawn >= 0) & (drawn < 0.5)]
    assert goodness.law(inside * 2, lambda share: share) > ALARM
    assert ((drawn - pick.low) / pick.step == np.round((drawn - pick.low) / pick.step)).all()


def test_an_empty_piece_is_never_picked():
    pick = IntervalExponential(epsilon=100.0, low=0.0, high=1.0)
    drawn = pick.release(([0, 0.25, 0.25, 1.0], [0.0, 1e6, 0.0]))
    assert 0 <= drawn <= 1


@pytest.mark.parametrize("edges", [[0, 1], [0, 2, 1, 1], [0, math.nan, 1, 1], [[0, 1, 1, 1]]])
def test_bad_edges_are_refused(edges):
    with pytest.raises(dp.BadParameter, match="edges"):
        IntervalExponential(epsilon=1.0, low=0.0, high=1.0).release((edges, [0, 1, 0]))


@pytest.mark.statistical
def test_best_of_runs_a_geometric_number_of_times():
    runs: list[int] = []

    def run():
        runs[-1] += 1
        return float(runs[-1]), runs[-1]

    tuner = BestOf(mechanism=dp.Laplace(scale=1.0), stop=0.25)
    for _ in range(2000):
        runs.append(0)
        score, answer = tuner.release(run)
        assert answer == runs[-1] == score
    law = stats.geom(0.25)
    seen = [runs.count(k) for k in range(1, 10)] + [sum(r >= 10 for r in runs)]
    assert fit(seen, [*law.pmf(range(1, 10)), law.sf(9)]) > ALARM


def test_best_of_costs_three_runs_however_many_there_were():
    tuner = BestOf(mechanism=dp.Laplace(scale=2.0), stop=0.01)
    assert tuner.pure() == pytest.approx(1.5)
    gaussian = BestOf(mechanism=dp.Gaussian(sigma=10.0), stop=0.1)
    assert math.isinf(gaussian.pure())
    one = dp.Gaussian(sigma=10.0).loss(dp.Renyi).epsilon_at(1e-6)
    assert one < gaussian.loss(dp.Renyi).epsilon_at(1e-6) < 4 * one


SOME = [math.nan, -math.inf, -1.0, 0.0, 2.5, np.float32("nan")]
SCORES = st.lists(st.sampled_from(SOME), min_size=1)


@settings(deadline=None)
@given(SCORES, st.randoms(use_true_random=False))
def test_the_best_of_several_runs_does_not_depend_on_their_order(scores, random):
    """NaN ranks last: without one order of all answers the price is 4ε, and not 3ε."""

    def best(order):
        runs, coins = iter(order), iter([False] * (len(order) - 1) + [True])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(best_of, "bernoulli", lambda *_: [next(coins)])
            return BestOf(mechanism=dp.Laplace(scale=1.0), stop=0.5).release(lambda: next(runs))[0]

    shuffled = list(scores)
    random.shuffle(shuffled)
    numbers = [score for score in scores if math.isfinite(score)]
    for order in (scores, shuffled, scores[::-1]):
        found = best([(score, None) for score in order])
        assert found == max(numbers) if numbers else found is None


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("missing", [math.nan, -math.inf])
def test_a_score_that_is_not_a_number_ranks_last(kind, missing):
    assert kind(epsilon=1.0).release([missing, -1e9, missing]) == 1
    assert kind(epsilon=1.0).release([missing]) == 0
    array = np.array([missing, -1e9])
    for scores in (array.tolist(), array, [None, -1e9], [Decimal("nan"), -1e9]):
        declared = dp.Sensitive(lambda s=scores: s, linf=1, shape=2)
        s = dp.open(pa.table({"x": [1]}), unit=dp.rows(), budget=dp.epsilon(9.0))
        assert s.release(kind(epsilon=1.0).on(declared)).value == 1


def test_more_candidates_than_there_are_is_refused_before_the_charge():
    with pytest.raises(dp.BadParameter, match="fewer candidates"):
        TopK(k=3, epsilon=1.0).on(dp.Sensitive(list, linf=1, shape=2))


NOT_FINITE = [
    (math.nan, 1.0),
    (math.inf, 1.0),
    (1e9, math.nan),
    (1e9, np.array([1.0, math.inf])),
    (1e9, [1.0, (2.0, math.nan)]),
    (np.float32("nan"), "text"),
]


@pytest.mark.parametrize("run", NOT_FINITE, ids=repr)
def test_a_run_that_is_not_finite_ranks_last_and_fails_nobody(run):
    s = dp.open(pa.table({"x": [1]}), unit=dp.rows(), budget=dp.epsilon(100))
    tuner = BestOf(mechanism=dp.Laplace(scale=1.0), stop=0.5)
    assert s.release(tuner.on(dp.Sensitive(lambda: lambda: run, linf=1))).value == (None, None)
    assert not s.failures
    runs = itertools.chain([run, (-5.0, "kept")], itertools.repeat(run))
    assert tuner.release(lambda: next(runs)) in [(None, None), (-5.0, "kept")]
