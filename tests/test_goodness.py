"""The checks behind the statistical tests: they bound what they say, and they can fail."""

import math

import numpy as np
import pytest
from scipy import stats
from tests import goodness

FAIR = np.full(4, 0.25)


def test_one_draw_in_a_cell_that_expects_almost_none_is_no_alarm():
    """By χ² such a draw has p = 3e-97, and it happens once in 500 samples."""
    rare = 0.002 / 4_000_000
    chances = np.array([rare, *np.full(19, (1 - rare) / 19)])
    seen = np.array([1, *np.full(18, 210_526), 4_000_000 - 1 - 18 * 210_526])
    assert stats.chisquare(seen, chances * seen.sum()).pvalue < 1e-90
    assert goodness.cells(seen, chances) == 1.0


@pytest.mark.parametrize("total", [20, 100])
def test_cells_bound_the_exact_tail_of_two_cells(total):
    seen = np.arange(total + 1)
    values = np.array([goodness.cells((k, total - k), (0.3, 0.7)) for k in seen])
    chances = stats.binom.pmf(seen, total, 0.3)
    for value in values:
        assert chances[values <= value].sum() <= value * (1 + 1e-9)
    assert values.min() < 1e-4


def test_each_check_can_fail():
    assert goodness.cells([1000, 1000, 1000, 1000], FAIR) == 1.0
    assert goodness.cells([1300, 900, 900, 900], FAIR) < 1e-8
    assert goodness.cells([1, 5, 5], [0.0, 0.5, 0.5]) == 0.0
    ones, exponent = np.ones(400), lambda t: t * t / 2
    assert goodness.mean(0 * ones, exponent, spread=1.0) == 1.0
    assert goodness.mean(0.5 * ones, exponent, spread=1.0) < 1e-8
    assert goodness.mean(-0.5 * ones, exponent, spread=1.0) < 1e-8
    assert goodness.count(200, 400, 0.5) == 1.0
    assert max(goodness.count(hits, 400, 0.5) for hits in (130, 270)) < 1e-8
    assert goodness.covered(400, 400, 0.95) == 1.0
    assert goodness.covered(340, 400, 0.95) < 1e-8
    even = (np.arange(1000) + 0.5) / 1000
    assert goodness.law(even, lambda x: x) == 1.0
    assert goodness.law(even**1.5, lambda x: x) < 1e-8


def test_cells_that_leave_something_out_are_refused():
    with pytest.raises(AssertionError):
        goodness.cells([5, 5], [0.5, 0.4])


def test_a_mean_is_bounded_by_its_exact_tail():
    """Sums of exponentials have the gamma law."""
    n = 200
    for total in stats.gamma(n).ppf([1e-9, 1e-4, 0.3, 0.9999, 1 - 1e-9]):
        value = goodness.mean(np.full(n, total / n), lambda t: -math.log1p(-t), spread=1.0)
        tail = min(stats.gamma.cdf(total, n), stats.gamma.sf(total, n))
        assert tail <= value
