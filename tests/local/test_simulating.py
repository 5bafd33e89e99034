"""Simulated collections have the law of real ones, also of all counts together."""

import numpy as np
import pytest

from deniable import local


def test_simulated_sets_have_their_size_together():
    """The counts of sets of one size add up to the number of people exactly; alone they would not.

    Alone, the sum would have a standard deviation of some 300, and be exact once in 1e3 runs.
    """
    counts = np.array([9000, 700, 300, 0])
    p = local.Subset(categories=4, epsilon=1.0)
    for _ in range(5):
        assert p.simulate(counts).counts.sum() == pytest.approx(10_000, abs=1e-6)


@pytest.mark.statistical
@pytest.mark.parametrize("kind", [local.Subset, local.Hashing])
def test_projected_counts_are_simulated_as_they_come_out(kind):
    """The mean squared error over 300 runs varies by some 9 %, the ratio of two by 13 %.

    0.4 to 2.5 leaves 7 deviations of its logarithm.
    """
    counts, p = np.array([500, 20, 0]), kind(categories=3, epsilon=1.0)
    values = np.repeat(np.arange(3), counts)
    real = [p.server().add(p.encode_all(values)).estimate().projected for _ in range(300)]
    made_up = [p.simulate(counts).projected for _ in range(300)]
    off = [np.square(np.array(found) - counts).mean() for found in (real, made_up)]
    assert 0.4 < off[0] / off[1] < 2.5


@pytest.mark.parametrize("kind", [local.Subset, local.Hashing])
def test_a_simulation_of_very_many_people_is_of_each_count(kind):
    found = kind(categories=3, epsilon=1.0).simulate([10**9, 10**8, 0])
    assert found.people == 11 * 10**8
    assert (np.abs(found.counts - [10**9, 10**8, 0]) < 4 * found.error).all()
