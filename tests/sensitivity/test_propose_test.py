"""How far data are from instability, against the definition itself."""

import numpy as np
import pytest

from deniable.sensitivity import Mean, Quantile, TrimmedMean, distance_to_instability
from deniable.sensitivity.local import bounds_at

LOW, HIGH = -2.0, 8.0
RANDOM = np.random.default_rng(7)
DATA = [np.sort(RANDOM.uniform(LOW, HIGH, n)) for n in (0, 1, 2, 3, 7, 20)]
STATISTICS = [Mean(), Quantile(), Quantile(q=0.1), TrimmedMean(trim=2)]


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
@pytest.mark.parametrize("bound", [0.01, 0.6, 2.0, 5.0, 11.0])
@pytest.mark.parametrize("data", DATA, ids=len)
def test_the_distance_to_instability_is_the_first_at_which_a_bound_is_exceeded(
    statistic, bound, data
):
    found = bounds_at(statistic, data, np.arange(len(data) + 1), LOW, HIGH) > bound
    wanted = int(found.argmax()) if found.any() else len(data) + 1
    given = {"bound": bound, "low": LOW, "high": HIGH}
    assert distance_to_instability(data, statistic, **given) == wanted


def test_instability_beyond_the_first_block_is_found():
    data = np.full(10_000, 3.0)
    given = {"bound": 1.0, "low": LOW, "high": HIGH}
    found = distance_to_instability(data, Quantile(), **given)
    bounds = Quantile().at_distance(data, np.arange(10_001), LOW, HIGH)
    assert found == int((bounds > 1.0).argmax()) > 4096


class Growing:
    """A statistic whose local sensitivity is as large as the distance, without end."""

    def value(self, data, low, high):
        return low

    def at_distance(self, data, distances, low, high):
        return distances.astype(float)


@pytest.mark.parametrize("rows", [0, 3, 4095, 4096, 4097, 9000])
def test_a_distance_is_held_at_one_more_than_the_rows(rows):
    data, given = np.zeros(rows), {"low": LOW, "high": HIGH}
    beyond = [(rows + more, rows + 1) for more in (0.5, 7.5, 1e9)]
    for bound, distance in [(0.5, 1), (rows - 0.5, rows), *beyond]:
        if bound > 0:
            assert distance_to_instability(data, Growing(), bound=bound, **given) == distance


def test_a_bound_that_is_met_is_not_exceeded():
    given = {"low": 0.0, "high": 0.0}  # no room for rounding is needed here
    assert distance_to_instability(np.zeros(9), Growing(), bound=3.0, **given) == 4
