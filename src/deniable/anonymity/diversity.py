"""How much a class tells about its members' sensitive value: ℓ-diversity, t-closeness and others.

A histogram is kept sparsely: for each pair of a class and a value that occurs in it, the number of
rows. Pairs come sorted by class, then by value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .tables import Codes

Floats = NDArray[np.float64]

# Dense tables of classes × values are made a block at a time.
_BLOCK = 1 << 22


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """For each class and value that occurs in it, how many rows; sorted by class, then value."""

    classes: Codes = field(repr=False)
    values: Codes = field(repr=False)
    counts: Codes = field(repr=False)
    size: int

    @property
    def starts(self) -> Codes:
        """Where each class begins."""
        return np.flatnonzero(np.diff(self.classes, prepend=-1))

    def overall(self) -> Floats:
        """The distribution of values in the whole table."""
        total = np.bincount(self.values, self.counts, self.size)
        return np.asarray(total / total.sum())

    def kept(self, classes: NDArray[np.bool_]) -> Pairs:
        """Only the classes marked, numbered anew."""
        keep = classes[self.classes]
        names = np.cumsum(classes) - 1
        return Pairs(
            classes=names[self.classes[keep]],
            values=self.values[keep],
            counts=self.counts[keep],
            size=self.size,
        )


def distinct(pairs: Pairs) -> Codes:
    """How many different values each class holds [MKGV07]."""
    return np.diff(pairs.starts, append=pairs.classes.size)


def entropy(pairs: Pairs) -> Floats:
    """e to the entropy of each class: entropy ℓ-diversity holds for this ℓ [MKGV07, Def 4.1]."""
    starts = pairs.starts
    sizes = np.add.reduceat(pairs.counts, starts).astype(float)
    inner = np.add.reduceat(pairs.counts * np.log(pairs.counts), starts)
    return np.asarray(np.exp(np.log(sizes) - inner / sizes))


def recursive(pairs: Pairs, *, l: int) -> Floats:
    """r₁ / (r_ℓ + … + r_m) for each class, r₁ ≥ r₂ ≥ … its counts; infinite if m < ℓ.

    Recursive (c, ℓ)-diversity [MKGV07, Def 4.2] holds for every c above this number.
    """
    order, rank = ranked(pairs)
    counts, starts = pairs.counts[order], pairs.starts
    tails = np.add.reduceat(np.where(rank >= l - 1, counts, 0), starts)
    with np.errstate(divide="ignore"):
        return np.asarray(counts[starts] / tails)


def ranked(pairs: Pairs) -> tuple[Codes, Codes]:
    """The pairs of each class by falling count: their places, and each one's rank in its class."""
    order = np.lexsort((-pairs.counts, pairs.classes))
    return order, np.arange(order.size) - np.repeat(pairs.starts, distinct(pairs))


def likeness(pairs: Pairs) -> Floats:
    """The largest relative gain (q − p)/p of a value in each class [CK12].

    q is the value's share in the class, p its share in the whole table. Basic β-likeness holds for
    every β of at least this.
    """
    return np.maximum(np.maximum.reduceat(_gains(pairs), pairs.starts), 0.0)


def enhanced_likeness(pairs: Pairs) -> Floats:
    """The least β with which a class has enhanced β-likeness; ∞ if there is none [CK12].

    The gain of a value of share p is limited by min(β, −ln p), so that no class reveals a common
    value. Where a gain exceeds −ln p, no β helps.
    """
    gains = _gains(pairs)
    cap = -np.log(pairs.overall()[pairs.values])
    allowed = (gains <= 0) | (gains <= cap * (1 + 1e-12))
    worst: Floats = np.maximum.reduceat(np.where(allowed, gains, np.inf), pairs.starts)
    return np.maximum(worst, 0.0)


def disclosure(pairs: Pairs) -> Floats:
    """The largest |ln(q/p)| over *all* values of the table, for each class [BS08].

    A value that the class does not contain has q = 0: its absence is learned with certainty, and
    the distance is infinite. δ-disclosure privacy holds for every δ above this.
    """
    far = np.abs(np.log1p(_gains(pairs)))
    worst: Floats = np.maximum.reduceat(far, pairs.starts)
    values = np.count_nonzero(pairs.overall())
    return np.where(distinct(pairs) == values, worst, np.inf)


