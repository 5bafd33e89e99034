"""Numbers picked from an interval: every point of the grid belongs to exactly one piece."""

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dp
from deniable.mechanisms import IntervalExponential


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (1.0, 1.0),
        (2.0, 1.0),
        (-1.7e308, 1.7e308),
        (math.nan, 1.0),
        (0.0, math.inf),
        (1e20, 1e20 + 1e6),
    ],
    ids=str,
)
def test_an_interval_is_finite_and_floats_resolve_it(low, high):
    with pytest.raises(dp.BadParameter):
        IntervalExponential(epsilon=1.0, low=low, high=high)


@pytest.mark.parametrize("width", [1.0, 1.5, 2.0, 3.9, 1e-9, 1e300])
def test_the_grid_has_at_most_so_many_steps_and_at_least_half_of_them(width):
    pick = IntervalExponential(epsilon=1.0, low=0.0, high=width)
    assert math.frexp(pick.step)[0] == 0.5
    assert 2**39 < width / pick.step <= 2**40


@pytest.mark.parametrize("low", [0.0, -3.0, 10.25])
def test_each_point_belongs_to_the_piece_that_holds_it(low, monkeypatch):
    pick = IntervalExponential(epsilon=1.0, low=low, high=low + 2.5)
    monkeypatch.setattr(IntervalExponential, "step", 0.25)
    edges = [low - 1, low, low + 0.3, low + 0.5, low + 0.5, low + 1.75, low + 2.6]
    first = pick.first_points(edges, len(edges) - 1)
    points = [Fraction(low) + Fraction(k, 4) for k in range(11)]  # the last is `high`
    for i in range(len(edges) - 1):
        held = [p for p in points if edges[i] <= p < edges[i + 1]]
        assert first[i + 1] - first[i] == len(held)
    assert (first[0], first[-1]) == (0, 11)


@pytest.mark.parametrize(
    "edges",
    [[0, 1], [0, 1, 2, 3], [0, 2, 1], [0, math.nan, 1], [0, 1, math.inf], [[0, 1, 2]]],
    ids=str,
)
def test_edges_are_finite_in_order_and_one_more_than_the_scores(edges):
    pick = IntervalExponential(epsilon=1.0, low=0.0, high=2.0)
    with pytest.raises(dp.BadParameter):
        pick.draw((edges, [0.0, 0.0]))


@pytest.mark.parametrize("best", [0, 1, 2])
def test_an_answer_lies_in_the_piece_that_was_picked(best):
    """At a gain of 10⁴ no other piece is picked: odds below e^−4000."""
    pick = IntervalExponential(epsilon=10.0, low=-1.0, high=5.0)
    edges, scores = [-1.0, 0.0, 0.001, 5.0], np.zeros(3)
    scores[best] = 10_000.0
    for _ in range(20):
        found = pick.draw((edges, scores))
        assert edges[best] <= found < edges[best + 1] or (best == 2 and found == 5.0)
        assert ((found + 1.0) / pick.step).is_integer()


def test_pieces_without_a_point_of_the_grid_are_never_picked():
    pick = IntervalExponential(epsilon=10.0, low=0.0, high=1.0)
    near = pick.step / 4
    found = pick.draw(([0.0, near, 2 * near, 1.0], [0.0, 10_000.0, 100.0]))
    assert found == 0.0 or found >= pick.step
