"""Public bounds: clip each value, put it on a lattice, add up whole numbers.

What one row can change is then a whole number of lattice steps, known before the data are seen,
and true in the arithmetic that runs: sums of integers neither round nor depend on the order of
rows.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deniable import parameters, units
from deniable.errors import BadParameter
from deniable.mechanisms import Laplace, Step
from deniable.sampling.lattice import Lattice
from deniable.sensitive import Sensitive
from deniable.units import Unit

from .columns import check_bounds, check_column, floats, middle

_BITS = 32
_CHUNK = 2**20  # rows of 33-bit numbers: no chunk's sum can pass 2⁵³


@dataclass(frozen=True, kw_only=True)
class GridSum:
    """A private sum in whole steps of a lattice: `value`·`lattice.width` is the amount."""

    value: Sensitive[int]
    lattice: Lattice

    def noisy(self, *, epsilon: float) -> Step[int]:
        """The step that releases it with Laplace noise."""
        steps = self.value.bound("l1")
        assert steps is not None
        return Laplace.calibrate(epsilon=epsilon, sensitivity=steps).on(self.value)


def row_count(values: ArrayLike, *, unit: Unit | None = None) -> Sensitive[int]:
    """How many rows hold a number; one row added, removed or replaced moves it by at most 1."""
    unit = _rows(unit)
    check_column(values)
    return Sensitive(lambda: int((~np.isnan(floats(values))).sum()), l1=1, whole=True, unit=unit)


def clipped_sum(
    values: ArrayLike, *, low: float, high: float, centre: float = 0.0, unit: Unit | None = None
) -> GridSum:
    """The sum of values clipped to [low, high], each less `centre`, over rows that hold a number.

    One row added or removed moves it by at most max(|l − c|, |u − c|); replaced, by max(u − c, 0) −
    min(l − c, 0), as a row may hold no number.
    """
    unit = _rows(unit)
    check_column(values)
    centre = parameters.real("centre", centre)
    low, high = check_bounds(low, high)
    least, most = low - centre, high - centre
    lattice = Lattice.for_bounds(least, most, bits=_BITS)
    steps = lattice.sensitivity(low=least, high=most, sides=unit.sides)

    def total() -> int:
        array = floats(values)
        kept = array[~np.isnan(array)] - centre
        points = lattice.to_grid(kept, low=least, high=most, missing=least)
        starts = range(0, points.size, _CHUNK)
        return sum(int(points[i : i + _CHUNK].sum()) for i in starts)

    return GridSum(value=Sensitive(total, l1=steps, whole=True, unit=unit), lattice=lattice)


def mean(
    values: ArrayLike, *, low: float, high: float, epsilon: float, unit: Unit | None = None
) -> Generator[Step[int], int, float]:
    """The average of values clipped to [low, high]: an algorithm for a session to run.

    Half of ε goes to the number of rows, half to the sum of what they differ from the middle of
    the range: so one row moves that sum by half the width of the range, and not by the larger
    bound.
    """
    half = parameters.positive("epsilon", epsilon) / 2
    low, high = check_bounds(low, high)
    centre = middle(low, high)
    total = clipped_sum(values, low=low, high=high, centre=centre, unit=unit)
    count = yield Laplace.calibrate(epsilon=half).on(row_count(values, unit=unit))
    amount = yield total.noisy(epsilon=half)
    estimate = centre + amount * total.lattice.width / max(count, 1)
    return float(min(max(estimate, low), high))


def _rows(unit: Unit | None) -> Unit:
    if unit is not None and unit.column is not None:
        raise BadParameter(
            "arrays are clipped row by row: a person with several rows is not bounded here",
            fix="unit=dp.rows(), or ask through SQL, which bounds each person's rows",
        )
    return unit or units.rows()
