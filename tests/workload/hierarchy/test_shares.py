"""The shares of levels: nowhere near them is the mean variance, solved as a system, smaller."""

import itertools

import numpy as np
import pytest

from deniable.workload.hierarchy.nesting import Chain
from deniable.workload.hierarchy.shares import _cost, balanced


def mean_variance(sizes, shares, law):
    """Of a regular hierarchy, every level counting alike, by the exact fit."""
    pairs = itertools.pairwise(sizes)
    parents = tuple(np.arange(fine) // (fine // coarse) for fine, coarse in pairs)
    own = [2 / s**2 if law == "laplace" else 1 / s for s in shares]
    _, spread = Chain(sizes=sizes, parents=parents).fit([np.zeros(n) for n in sizes], own)
    return sum(level.mean() for level in spread)


SIZES = [(12,), (12, 1), (24, 6, 2), (64, 16, 4, 1), (8, 8)]


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("sizes", SIZES)
def test_the_cost_is_the_sum_of_the_levels_variances(sizes, law):
    logs = np.log(np.arange(1.0, len(sizes) + 1))
    shares = np.exp(logs) / np.exp(logs).sum()
    assert _cost(sizes, logs, law) == pytest.approx(mean_variance(sizes, shares, law))


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("sizes", SIZES)
def test_no_shares_nearby_are_better_and_they_add_up(sizes, law):
    shares = np.array(balanced(sizes, law))
    assert shares.sum() == pytest.approx(1)
    assert shares.min() > 0.0009
    best = mean_variance(sizes, shares, law)
    for i in range(len(sizes) if shares.min() > 0.002 else 0):  # else one was raised to the least
        for factor in (0.9, 1.1):
            moved = shares.copy()
            moved[i] *= factor
            assert mean_variance(sizes, moved / moved.sum(), law) > best * (1 - 1e-4)


def test_levels_that_are_all_worth_something_are_among_them():
    found = [min(balanced(sizes, law)) for sizes in SIZES for law in ("laplace", "gaussian")]
    assert sum(least > 0.002 for least in found) >= 7


def test_a_level_that_hardly_helps_still_gets_something():
    shares = balanced((10**7, 1), "laplace")
    assert min(shares) >= 0.001 / 1.002
    assert sum(shares) == pytest.approx(1)
