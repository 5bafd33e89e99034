"""Features on a lattice, against the formulas of the docstring in plain numbers."""

import math

import numpy as np
import pytest

from deniable.errors import BadParameter, MissingBounds
from deniable.learn.models.scaling import INTERCEPT, ends, needs_bounds, scaling

BOUNDS = ([0.0, -4.0], [2.0, 4.0])


def made(*, bounds=None, norm=None, intercept=False):
    return scaling(2, bounds=bounds, norm=norm, intercept=intercept, model="Ridge")


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("given", "centred"),
    [
        ({"bounds": BOUNDS}, [[0.0, 0.0], [1.0, 1.0], [-1.0, 0.5], [1.0, 0.0]]),
        ({"norm": 5.0}, [[0.2, 0.0], [0.4, 0.8], [0.0, 0.4], [6.0, 0.0]]),
        ({"norm": 5.0, "bounds": BOUNDS}, [[0.2, 0.0], [0.4, 0.8], [0.0, 0.4], [0.4, 0.0]]),
    ],
)
def test_rows_are_clipped_centred_divided_and_shortened(given, centred, intercept):
    scaled, rows = made(**given, intercept=intercept), [[1, 0], [2, 4], [0, 2], [30, math.nan]]
    wanted = []
    for row in centred:
        own = [x / math.sqrt(2) for x in row] if "norm" not in given else row
        length = max(1.0, math.hypot(*own))
        if intercept:
            own = [x * math.sqrt(0.75) / length for x in own] + [0.5]
            length = 1.0
        wanted.append([x / length for x in own])
    unit = scaled.space.unit
    assert scaled.space.dimension == 2 + intercept
    found = scaled.rows(np.array(rows, dtype=float)) / unit
    assert found == pytest.approx(np.array(wanted), abs=2 / unit)
    assert (np.linalg.norm(found, axis=1) <= 1).all()


@pytest.mark.parametrize("intercept", [False, True])
def test_a_penalty_weighs_coefficients_of_features_as_they_were(intercept):
    """Σ weight·θ² is Σ slope², and the constant is free."""
    scaled = made(bounds=BOUNDS, intercept=intercept)
    theta = np.array([0.7, -1.3, 2.0][: 2 + intercept])
    slopes, _ = scaled.unscaled(theta)
    assert (scaled.penalty * theta**2).sum() == pytest.approx((slopes**2).sum())
    assert not intercept or scaled.penalty[-1] == 0
    assert INTERCEPT == 0.5


def test_bounds_that_meet_leave_a_feature_that_is_always_zero():
    scaled = made(bounds=([1.0, 2.0], [1.0, 4.0]))
    assert scaled.rows(np.array([[1.0, 4.0], [9.0, 2.0]]))[:, 0].tolist() == [0, 0]


def test_bounds_are_two_numbers_or_two_lists():
    for given in ((0, 1), [0, 1], (0, [1, 1]), ([0, 0], [1, 1])):
        low, high = ends(given, 2)
        assert (low.tolist(), high.tolist()) == ([0, 0], [1, 1])
    assert [float(x) for x in ends((1e150, 1e150), None)] == [1e150, 1e150]


@pytest.mark.parametrize(
    "wrong",
    [None, 3, (1,), (0, 1, 2), "ab", {0: 5, 1: 6}, ({}, 1), ([0, 0, 0], 1), (2, 1), (0, math.inf),
     (math.nan, 1), (-1.1e150, 0), (0, 1.1e150), ([0, 3], [1, 2])],
    ids=str,
)  # fmt: skip
def test_other_bounds_are_refused(wrong):
    with pytest.raises(BadParameter):
        ends(wrong, 2)


def test_features_have_bounds_or_a_norm():
    needs_bounds((0, 1), model="Ridge")
    for use in (made, lambda: needs_bounds(None, model="Ridge")):
        with pytest.raises(MissingBounds, match="Ridge needs bounds"):
            use()
    with pytest.raises(BadParameter, match="norm"):
        made(norm=0.0)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("columns", [(), (3,)])
@pytest.mark.parametrize("given", [{"bounds": BOUNDS}, {"norm": 9.0}], ids=str)
def test_scores_of_rows_as_they_were_are_those_of_scaled_rows(given, columns, intercept):
    """Of rows within their bounds, and shorter than the norm: nothing is clipped."""
    scaled, draw = made(**given, intercept=intercept), np.random.default_rng(0)
    rows = draw.uniform(BOUNDS[0], BOUNDS[1], (6, 2))
    theta = draw.normal(size=(2 + intercept, *columns))
    slopes, constant = scaled.unscaled(theta)
    assert rows @ slopes + constant == pytest.approx(scaled._scaled(rows) @ theta)
