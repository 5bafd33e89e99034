"""What the mechanisms that pick promise beyond the conformance suite."""

import math

import numpy as np
import pytest
from scipy import stats

import deniable as dp
from deniable.mechanisms import BestOf, IntervalExponential, TopK

ALARM = 1e-8
ALL = [dp.Exponential, dp.PermuteAndFlip, dp.NoisyMax]


def picks(mechanism, scores, n):
    return np.bincount([mechanism.release(scores) for _ in range(n)], minlength=len(scores))


def chisquare(seen, weights):
    expected = np.asarray(weights) / np.sum(weights) * np.sum(seen)
    return stats.chisquare(seen, expected).pvalue


@pytest.mark.statistical
def test_the_auction_sells_at_a_good_price():
    """Bids 1, 1, 1, 3.01: a price of 1.00 brings 4, of 3.01 brings 3.01, and just above nothing."""
    prices = [1.00, 1.01, 3.01, 3.02]
    revenue = [p * sum(bid >= p for bid in (1, 1, 1, 3.01)) for p in prices]
    assert revenue == [4.0, 1.01, 3.01, 0.0]
    auction = dp.Exponential(epsilon=2.0, sensitivity=3.02)
    seen = picks(auction, revenue, 4000)
    assert chisquare(seen, np.exp(np.array(revenue) / 3.02)) > ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("monotonic", [False, True])
def test_permute_and_flip_has_the_law_of_its_two_descriptions(monotonic):
    scores, epsilon = np.array([0.0, 1.0, 2.0]), 1.5
    mechanism = dp.PermuteAndFlip(epsilon=epsilon, monotonic=monotonic)
    rate = epsilon if monotonic else epsilon / 2
    coin = np.exp(rate * (scores - 2))
    law = [permute_and_flip(i, coin, frozenset(range(3))) for i in range(3)]
    assert sum(law) == pytest.approx(1)
    assert chisquare(picks(mechanism, scores, 6000), law) > ALARM


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
    assert chisquare([seen.get(o, 0) for o in law], list(law.values())) > ALARM


def test_top_k_costs_less_in_zcdp_than_its_epsilon_says():
    mechanism = TopK(k=10, epsilon=1.0)
    assert mechanism.pure() == 1.0
    assert mechanism.zcdp() == pytest.approx(10 * 0.1**2 / 8, rel=2e-4)
    assert mechanism.zcdp() < 10 * 0.1**2 / 8


@pytest.mark.parametrize("kind", ALL)
def test_scores_of_any_size_are_handled(kind):
    assert kind(epsilon=1.0).release([-1e300, 1e300, 0.0]) == 1
    assert kind(epsilon=1.0).release([5e15, 5e15 - 1000]) == 0


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("scores", [[], [[1.0]], ["a"], [math.nan], [math.inf], [True], [None]])
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
    assert chisquare(np.histogram(drawn, edges)[0], weights) > ALARM
    inside = drawn[(drawn >= 0) & (drawn < 0.5)]
    assert stats.kstest(inside * 2, "uniform").pvalue > ALARM
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
    assert chisquare(seen, [*law.pmf(range(1, 10)), law.sf(9)]) > ALARM


def test_best_of_costs_three_runs_however_many_there_were():
    tuner = BestOf(mechanism=dp.Laplace(scale=2.0), stop=0.01)
    assert tuner.pure() == pytest.approx(1.5)
    gaussian = BestOf(mechanism=dp.Gaussian(sigma=10.0), stop=0.1)
    assert math.isinf(gaussian.pure())
    one = dp.Gaussian(sigma=10.0).loss(dp.Renyi).epsilon_at(1e-6)
    assert one < gaussian.loss(dp.Renyi).epsilon_at(1e-6) < 4 * one
