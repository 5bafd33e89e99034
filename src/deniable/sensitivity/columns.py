"""One number per row, read so that no row can stop the others; and bounds that floats can hold.

Each function here is a function of one row at a time: whatever a row holds, it becomes one number
or is left out, and the other rows are read as if it were not there.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import BadParameter

Floats = NDArray[np.float64]
_NUMBERS: Final = "biuf"  # kinds of NumPy that hold numbers
_OBJECTS: Final = "OUST"  # kinds whose entries are looked at one by one


def check_column(values: object) -> None:
    """Refuse what is not one column of numbers: by its shape and its type, which are public.

    Raveled, a table of 50 columns would let one row move a count by 50.
    """
    dimensions = _dimensions(values)
    if dimensions != 1:
        raise BadParameter(
            f"values must be one column, with one number per row; {parameters.a_kind(values)} "
            f"has {dimensions} dimensions",
            why="the noise covers one number per row: several would move the answer further",
            fix='table["age"].to_numpy(), or array[:, 0]: one column at a time',
        )
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    if kind not in _NUMBERS + _OBJECTS:
        raise BadParameter(
            f"values must be numbers; these are {values.dtype}",  # type: ignore[attr-defined]
            fix="values.astype(float), if that is what they mean",
        )


def floats(values: ArrayLike) -> Floats:
    """A column as float64: what is not a number is NaN, and one beyond float64 is infinite."""
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist()  # None where masked
    if _dimensions(values) != 1:  # it was one column when it was checked
        return np.empty(0)
    array = np.asarray(values) if hasattr(values, "__array__") else _objects(values)
    if array.ndim == 1 and array.dtype.kind in _NUMBERS:
        with np.errstate(over="ignore"):  # a warning would tell that a row is large
            return array.astype(np.float64)
    if array.ndim == 1 and array.dtype.kind in _OBJECTS:
        return np.fromiter(map(_number, array.tolist()), np.float64, count=array.size)
    return np.full(array.shape[:1], math.nan)


def check_bounds(low: float, high: float) -> tuple[float, float]:
    """Two finite numbers in order, of at most 2⁹⁰⁰: sums of values between them are finite."""
    low, high = parameters.real("low", low), parameters.real("high", high)
    if not low < high:
        raise BadParameter.of("high", high, must=f"above low = {low:g}")
    for name, end in (("low", low), ("high", high)):
        if abs(end) > parameters.LARGEST:
            raise BadParameter.of(name, end, must="between -2⁹⁰⁰ and 2⁹⁰⁰")
    return low, high


def middle(low: float, high: float) -> float:
    """(low + high)/2, without their sum, which may be infinite."""
    return low / 2 + high / 2


def _dimensions(values: Any) -> int:
    """How many there are: of an array or a frame as it says, of a list one."""
    if hasattr(values, "ndim"):
        return int(values.ndim)
    if hasattr(values, "shape"):
        return len(values.shape)
    listed = isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray)
    return int(listed or hasattr(values, "__array__"))


def _objects(values: Any) -> NDArray[Any]:
    """A list as it is: NumPy would make a table of it where each row is a list."""
    listed = list(values)
    if set(map(type, listed)) <= {int, float, bool}:
        with contextlib.suppress(OverflowError):
            return np.array(listed, dtype=np.float64)
    return np.fromiter(listed, dtype=object, count=len(listed))


def _number(value: Any) -> float:
    """A row's number; NaN for all that is not one, infinite for one that is too large."""
    if isinstance(value, np.ndarray):  # even of one number, which Python would take for it
        return math.nan
    try:
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  an object may raise whatever it likes
        return math.nan
