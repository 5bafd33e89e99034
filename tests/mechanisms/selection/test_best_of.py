"""What counts as an outcome of a run, and how outcomes are ranked."""

import math

import numpy as np
import pytest

import deniable as dp
from deniable.mechanisms.selection.best_of import BestOf, _outcome, _rank

FINITE = [0.0, -3, True, "text", None, [1.0, [2, "a"]], np.array([1.5, 2.0]), np.array([1, 2]), 1j]
NOT = [
    math.nan,
    -math.inf,
    [1.0, [math.nan]],
    (1, math.inf),
    np.array([1.0, np.nan]),
    np.float32("inf"),
]


@pytest.mark.parametrize("answer", FINITE, ids=repr)
def test_a_finite_score_and_answer_are_an_outcome(answer):
    assert _outcome((2.5, answer)) == (2.5, answer)


@pytest.mark.parametrize("part", NOT, ids=repr)
def test_what_is_not_finite_is_no_outcome_neither_as_score_nor_as_answer(part):
    assert _outcome((2.5, part)) == (None, None)
    assert _outcome((part, 2.5)) == (None, None)


def test_runs_without_a_score_rank_below_all_others():
    scores = [3, None, -1e300, 0.5, None]
    ranked = sorted(scores, key=_rank)
    assert ranked == [None, None, -1e300, 0.5, 3]
    assert _rank(None) < _rank(-math.inf) < _rank(0) < _rank(0.5)


@pytest.mark.parametrize("stop", [0.5, 0.05, 1e-6])
@pytest.mark.parametrize("order", [1.25, 2.0, 8.0, 100.0])
def test_a_renyi_price_is_that_of_the_theorem_at_the_best_second_order(order, stop):
    """With r(α) = α/2σ² all four terms are known; the least over α̂ is at √(2·σ²·ln(1/stop))."""
    sigma, runs = 30.0, math.log(1 / stop)
    second = max(1.0, sigma * math.sqrt(2 * runs))
    at_best = 2 * (1 - 1 / second) * second / (2 * sigma**2) + 2 * runs / second
    proved = order / (2 * sigma**2) + at_best + runs / (order - 1)
    price = BestOf(mechanism=dp.Gaussian(sigma=sigma), stop=stop).renyi(order)
    assert proved <= price <= proved * 1.02
