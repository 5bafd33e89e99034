"""Any table as columns of small integers: what the attacks on rows work on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.anonymity.tables import arrow, grouped, joined
from deniable.errors import BadParameter, UnknownName
from deniable.forms import is_missing

Array = NDArray[Any]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def columns_of(table: object, names: Sequence[str] | None = None) -> dict[str, Array]:
    """The named columns (or all) of a frame, a DuckDB relation, a file or a dictionary.

    >>> columns_of({"age": [39, 50], "sex": ["m", "f"]}, ["age"])
    {'age': array([39, 50])}
    """
    frame: Any = table
    if isinstance(table, Mapping):
        known = [str(name) for name in table]
    elif type(table).__module__.startswith(("pandas.", "polars.")):
        known = [str(name) for name in frame.columns]
    else:
        frame = arrow(table)
        known = list(frame.column_names)
    chosen = known if names is None else list(names)
    for name in chosen:
        if name not in known:
            raise UnknownName.of("column", name, known=known)
    columns = {name: _array(frame[name]) for name in chosen}
    if len({len(values) for values in columns.values()}) > 1:
        raise BadParameter("the columns of a table have one length")
    return columns


def frame_of(table: object) -> object:
    """The table as a frame: a dictionary and a file as PyArrow, frames as they are."""
    if isinstance(table, Mapping):
        import pyarrow as pa

        return pa.table(dict(table))
    return table if type(table).__module__.startswith(("pandas.", "polars.")) else arrow(table)


def _array(values: Any) -> Array:
    array = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    return array if array.ndim == 1 else np.asarray(list(values), dtype=object)


def codes(*columns: Array) -> tuple[list[Integers], list[object]]:
    """The same value has the same number in all the columns; and the value of each number.

    >>> codes(np.array(["b", "a", "b"]))
    ([array([0, 1, 0])], ['b', 'a'])
    """
    if all(column.dtype.kind in "iufMmb" for column in columns):
        values, places = np.unique(np.concatenate(columns), return_inverse=True)
        ends = np.cumsum([len(column) for column in columns])[:-1]
        return [part.astype(np.int64) for part in np.split(places, ends)], values.tolist()
    seen: dict[object, int] = {}
    coded = []
    for column in columns:
        # A missing value is a value like another: NaN equals NaN here.
        listed = (None if is_missing(value) else value for value in column.tolist())
        numbers = (seen.setdefault(value, len(seen)) for value in listed)
        coded.append(np.fromiter(numbers, dtype=np.int64, count=len(column)))
    return coded, list(seen)


def one_code(columns: Sequence[Array]) -> Integers:
    """Rows that agree in all the columns share a number from 0 up."""
    coded = [(numbers, max(1, len(levels))) for (numbers,), levels in map(codes, columns)]
    return grouped(*joined(coded))[1]


def commonest(groups: Integers, values: Integers, *, size: int) -> Integers:
    """The commonest value of each of `size` groups, the least of several; 0 in an empty group.

    >>> commonest(np.array([0, 0, 0, 2, 2]), np.array([7, 5, 7, 4, 3]), size=3).tolist()
    [7, 0, 3]
    """
    number = int(values.max(initial=0)) + 1
    pairs, times = np.unique(groups * number + values, return_counts=True)
    pairs = pairs[np.lexsort((-pairs, times))]  # the last of a group stays
    found = np.zeros(size, dtype=np.int64)
    found[pairs // number] = pairs % number
    return found


def row_count(columns: Mapping[str, Array]) -> int:
    """How many rows there are."""
    return len(next(iter(columns.values()))) if columns else 0


def persons(table: object, unit: str | None, size: int) -> Integers:
    """Whose each row is, as numbers from 0; without a unit every row is a person.

    >>> persons({"id": ["x", "y", "x"]}, "id", 3).tolist(), persons({}, None, 2).tolist()
    ([0, 1, 0], [0, 1])
    """
    if unit is None:
        return np.arange(size)
    return codes(columns_of(table, [unit])[unit])[0][0]


def crowds(classes: Integers, whose: Integers) -> tuple[Integers, int]:
    """How many different people are in each class, and how many people are alone in some class.

    >>> sizes, alone = crowds(np.array([0, 0, 1, 1]), np.array([5, 5, 5, 6]))
    >>> sizes.tolist(), alone
    ([1, 2], 1)
    """
    number = int(whose.max(initial=0)) + 1
    pairs = np.unique(classes * number + whose)
    sizes = np.bincount(pairs // number).astype(np.int64)
    alone = pairs[sizes[pairs // number] == 1] % number
    return sizes, int(np.unique(alone).size)
