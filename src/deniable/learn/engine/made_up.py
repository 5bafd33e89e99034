"""A user's function of rows is tried on made-up rows before anything is spent.

Clipping bounds what one row adds, whatever the function returns. What clipping cannot enforce is
that a row's results depend on that row alone: a function that centers the rows of its batch passes
one row's influence on to all others. So it is called on made-up rows first, together and one by
one, and refused where the results differ. That finds mistakes, not malice: a function could treat
the made-up rows differently.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import BadParameter
from deniable.sampling import PublicRandom

from .spaces import Floats

Results = Callable[[Floats, Floats], tuple[Floats, ...]]
"""From rows and their targets to results, each with one entry or line per row."""


def check_by_row(results: Results, *, what: str, columns: int, fix: str) -> None:
    """Refuse what fails or mixes rows, by made-up rows alone: free, and blind to the data."""
    generator = PublicRandom(15).generator
    count = 7 if columns != 7 else 8  # so that rows and columns cannot be confused
    rows = generator.normal(size=(count, columns))
    targets = (np.arange(count) % 2).astype(np.float64)
    together = _tried(results, rows, targets, what=what, fix=fix)
    for i in range(count):
        alone = _tried(results, rows[i : i + 1], targets[i : i + 1], what=what, fix=fix)
        for one, all_ in zip(alone, together, strict=True):
            if not np.allclose(one[0], all_[i], rtol=1e-6, atol=1e-9, equal_nan=True):
                raise BadParameter(
                    f"the {what} gives a row another result when other rows are beside it",
                    why="one row could then move the results of all, and the noise covers one row",
                    fix="compute each row's result from the parameters and that row alone",
                )


def _tried(
    results: Results, rows: Floats, targets: Floats, *, what: str, fix: str
) -> tuple[Floats, ...]:
    try:
        with np.errstate(all="ignore"):
            return results(unchangeable(rows), unchangeable(targets))
    except Exception as cause:
        raise BadParameter(
            f"the {what} fails on made-up rows: {type(cause).__name__}: {cause}",
            why=f"it was called with {len(rows)} rows of {rows.shape[1]} columns and targets 0 and "
            "1; a function that fails on some rows would stop the session on yours",
            fix=fix,
        ) from cause


def unchangeable(array: NDArray[Any]) -> NDArray[Any]:
    """The same numbers, in an array that nobody can write to."""
    seen = array.view()
    seen.flags.writeable = False
    return seen


def numbers(given: object, *shapes: tuple[int, ...]) -> Floats:
    """What a function returned as floats of the first shape; any of the shapes is allowed."""
    array: NDArray[Any] = np.asarray(given)
    if array.shape not in shapes or array.dtype.kind not in "fiub":
        allowed = " or ".join(str(shape) for shape in shapes)
        raise ValueError(
            f"it must return numbers in the shape {allowed}, and one result has the shape "
            f"{array.shape} and the type {array.dtype}"
        )
    return array.reshape(shapes[0]).astype(np.float64)
