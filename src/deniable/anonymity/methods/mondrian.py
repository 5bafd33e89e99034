"""Local recoding: cut the table into boxes, each as small as k allows [LDR06].

The columns are the axes of a space in which rows are points. A box is cut in two along its longest
axis, as near to the middle as possible, as long as both halves meet the demands. All boxes of a
generation are cut at once, so the work is a few sorts for each generation.

Guaranteed: every class meets the demands, and no class could be cut further along any axis at its
most even cut. Not guaranteed: the least loss. Finding that is NP-hard [MW04]; for multidimensional
cuts too [LDR06].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deniable.anonymity.checking import paired
from deniable.anonymity.demands import Demands
from deniable.anonymity.diversity import Floats
from deniable.anonymity.hierarchies import Rungs
from deniable.anonymity.tables import Coded, Codes


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A column laid out on a line: where each value stands, and which cuts are natural.

    Ordered columns stand by their value, others by their place in the hierarchy, so that each group
    is a stretch. `heights[r]` tells how high the hierarchy separates ranks r and r + 1: a cut
    between large groups is preferred to one within a small group.
    """

    column: Coded = field(repr=False)
    ranks: Codes = field(repr=False)
    places: Floats = field(repr=False)
    heights: Codes = field(repr=False)
    rungs: Rungs | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Points:
    """Rows, or groups of equal rows: their ranks on each axis, how many, and what is sensitive.

    With `people`, the person of each point, k counts people and points are single rows.
    """

    ranks: NDArray[np.int64] = field(repr=False)
    counts: Codes = field(repr=False)
    values: Codes = field(repr=False)
    size: int
    ordered: bool = False
    tree: tuple[Codes, ...] = ()
    people: Codes | None = field(default=None, repr=False)


def axis(column: Coded, rungs: Rungs | None) -> Axis:
    """Lay out one column; the hierarchy counts only where values have no order of their own."""
    count = column.size
    if column.ordered:
        return Axis(
            column=column,
            ranks=np.arange(count),
            places=_places(column.numbers()),
            heights=np.zeros(max(0, count - 1), np.int64),
        )
    maps = [np.arange(count)] if rungs is None else list(rungs.maps)
    order = np.lexsort(maps)
    ranks = np.empty(count, np.int64)
    ranks[order] = np.arange(count)
    heights = np.zeros(max(0, count - 1), np.int64)
    for level, where in enumerate(maps):
        heights[np.diff(where[order]) != 0] = level
    return Axis(
        column=column,
        ranks=ranks,
        places=np.arange(count) / max(1, count - 1),
        heights=heights,
        rungs=rungs,
    )


def boxes(points: Points, axes: Sequence[Axis], demands: Demands, *, strict: bool) -> Codes:
    """The box of each point.

    Strict: rows that agree on the axis stay together. Relaxed: rows at the cut itself may go to
    either side, so the halves are even; points must then be single rows.
    """
    box = np.zeros(points.counts.size, np.int64)
    live = np.arange(points.counts.size)
    tried = np.zeros((1, len(axes)), bool)
    used = 1
    while live.size:
        names, local = np.unique(box[live], return_inverse=True)
        lengths = _lengths(points.ranks[:, live], axes, local, names.size)
        lengths[tried] = -1
        chosen = lengths.argmax(axis=1)
        going = lengths[np.arange(names.size), chosen] > 0
        right, cut = _cuts(
            points, axes, demands, live=live, local=local, chosen=chosen, strict=strict
        )
        cut &= going
        tried[np.arange(names.size), chosen] = True
        tried[cut] = False
        fresh = np.where(cut, used + np.cumsum(cut) - 1, names)
        used += int(cut.sum())
        box[live] = np.where(right & cut[local], fresh[local], names[local])
        live = live[going[local]]
        # The boxes that go on, in the order of their numbers: the old ones, then the new.
        tried = np.vstack([tried[going], tried[cut]])
    return np.unique(box, return_inverse=True)[1].astype(np.int64)