def _gains(pairs: Pairs) -> Floats:
    return _shares(pairs) / pairs.overall()[pairs.values] - 1


def distance(
    pairs: Pairs,
    *,
    ordered: bool = False,
    tree: Sequence[Codes] = (),
    overall: Floats | None = None,
) -> Floats:
    """Earth mover's distance of each class from the whole table [LLV07].

    Ordered values: moving by one rank costs 1/(m − 1). A tree (for each level above the leaves, the
    node over each value): moving costs the level of the lowest common ancestor, over the height.
    Otherwise all values are equally far, and this is the total variation distance.
    """
    whole = pairs.overall() if overall is None else overall
    if pairs.size == 1:
        return np.zeros(pairs.starts.size)
    if tree:
        return _by_tree(pairs, whole, tree)
    return _by_rank(pairs, whole) if ordered else _equal(pairs, whole)


def _equal(pairs: Pairs, whole: Floats) -> Floats:
    """½ Σ |p − q|; values that do not occur in the class contribute q."""
    expected = whole[pairs.values]
    gap = np.add.reduceat(np.abs(_shares(pairs) - expected) - expected, pairs.starts)
    return np.maximum((gap + 1.0) / 2, 0.0)


def _by_rank(pairs: Pairs, whole: Floats) -> Floats:
    """Σ over ranks of |P − Q|, P and Q cumulative, over m − 1.

    Between two values that occur in the class P is constant and Q increasing: the sum over such a
    stretch follows from prefix sums of Q and the rank where Q passes P. Values that do not occur
    in the whole table have no rank.
    """
    occurs = whole > 0
    ranks, whole = np.cumsum(occurs) - 1, whole[occurs]
    m, starts = whole.size, pairs.starts
    below = np.cumsum(_shares(pairs))
    classes = np.cumsum(np.diff(pairs.classes, prepend=-1) > 0) - 1
    level = below - np.concatenate(([0.0], below))[starts][classes]
    first = ranks[pairs.values]
    ends = np.append(first[1:], m)
    ends[np.append(starts[1:], first.size) - 1] = m
    cumulative = np.cumsum(whole)
    prefix = np.concatenate(([0.0], np.cumsum(cumulative)))
    cross = np.clip(np.searchsorted(cumulative, level), first, ends)
    low = level * (cross - first) - (prefix[cross] - prefix[first])
    high = (prefix[ends] - prefix[cross]) - level * (ends - cross)
    before = prefix[first[starts]]
    far: Floats = (np.add.reduceat(low + high, starts) + before) / max(1, m - 1)
    return np.maximum(far, 0.0)


def _by_tree(pairs: Pairs, whole: Floats, tree: Sequence[Codes]) -> Floats:
    """At each inner node, what its children can exchange: min(surplus, lack) × height.

    Nodes are taken from the leaves up; what a node cannot even out below it, it hands on.
    """
    classes = pairs.starts.size
    step = max(1, _BLOCK // pairs.size)
    shares, found = _shares(pairs), np.zeros(classes)
    for low in range(0, classes, step):
        high = min(classes, low + step)
        here = (pairs.classes >= low) & (pairs.classes < high)
        extra = np.zeros((pairs.size, high - low))
        extra[pairs.values[here], pairs.classes[here] - low] = shares[here]
        extra -= whole[:, None]
        node = np.arange(pairs.size)
        for height, above in enumerate(tree, start=1):
            parent = np.zeros(int(node.max()) + 1, np.int64)
            parent[node] = above
            up, down = (np.zeros((int(above.max()) + 1, high - low)) for _ in range(2))
            np.add.at(up, parent, np.maximum(extra, 0))
            np.add.at(down, parent, np.maximum(-extra, 0))
            found[low:high] += np.minimum(up, down).sum(axis=0) * height / len(tree)
            extra, node = up - down, above
    return found


def _shares(pairs: Pairs) -> Floats:
    sizes = np.add.reduceat(pairs.counts, pairs.starts)
    return np.asarray(pairs.counts / np.repeat(sizes, distinct(pairs)))
