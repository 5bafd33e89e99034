"""Rows and targets as a caller hands them over: looked at after the charge."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.units import Unit

from .restricted import Floats

_NUMBERS = "biufO"


@dataclass(frozen=True, kw_only=True, eq=False)
class Held:
    """Rows and targets that are looked at after the charge; their number of columns is public."""

    rows: Any = field(repr=False)
    targets: Any = field(repr=False)
    coordinates: int

    @staticmethod
    def of(data: object) -> Held:
        """(X, y), checked by type and shape alone."""
        if not isinstance(data, tuple | list) or len(data) != 2:
            raise BadParameter("data must be a pair (X, y)", fix="data=(X, y)")
        rows, targets = map(_array, data)
        if rows.ndim != 2 or rows.shape[1] < 1 or rows.dtype.kind not in _NUMBERS:
            raise BadParameter(
                "X must be a table of numbers, one row per record",
                fix="X = np.asarray(X, dtype=float)",
            )
        if targets.shape != rows.shape[:1] or targets.dtype.kind not in _NUMBERS:
            raise BadParameter(
                "y must be one number per row of X",
                why="classes are 0 and 1, or −1 and 1",
                fix='y = (labels == "yes")',
            )
        return Held(rows=rows, targets=targets, coordinates=rows.shape[1])

    def numbers(self) -> tuple[Floats, Floats]:
        """Both as floats; what is not a number is missing."""
        return _floats(self.rows), _floats(self.targets)

    def public_size(self, size: int | None, unit: Unit) -> int | None:
        """The number of rows where it is public: stated, or because units are replaced."""
        if size is not None:
            return parameters.whole("size", size)
        return len(self.rows) if unit.sides > 1 else None


def _array(given: object) -> NDArray[Any]:
    """An array with its own type; a list's type would depend on its rows, so it gets none."""
    return np.array(given, dtype=object) if isinstance(given, list | tuple) else np.asarray(given)


def _floats(array: NDArray[Any]) -> Floats:
    if array.dtype != object:
        return array.astype(np.float64)
    found = np.array([_float(x) for x in array.ravel().tolist()], dtype=np.float64)
    return found.reshape(array.shape)


def _float(value: Any) -> float:
    """NaN for what is not a number."""
    try:
        return math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
