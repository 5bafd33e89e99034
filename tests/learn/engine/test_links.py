"""Residuals are what their tables say, number by number, by arithmetic of many digits."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from deniable.learn.engine import links

EXPONENT = -20
UNIT = 2**-EXPONENT
MARGINS = np.array(
    [m * UNIT // 1000 for m in (-40_000, -32_001, -9_000, -701, -1, 0, 1, 702, 9_000, 31_999)]
    + [33 * UNIT, 2**50, -(2**50), -(31 * UNIT) - 1, 31 * UNIT + 1023]
)


def held(margin, low, high):
    """The step of 2⁻¹⁰ that a margin lies in, in steps; those beyond the ends count as the ends."""
    return min(max(margin >> 10, low), high)


def test_the_logistic_residual_is_that_of_the_middle_of_its_step():
    for label in (0, 1):
        labels = np.full(len(MARGINS), label)
        found = links.logistic(MARGINS, labels, exponent=EXPONENT, most=math.inf)
        for margin, each in zip(MARGINS.tolist(), found.tolist(), strict=True):
            step = held(margin, -32 * 1024, 32 * 1024 - 1)
            with mpmath.workprec(200):
                exact = 2**16 / (1 + mpmath.exp(-(mpmath.mpf(step) + 0.5) / 1024))
                assert each == int(mpmath.nint(exact)) - label * 2**16


@pytest.mark.parametrize("limits", [[20_000.5], [65_536.0], [100.0, 0.7, 4e4, 9.0]], ids=str)
def test_the_logistic_residual_is_clipped_for_all_rows_alike_or_for_each(limits):
    labels = np.arange(len(MARGINS)) % 3 - 1
    free = links.logistic(MARGINS, labels, exponent=EXPONENT, most=math.inf)
    most = limits[0] if len(limits) == 1 else np.resize(limits, len(MARGINS))
    found = links.logistic(MARGINS, labels, exponent=EXPONENT, most=most)
    ends = np.broadcast_to(most, len(MARGINS)).tolist()
    wanted = [float(int(min(max(x, -m), m))) for x, m in zip(free.tolist(), ends, strict=True)]
    assert found.tolist() == wanted
    assert not found[labels < 0].any()
    assert found[labels == 0].max() > 0 > found[labels == 1].min()


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_softmax_residual_is_that_of_whole_steps_below_the_largest(classes):
    margins = np.stack([np.roll(MARGINS, shift) for shift in range(classes)], axis=1)
    labels = np.arange(len(margins)) % classes
    found = links.softmax(margins, labels, exponent=EXPONENT)
    for row, label, each in zip(margins.tolist(), labels.tolist(), found.tolist(), strict=True):
        steps = [min((max(row) - margin) >> 10, 32 * 1024 - 1) for margin in row]
        with mpmath.workprec(200):
            weights = [int(mpmath.nint(2**32 * mpmath.exp(-mpmath.mpf(s) / 1024))) for s in steps]
        shares = [2**16 * Fraction(w, sum(weights)) for w in weights]
        wanted = [s.__floor__() - (place == label) * 2**16 for place, s in enumerate(shares)]
        assert each == wanted


@pytest.mark.parametrize("most", [0.5, 3.0, 1e3, 65_536.0])
def test_rows_are_shortened_to_their_limit_and_no_further(most):
    rows = np.array([[3.0, -4.0], [0.0, 0.0], [-1.0, 0.0], [30_000.0, 40_000.0], [-7e4, 5e4]])
    short = links.clipped(rows, most)
    square = [sum(Fraction(x) ** 2 for x in row) for row in short.tolist()]
    assert all(each <= Fraction(most) ** 2 for each in square)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    wanted = rows * np.minimum(1.0, most / np.maximum(length, 1.0))
    assert (np.abs(short - wanted) <= 1).all(), "only what rounding towards 0 takes"
    one = links.clipped(rows[:, 0], most)
    assert one.tolist() == [float(int(min(max(x, -most), most))) for x in rows[:, 0].tolist()]


def test_probabilities_are_those_of_log_odds_and_of_scores():
    odds = np.array([-800.0, -1.0, 0.0, 2.0, 800.0])
    second = [0.0, 1 / (1 + np.e), 0.5, 1 / (1 + np.exp(-2)), 1.0]
    found = links.probabilities(odds)
    assert found[:, 1] == pytest.approx(second, abs=1e-15)
    assert found.sum(axis=1) == pytest.approx(1.0)
    scores = np.array([[1000.0, 999.0, 998.0], [0.0, np.log(2), np.log(5)]])
    e = np.e
    wanted = [[1, 1 / e, 1 / e**2], [1, 2, 5]]
    assert links.probabilities(scores) == pytest.approx(
        np.array([[w / sum(row) for w in row] for row in wanted])
    )
    assert links.likeliest(scores).tolist() == [0, 2]
    assert links.likeliest(odds).tolist() == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("classes", range(2, 30))
def test_no_rounding_makes_a_row_longer_than_its_limit(classes):
    """A limit just below √n, or above, for rows that could become n times 1."""
    most = math.sqrt(classes)
    short = links.clipped(np.full((1, classes), 2.0), most)
    assert sum(Fraction(x) ** 2 for x in short[0].tolist()) <= Fraction(most) ** 2
