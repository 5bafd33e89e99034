"""Rows of a model, drawn clique by clique from the root, and as evenly as their number allows.

Rows with equal cells in a separator are one group. Within a group of m rows, the row of rank r
takes the quantile (r + U)/m of what its clique adds, with one uniform U per group: each cell gets
its expected number of rows, rounded up or down.

Which row has which rank decides how the new columns go with those drawn before, of which they are
independent given the separator. If ranks followed the rows' order they would be tied together; if
ranks were shuffled, combinations would be as uneven as those of independent draws. So rows that are
alike are put beside each other, and the i-th has the rank of the fractional part of V + i·α among
those of its group: a Kronecker sequence, every run of which is spread evenly over [0, 1) if α is as
far from fractions as the golden ratio is [Nie92]. So every kind of row gets its share of the
new cells, up to a few rows. Each clique has an α of its own: two that took the same one would find
many columns' rows in the same order, and tie their columns together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from deniable.sampling.public import PublicRandom

from .junction import Clique
from .model import Model
from .unfolded import Fold, Unfolded

Integers = NDArray[np.int64]
_DIGITS: Final = 40  # of a continued fraction: more change nothing in a float


def drawn_rows(model: Model | Unfolded, count: int, *, random: PublicRandom) -> Integers:
    """A row of cells for each of `count` rows, a column for each column of the model."""
    if isinstance(model, Unfolded):
        rows: Integers = drawn_rows(model.folded, count, random=random)
        for a, fold in enumerate(model.folds):
            if fold is not None:
                others = [b for b in range(rows.shape[1]) if b != a]
                like = _likeness(rows, others, model.sizes)
                rows[:, a] = _unfolded(rows[:, a], fold, like, random)
        return rows
    tree = model.tree
    rows = np.zeros((count, len(tree.sizes)), dtype=np.int64)
    places: list[tuple[int, Clique]] = [(0, ()), *((e.child, e.separator) for e in tree.edges)]
    drawn: set[int] = set()
    for at, known in places:
        like = _likeness(rows, drawn.difference(known), tree.sizes)
        _extend(rows, model, at, known, like=like, random=random)
        drawn.update(tree.cliques[at])
    return rows[random.generator.permutation(count)]


def _likeness(rows: Integers, columns: Iterable[int], sizes: Sequence[int]) -> Integers:
    """A number by which rows that are alike in these columns lie beside each other.

    Columns with few cells come first: they make long runs of rows. Those that would no longer fit
    into 62 bits are left out.
    """
    like, room = np.zeros(len(rows), dtype=np.int64), 2**62
    for a in sorted(columns, key=lambda a: (sizes[a], a)):
        room //= sizes[a]
        if not room:
            break
        like = like * sizes[a] + rows[:, a]
    return like


def _unfolded(groups: Integers, fold: Fold, like: Integers, random: PublicRandom) -> Integers:
    """A cell of its group for each row, by the cells' shares."""
    order = fold.partition.order
    inside, shares = fold.partition.group[order], fold.shares[order]
    sums = np.cumsum(shares)
    first = np.searchsorted(inside, np.arange(fold.partition.count))
    ends = inside + np.minimum(sums - (sums - shares)[first][inside], 1.0)
    # What rounding leaves over belongs to the last cell that is possible.
    last = np.maximum.reduceat(np.where(shares > 0, np.arange(len(shares)), 0), first)
    ends = np.where(np.arange(len(shares)) >= last[inside], inside + 1.0, ends)
    even = _even(groups, fold.partition.count, like, random)
    found: Integers = order[np.searchsorted(ends, groups + even, side="right")]
    return found


def _extend(
    rows: Integers, model: Model, at: int, known: Clique, *, like: Integers, random: PublicRandom
) -> None:
    """Draw the columns of one clique that are not known yet, given those that are."""
    tree, count = model.tree, len(rows)
    clique = tree.cliques[at]
    new = tuple(a for a in clique if a not in known)
    if not new or not count:
        return
    order = [clique.index(a) for a in known + new]
    groups = math.prod(tree.sizes[a] for a in known)
    table = model.tables[at].transpose(order).reshape(groups, -1)
    group = np.zeros(count, dtype=np.int64)
    for a in known:
        group = group * tree.sizes[a] + rows[:, a]
    shares = _even(group, groups, like, random)
    ends = np.cumsum(table, axis=1)
    ends /= np.where(ends[:, -1:] > 0, ends[:, -1:], 1.0)
    # One search for all: the quantiles of group g lie in [g, g + 1).
    ends += np.arange(groups)[:, None]
    # What rounding leaves over belongs to the last cell that is possible.
    last = table.shape[1] - 1 - np.argmax(table[:, ::-1] > 0, axis=1)
    later = np.arange(table.shape[1]) >= last[:, None]
    ends = np.where(later, np.arange(1.0, groups + 1)[:, None], ends)
    found = np.searchsorted(ends.ravel(), group + shares, side="right")
    cell = np.clip(found - group * table.shape[1], 0, last[group])
    for a in reversed(new):
        cell, rows[:, a] = np.divmod(cell, tree.sizes[a])


def _even(
    group: Integers, groups: int, like: Integers, random: PublicRandom
) -> NDArray[np.float64]:
    """(rank + U)/m for each row of a group of m; ranks of rows that are alike are spread evenly."""
    count = len(group)
    shuffled = random.generator.permutation(count)  # decides between rows that are all alike
    order = shuffled[np.lexsort((like[shuffled], group[shuffled]))]
    held = group[order]
    sizes = np.bincount(group, minlength=groups)
    starts = np.cumsum(sizes) - sizes
    place = np.arange(count) - starts[held]
    spread = (random.generator.random(groups)[held] + place * _slope(random)) % 1.0
    ranked = np.lexsort((spread, held))  # group by group, as `place` is
    rank = np.empty(count, dtype=np.int64)
    rank[order[ranked]] = place
    uniform = random.generator.random(groups)[group]
    shares: NDArray[np.float64] = (rank + uniform) / sizes[group]
    return np.minimum(shares, np.nextafter(1.0, 0.0))


def _slope(random: PublicRandom) -> float:
    """An α whose continued fraction is of ones and twos, so no fraction p/q is within 1/4q² of it.

    Two of them are, but for chance, in no whole-number relation: (i·α, i·α′) fill the square.
    """
    value = 0.0
    for digit in random.generator.integers(1, 3, _DIGITS).tolist():
        value = 1 / (digit + value)
    return value
