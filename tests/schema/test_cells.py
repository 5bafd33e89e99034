"""Cells by arithmetic and by comparison, worked out by hand: edges, labels, values drawn."""
# ruff: noqa: DTZ001  (timestamps have no time zone here)

import datetime as dt
import math

import numpy as np
import pytest

from deniable.schema.binning import Grid, Intervals, Listed, _calendar, _shown
from deniable.schema.edges import between


def test_a_grid_has_cells_of_equal_width_that_hold_their_lower_end():
    cells = Grid(type="float", low=-2.0, high=6.0, cells=4)
    values = [-9.0, -2.0, -0.001, 0.0, 1.999, 2.0, 5.999, 6.0, 99.0]
    assert cells.encode(values).tolist() == [0, 0, 0, 1, 1, 2, 3, 3, 3]
    assert cells.edges.tolist() == [-2.0, 0.0, 2.0, 4.0, 6.0]
    assert cells.factor == 0.5
    assert cells.labels == ["[-2, 0)", "[0, 2)", "[2, 4)", "[4, 6]"]


def test_a_grid_of_whole_numbers_has_one_each():
    cells = Grid(type="int", low=3, high=6, cells=4, whole=True)
    assert cells.encode([2, 3, 4, 5, 6, 7]).tolist() == [0, 0, 1, 2, 3, 3]
    assert cells.edges.tolist() == [3.0, 4.0, 5.0, 6.0, 7.0]
    assert (cells.factor, cells.labels) == (1.0, ["3", "4", "5", "6"])


def test_a_grid_of_one_value_has_one_cell():
    cells = Grid(type="float", low=3.0, high=3.0, cells=1)
    assert (cells.factor, cells.encode([2.0, 3.0, 4.0]).tolist()) == (1.0, [0, 0, 0])
    assert cells.decode([0], [0.7]).tolist() == [3.0]


@pytest.mark.parametrize(("low", "high"), [(-1.0, -0.1), (-9.5, 0.8), (-3.9, 1.8), (0.1, 0.7)])
def test_no_edge_is_beyond_the_bounds_also_where_their_difference_is_rounded(low, high):
    edges = Grid(type="float", low=low, high=high, cells=7).edges
    assert edges[0] == low
    assert edges[-1] <= high
    assert edges[-1] == pytest.approx(high)


@pytest.mark.parametrize("value", [0.4, 3.6, 5.7, 5.8, 6.2])
def test_the_only_value_of_a_cell_is_drawn_whatever_the_draw(value):
    after = math.nextafter(value, math.inf)
    cells = Intervals(type="float", edges=(value, after, 9.0), low=value, high=9.0)
    draws = np.linspace(0, 0.99, 100)
    assert set(cells.decode(np.zeros(100, np.int64), draws).tolist()) == {value}


@pytest.mark.parametrize(("first", "last"), [(0, 17), (-5, 4), (-(2**63), -(2**63) + 7), (3, 3)])
def test_whole_numbers_are_drawn_equally_often(first, last):
    cells = Intervals(type="int", edges=(first, last + 1), low=first, high=last)
    count = last - first + 1
    for share in (0.0, 0.5, 0.999):
        draws = (np.arange(count) + share) / count
        found = cells.decode(np.zeros(count, np.int64), draws).tolist()
        assert found == [*range(first, last + 1)]


def test_edges_that_are_fractions_are_compared_as_they_are():
    cells = Intervals(type="int", edges=(0, 2.5, 11), low=0, high=10)
    assert cells.encode([0, 2, 3, 10]).tolist() == [0, 0, 1, 1]
    assert cells.labels == ["0 to 2", "3 to 10"]


def test_cells_without_a_value_are_called_by_their_edges():
    cells = Intervals(type="int", edges=(0, 0.25, 0.5, 11), low=0, high=10)
    assert not cells.filled
    assert cells.labels == ["[0, 0.25)", "[0.25, 0.5)", "[0.5, 11]"]
    assert between(0.0, 1.0, type="float", bins=2).labels == ["[0, 0.5)", "[0.5, 1]"]


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ([0.0, 1234567.0], ["0", "1234567"]),
        ([0.0, 1234567.5], ["0", "1234567.5"]),
        ([0.0, 123456.75], ["0", "123457"]),
        ([1e-7, 0.5], ["1e-07", "0.5"]),
        ([1.23456789e-7, 0.5], ["1.23456789e-07", "0.5"]),
        ([1e22, 1e23], ["1e+22", "1e+23"]),
        ([1.0000001, 1.0000002], ["1.0000001", "1.0000002"]),
    ],
)
def test_edges_are_shown_in_six_digits_or_in_all(ends, shown):
    assert _shown(ends) == shown


DAY, END = dt.datetime(2025, 1, 1), dt.datetime(2025, 1, 3, 23, 59, 59, 999_999)
SEVEN = DAY.replace(hour=7)


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (DAY, END, (DAY.date(), END.date())),
        (DAY, SEVEN, (DAY, SEVEN)),
        (SEVEN, END, ("2025-01-01 07:00", "2025-01-03 23:59")),
        (DAY, END.replace(hour=6), ("2025-01-01 00:00", "2025-01-03 06:59")),
        (SEVEN.replace(second=1), END, (SEVEN.replace(second=1), END)),
        (DAY.replace(microsecond=1), END, (DAY.replace(microsecond=1), END)),
        (SEVEN, END.replace(microsecond=0), (SEVEN, END.replace(microsecond=0))),
    ],
)
def test_whole_days_and_minutes_are_shown_as_such(low, high, shown):
    assert _calendar(low, high) == shown


def test_no_codes_are_no_rows():
    cells = Listed(type="text", keys=("a", "b"))
    assert cells.one_hot([]).shape == (0, 2)
    assert cells.decode([], []).tolist() == []


def test_cells_of_moments_are_called_by_their_days():
    day = 24 * 3600 * 10**6
    cells = Intervals(type="timestamp", edges=(0, 2 * day, 3 * day), low=0, high=3 * day - 1)
    assert cells.labels == ["1970-01-01 to 1970-01-02", "1970-01-03"]
    first, second, last = cells.cuts
    assert (first, second) == (dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 3))
    assert last == dt.datetime(1970, 1, 3, 23, 59, 59, 999_999)


def test_cuts_of_numbers_are_their_edges():
    assert Intervals(type="int", edges=(0, 2.5, 11), low=0, high=10).cuts == (0, 2.5, 11)


def test_there_is_one_zero_among_the_ends_of_cells():
    first, last = between(-1.0, 1.0, type="float", bins=2).spans
    assert (first[1], math.copysign(1, first[1])) == (0.0, 1.0)
    assert last[0] == math.nextafter(0.0, -1)
