"""Noise on every cell: nothing is mixed, and sums have the variances of their cells."""

import numpy as np

from deniable.workload.strategies import Bounds, Identity
from deniable.workload.strategies.exact import HELD

MADE = Identity(cells=4, bounds=Bounds(l1=6.0, l2=4.0))


def test_cells_stay_as_they_are_and_large_ones_are_held():
    counts = np.array([5, -7, 2**63 - 1, -(2**63)])
    assert MADE.encode(0, counts).tolist() == [5, -7, HELD, -HELD]
    (vector,) = MADE.vectors
    assert (vector.l1, vector.l2, MADE.lengths) == (6.0, 4.0, (4,))
    assert MADE.decode([np.array([1.5, 2.5, 0.0, -1.0])], [3.0]).tolist() == [1.5, 2.5, 0.0, -1.0]


def test_variances_add_up():
    assert MADE.cell_variances([3.0]).tolist() == [9.0] * 4
    assert MADE.prefix_variances([3.0]).tolist() == [0.0, 9.0, 18.0, 27.0, 36.0]
    ends = np.array([0, 1, 3]), np.array([0, 3, 3])
    assert MADE.interval_variances(*ends, [3.0]).tolist() == [9.0, 27.0, 9.0]
    weights = np.array([[1.0, -2.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.5]])
    assert MADE.variance(weights, [3.0]).tolist() == [81.0, 2.25]
