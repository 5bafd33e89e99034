"""Propose-test-release for statistics whose local sensitivity is known near the data.

D(x) = the least k with A_k(x) > b, A_k as in `local`: data within fewer units of x have a local
sensitivity of at most b, and as A_k(x) ≤ A_{k+1}(x′) one unit moves D by at most 1.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from numpy.typing import ArrayLike

from deniable import parameters, units
from deniable.mechanisms import ProposeTestRelease, Step
from deniable.sensitive import Sensitive

from .columns import Floats, check_bounds, check_column
from .local import Statistic, bounds_at, sorted_within

_BLOCK = 4096


def propose_test_release(
    values: ArrayLike,
    statistic: Statistic,
    *,
    bound: float,
    low: float,
    high: float,
    epsilon: float,
    delta: float,
) -> Generator[Step[tuple[float, int]], float | None, float | None]:
    """A statistic with noise for a proposed local sensitivity, or None: for a session to run.

    Half of ε pays for the test, half for the answer.
    """
    check_column(values)
    low, high = check_bounds(low, high)
    half = parameters.positive("epsilon", epsilon) / 2
    mechanism = ProposeTestRelease(
        bound=bound, epsilon_test=half, epsilon_release=half, delta=delta
    )

    def compute() -> tuple[float, int]:
        data = sorted_within(values, low, high)
        return statistic.value(data, low, high), distance_to_instability(
            data, statistic, bound=bound, low=low, high=high
        )

    answer = yield mechanism.on(Sensitive(compute, linf=1, unit=units.rows()))
    return answer


def distance_to_instability(
    data: Floats, statistic: Statistic, *, bound: float, low: float, high: float
) -> int:
    """The least number of units that may bring the local sensitivity above `bound`.

    It is held at one more than the number of rows, which one unit moves by 1 as well: a distance
    that is stated too small is still safe, and one that is infinite would be no number.
    """
    check_column(data)
    furthest = data.size + 1
    for start in range(0, furthest, _BLOCK):
        distances = np.arange(start, min(start + _BLOCK, furthest))
        above = bounds_at(statistic, data, distances, low, high) > bound
        if above.any():
            return start + int(above.argmax())
    return furthest
