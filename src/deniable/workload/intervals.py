"""Workloads of intervals over ordered cells: all ranges, and all prefixes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import ArrayLike

from deniable import parameters
from deniable.errors import BadParameter
from deniable.parameters import called

from .linear import Floats, Linear
from .plans import Estimates, WorkloadPlan
from .strategies import Blocks, Bounds, Identity, Sine, SquareRoot, Strategy
from .strategies._strategy import IntervalQueries
from .strategies.blocks import BRANCHING, optimised
from .tails import Law

MOST_CELLS: Final = 2**20


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervals(Linear):
    """Sums of consecutive cells."""

    queries: ClassVar[IntervalQueries]

    def _strategies(self, law: Law, bounds: Bounds) -> Iterator[Strategy]:
        yield Identity(cells=self.cells, bounds=bounds)
        if self.cells < 3:
            return
        for branching in BRANCHING:
            if branching < self.cells and (law == "laplace" or branching < 4):
                sizes, shares = optimised(self.cells, branching, self.queries, law)
                yield Blocks(cells=self.cells, bounds=bounds, sizes=sizes, shares=shares, law=law)
        if law == "gaussian":
            kind = Sine if self.queries == "ranges" else SquareRoot
            yield kind(cells=self.cells, bounds=bounds)

    def mean_square(self, strategy: Strategy, deviations: Sequence[float]) -> float:
        """The mean variance over all ranges, or over all prefixes."""
        return strategy.mean_variance(self.queries, deviations)

    def listed(self, strategy: Strategy, deviations: Sequence[float]) -> Floats:
        """The variances of all prefixes."""
        return strategy.prefix_variances(deviations)[1:]

    def step(self, strategy: Strategy) -> float:
        """Sums of cells that got noise themselves are whole."""
        return 1.0 if isinstance(strategy, Identity) else 0.0

    def estimates(self, plan: WorkloadPlan, cells: Floats) -> IntervalEstimates:
        """What the fitted cells say."""
        assert plan.chosen is not None
        if self.queries == "prefixes":
            values, spread = np.cumsum(cells), plan.deviations
        else:
            strategy, deviations = plan.chosen.strategy, plan.chosen.deviations
            values, spread = cells, np.sqrt(strategy.cell_variances(deviations))
        return IntervalEstimates(values=values, deviations=spread, plan=plan, cells=cells)


@dataclass(frozen=True, kw_only=True, eq=False)
class AllRanges(Intervals):
    """Every range of consecutive cells, each as important as any other."""

    queries: ClassVar[IntervalQueries] = "ranges"

    def __str__(self) -> str:
        return f"all ranges over {self.cells:,} cells"


@dataclass(frozen=True, kw_only=True, eq=False)
class Prefixes(Intervals):
    """The sum of the first b cells, for every b: running totals."""

    queries: ClassVar[IntervalQueries] = "prefixes"

    def __str__(self) -> str:
        return f"running totals over {self.cells:,} cells"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class IntervalEstimates(Estimates):
    """Noisy cells (ranges) or running totals (prefixes), and any range of cells."""

    cells: Floats = field(repr=False)

    def times(self, worth: float) -> Self:
        """The same answers in another unit."""
        return replace(super().times(worth), cells=self.cells * worth)

    @called("e.sums([0, 20], [19, 40])")
    def sums(self, first: ArrayLike, last: ArrayLike) -> Floats:
        """The sums of many ranges of cells first … last (inclusive), without their ±.

        After one pass over the cells each takes a subtraction.
        """
        starts, ends = np.asarray(first), np.asarray(last)
        whole = starts.dtype.kind in "iu" and ends.dtype.kind in "iu"
        if not whole or starts.shape != ends.shape or not (starts <= ends).all():
            raise BadParameter(
                "first and last must be integers of the same shape, each first at most its last"
            )
        if starts.size and not (starts.min() >= 0 and ends.max() < len(self.cells)):
            raise BadParameter(f"cells are numbered 0 to {len(self.cells) - 1:,}")
        return np.asarray(self._below[ends + 1] - self._below[starts])

    @cached_property
    def _below(self) -> Floats:
        """The sum of the first b cells, for every b."""
        return np.concatenate([[0.0], np.cumsum(self.cells)])

    @called("e.between(20, 40)")
    def between(self, first: int, last: int, *, confidence: float = 0.95) -> tuple[float, float]:
        """The sum of the cells first … last (inclusive), and its ±."""
        first = parameters.whole("first", first, least=0)
        last = parameters.whole("last", last, least=first)
        if last >= len(self.cells):
            raise BadParameter.of("last", last, must=f"below {len(self.cells)}")
        chosen = self.plan.chosen
        assert chosen is not None
        ends = np.array([first]), np.array([last])
        variance = chosen.strategy.interval_variances(*ends, chosen.deviations)
        spread = np.sqrt(variance[0]) * self.worth
        half = self.plan.half_width(spread, confidence, worth=self.worth)
        return float(self.cells[first : last + 1].sum()), float(half)

    @called("e.quantile(0.5)")
    def quantile(self, q: float) -> int:
        """The cell that holds the q-quantile, by the noisy counts."""
        below = np.cumsum(self.cells)
        under = (below < parameters.probability("q", q) * below[-1]).sum()
        return int(min(under, len(below) - 1))


@called("workload.ranges(1024)")
def ranges(cells: int) -> AllRanges:
    """All ranges over so many ordered cells, up to 2²⁰.

    >>> import deniable as dp
    >>> plan = ranges(1024).plan(spend=dp.mu(1.0))
    >>> plan.strategy, round(plan.rmse, 2), round(plan.worst, 2)
    ('sine transform', 3.52, 4.06)
    >>> round(ranges(1024).plan(spend=dp.epsilon(1.0)).rmse, 1)
    12.4
    """
    return AllRanges(cells=_cells(cells))


@called("workload.prefixes(365)")
def prefixes(cells: int) -> Prefixes:
    """Running totals over so many ordered cells, up to 2²⁰.

    >>> import deniable as dp
    >>> plan = prefixes(1024).plan(spend=dp.mu(1.0))
    >>> plan.strategy, round(plan.worst, 2)
    ('square root', 3.02)
    """
    return Prefixes(cells=_cells(cells))


def _cells(cells: object) -> int:
    found = parameters.whole("cells", cells)
    if found > MOST_CELLS:
        raise BadParameter.of("cells", found, must=f"at most {MOST_CELLS:,}")
    return found
