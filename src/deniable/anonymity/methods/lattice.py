"""The best full-domain generalisation: every node of the lattice judged, few of them counted.

A node is a level for each column. Counting a node gives its classes, the rows to suppress and its
loss. Four facts settle other nodes unseen; nothing else is assumed, so the result is optimal for
every loss and every demand:

1. *Too fine.* Rows that fail a monotone demand at a node fail it at every finer node (`Demands`).
   If they are more than may be suppressed, all finer nodes are out. Where nothing may be
   suppressed this holds for every demand.
2. *Too coarse.* The loss without suppression, lower(g) ≤ loss(g), grows upward: for additive losses
   it is known for all nodes beforehand; Σ|class|² and rows / classes grow when classes merge.
   Nodes with lower(g) ≥ the best loss so far are out.
3. *Suppressed too much.* The rows of fact 1 are suppressed at every finer node h too, where their
   labels are worth no less: loss(h) ≥ lower(h) + what suppressing them adds at g (additive losses).
4. A node that was counted is settled.

With suppression, feasibility stays monotone for k and distinct ℓ, but the loss does not: a coarser
node can lose less by suppressing less. That is why fact 2 compares with lower(g), never
with the loss of a finer node. Finding the best k-anonymous table by *any* recoding is NP-hard
[MW04]; among full-domain generalisations the search is exponential in the number of columns only.

The lattice and its "too fine" rule are those of [LDR05]; asking first where either answer settles
much follows the bisections of [Sam01] and [KPEK12].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deniable.anonymity.demands import Demands
from deniable.anonymity.tables import Codes
from deniable.errors import BadParameter
from deniable.progress import Progress

from .loss import ADDITIVE, Costs, class_loss, total_cost
from .rollup import Cells, Classes, People, rolled_up

LARGEST_LATTICE = 5_000_000
# Class tables of counted nodes are kept for rolling up, up to so many numbers in all.
_KEPT = 1 << 24
# With more open nodes than this, choosing well would cost more than counting.
_LOOKED_AT = 1 << 17


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What to search: the cells, what is asked of classes, and what is to be small."""

    cells: Cells
    bottom: Classes
    demands: Demands
    loss: str
    costs: tuple[Costs, ...]
    suppression: float
    ordered: bool = False
    tree: tuple[Codes, ...] = ()
    people: People | None = None

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return int(self.bottom.counts.sum())

    @property
    def allowed(self) -> int:
        """How many rows may be suppressed."""
        return int(self.suppression * self.rows + 1e-9)


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node that was counted."""

    levels: tuple[int, ...]
    classes: Classes = field(repr=False)
    failing: NDArray[np.bool_] = field(repr=False)
    suppressed: int
    hopeless: int
    lower: float
    forced: float
    loss: float


@dataclass(frozen=True, kw_only=True)
class BestNode:
    """The best node, and how many of how many were counted to know it."""

    best: Node
    counted: int
    nodes: int


def search(problem: Problem) -> BestNode:
    """The node of least loss among those that meet the demands within the suppression limit."""
    shape = problem.cells.shape
    nodes = int(np.prod(shape, dtype=float))
    if nodes > LARGEST_LATTICE:
        raise BadParameter(
            f"there are {nodes:,} generalisations to choose from, more than {LARGEST_LATTICE:,}",
            fix=(
                'method="mondrian"',
                "or hierarchies with fewer steps, or fewer quasi-identifiers",
            ),
        )
    looking = _Search(problem, shape)
    with Progress("searching") as progress:
        while (levels := looking.next()) is not None:
            looking.settle(levels)
            progress.text = f"searching: {looking.alive:,} of {nodes:,} nodes left"
    if looking.best is None:
        raise BadParameter(
            "no generalisation meets the demands within the suppression limit",
            why="even with every quasi-identifier fully generalised, too many rows would be "
            "suppressed",
            fix="a smaller k or l, a larger t, or more suppression",
        )
    return BestNode(best=_lowest(problem, looking.best), counted=looking.counted, nodes=nodes)


def _lowest(problem: Problem, node: Node) -> Node:
    """Of nodes that lose the same, one that has no finer one: no step is taken for nothing."""
    for column, level in enumerate(node.levels):
        if level:
            lower = tuple(x - (i == column) for i, x in enumerate(node.levels))
            finer = count(problem, lower)
            if finer.suppressed <= problem.allowed and finer.loss <= node.loss + 1e-12:
                return _lowest(problem, finer)
    return node


def count(problem: Problem, levels: Sequence[int], finer: Classes | None = None) -> Node:
    """Judge one node, from the classes of any finer one."""
    classes = rolled_up(problem.cells, problem.bottom if finer is None else finer, levels)
    demands, sizes = problem.demands, classes.sizes()
    people = problem.people
    heads = sizes if people is None else people.in_classes(problem.cells, levels)
    small = demands.small(heads, classes)
    hopeless = int(sizes[small].sum())
    failing = small
    if not demands.monotone and hopeless <= problem.allowed:
        failing = demands.failing(heads, classes, ordered=problem.ordered, tree=problem.tree)
    suppressed = int(sizes[failing].sum())
    hopeless = suppressed if problem.allowed == 0 else hopeless
    lower = forced = loss = math.inf
    if hopeless <= problem.allowed or problem.loss not in ADDITIVE:
        lower, forced, loss = losses(problem, classes, (small, failing), levels)
    return Node(
        levels=tuple(int(level) for level in levels),
        classes=classes,
        failing=failing,
        suppressed=suppressed,
        hopeless=hopeless,
        lower=lower,
        forced=forced,
        loss=loss,
    )


def losses(
    problem: Problem,
    classes: Classes,
    bad: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    levels: Sequence[int],
) -> tuple[float, float, float]:
    """The loss if nothing, if the hopeless rows, and if all failing rows are suppressed."""
    sizes, (small, failing) = classes.sizes(), bad
    if problem.loss not in ADDITIVE:
        none, some, every = (
            class_loss(problem.loss, sizes[~gone], int(sizes[gone].sum()))
            for gone in (np.zeros(sizes.size, bool), small, failing)
        )
        return none, some, every
    lower = total_cost(problem.costs, levels)
    cells, rows = classes.cells[classes.starts[failing]], sizes[failing]
    more = np.zeros(cells.size)
    for part, level, (labels, _) in zip(
        problem.costs, levels, problem.cells.at(levels), strict=True
    ):
        more += part.extra[level][labels[cells]]
    more *= rows / max(1, problem.rows)
    return lower, lower + float(more[small[failing]].sum()), lower + float(more.sum())


class _Search:
    """What is known so far: which nodes may still be best, and a bound below each one's loss."""

    def __init__(self, problem: Problem, shape: tuple[int, ...]) -> None:
        self.problem, self.shape = problem, shape
        self.additive = problem.loss in ADDITIVE
        self.best: Node | None = None
        self.counted = 0
        self._open = np.ones(shape, bool)
        self._lower = np.zeros(shape)
        for column, part in enumerate(problem.costs):  # each laid along its axis of the lattice
            self._lower += np.expand_dims(part.means, [i for i in range(len(shape)) if i != column])
        self._bound = self._lower.copy()
        self._kept: list[Classes] = [problem.bottom]
        self._kept_levels = np.zeros((1, len(shape)), np.int64)
        self._kept_size = 0

    @property
    def alive(self) -> int:
        """How many nodes may still be best."""
        return int(self._open.sum())

    def next(self) -> tuple[int, ...] | None:
        """The open node whose counting settles most in the worse case.

        If it turns out too fine, the finer open nodes go; if it is feasible, those whose bound is
        not below its own. While very many are open, the middle one by its bound will do.
        """
        places = np.flatnonzero(self._open)
        if not places.size:
            return None
        bounds = self._bound.ravel()[places]
        if places.size > _LOOKED_AT:
            bounds = bounds[:: places.size // _LOOKED_AT]
            middle = np.argpartition(bounds, bounds.size // 2)[bounds.size // 2]
            best = int(middle) * (places.size // _LOOKED_AT)
        else:
            finer = self._open.astype(np.int32)
            for column in range(finer.ndim):
                np.cumsum(finer, axis=column, out=finer)
            above = np.empty(places.size, np.int64)
            above[np.argsort(-bounds)] = np.arange(places.size)
            best = int(np.minimum(finer.ravel()[places], above).argmax())
        return tuple(int(i) for i in np.unravel_index(int(places[best]), self.shape))

    def settle(self, levels: tuple[int, ...]) -> None:
        """Count a node, and close all that it decides."""
        node = count(self.problem, levels, self._finest_above(levels))
        self.counted += 1
        self._open[levels] = False
        finer = tuple(slice(0, level + 1) for level in levels)
        coarser = tuple(slice(level, None) for level in levels)
        if node.hopeless > self.problem.allowed:
            self._open[finer] = False
        elif self.additive and node.hopeless:
            floor = self._lower[finer] + (node.forced - node.lower)
            np.maximum(self._bound[finer], floor, out=self._bound[finer])
        if not self.additive:
            np.maximum(self._bound[coarser], node.lower, out=self._bound[coarser])
        if node.suppressed <= self.problem.allowed and (
            self.best is None or node.loss < self.best.loss
        ):
            self.best = node
        if self.best is not None:
            self._open &= self._bound < self.best.loss
        self._keep(node)

    def _finest_above(self, levels: tuple[int, ...]) -> Classes:
        """Of the class tables kept, the smallest that is finer in every column."""
        usable = np.flatnonzero((self._kept_levels <= levels).all(axis=1))
        return min((self._kept[i] for i in usable), key=lambda table: table.cells.size)

    def _keep(self, node: Node) -> None:
        if self._kept_size + node.classes.cells.size <= _KEPT:
            self._kept.append(node.classes)
            self._kept_levels = np.vstack([self._kept_levels, node.levels])
            self._kept_size += node.classes.cells.size
