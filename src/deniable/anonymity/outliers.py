"""Top and bottom coding: outliers said as "this much or more"."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from deniable.errors import BadParameter
from deniable.parameters import real

from .tables import Frame, arrow, check_columns, rebuilt


def clip(table: object, *, bounds: Mapping[str, tuple[float, float]]) -> Frame:
    """Set values outside their column's bounds to the nearer bound; NULL stays NULL.

    Bounds that are not taken from the table tell nothing about it.

    >>> import deniable as dp
    >>> ages = clip(dp.load_adult(), bounds={"age": (20, 70)})["age"].to_pylist()
    >>> min(ages), max(ages)
    (20, 70)
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, (low, high) in bounds.items():
        if real(f"bounds[{name!r}]", low) > real(f"bounds[{name!r}]", high):
            raise BadParameter.of(f"bounds[{name!r}]", (low, high), must="a low and a high number")
    read = arrow(table)
    changes = {}
    for name in check_columns(list(bounds), read.column_names, what="bounds"):
        column = read[name].combine_chunks()
        if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            raise BadParameter(f"`{name}` does not hold numbers, so it cannot be clipped")
        low, high = bounds[name]
        whole = float(low).is_integer() and float(high).is_integer()
        kind = column.type if whole or pa.types.is_floating(column.type) else pa.float64()
        number = int if pa.types.is_integer(kind) else float
        values = column.cast(kind)
        values = pc.if_else(pc.less(values, low), pa.scalar(number(low), kind), values)
        changes[name] = pc.if_else(pc.greater(values, high), pa.scalar(number(high), kind), values)
    return rebuilt(table, read, changes, np.arange(read.num_rows))
