"""Products of rows that are rounded alike, whatever the other rows are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deniable.schema.arrays import Floats


def margins(X: Any, theta: ArrayLike) -> Floats:
    """⟨row, θ⟩ for each row of X; of a matrix θ, a column for each of its columns.

    `X @ theta` leaves the order of the additions to BLAS, which chooses it by the number of rows
    and by the place of a row: one row more may change the last digit of another row's product. Here
    the features are added one after the other, so each row's product depends on that row alone.

    >>> margins([[1.0, 2.0], [3.0, 4.0]], [10.0, 1.0]).tolist()
    [12.0, 34.0]
    """
    rows, weights = np.asarray(X, dtype=np.float64), np.asarray(theta, dtype=np.float64)
    total = np.zeros((len(rows), *weights.shape[1:]))
    for feature, weight in zip(rows.T, weights, strict=True):
        total += np.multiply.outer(feature, weight)
    return total


def squares(rows: Floats) -> Floats:
    """The square of each row's norm: columns are added up one after the other.

    NumPy chooses the order of its sums by how an array lies in memory and how many rows it has: one
    row more could change the last digit of another's norm, and so where it is rounded.
    """
    total = np.zeros(len(rows))
    for column in rows.T:
        total += column * column
    return total
