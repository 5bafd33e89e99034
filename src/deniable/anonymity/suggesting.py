"""A hierarchy for a column that came without one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from deniable import parameters

from .hierarchies import Ladder, dates, digits, doubling, single
from .tables import Coded, arrow, check_columns, encoded, numbers

# Ranges of numbers start at about this share of the span, and double.
_FINEST = 1 / 32


@parameters.called('anonymity.suggest(table, quasi=["age", "zip"])')
def suggest(table: object, *, quasi: Sequence[str] | None = None) -> Mapping[str, Ladder]:
    """A hierarchy for each column, from its type and values.

    Dates by month, year and decade; numbers by ranges that double; codes of one length that begin
    with a digit, from the right; all else in one step. Categories deserve better: see `tree`.

    >>> import deniable as dp
    >>> ladders = suggest(dp.load_adult(), quasi=["age", "sex"])
    >>> ladders["age"](37)
    ['[36, 38)', '[36, 40)', '[32, 40)', '[32, 48)', '[32, 64)']
    """
    read = arrow(table)
    names = check_columns(quasi or read.column_names, read.column_names, what="quasi")
    return {name: suggested(encoded(read, name)) for name in names}


def suggested(column: Coded) -> Ladder:
    """A hierarchy for one column."""
    import pyarrow as pa

    kind = column.values.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return dates()
    if column.ordered:
        return _doubling(column)
    texts = [str(value) for value in column.values.to_pylist() if value is not None]
    lengths = {len(text) for text in texts}
    if len(lengths) == 1 and max(lengths) > 1 and all(text[0].isdigit() for text in texts):
        return digits()
    return single()


def _doubling(column: Coded) -> Ladder:
    known = numbers(column.values)
    known = known[[math.isfinite(value) for value in known]]
    span = float(known.max() - known.min()) if known.size else 0.0
    if not span:
        return single()
    width = 2.0 ** math.floor(math.log2(span * _FINEST))
    if all(value == math.floor(value) for value in known):
        width = max(2.0, width)
    return doubling(width, steps=max(1, round(math.log2(span / width))))
