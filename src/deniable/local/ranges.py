"""Ranges and quantiles: each person reports at one level of a tree of intervals.

The range between the bounds is cut into cells, cells into blocks, blocks into larger ones; a person
reports the node that holds their number at a level chosen at random [CKS19]. Counts of all levels
are made to agree by least squares, and a range is a sum of few nodes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.mechanisms import Mechanism
from deniable.mechanisms.local import reach
from deniable.release.numbers import percent
from deniable.workload.trees import Tree

from .estimate import Estimate
from .reports import Reporter, Rows, Tally, not_numbers
from .several import Attributes

Floats = NDArray[np.float64]

_PLACES = 256  # edges at which the ± of a quantile is computed
_MISSED = 1.025  # so much larger, about, the ± may be at an edge that was left out


@dataclass(frozen=True, kw_only=True, eq=False)
class RangeEstimate:
    """Counts of numbers in any range, and quantiles, with their ±."""

    cells: Floats
    """Estimated counts of the cells, which agree with all levels."""
    edges: Floats
    people: int
    confidence: float
    tree: Tree
    levels: tuple[Estimate, ...]
    """The own counts of the nodes, level by level from the top."""

    def count(self, low: float, high: float) -> tuple[float, float]:
        """How many numbers are in [low, high), both taken to the nearest edge, and the ±."""
        if not low <= high:
            raise BadParameter("the lower end of a range must not be above the upper end")
        held = np.clip([low, high], self.edges[0], self.edges[-1])
        first, last = (int(np.abs(self.edges - x).argmin()) for x in held)
        return float(self.cells[first:last].sum()), self._reach(first, last)

    def quantile(self, q: float) -> tuple[float, float, float]:
        """The edge nearest to where a share q of the numbers is below, and an interval for it.

        The counts below the edges pass q in one cell, and the edge is an end of that cell. A cell
        may hold the quantile if its lower edge is not clearly above and its upper edge not
        clearly below. For the cell that does, each fails with half of the doubt at most.
        """
        wanted = parameters.probability("q", q) * self.people
        below = np.concatenate([[0.0], np.cumsum(self.cells)])
        reach = self._reaches
        possible = (below - reach <= wanted)[:-1] & (below + reach >= wanted)[1:]
        rising = np.maximum.accumulate(below)
        upper = min(max(1, int(np.searchsorted(rising, wanted))), self.cells.size)
        near = upper - int(wanted - rising[upper - 1] <= rising[upper] - wanted)
        cells = np.flatnonzero(possible)
        ends = [*cells, *(cells + 1)] or [near]
        edge, low, high = (float(self.edges[i]) for i in (near, min(ends), max(ends)))
        return edge, low, high

    @cached_property
    def labels(self) -> list[str]:
        """The edges as texts: six digits, or as many as err by 1 % of a cell at most."""
        most = (self.edges[-1] - self.edges[0]) / self.cells.size / 100
        for digits in range(6, 17):
            named = [f"{each:.{digits}g}" for each in self.edges]
            if np.abs(np.array(named, dtype=np.float64) - self.edges).max() <= most:
                return named
        return [f"{each:.17g}" for each in self.edges]

    @cached_property
    def _reaches(self) -> Floats:
        """The ± of the counts below each edge.

        With many edges it is computed at some of them, and the largest is used for all.
        """
        if self.cells.size <= _PLACES:
            return np.array([self._reach(0, i) for i in range(self.edges.size)])
        places = np.arange(1, _PLACES + 1) * 0.61803398875 % 1
        known = [self._reach(0, int(i)) for i in np.unique(np.rint(places * self.cells.size))]
        return np.full(self.edges.size, _MISSED * max(known))

    def _reach(self, first: int, last: int) -> float:
        """z standard deviations of the sum of cells first … last − 1.

        Least squares makes it a weighted sum of all nodes' own counts. With c on the cells, the
        weights are A(AᵀA)⁻¹c, where A adds cells up to nodes, and `agreed` applied to c on the
        cells and 0 above is (AᵀA)⁻¹c. That all cells add up to the number of reports takes off
        the mean of c.
        """
        cells, leaves = self.cells.size, self.tree.sizes[-1]
        if last - first in (0, cells):
            return 0.0
        nodes = np.zeros(self.tree.nodes)
        nodes[-leaves:][:cells] = -(last - first) / cells
        nodes[-leaves:][first:last] += 1
        solved = Tree(cells=leaves, branching=self.tree.branching).agreed(nodes)
        variance = sum(
            level.variance_of_sum(solved.reshape(size, -1).sum(axis=1))
            for level, size in zip(self.levels, self.tree.sizes, strict=True)
        )
        return reach.deviations(self.confidence) * math.sqrt(variance)

    def __repr__(self) -> str:
        named = dict(zip(self.edges.tolist(), self.labels, strict=True))
        middle, low, high = (named[each] for each in self.quantile(0.5))
        return (
            f"{self.people:,} reports on {self.cells.size} cells; median {middle}, within "
            f"{low} to {high} ({percent(self.confidence)} confidence)"
        )


@parameters.made("local.Ranges(epsilon=1.0, low=0, high=100)")
@dataclass(frozen=True, kw_only=True)
class Ranges(Reporter[RangeEstimate]):
    """Ranges: counts in any range and quantiles of numbers between two bounds.

    >>> p = Ranges(epsilon=2.0, low=0, high=100, cells=64)
    >>> found = p.server().add(p.encode_all([20.0] * 4000 + [60.0] * 4000)).estimate()
    >>> count, error = found.count(0, 50)
    >>> abs(count - 4000) < 3 * error
    True
    """

    name: ClassVar[str] = "ranges"

    low: float
    high: float
    cells: int = 256
    branching: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = parameters.bounds(self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        for field in ("cells", "branching"):
            number = parameters.whole(field, getattr(self, field), least=2)
            object.__setattr__(self, field, number)
        if not (np.diff(self.edges) > 0).all():
            raise BadParameter.of("cells", self.cells, must="few enough that their edges differ")

    @cached_property
    def tree(self) -> Tree:
        """Levels of `branching` children each, until there are enough cells."""
        levels = max(1, math.ceil(math.log(self.cells) / math.log(self.branching) - 1e-9))
        return Tree(cells=self.cells, branching=(self.branching,) * levels)

    @cached_property
    def edges(self) -> Floats:
        """Where cells begin and end: each holds its lower edge, and the last one both."""
        return np.linspace(self.low, self.high, self.cells + 1)

    @cached_property
    def levels(self) -> Attributes:
        """Each level is an attribute: which of its nodes holds the number."""
        named = {f"{depth:03}": size for depth, size in enumerate(self.tree.sizes)}
        return Attributes(categories=named, epsilon=self.epsilon)

    def bound_to(self) -> dict[str, object]:
        """The protocol of each level, too."""
        return self.to_dict() | {"levels": self.levels.bound_to()}

    @property
    def randomizer(self) -> Mechanism:
        """That of the level which is asked."""
        return self.levels.randomizer

    @property
    def payload(self) -> int:
        """That of the levels."""
        return self.levels.payload

    def numbered(self, values: object) -> NDArray[np.int64]:
        """The node of each number on each level; numbers outside the bounds are clipped."""
        array = np.asarray(values)
        if array.ndim != 1 or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
            raise not_numbers()
        # By the edges themselves: a formula would round some numbers to the other side of one.
        begun = np.searchsorted(self.edges, array.astype(np.float64), side="right")
        cell = np.clip(begun - 1, 0, self.cells - 1)
        leaves = self.tree.sizes[-1]
        return np.stack([cell // (leaves // size) for size in self.tree.sizes], axis=1)

    def draw(self, values: NDArray[Any]) -> Rows:
        """A level at random, and a report on it."""
        return self.levels.draw(values)

    def check_payloads(self, payloads: Rows) -> None:
        """As for several attributes."""
        self.levels.check_payloads(payloads)

    def tally(self) -> Tally:
        """As for several attributes."""
        return self.levels.tally()

    def count(self, tally: Tally, payloads: Rows) -> None:
        """As for several attributes."""
        self.levels.count(tally, payloads)

    def estimated(self, tally: Tally, people: int, *, confidence: float) -> RangeEstimate:
        """Counts of all nodes that agree with each other."""
        found: dict[str, Estimate] = self.levels.estimated(tally, people, confidence=confidence)
        agreed = self.tree.agreed(np.concatenate([each.counts for each in found.values()]))
        return RangeEstimate(
            cells=agreed + (people - agreed.sum()) / agreed.size,  # how many reported is known
            edges=self.edges,
            people=people,
            confidence=confidence,
            tree=self.tree,
            levels=tuple(found.values()),
        )
