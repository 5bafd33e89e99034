"""A party's vector of whole numbers, read exactly and clipped; and sums that cannot be honest.

NumPy gives all numbers of a list, and all vectors that are stacked, one type. If that is float64,
numbers beyond 2⁵³ move, and neighbours that are 1 apart may end up 256 apart. So each vector is
read by itself, and each entry of a list by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import BadParameter, MessageRejected
from deniable.forms import read_whole

_WHOLE = (Integral, np.bool_)
KEY_SEES = "the sum counts as spent: whoever holds the key can read it"


def clipped(vector: ArrayLike, *, length: int, limit: int) -> NDArray[np.int64]:
    """The whole numbers of a vector of that length, clipped to ±limit.

    >>> clipped([2**60 + 127, 2**63, 0], length=3, limit=2**61).tolist()
    [1152921504606847103, 2305843009213693952, 0]
    """
    given = entries(vector)
    if len(given) != length:
        raise BadParameter(f"the vector must have {length:,} whole numbers")
    read = read_whole(given)
    return np.clip(read, -limit, limit, out=read)


def entries(vector: object) -> NDArray[Any]:
    """The entries of a vector; refused, by types alone, if it is not one of whole numbers.

    An array of NumPy has one type. The entries of a list, and of arrays in which one may be
    missing, have one each: `2.0` is refused like `2.5`, so that a refusal says nothing about
    values. Of a masked array NumPy would read what the mask hides.
    """
    found = _array(vector)
    kind = found.dtype.kind
    loose = found if kind == "O" else ()
    if kind not in "iubO" or not all(isinstance(entry, _WHOLE) for entry in loose):
        raise BadParameter(
            "vectors must be of whole numbers",
            why="rounding reals would change how far one unit moves the sum",
            fix=[
                "np.asarray(vector).astype(int)    (counts)",
                "np.rint(vector * 100).astype(int), and l1=100 in place of 1    (in hundredths)",
            ],
        )
    return found


def _array(vector: Any) -> NDArray[Any]:
    if isinstance(vector, Sequence) and not isinstance(vector, str | bytes):
        if not any(isinstance(entry, list | tuple | np.ndarray) for entry in vector):
            made = np.empty(len(vector), dtype=object)
            for place, entry in enumerate(vector):
                made[place] = entry
            return made
    elif hasattr(vector, "__array__") and not isinstance(vector, np.ma.MaskedArray):
        array = np.asarray(vector)
        if array.ndim == 1:
            return array
    raise BadParameter("a vector must be a list or a one-dimensional array of whole numbers")


def beyond(reach: int, *, cost: str = KEY_SEES) -> MessageRejected:
    """A sum that honest parties cannot have made, because it has a number beyond ±reach."""
    return MessageRejected(
        f"the sum lies beyond ±{reach:,}, where no honest sum can be",
        why="a party sent numbers outside the limit; nobody can tell which one",
        fix="pay for another round, without parties you do not trust",
        cost=cost,
    )
