"""What a column of numbers must look like, and bounds that floats can hold."""

from __future__ import annotations

from deniable import parameters
from deniable.errors import BadParameter
from deniable.schema import arrays
from deniable.schema.arrays import Floats, floats

__all__ = ["Floats", "check_bounds", "check_column", "floats", "middle"]


def check_column(values: object) -> None:
    """Refuse what is not one column of numbers: by its shape and its type, which are public.

    Raveled, a table of 50 columns would let one row move a count by 50.
    """
    dimensions = arrays.dimensions(values)
    if dimensions != 1:
        raise BadParameter(
            f"values must be one column, with one number per row; {parameters.a_kind(values)} "
            f"has {dimensions} dimensions",
            why="the noise covers one number per row: several would move the answer further",
            fix='table["age"].to_numpy(), or array[:, 0]: one column at a time',
        )
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "kind", "O") not in arrays.NUMBERS + arrays.OBJECTS:
        raise BadParameter(
            f"values must be numbers; these are {dtype}",
            fix="values.astype(float), if that is what they mean",
        )


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
