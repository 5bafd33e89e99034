"""Where a row is rounded depends on that row alone."""

import numpy as np
import pytest

from deniable.learn.convex.objectives import clipped
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
