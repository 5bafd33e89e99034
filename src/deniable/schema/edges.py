"""Where the cells of a column lie: equal widths, half-octaves, or edges that are given.

>>> from deniable.schema import bounds, keys
>>> binning_of(bounds(0, 125, type="int"), bins=4).labels
['0 to 31', '32 to 62', '63 to 94', '95 to 125']
>>> binning_of(bounds(0, 20, type="int"), bins="half-octaves").labels
['0', '1', '2', '3', '4 to 5', '6 to 7', '8 to 11', '12 to 15', '16 to 20']
>>> binning_of(keys(["a", "b"]), null="own").labels
['a', 'b', 'missing']
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, Literal, cast

from deniable import parameters
from deniable.errors import BadParameter, MissingBounds
from deniable.fixes import PLAUSIBLE

from .arrays import MOMENTS, step_of
from .binning import Intervals, Listed
from .columns import DROP, Column, _of_type

HALF_OCTAVES: Final = "half-octaves"
Bins = int | Sequence[float] | Sequence[dt.date] | Literal["half-octaves"]
"""How many cells of equal width, their edges, or cells by magnitude."""

_MOST: Final = 1_000
_USUAL: Final = 20
_OCTAVES: Final = 20  # floats that are 2²⁰ times smaller than the largest count as 0


def binning_of(
    column: Column, *, bins: Bins | None = None, null: Literal["drop", "own"] | None = None
) -> Listed | Intervals:
    """The cells of a column of a schema.

    A public list has one cell per value. Between bounds, `bins` is a number of cells of equal
    width, a list of edges that cover the bounds, or "half-octaves": powers of √2, with 0 in a cell
    of its own. Without it there are half-octaves where the bounds span several orders of magnitude,
    and 20 cells of equal width (or one per whole number) otherwise.

    `null` says what becomes of missing values: "drop" gives them the code −1, "own" a last cell of
    their own. Without it the column's rule decides; if that is a value that stands in for them,
    nothing else can, as they are replaced when the column is read.
    """
    if null is not None:
        parameters.one_of("null", null, ("drop", "own"))
    made = _of_values(column, bins)
    if column.missing not in (None, DROP):
        if null is not None:
            raise BadParameter(f"missing values of this column count as {column.missing!r}")
        return replace(made, missing=int(made.encode([column.missing])[0]))
    if null == "own":
        return replace(made, missing=made.size)
    if null is None and column.missing is None:
        raise BadParameter(
            "the column does not say what a missing value counts as", fix='null="own"'
        )
    return made


def between(low: float, high: float, *, type: str, bins: object) -> Intervals:
    """Cells between two bounds, as `Bins` says; dates and timestamps as numbers."""
    if isinstance(bins, str):
        parameters.one_of("bins", bins, (HALF_OCTAVES,))
        edges = _half_octaves(low, high, type)
        zero = type == "float" and low <= 0 <= high
        return Intervals(type=type, edges=edges, low=low, high=high, zero=zero)
    if isinstance(bins, Sequence):
        return Intervals(type=type, edges=_given(low, high, type, bins), low=low, high=high)
    count = parameters.whole("bins", bins)
    if count > _MOST:
        raise BadParameter.of("bins", bins, must=f"at most {_MOST}")
    return Intervals(type=type, edges=_equal(low, high, type, count), low=low, high=high)


def magnitudes(smallest: int = -32, largest: int = 64) -> Intervals:
    """Any number by its power of two: −2⁶⁴, …, −2⁻³², 2⁻³², …, 2⁶⁴; what is smaller counts as 0."""
    powers = [math.ldexp(1.0, k) for k in range(smallest, largest + 1)]
    edges = (*(-power for power in reversed(powers)), *powers)
    return Intervals(type="float", edges=edges, low=edges[0], high=edges[-1], zero=True)


def _of_values(column: Column, bins: Bins | None) -> Listed | Intervals:
    keys = (False, True) if column.type == "bool" and column.keys is None else column.keys
    if keys is not None:
        if bins is not None:
            raise BadParameter("a column with a list of values has one cell per value, not bins")
        return Listed(type=column.type, keys=keys)
    if column.low is None or column.high is None:
        raise MissingBounds(
            "a column needs bounds or a list of values, so that it can be divided into cells",
            why="cells made from the data would reveal people's values",
            fix=stating(column.type),
        )
    low, high = (step_of(end, column.type) for end in (column.low, column.high))
    if bins is None:
        bins = HALF_OCTAVES if _several_magnitudes(low, high, column.type) else _USUAL
    made = between(low, high, type=column.type, bins=bins)
    if not made.filled:
        raise BadParameter(
            "each cell must hold a value that lies within the bounds",
            why="nothing could be drawn from an empty cell",
            fix="fewer bins, or edges inside the bounds",
        )
    return made


def stating(kind: str) -> str:
    """What a schema says of a column of this type, so that it has cells.

    >>> stating("text"), stating("float")
    ('dp.keys([...])', 'dp.bounds(0, 100)')
    """
    return "dp.keys([...])" if kind == "text" else f"dp.bounds({PLAUSIBLE[kind][0]})"


def _several_magnitudes(low: float, high: float, kind: str) -> bool:
    """Wider than 1,000, and than 1,000 times the end that is nearer to 0."""
    nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    return kind not in MOMENTS and high - low > 1_000 * max(1.0, nearest)


def _equal(low: float, high: float, kind: str, count: int) -> tuple[float, ...]:
    if kind != "float":  # whole edges: every cell holds as many numbers, or one more
        first, span = int(low), int(high) - int(low) + 1
        count = min(count, span)
        return tuple(first - (-span * i // count) for i in range(count + 1))
    scale = 2.0**-10 if math.isinf((high - low) * count) else 1.0  # exact, and more than `count`
    return (*(low + (high - low) * scale * i / count / scale for i in range(count)), high)


def _given(low: float, high: float, kind: str, edges: Sequence[object]) -> tuple[float, ...]:
    if kind in MOMENTS:
        found = [step_of(_of_type("bins", edge, kind), kind) for edge in edges]
    else:
        found = [parameters.real("bins", edge) for edge in edges]
    if len(found) < 2 or any(a >= b for a, b in pairwise(found)):
        raise BadParameter("bins must be edges in increasing order", fix="[0, 18, 65, 125]")
    if found[0] > low or found[-1] < high:
        raise BadParameter(
            "bins must cover the bounds"
            + ("" if kind in MOMENTS else f", {float(low):g} to {float(high):g}"),
            why="what lies outside would be counted in the outermost bins",
        )
    return tuple(found)


def _half_octaves(low: float, high: float, kind: str) -> tuple[float, ...]:
    """low, powers of √2 and their negatives in between, high; whole numbers rounded up."""
    if kind in MOMENTS:
        raise BadParameter(f"a {kind} has no half-octaves", fix="bins=20, or a list of edges")
    largest = max(abs(low), abs(high))
    if kind == "float":
        top = math.frexp(largest)[1]
        powers = [_power(k) for k in range(2 * (top - _OCTAVES), 2 * top + 1)]
        inner = {edge for p in powers for edge in (-p, p) if low < edge < high}
        return (low, *sorted(inner), high)
    roots = [math.isqrt(1 << k) + k % 2 for k in range(2 * int(largest).bit_length())]
    whole = {edge for r in roots for edge in (1 - r, r) if low < edge <= high}
    return cast("tuple[float, ...]", (low, *sorted(whole), high + 1))


def _power(halves: int) -> float:
    """2 to so many halves."""
    return math.ldexp(math.sqrt(2) if halves % 2 else 1.0, halves // 2)
