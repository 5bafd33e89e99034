"""Statistics, their bounds at a distance and smooth bounds, each against the definition itself."""

import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.sensitivity import Mean, Quantile, TrimmedMean, smooth_bound

LOW, HIGH = -2.0, 8.0
RANDOM = np.random.default_rng(7)
DATA = [np.sort(RANDOM.uniform(LOW, HIGH, n)) for n in (0, 1, 2, 3, 7, 20)]
ROOM = 2.0**-48 * HIGH


def padded(data, rank):
    """The value of a rank counted from 1; the bounds outside."""
    return LOW if rank < 1 else HIGH if rank > len(data) else float(data[rank - 1])


@pytest.mark.parametrize("data", DATA, ids=len)
def test_means_are_those_of_the_rows_and_the_middle_of_none(data):
    assert Mean().value(data, LOW, HIGH) == pytest.approx(np.mean(data) if len(data) else 3.0)
    found = Mean().at_distance(data, np.arange(9), LOW, HIGH)
    assert found == pytest.approx([10 / max(1, len(data) - k) for k in range(9)])


@pytest.mark.parametrize("q", [0.0, 0.1, 0.25, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("data", DATA, ids=len)
def test_quantiles_are_order_statistics_and_reach_those_that_k_rows_can_make(q, data):
    exact, n = Fraction(str(q)), len(data)
    rank = min(max(math.ceil(exact * n), 1), max(n, 1))
    assert Quantile(q=q).value(data, LOW, HIGH) == (data[rank - 1] if n else 3.0)
    found = Quantile(q=q).at_distance(data, np.arange(6), LOW, HIGH)
    for k in range(6):
        pairs = [(a, b) for a in range(k + 2) for b in range(k + 2 - a)]
        ranks = {pair: math.ceil(exact * (n + pair[0] - pair[1])) for pair in pairs}
        top = max(m + b for (_, b), m in ranks.items()) + 1
        bottom = min(m - a for (a, _), m in ranks.items()) - 1
        assert found[k] == padded(data, top) - padded(data, bottom)


@pytest.mark.parametrize("trim", [0, 1, 3])
@pytest.mark.parametrize("data", DATA, ids=len)
def test_trimmed_means_are_of_the_middle_and_move_by_its_width(trim, data):
    kept = data[trim : len(data) - trim] if len(data) > 2 * trim else []
    wanted = np.mean(kept) if len(kept) else 3.0
    assert TrimmedMean(trim=trim).value(data, LOW, HIGH) == pytest.approx(wanted)
    found = TrimmedMean(trim=trim).at_distance(data, np.arange(9), LOW, HIGH)
    for k in range(9):
        left = len(data) - 2 * trim - k
        width = padded(data, len(data) - trim + 1 + k) - padded(data, trim - k)
        assert found[k] == pytest.approx(HIGH - LOW if left <= 1 else width / left)


STATISTICS = [Mean(), Quantile(), Quantile(q=0.1), TrimmedMean(trim=2)]


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
@pytest.mark.parametrize("beta", [1e-4, 0.05, 1.0, 30.0])
@pytest.mark.parametrize("data", DATA, ids=len)
def test_a_smooth_bound_is_the_largest_weighted_bound_at_any_distance(statistic, beta, data):
    distances = np.arange(20_000)
    bounds = statistic.at_distance(data, distances, LOW, HIGH)
    wanted = float((np.exp(-beta * distances) * bounds).max())
    found = smooth_bound(data, statistic, beta=beta, low=LOW, high=HIGH)
    assert wanted <= found <= wanted * (1 + 2.0**-18) + 2 * ROOM


def test_far_away_bounds_count_too():
    """Ten thousand equal values: the bound jumps at distance 5,000, beyond the first block."""
    data = np.full(10_000, 3.0)
    found = smooth_bound(data, Quantile(), beta=1e-4, low=LOW, high=HIGH)
    distances = np.arange(30_000)
    weights = np.exp(-1e-4 * distances) * Quantile().at_distance(data, distances, LOW, HIGH)
    assert weights.argmax() > 4096
    assert found == pytest.approx(weights.max(), rel=1e-5)


@pytest.mark.parametrize("rows", [5_000, 20_000])
def test_the_search_goes_on_while_a_later_bound_may_be_larger_and_keeps_an_earlier_one(rows):
    """In a range of 1,000: of 5,000 rows the last distance counts, of 20,000 the first."""
    data, beta, ends = np.zeros(rows), 1e-3, {"low": 0.0, "high": 1000.0}
    weights = [math.exp(-beta * k) * 1000.0 / max(1, rows - k) for k in range(30_000)]
    assert weights.index(max(weights)) == (0 if rows == 20_000 else 4_999)
    found = smooth_bound(data, Mean(), beta=beta, **ends)
    assert found == pytest.approx(max(weights), rel=1e-5)


class Late:
    """Moved little by near data, and by the whole range from a distance of 4,096 on."""

    def __init__(self, near):
        self.near = near

    def at_distance(self, data, distances, low, high):
        return np.where(distances < 4096, self.near, high - low)


@pytest.mark.parametrize("low", [2.0**40, -(2.0**40) - 1])
def test_the_search_counts_the_room_for_rounding_on_either_side_of_0(low):
    """Room of 2⁻⁸ in a range of 1: the bound at 4,096 is larger by that, and by no more."""
    beta = math.log(2) / 4096
    statistic = Late(0.5 - 2.0**-8)
    found = smooth_bound(np.zeros(1), statistic, beta=beta, low=low, high=low + 1)
    assert found == pytest.approx(0.5 * (1 + 2.0**-8), rel=1e-5)
