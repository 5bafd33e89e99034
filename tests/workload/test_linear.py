"""Real numbers on a lattice: how far one unit moves them there, where rounding adds most."""

from fractions import Fraction

import numpy as np
import pytest

import deniable as dp
from deniable.errors import BadParameter
from deniable.workload.linear import on_lattice, whole_counts
from deniable.workload.strategies.exact import LARGEST_CELL


@pytest.mark.parametrize("moved", [1.0, 0.7, 1001.3, 3e-9])
@pytest.mark.parametrize("cells", [3, 5, 7])
def test_rounding_may_add_a_step_per_cell_and_the_bound_counts_it(cells, moved):
    """Every cell moves by the same amount, from just below where it is rounded up."""
    _, bound, worth = on_lattice(np.zeros(cells), cells, moved)
    each = Fraction(moved) / cells / Fraction(worth)
    below = Fraction(1, 2) - (each - each.numerator // each.denominator) * Fraction(99, 100)
    first = np.full(cells, float(below * Fraction(worth)))
    second = first + moved / cells * (1 - 1e-12)
    one, two = (on_lattice(x, cells, moved)[0] for x in (first, second))
    apart = int(np.abs(two - one).sum())
    assert sum(abs(Fraction(b) - Fraction(a)) for a, b in zip(first, second, strict=True)) <= moved
    assert Fraction(moved) / Fraction(worth) < apart <= bound
    assert bound == float(Fraction(moved) / Fraction(worth)) + cells


@pytest.mark.parametrize("moved", [1.0, 3.0, 2.0**-1000])
@pytest.mark.parametrize("cells", [1, 4, 1000])
def test_numbers_are_rounded_to_the_nearest_of_a_lattice_that_is_fine_enough(cells, moved):
    numbers = np.linspace(-5, 7, cells) * moved
    found, bound, worth = on_lattice(numbers, cells, moved)
    step = Fraction(worth)
    wanted = [(Fraction(x) / step + Fraction(1, 2)).__floor__() for x in numbers.tolist()]
    assert found.tolist() == wanted
    if moved > 1e-200:
        assert step * 2**12 * cells <= Fraction(moved) <= step * 2**14 * cells
    assert bound * worth <= moved * 1.0003 + cells * worth


def test_whole_numbers_stay_as_they_are_and_large_ones_are_clipped():
    found, bound, worth = on_lattice(np.array([3, -4]), 2, 5.0)
    assert (found.tolist(), bound, worth) == ([3, -4], 5.0, 1.0)
    found, *_ = on_lattice(np.array([1e300, -1e300]), 2, 1.0)
    assert found.tolist() == [LARGEST_CELL, -LARGEST_CELL]


@pytest.mark.parametrize(
    "wrong", [[1.0, np.nan], [np.inf, 0.0], [1.0], [[1.0, 2.0]], ["a", "b"], [1j, 2.0]]
)
def test_what_is_not_a_finite_number_per_cell_is_refused(wrong):
    with pytest.raises(BadParameter, match="one per cell"):
        on_lattice(np.array(wrong), 2, 1.0)


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, bool])
def test_counts_are_whole_numbers_of_any_kind_and_no_floats(kind):
    found = whole_counts(np.array([1, 0], dtype=kind), 2)
    assert (found.tolist(), found.dtype) == ([1, 0], np.int64)
    with pytest.raises(dp.BadParameter, match="2 whole numbers"):
        whole_counts(np.array([1.0, 0.0]), 2)
