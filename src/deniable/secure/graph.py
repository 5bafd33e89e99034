"""Who masks with whom: everyone with everyone, or a sparse ring where that suffices.

Up to 64 parties are all neighbours of each other: that costs little, and then a coordinator that
lies can be found out (see `party`). More stand on a ring in the order of a hash of the round, each
a neighbour of the k nearest, as in Bell et al. [BBGLR20]. At most c parties collude with the
coordinator and d drop out. Somebody who knows the order may *choose* them, so nothing is left to
chance: k is the smallest even number of at least c + d + 1, and t = c + 1 shares tell a secret.

    not exposed   c colluders hold at most c of a party's shares, and c < t
    not cut off   the graph is k-connected [Har62] (to part two places of a ring, one must remove
                  k/2 in a row on each side), and k > c + d: the honest parties that stay are
                  connected by masks, so no sum over a part of them can be read
    not stuck     of k neighbours at least k − d ≥ t stay

A single neighbour never holds a secret by itself: c counts as 1 if it is 0. Where k would be n − 1
or more, everyone is everyone's neighbour. Then t = n − 1 − d, which the proof in `party` relies on.

*A sparser ring by chance.* If who colludes and who drops out does not depend on the order, which
is that of a hash of a fresh nonce, far fewer neighbours do, except with a small probability, which
`failing` bounds by the sum of three terms, each exact but for a union bound:

    exposed   n·P[X ≥ t] with X hypergeometric, the colluders among k of the n − 1 others
    stuck     n·P[Y > k − t] with Y hypergeometric, the drop-outs among k of the n − 1 others
    cut off   the honest parties that stay are parted if two of the g = n − c − d gaps between them
              hold k/2 or more of the r = c + d others: C(g, 2)·Π (r − i)/(r + g − 1 − i), i < k,
              because all ways to put r others into g gaps are equally likely

All three events become rarer with fewer colluders and drop-outs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import comb

from deniable.errors import BadParameter

EVERYONE = 64
"""Up to so many parties are all neighbours."""
DENSEST = 256
"""With as many neighbours, nothing is left to chance."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How many neighbours each party has, and how many of their shares tell its secrets."""

    degree: int
    threshold: int


def shape_of(*, parties: int, dropouts: int, colluding: int, chance: float | None = None) -> Shape:
    """Everyone with everyone if they are few, else the sparsest ring that keeps the promises.

    With a `chance` they may fail that often, over the order of the ring.

    >>> shape_of(parties=5, dropouts=1, colluding=1)
    Shape(degree=4, threshold=3)
    >>> shape_of(parties=1000, dropouts=50, colluding=50)
    Shape(degree=102, threshold=51)
    >>> shape_of(parties=1000, dropouts=50, colluding=50, chance=2**-40)
    Shape(degree=36, threshold=18)
    """
    full = Shape(degree=parties - 1, threshold=parties - 1 - dropouts)
    if full.threshold <= colluding:
        raise BadParameter(
            f"{parties} parties cannot tolerate dropouts={dropouts} with colluding={colluding}",
            why="if so many drop out, those who collude could read what a single party sent",
            fix="more parties: dropouts + colluding must be at most parties − 2",
        )
    sparse = ring(dropouts=dropouts, colluding=colluding)
    if parties <= EVERYONE or sparse.degree >= full.degree:
        return full
    if chance is None:
        return sparse
    return by_chance(parties, dropouts, colluding, chance, most=sparse.degree) or sparse


@lru_cache(maxsize=64)
def by_chance(
    parties: int, dropouts: int, colluding: int, chance: float, *, most: int
) -> Shape | None:
    """The sparsest ring that fails at most so often, if it has fewer neighbours than `most`."""
    facts = {"parties": parties, "dropouts": dropouts, "colluding": colluding}
    for degree in range(4, min(most, DENSEST), 2):
        for threshold in range(2, degree):
            shape = Shape(degree=degree, threshold=threshold)
            if failing(shape, **facts) <= chance:
                return shape
    return None


def failing(shape: Shape, *, parties: int, dropouts: int, colluding: int) -> Fraction:
    """At most how often a ring in random order exposes, blocks or parts honest parties."""
    n, k, t = parties, shape.degree, shape.threshold
    exposed = _tails(n - 1, colluding, k)[t]
    stuck = _tails(n - 1, dropouts, k)[k - t + 1]
    return Fraction(n * (exposed + stuck), comb(n - 1, k)) + _cut(n, dropouts + colluding, k)


@lru_cache(maxsize=512)
def _tails(others: int, marked: int, drawn: int) -> list[int]:
    """By least number of hits: in how many ways so many of those drawn are marked, or more."""
    ways = [comb(marked, hits) * comb(others - marked, drawn - hits) for hits in range(drawn + 1)]
    return list(accumulate(reversed([*ways, 0])))[::-1]


@lru_cache(maxsize=512)
def _cut(parties: int, removed: int, degree: int) -> Fraction:
    """At most how often two gaps in a ring are as wide as half the neighbours."""
    chance = Fraction(comb(parties - removed, 2))
    for i in range(degree):
        chance *= Fraction(removed - i, parties - 1 - i)  # 0 from i = removed on
    return chance


def ring(*, dropouts: int, colluding: int) -> Shape:
    """The sparsest ring that no so many dropouts and colluding parties can part, block or read."""
    known = max(colluding, 1)
    return Shape(degree=2 * ((known + dropouts + 2) // 2), threshold=known + 1)


def around(order: list[int], at: int, degree: int) -> tuple[int, ...]:
    """The neighbours, in rising order, of whoever stands at a place of the ring."""
    count, half = len(order), degree // 2
    if degree >= count - 1:
        return tuple(sorted(order[:at] + order[at + 1 :]))
    return tuple(sorted(order[(at + step) % count] for step in range(-half, half + 1) if step))
