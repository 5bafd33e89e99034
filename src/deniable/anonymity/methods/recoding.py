"""What a box of rows is called, column by column, and what saying only that has lost."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from deniable.anonymity.diversity import Floats
from deniable.anonymity.hierarchies import ANYTHING, Rungs, text
from deniable.anonymity.tables import Coded, Codes

from .mondrian import Axis

BETWEEN = " | "


@dataclass(frozen=True, kw_only=True)
class Recoded:
    """One column's labels: the label of each box, the share of the span it covers, its rows."""

    labels: tuple[str | None, ...] = field(repr=False)
    plain: bool
    spans: Floats = field(repr=False)
    covered: Floats = field(repr=False)


def recoded(line: Axis, codes: Codes, box: Codes, weights: Codes) -> Recoded:
    """Name the boxes on one axis: a range, a node of the hierarchy, or a set of values.

    `codes` and `box` are those of the cells, `weights` the rows of each value of the column.
    """
    column, ranks = line.column, line.ranks[codes]
    order = np.argsort(box, kind="stable")
    starts = np.flatnonzero(np.diff(box[order], prepend=-1))
    low, high = (f.reduceat(ranks[order], starts) for f in (np.minimum, np.maximum))
    value = np.empty(column.size, np.int64)
    value[line.ranks] = np.arange(column.size)
    first, last = value[low], value[high]
    plain = bool((low == high).all())
    if column.ordered:
        return _ranges(column, first, last, line, weights, plain=plain)
    if line.rungs is not None:
        return _ancestors(line.rungs, first, last, weights, plain=plain)
    return _sets(column, codes, box, weights, plain=plain)


def _ranges(
    column: Coded, first: Codes, last: Codes, line: Axis, weights: Codes, *, plain: bool
) -> Recoded:
    texts = [text(value) for value in column.values.to_pylist()]
    ends = zip(first.tolist(), last.tolist(), strict=True)
    labels = [texts[a] if a == b else _range(texts[a], texts[b]) for a, b in ends]
    rows = np.concatenate(([0], np.cumsum(weights)))
    mixed = np.array([label == ANYTHING for label in labels], bool)
    return Recoded(
        labels=tuple(labels),
        plain=plain,
        spans=np.minimum(line.places[last] - line.places[first], 1.0),
        covered=np.where(mixed, rows[-1], rows[last + 1] - rows[first]).astype(float),
    )


def _range(low: str | None, high: str | None) -> str:
    """Nothing can be said of numbers and of missing ones at once."""
    missing = {None, "nan"} & {low, high}
    return ANYTHING if missing else f"[{low}, {high}]"


def _ancestors(rungs: Rungs, first: Codes, last: Codes, weights: Codes, *, plain: bool) -> Recoded:
    """The lowest node over both ends is over all between, since groups are stretches."""
    level = np.zeros(first.size, np.int64)
    for step, where in enumerate(rungs.maps[:-1], start=1):
        level[where[first] != where[last]] = step
    spans, covered = np.empty(first.size), np.empty(first.size)
    for step, where in enumerate(rungs.maps):
        here = level == step
        spans[here] = (np.bincount(where)[where[first[here]]] - 1) / max(1, where.size - 1)
        covered[here] = np.bincount(where, weights)[where[first[here]]]
    ends = zip(level.tolist(), first.tolist(), strict=True)
    labels = tuple(rungs.labels[step][int(rungs.maps[step][value])] for step, value in ends)
    return Recoded(labels=labels, plain=plain, spans=spans, covered=covered)


def _sets(column: Coded, codes: Codes, box: Codes, weights: Codes, *, plain: bool) -> Recoded:
    texts = ["NULL" if value is None else str(value) for value in column.values.to_pylist()]
    pairs = np.unique(box * column.size + codes)
    starts = np.flatnonzero(np.diff(pairs // column.size, prepend=-1))
    sizes = np.diff(starts, append=pairs.size)
    names = [texts[code] for code in (pairs % column.size).tolist()]
    labels: list[str | None] = []
    missing = column.values.null_count > 0
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        if size == 1 and missing and pairs[start] % column.size == column.size - 1:
            labels.append(None)
        elif size == 1 or size < column.size:
            labels.append(BETWEEN.join(names[start : start + size]))
        else:
            labels.append(ANYTHING)
    return Recoded(
        labels=tuple(labels),
        plain=plain,
        spans=(sizes - 1) / max(1, column.size - 1),
        covered=np.add.reduceat(weights[pairs % column.size], starts).astype(float),
    )
