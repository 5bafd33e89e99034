"""Quantiles from noisy counts on a tree of cells, with intervals.

The range of a column is cut into cells. Counts of cells, of blocks of cells, of blocks of blocks
are released with equal noise, and made to agree by weighted least squares ([HRMS10], here for any
branching). With below(b) the weight under edge b,

    D(b) = (1 − q)·below(b) − q·above(b)

never falls in b, and the q-quantile lies in the cell where it passes 0. One release answers every
q, for every group, and tells how sure it is: a cell stays possible while D at its lower edge is not
clearly above 0 and D at its upper edge not clearly below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from .tails import Law, factor

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_SAFE = 2**48  # 2¹⁴ cells below this add up to less than 2⁶³
_PLACES = 256  # edges at which the error of D is worked out; its largest is used for all
_MISSED = 1.025  # of more edges so many miss the largest error by up to 2.2 %


@lru_cache(maxsize=256)
def branching_for(cells: int, *, law: Law) -> tuple[int, ...]:
    """How many children nodes have, from the top down, so that sums of cells err least.

    With h levels each gets 1/h of ε (of μ²), and a sum of cells adds up about (B − 1)/2 nodes of
    each: h³·(B − 1) for Laplace, h²·(B − 1) for Gaussian, B = cells^(1/h).

    >>> branching_for(4096, law="laplace"), branching_for(10, law="laplace")
    ((16, 16, 16), (10,))
    """
    power = 3 if law == "laplace" else 2

    def cost(levels: int) -> float:
        return float(levels**power * (cells ** (1 / levels) - 1))

    levels = min(range(1, max(2, cells.bit_length())), key=cost)
    each: list[int] = []
    rest = cells
    for left in range(levels, 0, -1):
        each.append(max(1, math.ceil(round(rest ** (1 / left), 9))))
        rest = math.ceil(rest / each[-1])
    return tuple(each)


@dataclass(frozen=True, kw_only=True)
class Tree:
    """The shape of a tree over cells: how many children the nodes of each level have."""

    cells: int
    branching: tuple[int, ...]

    @property
    def levels(self) -> int:
        """How many counts each row is in."""
        return len(self.branching)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of nodes of each level, from the top down."""
        return tuple(math.prod(self.branching[: i + 1]) for i in range(self.levels))

    @property
    def nodes(self) -> int:
        """How many counts are released for a group."""
        return sum(self.sizes)

    def sums(self, cells: Integers) -> Integers:
        """The counts of all nodes, top level first, from those of the cells (last axis).

        Counts so large that a sum could leave 64 bits are added up in wider numbers and held at
        the ends, which never moves two values apart.
        """
        wide = cells.size > 0 and int(cells.max()) >= _SAFE
        padded = np.zeros((*cells.shape[:-1], self.sizes[-1]), dtype=object if wide else np.int64)
        padded[..., : self.cells] = cells
        levels = [padded]
        for children in reversed(self.branching[1:]):
            # −1 would not do where there are no groups: 0 cells can be cut in any way.
            count = levels[-1].shape[-1] // children
            levels.append(levels[-1].reshape(*cells.shape[:-1], count, children).sum(axis=-1))
        nodes = np.concatenate(levels[::-1], axis=-1)
        held = np.minimum(nodes, np.iinfo(np.int64).max)
        return np.asarray(held, dtype=np.int64)

    def agreed(self, noisy: Floats) -> Floats:
        """The counts of cells that fit all noisy counts best; nodes of each level err alike.

        Up: a node is the mean of its own count and of its children's sum, weighted by precision.
        Down: what a node says beyond its children is shared among them.
        """
        own = np.split(noisy, np.cumsum(self.sizes)[:-1], axis=-1)[::-1]
        best, variance = [own[0]], 1.0
        for count, children in zip(own[1:], reversed(self.branching[1:]), strict=True):
            below = best[-1].reshape(*count.shape, children).sum(axis=-1)
            trust = children * variance / (1 + children * variance)
            best.append(trust * count + (1 - trust) * below)
            variance = trust
        result = best[-1]
        for level, children in zip(best[-2::-1], self.branching[1:], strict=True):
            families = level.reshape(*result.shape, children)
            gap = (result - families.sum(axis=-1)) / children
            result = (families + gap[..., None]).reshape(level.shape)
        return result[..., : self.cells]

    def reach(self, q: float, *, law: Law, confidence: float) -> float:
        """How far D may be off on either side, in standard deviations of one count."""
        return factor(law, confidence) * spread(self, q)


@lru_cache(maxsize=256)
def spread(tree: Tree, q: float) -> float:
    """The standard deviation of D, in that of one count: the largest over the edges.

    The estimate is linear, and its variance is c·(AᵀA)⁻¹c for D = c·cells: `agreed` applied to
    counts that are c on cells and 0 above gives (AᵀA)⁻¹c.
    """
    places = np.arange(1, _PLACES + 1) * 0.61803398875 % 1
    few = tree.cells < _PLACES
    edges = np.arange(tree.cells + 1) if few else np.unique(np.floor(places * tree.cells))
    c = np.where(np.arange(tree.cells) < edges[:, None], 1 - q, -q)
    counts = np.zeros((len(edges), tree.nodes))
    counts[:, -tree.sizes[-1] :][:, : tree.cells] = c
    largest = float(np.sqrt((c * tree.agreed(counts)).sum(axis=-1).max()))
    return largest if few else largest * _MISSED


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """Agreed counts of cells (groups × cells), and the law of the noise of one released count."""

    tree: Tree
    cells: Floats
    law: Law
    deviation: float

    def reach(self, q: float, confidence: float) -> float:
        """How far D may be off."""
        return self.deviation * self.tree.reach(q, law=self.law, confidence=confidence)

    def balance(self, q: float) -> Floats:
        """D at every edge, from below the first cell to above the last."""
        below = np.cumsum(self.cells, axis=-1)
        edges = np.concatenate([np.zeros((*below.shape[:-1], 1)), below], axis=-1)
        return edges - q * below[..., -1:]

    def cell(self, q: float, *, margin: float = 0.0) -> Integers:
        """The cell in which D passes `margin`: as many cells as have D below it at their far edge.

        Counting edges, rather than taking the first, averages over the noise where D is flat.
        """
        under = (self.balance(q)[..., 1:] < margin).sum(axis=-1)
        return np.asarray(np.minimum(under, self.tree.cells - 1), dtype=np.int64)

    def possible(
        self, q: float, confidence: float, *, guess: Integers
    ) -> tuple[Integers, Integers]:
        """The first and last cell that may hold the quantile, for each group; the guess is one."""
        reach, balance = self.reach(q, confidence), self.balance(q)
        open_ = (balance[..., :-1] <= reach) & (balance[..., 1:] >= -reach)
        some = open_.any(axis=-1)
        first = np.where(some, open_.argmax(axis=-1), guess)
        last = np.where(some, self.tree.cells - 1 - open_[..., ::-1].argmax(axis=-1), guess)
        return np.minimum(first, guess), np.maximum(last, guess)


def tree_for(cells: int, *, law: Law) -> Tree:
    """The tree over so many cells that suits a law of noise."""
    return Tree(cells=cells, branching=branching_for(cells, law=law))
