"""Information loss: how much exactness a generalised table has given up. 0 nothing, 1 all of it.

    ncp             the span a label covers, over the span of its column [XWPWSF06]: for numbers and
                    dates largest minus smallest value, else number of values minus one; the mean
                    over rows and columns
    precision       the step over the number of steps [Swe02b]; the mean over rows and columns
    entropy         bits lost about the values, over the bits there were [GT09]
    discernibility  Σ |class|², suppressed rows counting as if all rows were like them; over n²
                    [BA05]
    average_class   rows over classes [LDR06]; over n

A suppressed row has lost everything. The first three are *additive*: the loss of a node is
Σᵢ mean_i(levelᵢ) + Σ over suppressed rows Σᵢ extra_i(levelᵢ) / n, and the first sum, which needs no
look at the classes, grows along every path up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from deniable.anonymity.diversity import Floats
from deniable.anonymity.hierarchies import Rungs
from deniable.anonymity.tables import Coded, Codes

ADDITIVE = ("ncp", "precision", "entropy")
LOSSES = (*ADDITIVE, "discernibility", "average_class")


@dataclass(frozen=True, kw_only=True)
class Costs:
    """One column's part of an additive loss, for each level.

    `means[level]` is the mean cost of a row; `extra[level][label]` what a row with this label costs
    more if it is suppressed instead.
    """

    means: Floats
    extra: tuple[Floats, ...] = field(repr=False)


def costs(loss: str, column: Coded, rungs: Rungs, weights: Codes, *, share: float) -> Costs:
    """What each level of a column costs; `weights` has the number of rows of each value."""
    if loss == "precision":
        height = max(1, rungs.height)
        steps = np.arange(rungs.height + 1) / height
        extra = [
            np.full(len(names), 1 - step) for names, step in zip(rungs.labels, steps, strict=True)
        ]
        means = steps
    elif loss == "entropy":
        means, extra = _entropy(rungs, weights)
    else:
        spans = [spread(column, where) for where in rungs.maps]
        rows = max(1, int(weights.sum()))
        means = np.array([weights @ s[m] / rows for s, m in zip(spans, rungs.maps, strict=True)])
        extra = [1 - span for span in spans]
    return Costs(means=share * means, extra=tuple(share * more for more in extra))


def spread(column: Coded, labels: Codes) -> Floats:
    """The share of the column's span that each label covers."""
    count = int(labels.max(initial=0)) + 1
    if not column.ordered:
        return (np.bincount(labels, minlength=count) - 1) / max(1, column.size - 1)
    values = column.numbers()
    known = np.isfinite(values)
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, labels[known], values[known])
    np.maximum.at(high, labels[known], values[known])
    whole = high.max(initial=-np.inf) - low.min(initial=np.inf)
    widths = np.where(high > low, high - low, 0.0) / whole if whole > 0 else np.zeros(count)
    # A label that hides whether the value is known at all has given up everything.
    mixed = np.bincount(labels, known, count) * np.bincount(labels, ~known, count) > 0
    return np.where(mixed, 1.0, widths)


def _entropy(rungs: Rungs, weights: Codes) -> tuple[Floats, list[Floats]]:
    """A row of value v under label u has lost log₂(rows of u / rows of v) bits."""
    rows = max(1, int(weights.sum()))
    bits = float(weights @ np.log2(rows / np.maximum(weights, 1))) or 1.0
    extra, means = [], []
    for where in rungs.maps:
        under = np.maximum(np.bincount(where, weights), 1)
        more = np.log2(rows / under) * rows / bits
        extra.append(more)
        means.append(float(weights @ np.log2(under[where] / np.maximum(weights, 1))) / bits)
    return np.array(means), extra


def class_loss(loss: str, kept: Codes, suppressed: int) -> float:
    """The loss that depends on the sizes of the classes alone."""
    rows = max(1, int(kept.sum()) + suppressed)
    if loss == "discernibility":
        squares = float(np.square(kept.astype(float)).sum())
        return (squares + float(suppressed) * rows) / float(rows) ** 2
    return 1 / max(1, kept.size + (suppressed > 0))


def total_cost(parts: Sequence[Costs], levels: Sequence[int]) -> float:
    """The additive loss of a node before suppression."""
    return float(sum(part.means[level] for part, level in zip(parts, levels, strict=True)))
