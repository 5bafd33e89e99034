"""Any workload given as a matrix: one row per query, one column per cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from deniable.errors import BadParameter
from deniable.parameters import called

from .linear import Floats, Integers, Linear
from .plans import Estimates, WorkloadPlan
from .strategies import Blocks, Bounds, Dense, Identity, Strategy
from .strategies.blocks import optimised as of_blocks
from .strategies.dense import MOST_QUERIES, of_queries, optimised
from .tails import Law


@dataclass(frozen=True, kw_only=True, eq=False)
class Queries(Linear):
    """Weighted sums of cells, all as important as each other."""

    weights: Floats = field(repr=False)

    def __str__(self) -> str:
        return f"{len(self.weights):,} queries over {self.cells:,} cells"

    def _strategies(self, law: Law, bounds: Bounds) -> Iterator[Strategy]:
        yield Identity(cells=self.cells, bounds=bounds)
        for branching in (2, 16):  # where neighbouring cells are often asked for together
            if branching < self.cells:
                sizes, shares = of_blocks(self.cells, branching, "ranges", law)
                yield Blocks(cells=self.cells, bounds=bounds, sizes=sizes, shares=shares, law=law)
        own = of_queries(self.weights, bounds)
        if own is not None:
            yield own
        for found in self._matrices:
            yield Dense(cells=self.cells, bounds=bounds, matrix=found)

    @cached_property
    def _matrices(self) -> list[Integers]:
        return optimised(self.weights) if min(self.weights.shape) <= MOST_QUERIES else []

    def mean_square(self, strategy: Strategy, deviations: Sequence[float]) -> float:
        """The mean variance of the queries."""
        return float(strategy.variance(self.weights, deviations).mean())

    def listed(self, strategy: Strategy, deviations: Sequence[float]) -> Floats:
        """The variance of every query."""
        return strategy.variance(self.weights, deviations)

    def step(self, strategy: Strategy) -> float:
        """Sums and differences of cells that got noise themselves are whole."""
        plain = isinstance(strategy, Identity) and np.isin(self.weights, (-1, 0, 1)).all()
        return 1.0 if plain else 0.0

    def estimates(self, plan: WorkloadPlan, cells: Floats) -> Estimates:
        """The queries of the fitted cells."""
        return Estimates(
            values=self.weights @ cells,
            deviations=plan.deviations,
            plan=plan,
            labels={"query": np.arange(1, len(self.weights) + 1)},
        )


@called("workload.matrix([[1, 1, 0], [0, 1, 1]])")
def matrix(weights: ArrayLike) -> Queries:
    """Queries as rows of weights, one weight per cell.

    >>> import deniable as dp
    >>> w = matrix([[1, 0, 0, 0], [1, 1, 1, 1]])
    >>> plan = w.plan(spend=dp.mu(1.0))
    >>> plan.strategy, len(plan.errors)
    ('optimised matrix', 2)
    """
    try:
        found = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.ndim != 2 or not found.size or not np.isfinite(found).all() or not found.any():
        raise BadParameter(
            "a matrix workload needs a table of finite weights, not all of them 0",
            fix="workload.matrix([[1, 1, 0], [0, 1, 1]])",
        )
    return Queries(cells=found.shape[1], weights=found)
