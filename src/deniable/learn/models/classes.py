"""Public classes: which labels there are is stated, never read from data."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from deniable.errors import BadParameter, UnknownKeys


def listed(classes: Any, *, model: str) -> NDArray[Any]:
    """The classes in sorted order, as scikit-learn keeps them."""
    if classes is None:
        raise UnknownKeys(
            f"{model} needs the list of classes",
            why="a list read from the data would reveal that somebody has a rare label",
            fix=f"{model}(classes=[0, 1], ...)",
        )
    try:
        found = np.unique(np.asarray(classes))
    except TypeError:
        found = np.empty(0)
    if len(found) < 2 or len(found) != np.size(classes):
        raise BadParameter.of("classes", classes, must="two or more different labels")
    given = np.asarray(classes, dtype=object).tolist()
    if not any(all(isinstance(each, kind) for each in given) for kind in (_NUMBERS, str)):
        raise BadParameter.of("classes", classes, must="all numbers, or all texts")
    return found


def coded(labels: Sequence[object], classes: NDArray[Any]) -> NDArray[np.int64]:
    """The number of each label's class; −1 for a label that is not public.

    The classes alone decide how labels are read, each by itself: numbers equal numbers of the same
    value (1, 1.0 and True are one class), and texts equal texts.

    >>> coded([1, 1.0, True, "1", None, 0], np.array([0, 1])).tolist()
    [1, 1, 1, -1, -1, 0]
    """
    kind = str if classes.dtype.kind == "U" else _NUMBERS
    place = {each: i for i, each in enumerate(classes.tolist())}
    found = (place.get(each, -1) if isinstance(each, kind) else -1 for each in labels)
    return np.fromiter(found, dtype=np.int64, count=len(labels))


_NUMBERS: Final = (int, float, np.bool_, np.number, Decimal, Fraction)
