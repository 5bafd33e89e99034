"""Sums of clipped values in whole steps: every bad input is refused before any number is read."""

import math

import numpy as np
import pytest

import deniable as dp
from deniable.errors import BadParameter
from deniable.sensitive import compute
from deniable.sensitivity import clipped_sum, mean, row_count
from deniable.sensitivity.columns import check_bounds, middle

UNITS = [None, dp.rows(), dp.rows(relation="replace")]
DATA = [1.0, 2.5, math.nan, -50.0, 99.0, 4.0]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    ("low", "high", "centre"), [(0.0, 10.0, 0.0), (-3.0, 5.0, 1.0), (2.0, 4.0, 0.0)]
)
def test_a_sum_is_that_of_clipped_values_and_moves_as_far_as_one_row_can(unit, low, high, centre):
    total = clipped_sum(DATA, low=low, high=high, centre=centre, unit=unit)
    known = [min(max(x, low), high) - centre for x in DATA if not math.isnan(x)]
    width = total.lattice.width
    assert compute(total.value) * width == pytest.approx(sum(known), abs=6 * width)
    ends = low - centre, high - centre
    replaced = unit is not None and unit.sides == 2
    most = max(ends[1], 0) - min(ends[0], 0) if replaced else max(map(abs, ends))
    steps = total.value.bound("l1")
    assert most <= steps * width <= most + 2 * width
    assert total.noisy(epsilon=0.5).mechanism.scale == pytest.approx(2 * steps)
    assert total.value.unit == (unit or dp.rows())


@pytest.mark.parametrize("unit", UNITS)
def test_rows_that_hold_a_number_are_counted(unit):
    count = row_count(DATA, unit=unit)
    assert compute(count) == 5
    assert count.bound("l1") == 1
    assert count.unit == (unit or dp.rows())


@pytest.mark.parametrize(
    "run", [row_count, lambda v, unit: clipped_sum(v, low=0, high=1, unit=unit)]
)
def test_people_with_several_rows_are_refused(run):
    with pytest.raises(BadParameter, match="row by row"):
        run(DATA, unit=dp.person("u", rows=2))


@pytest.mark.parametrize("rows", [0, 3, 2**20 + 5])
def test_long_columns_are_added_up_in_parts(rows):
    total = clipped_sum(np.full(rows, 1.5), low=0.0, high=2.0)
    assert compute(total.value) * total.lattice.width == 1.5 * rows


def test_a_mean_is_made_of_a_count_and_a_centred_sum_within_its_bounds():
    def ended(count, amount):
        algorithm = mean([1.0, 3.0], low=0.0, high=8.0, epsilon=1.0)
        first = next(algorithm)
        second = algorithm.send(count)
        assert first.mechanism.scale == 2.0
        assert second.mechanism.sensitivity / second.mechanism.scale == pytest.approx(0.5)
        steps = second.value.bound("l1")
        with pytest.raises(StopIteration) as stop:
            algorithm.send(round(amount * steps / 4.0))
        return stop.value.value

    assert ended(2, -4.0) == pytest.approx(2.0)
    assert ended(0, -1.0) == pytest.approx(3.0)
    assert ended(-7, 1.0) == pytest.approx(5.0)
    assert (ended(1, -99.0), ended(1, 99.0)) == (0.0, 8.0)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (1.0, 1.0),
        (2.0, 1.0),
        (math.nan, 1.0),
        (0.0, math.inf),
        (-1e300, 0.0),
        (0.0, 1e300),
        ("0", 1.0),
    ],
)
def test_bounds_are_finite_numbers_in_order_that_can_be_added_up(low, high):
    with pytest.raises(BadParameter):
        check_bounds(low, high)


def test_the_middle_is_finite_however_wide_the_range():
    assert check_bounds(-(2.0**900), 2.0**900) == (-(2.0**900), 2.0**900)
    assert (middle(1.0, 4.0), middle(1.7e308, 1.7e308)) == (2.5, 1.7e308)


TABLE = np.zeros((3, 2))


@pytest.mark.parametrize("values", [TABLE, np.array([1], dtype="datetime64[s]"), np.array(5.0)])
def test_every_algorithm_refuses_what_is_not_a_column_of_numbers_before_its_first_step(values):
    from deniable.sensitivity import (
        Mean,
        automatic_mean,
        bounds_by_magnitude,
        distance_to_instability,
        propose_test_release,
        smooth_bound,
        smooth_release,
        upper_bound,
    )

    ends = {"low": 0.0, "high": 1.0}
    for algorithm in (
        lambda: next(smooth_release(values, Mean(), **ends, epsilon=1.0)),
        lambda: next(
            propose_test_release(values, Mean(), bound=1.0, **ends, epsilon=1.0, delta=1e-6)
        ),
        lambda: next(bounds_by_magnitude(values, epsilon=1.0)),
        lambda: next(automatic_mean(values, epsilon=1.0)),
        lambda: next(upper_bound(values, [1.0], epsilon=1.0)),
        lambda: next(mean(values, **ends, epsilon=1.0)),
        lambda: smooth_bound(values, Mean(), beta=1.0, **ends),
        lambda: distance_to_instability(values, Mean(), bound=1.0, **ends),
        lambda: row_count(values),
        lambda: clipped_sum(values, **ends),
    ):
        with pytest.raises(BadParameter, match="values must be"):
            algorithm()
