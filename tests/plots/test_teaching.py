"""The figures that teach the field show the numbers they were given."""

import numpy as np
import pytest

import deniable as dp
from deniable import plots

OUTPUTS = np.linspace(-5, 6, 111)
HERE, THERE = (np.exp(-np.abs(OUTPUTS - v)) / 2 for v in (0, 1))


def named(ax):
    return {line.get_label(): line for line in ax.get_lines()}


def test_densities_on_neighbours_differ_by_the_factor_that_is_written_there():
    ax = plots.neighbours(OUTPUTS, {"without": HERE, "with": THERE}, mark=2.0, epsilon=1.0)
    assert np.array_equal(named(ax)["with"].get_ydata(), THERE)
    assert [text.get_text() for text in ax.texts] == ["2.72 times as likely"]
    assert "ε = 1" in ax.get_xlabel()


def test_an_output_that_only_one_data_set_allows_is_called_impossible():
    ax = plots.neighbours([0, 1, 2], {"without": [0, 0, 1], "with": [1, 1, 0]}, mark=0.5)
    assert [text.get_text() for text in ax.texts] == ["impossible without"]


@pytest.mark.parametrize("number", [0, 1, 3])
def test_neighbours_come_in_pairs(number):
    with pytest.raises(dp.BadParameter, match=f"there are {number}"):
        plots.neighbours(OUTPUTS, {str(i): HERE for i in range(number)})


def test_noisy_sums_have_one_dot_per_bound_and_trial():
    noisy = np.arange(12.0).reshape(4, 3)
    ax = plots.clipping([1, 2, 4, 8], noisy, clipped=[1, 4, 7, 10], truth=11, logarithmic=True)
    lines = named(ax)
    assert np.array_equal(lines["noisy sum"].get_ydata(), noisy.ravel())
    assert lines["noisy sum"].get_xdata().tolist() == [1, 1, 1, 2, 2, 2, 4, 4, 4, 8, 8, 8]
    assert lines["clipped, without noise"].get_ydata().tolist() == [1, 4, 7, 10]
    assert list(lines["without both"].get_ydata()) == [11, 11]
    assert ax.get_xscale() == "log"


@pytest.mark.parametrize("bounds", [[], [1, 2]])
def test_sums_without_bounds_or_of_another_number_are_refused(bounds):
    with pytest.raises(dp.BadParameter):
        plots.clipping(bounds, [1.0, 2.0], clipped=[1.0])


def test_histograms_of_errors_share_bins_and_mark_the_stated_error():
    trials = {"one": [-1, 0, 1, 2], "two": [-4, 4]}
    ax = plots.errors(trials, stated={"one": 1.5}, bins=8)
    outlines = [patch for patch in ax.patches if patch.get_label() in trials]
    (first, edges, _), (second, same, _) = (patch.get_data() for patch in outlines)
    assert np.array_equal(edges, same)
    assert first.sum() == pytest.approx(1)
    assert second[[0, -1]].tolist() == [0.5, 0.5]
    assert sorted(line.get_xdata()[0] for line in ax.get_lines()) == [-1.5, 1.5]
    assert "95 % confidence" in ax.get_xlabel()


@pytest.mark.parametrize("trials", [{}, {"one": []}, {"one": [np.nan]}, {"one": [np.inf]}])
def test_errors_that_cannot_be_drawn_are_refused(trials):
    with pytest.raises(dp.BadParameter, match="finite"):
        plots.errors(trials)


def test_differences_over_time_are_what_subtraction_gives():
    ax = plots.differences([0, 1, 2], [10, 11, 12], [8, 9, 12], error=1, marks={"moved": 1.5})
    assert ax.get_lines()[0].get_ydata().tolist() == [2, 2, 0]
    assert [text.get_text() for text in ax.texts] == ["moved"]


def test_series_of_another_length_are_refused():
    with pytest.raises(dp.BadParameter, match="second has 2 values for 3 places"):
        plots.differences([0, 1, 2], [1, 2, 3], [1, 2])