def _places(numbers: Floats) -> Floats:
    """Numbers from 0 to 1; infinite ones, NaN and NULL stand apart, a whole span away."""
    known = numbers[np.isfinite(numbers)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    places = (numbers - low) / (high - low or 1.0)
    apart = np.where(numbers == -np.inf, -1.0, 2.0 + np.arange(numbers.size) / numbers.size)
    return np.where(np.isfinite(numbers), places, apart)


def _lengths(ranks: Codes, axes: Sequence[Axis], local: Codes, boxes: int) -> Floats:
    """How long each box is on each axis, as a share of the whole."""
    order = np.argsort(local, kind="stable")
    starts = np.flatnonzero(np.diff(local[order], prepend=-1))
    lengths = np.empty((boxes, len(axes)))
    for i, line in enumerate(axes):
        placed = ranks[i][order]
        low, high = np.minimum.reduceat(placed, starts), np.maximum.reduceat(placed, starts)
        lengths[:, i] = line.places[high] - line.places[low]
        if line.rungs is None and not line.column.ordered:
            # A set of values is as long as it has members, wherever they stand.
            size = line.column.size
            members = np.bincount(np.unique(local * size + ranks[i]) // size, minlength=boxes)
            lengths[:, i] = (members - 1) / max(1, size - 1)
    return lengths


def _cuts(
    points: Points,
    axes: Sequence[Axis],
    demands: Demands,
    *,
    live: Codes,
    local: Codes,
    chosen: Codes,
    strict: bool,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which points go right if their box is cut, and which boxes can be cut on the chosen axis."""
    rank = points.ranks[chosen[local], live]
    widest = int(rank.max(initial=0)) + 1
    order = np.argsort(local * widest + rank, kind="stable")
    ranked, where, counts = rank[order], local[order], points.counts[live][order]
    total = np.bincount(local, points.counts[live], chosen.size).astype(np.int64)
    if points.people is None:
        left = _within(counts, where)
        even = np.minimum(left, total[where] - left)
    else:
        even = _people_beside(points.people[live][order], where)
    inside = np.append(where[1:] == where[:-1], False)
    if strict:
        inside &= np.append(ranked[1:] != ranked[:-1], False)
    heights = np.zeros(order.size, np.int64)
    for i, line in enumerate(axes):
        if line.heights.any():
            mine = np.flatnonzero((chosen[where] == i) & inside)
            heights[mine] = _highest(line.heights, ranked[mine], ranked[mine + 1])
    score = np.where(inside & (even >= demands.k), even + heights * (int(total.max()) + 1), -1)
    starts = np.flatnonzero(np.diff(where, prepend=-1))
    best = np.maximum.reduceat(score, starts)
    first = np.full(chosen.size, order.size)
    at = np.flatnonzero(score == best[where])
    np.minimum.at(first, where[at], at)
    right = np.empty(order.size, bool)
    right[order] = np.arange(order.size) > first[where]
    cut = best >= 0
    if demands.l is not None or demands.t is not None:
        cut &= _halves_pass(points, demands, live, local * 2 + right, chosen.size)
    return right, cut


def _within(counts: Codes, where: Codes) -> Codes:
    """The running sum within each box, of points in the order of their boxes."""
    total = np.bincount(where, counts).astype(np.int64)
    return np.asarray(np.cumsum(counts) - np.concatenate(([0], np.cumsum(total)))[where])


def _people_beside(whose: Codes, where: Codes) -> Codes:
    """At a cut after each point of a box: the people on the side that has fewer of them.

    Someone with rows on both sides is in both halves. On the left are the people who have had their
    first row, on the right those who have not had their last.
    """
    key = where * (int(whose.max(initial=0)) + 1) + whose
    first, last = np.zeros((2, key.size), np.int64)
    first[np.unique(key, return_index=True)[1]] = 1
    last[key.size - 1 - np.unique(key[::-1], return_index=True)[1]] = 1
    people = np.bincount(where, first).astype(np.int64)
    left, right = _within(first, where), people[where] - _within(last, where)
    return np.asarray(np.minimum(left, right))


def _highest(heights: Codes, low: Codes, high: Codes) -> Codes:
    """The highest separation between two ranks (the largest of heights[low:high])."""
    if not low.size:
        return low
    ends = np.stack([low, np.maximum(high, low + 1)], axis=1).ravel()
    padded = np.append(heights, (0, 0))
    return np.where(high > low, np.maximum.reduceat(padded, ends)[::2], 0)


def _halves_pass(
    points: Points, demands: Demands, live: Codes, half: Codes, boxes: int
) -> NDArray[np.bool_]:
    """Whether both halves of each box meet all demands; t against the whole table."""
    names, local = np.unique(half, return_inverse=True)
    counts = points.counts[live]
    pairs = paired(local, points.values[live], counts, size=points.size)
    sizes = np.bincount(local, counts).astype(np.int64)
    overall = np.bincount(points.values, points.counts, points.size) / points.counts.sum()
    bad = demands.broken(sizes, pairs, ordered=points.ordered, tree=points.tree, overall=overall)
    passing = np.ones(boxes, bool)
    passing[names[bad] // 2] = False
    return passing
