"""Candidates for bounds, and the histogram by which they are found."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from deniable.errors import BadParameter
from deniable.sensitivity.bounds import _histogram, bounds_by_magnitude, doubling, linear


def test_every_row_with_a_number_is_counted_in_its_cell_the_first_and_the_last_included():
    codes = np.array([0, 3, -1, 0, 2, -1, 3, 3])
    cells = SimpleNamespace(encode=lambda values: codes, count=5)
    found = _histogram([None] * 8, cells)
    assert found.tolist() == [2, 0, 1, 3, 0]
    assert found.dtype == np.int64


def test_candidates_rise_by_a_step_or_by_a_factor_of_two():
    assert linear(step=2.5, count=3) == [2.5, 5.0, 7.5]
    assert doubling(first=0.75, count=4) == [0.75, 1.5, 3.0, 6.0]
    assert (linear(step=1.0, count=1), doubling(first=1.0, count=1)) == ([1.0], [1.0])


@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan, math.inf])
def test_candidates_are_positive_and_there_is_one(wrong):
    for made in (lambda: linear(step=wrong, count=2), lambda: doubling(first=wrong, count=2)):
        with pytest.raises(BadParameter):
            made()
    for made in (lambda: linear(step=1.0, count=0), lambda: doubling(first=1.0, count=0)):
        with pytest.raises(BadParameter, match="count"):
            made()


def answered(counts):
    """The bounds that follow from noisy counts, given as multiples of the threshold."""
    algorithm = bounds_by_magnitude([], epsilon=1.0)
    mechanism = next(algorithm).mechanism
    bins = 2 * 96 + 1
    noisy = np.zeros(bins)
    for place, times in counts.items():
        noisy[place] = times * mechanism.error(1 - 2e-6, coordinates=bins)
    with pytest.raises(StopIteration) as ended:
        algorithm.send(noisy)
    return ended.value.value


def test_a_bin_counts_only_above_the_threshold_and_without_any_the_middle_is_left():
    middle = (-(2.0**-32), 2.0**-32)
    assert answered({}) == answered({0: 1.0, 192: 1.0}) == middle
    assert answered({0: 1 + 1e-9}) == (-(2.0**64), -(2.0**63))
    assert answered({0: 1.0, 100: 1 + 1e-9, 103: 1 + 1e-9, 192: 1.0}) == (2.0**-29, 2.0**-25)
    assert answered({96: 2.0}) == middle
