"""Where a row is rounded depends on that row alone, and no row is longer than the norm."""

import numpy as np
import pytest

from deniable.learn.convex import objectives
from deniable.learn.convex.objectives import clipped
from deniable.learn.engine import rowwise
from deniable.sampling import PublicRandom


def points(rows, order):
    array = np.array(rows, order=order)
    return clipped(array, np.zeros(len(array)), norm=1.0, labels=False)[0]


def near_a_step(row, order):
    """The two values of row[1] between which the clipped row[0] is rounded differently."""

    def first(value):
        row[1] = value
        return points([row], order)[0, 0]

    low, high = 0.0, 3.9
    below = first(low)
    assert below != first(high)
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if first(middle) == below else (low, middle)
    return low, high


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("columns", [3, 9, 41, 52, 54, 200])
def test_a_row_on_the_edge_of_a_step_is_rounded_alike_whoever_is_beside_it(columns, order):
    generator = PublicRandom(1).generator
    for _ in range(4):
        row, other = 3 * generator.random(columns), generator.random(columns)
        row[0] = 4.0
        for edge in near_a_step(row, order):
            row[1] = edge
            alone = points([row], order)[0]
            for more in (1, 2, 9):
                beside = points([row] + [other] * more, order)[0]
                assert beside.tolist() == alone.tolist()


def test_in_many_dimensions_no_rounding_makes_a_row_longer_than_the_norm(monkeypatch):
    """Squares that each round down when added: their sum is too small by 2⁻³¹ of itself."""

    def squares(rows):  # added one after the other, too; quicker for a single row
        return np.cumsum(rows * rows, axis=1)[:, -1]

    few = np.random.default_rng(0).normal(size=(3, 99))
    assert (squares(few) == rowwise.squares(few)).all()
    monkeypatch.setattr(objectives, "squares", squares)
    whole = np.full(2**22, 7)
    whole[:16] = [47854, 42419, 265, 9, 1, 1, *[0] * 10]
    assert (whole * whole).sum() == 2**32 + 1  # in steps of the norm, just longer than it
    row = whole / 47854 * (1 + 2.0**-48)
    row[0] = 1.0
    found = points([row], "C")[0].astype(np.int64)
    assert (found * found).sum() <= 2**32
