"""Smooth bounds on local sensitivity: when the worst case over all data is too pessimistic.

S(x) = max over k ≥ 0 of e^(−βk)·A_k(x), with A_k as in `local`, is a β-smooth bound on local
sensitivity [NRS07]. k = 0 counts. The search stops where e^(−βk)·max A no
longer beats what was found, as no A_k exceeds high − low.
"""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np
from numpy.typing import ArrayLike

from deniable import parameters, units
from deniable.mechanisms import SmoothNoise, Step
from deniable.sensitive import Sensitive

from .columns import Floats, check_bounds, check_column
from .local import Statistic, bounds_at, room, sorted_within

# β is shrunk by this factor before it is used: room for the rounding of S in floats, whose relative
# error is below 2⁻⁴⁴, as long as β ≥ 2⁻²⁰ (which SmoothNoise demands).
_ROOM = 1 - 2.0**-20
_BLOCK = 4096


def smooth_release(
    values: ArrayLike,
    statistic: Statistic,
    *,
    low: float,
    high: float,
    epsilon: float,
    delta: float = 0.0,
) -> Generator[Step[tuple[float, float]], float, float]:
    """A statistic with noise sized to the data: an algorithm for a session to run."""
    check_column(values)
    low, high = check_bounds(low, high)
    mechanism = SmoothNoise(epsilon=epsilon, delta=delta, low=low, high=high)

    def compute() -> tuple[float, float]:
        data = sorted_within(values, low, high)
        bound = smooth_bound(data, statistic, beta=mechanism.beta, low=low, high=high)
        return statistic.value(data, low, high), bound

    answer = yield mechanism.on(Sensitive(compute, linf=high - low, unit=units.rows()))
    return answer


def smooth_bound(
    data: Floats, statistic: Statistic, *, beta: float, low: float, high: float
) -> float:
    """S(x) of sorted data: a β-smooth bound on the local sensitivity of the statistic."""
    check_column(data)
    rate = parameters.positive("beta", beta) * _ROOM
    most = (high - low) + room(low, high)
    best, start = 0.0, 0
    while best < math.exp(-rate * start) * most:
        distances = np.arange(start, start + _BLOCK)
        bounds = bounds_at(statistic, data, distances, low, high)
        best = max(best, float((np.exp(-rate * distances) * bounds).max()))
        start += _BLOCK
    return best
