"""Counts of cells, of blocks of cells, of blocks of blocks: a hierarchy with its own level noise.

Let Πₗ average over the blocks of level l (mₗ cells each), and Qₗ = Πₗ − Πₗ₊₁ be what level l adds
to the coarser level above it. With precision pₗ = 1/σₗ² of the counts of a level, the normal matrix
of least squares is Σ pₗ·mₗ·Πₗ = Σ Eₗ·Qₗ with Eₗ = Σ pᵢ·mᵢ over the levels i that are as fine as l
or finer. All projections commute, so the fit, its covariance Σ Qₗ/Eₗ and the error of a whole
workload are sums over levels, whatever the precisions are: no matrix is ever built.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, Final

import numpy as np

from deniable.workload.split import Vector
from deniable.workload.tails import Law

from ._strategy import IntervalQueries, Strategy
from .exact import Floats, Integers, block_sums

BRANCHING: Final = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_DROPPED: Final = 2e-3  # a level with a smaller share of the loss helps less than its noise costs
_ROUNDS: Final = 300


@dataclass(frozen=True, kw_only=True)
class Blocks(Strategy):
    """Block counts with a share of the loss per level, from the finest to the coarsest."""

    name: ClassVar[str] = "hierarchy"

    sizes: tuple[int, ...]
    """Cells per block, level by level; each divides the next."""
    shares: tuple[float, ...]
    """Of ε for Laplace noise, of μ² for Gaussian noise."""
    law: Law
    """The law of noise that the shares are for."""

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """A level each: a cell is in one block of every level."""
        power = 3 if self.law == "laplace" else 2
        finest = self.sizes[0] == 1
        norms = [self.bounds.l2 if finest and i == 0 else self.bounds.l1 for i in self._levels]
        return tuple(
            Vector(l1=self.bounds.l1, l2=l2, weight=share**power)
            for l2, share in zip(norms, self.shares, strict=True)
        )

    @property
    def _levels(self) -> range:
        return range(len(self.sizes))

    @property
    def _whole(self) -> int:
        """Cells with those that fill up the last block."""
        return -(-self.cells // self.sizes[-1]) * self.sizes[-1]

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """One number per block."""
        return tuple(-(-self.cells // size) for size in self.sizes)

    def encode(self, part: int, counts: Integers) -> Integers:
        """The sums of one level's blocks."""
        return block_sums(counts, self.sizes[part], self.lengths[part])

    def _energies(self, deviations: Sequence[float]) -> Floats:
        """Eₗ, from the finest level to the coarsest."""
        terms = [m / s**2 for m, s in zip(self.sizes, deviations, strict=True)]
        return np.cumsum(terms)

    def decode(self, noisy: Sequence[Floats], deviations: Sequence[float]) -> Floats:
        """Σ Qₗ·v/Eₗ with v the noisy counts spread over their cells, weighted by precision."""
        fitted = np.zeros(self._whole)
        for y, size, deviation in zip(noisy, self.sizes, deviations, strict=True):
            fitted[: len(y) * size] += np.repeat(y / deviation**2, size)
        return self._fitted(fitted, deviations)[: self.cells]

    def _fitted(self, cells: Floats, deviations: Sequence[float]) -> Floats:
        energies = self._energies(deviations)
        fitted = np.zeros_like(cells)
        for level in reversed(self._levels):
            size = self.sizes[level]
            means = cells.reshape(-1, size).mean(axis=1)
            if level + 1 < len(self.sizes):
                coarse = self.sizes[level + 1]
                above = cells.reshape(-1, coarse).mean(axis=1)
                means = means - np.repeat(above, coarse // size)
            fitted += np.repeat(means / energies[level], size)
        return fitted

    def variance(self, weights: Floats, deviations: Sequence[float]) -> Floats:
        """Σ ‖Qₗ·weights‖²/Eₗ, by ‖Qₗ·w‖² = ‖Πₗ·w‖² − ‖Πₗ₊₁·w‖²."""
        padded = np.zeros((*weights.shape[:-1], self._whole))
        padded[..., : self.cells] = weights
        lengths = [
            np.square(padded.reshape(*weights.shape[:-1], -1, m).sum(axis=-1)).sum(axis=-1) / m
            for m in self.sizes
        ]
        return self._summed(lengths, deviations)

    def _summed(self, lengths: Sequence[Floats], deviations: Sequence[float]) -> Floats:
        above = [*lengths[1:], np.zeros_like(lengths[0])]
        energies = self._energies(deviations)
        return np.asarray(
            sum((own - up) / e for own, up, e in zip(lengths, above, energies, strict=True))
        )

    def interval_variances(
        self, first: Integers, last: Integers, deviations: Sequence[float]
    ) -> Floats:
        """Exact variances for sums of consecutive cells: whole blocks, and two that are cut."""
        lengths = []
        for size in self.sizes:
            left, right = first // size, last // size
            head = np.minimum(last, (left + 1) * size - 1) - first + 1.0
            tail = np.where(right > left, last - right * size + 1.0, 0.0)
            between = np.maximum(right - left - 1, 0) * float(size)
            lengths.append((head**2 + tail**2) / size + between)
        return self._summed(lengths, deviations)

    def prefix_variances(self, deviations: Sequence[float]) -> Floats:
        """Exact for every prefix."""
        last = np.arange(self.cells)
        found = self.interval_variances(np.zeros_like(last), last, deviations)
        return np.concatenate([[0.0], found])

    def mean_variance(self, queries: IntervalQueries, deviations: Sequence[float]) -> float:
        """Σ tr(W·Qₗ·Wᵀ)/Eₗ over the number of queries."""
        n = self.cells
        traces = [np.array(_trace(n, size, queries)) for size in self.sizes]
        count = n if queries == "prefixes" else n * (n + 1) / 2
        return float(self._summed(traces, deviations)) / count

    def cell_variances(self, deviations: Sequence[float]) -> Floats:
        """The exact variance for every cell."""
        return np.full(self.cells, self._summed([np.array(1 / m) for m in self.sizes], deviations))


# ---- which levels, and how much for each


@lru_cache(maxsize=256)
def optimised(
    cells: int, branching: int, queries: IntervalQueries, law: Law
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """The sizes of blocks and the shares of the loss that answer a workload best."""
    sizes = [1]
    while sizes[-1] * branching < cells:
        sizes.append(sizes[-1] * branching)
    sizes.append(-(-cells // sizes[-1]) * sizes[-1])  # the total
    traces = np.array([_trace(cells, size, queries) for size in sizes])
    gains = traces - np.append(traces[1:], 0.0)
    shares = _balanced(gains, np.array(sizes, dtype=np.float64), law)
    kept = shares > _DROPPED
    kept[0] = True
    sizes = [m for m, keep in zip(sizes, kept, strict=True) if keep]
    traces = traces[kept]
    gains = traces - np.append(traces[1:], 0.0)
    shares = _balanced(gains, np.array(sizes, dtype=np.float64), law)
    return tuple(sizes), tuple(shares.tolist())


def _balanced(gains: Floats, sizes: Floats, law: Law) -> Floats:
    """Shares at which moving a little of the loss from one level to another changes nothing.

    Gaussian: minimise Σ gₗ/Eₗ over precisions with Σ p = 1, a convex problem, by multiplicative
    steps. Laplace: p = e²/2 with Σ e = 1; the same steps in e, which end in a local minimum.
    """
    shares = np.full(len(sizes), 1 / len(sizes))
    root, precision = _steps(law)
    for _ in range(_ROUNDS):
        energies = np.cumsum(precision(shares) * sizes)
        pull = sizes * np.cumsum((gains / energies**2)[::-1])[::-1]
        shares = shares * (pull * (shares if law == "laplace" else 1.0)) ** root
        shares = np.maximum(shares / shares.sum(), 1e-12)
    return np.asarray(shares / shares.sum())


def _steps(law: Law) -> tuple[float, Callable[[Floats], Floats]]:
    if law == "laplace":
        return 1 / 3, lambda e: e**2 / 2
    return 1 / 2, lambda p: p


@lru_cache(maxsize=4096)
def _trace(cells: int, size: int, queries: IntervalQueries) -> float:
    """tr(W·Πₗ·Wᵀ): for every block, Σ over queries of (cells they share)², over the block's size.

    A range that meets a block in k of its m cells, k < m, lies inside it (m − k − 1 of those) or
    reaches one end (and goes on outside for any length); it covers the block from any start before
    to any end behind.
    """
    starts = np.arange(0, cells, size, dtype=np.float64)
    m = np.minimum(starts + size, cells) - starts
    before, behind = starts, cells - starts - m
    k2 = (m - 1) * m * (2 * m - 1) / 6
    k3 = ((m - 1) * m / 2) ** 2
    if queries == "prefixes":
        shared = k2 + m**2 * (behind + 1)
    else:
        inside = (m - 1) * k2 - k3
        ends = k2 * (before + behind + 2)
        shared = inside + ends + m**2 * (before + 1) * (behind + 1)
    return float((shared / size).sum())
