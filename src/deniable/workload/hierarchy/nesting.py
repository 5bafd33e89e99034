"""Levels that nest, and the least-squares fit along them: O(nodes), with exact variances.

A noisy count of variance v at every node, v the same within a level. Going up, a node's best
estimate from its own subtree combines its count with the sum of its children's; going down, what
the rest of the tree says about a parent is shared among its children in proportion to their
variances ([HRMS10] for unequal variances; the Rauch–Tung–Striebel smoother on a tree):

    up      s = 1/(1/v + 1/S),  z = s·(y/v + Z/S)       S, Z: sums of the children's s and z
    down    u′ = z′ + (s′/S)·(u − Z),  Var u′ = s′ + (s′/S)²·(Var u − S)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Chain:
    """Levels from the finest to the coarsest: which node of the next one holds each node."""

    sizes: tuple[int, ...]
    parents: tuple[Integers, ...]

    def sums(self, level: int, values: Floats) -> Floats:
        """The sums over the children of each node of the next level."""
        return summed(self.parents[level], values, self.sizes[level + 1])

    def fit(
        self, noisy: Sequence[Floats], variances: Sequence[float]
    ) -> tuple[list[Floats], list[Floats]]:
        """The counts that fit all noisy ones best and add up, and their variances, by level."""
        best = [noisy[0].astype(np.float64)]
        spread = [np.full(self.sizes[0], variances[0])]
        below: list[tuple[Floats, Floats]] = []
        for level in range(1, len(self.sizes)):
            total = self.sums(level - 1, spread[-1])
            summed = self.sums(level - 1, best[-1])
            below.append((total, summed))
            own = 1 / variances[level]  # 0 where a level has no counts of its own
            held = total > 0  # a node without children is known from its own count alone
            safe = np.where(held, total, 1.0)
            precision = own + np.where(held, 1 / safe, 0.0)
            variance = np.where(precision > 0, 1 / np.where(precision > 0, precision, 1.0), 0.0)
            best.append(variance * (noisy[level] * own + np.where(held, summed / safe, 0.0)))
            spread.append(variance)
        values, found = [best[-1]], [spread[-1]]
        for level in range(len(self.sizes) - 2, -1, -1):
            parent = self.parents[level]
            total, summed = (part[parent] for part in below[level])
            share = spread[level] / total
            values.append(best[level] + share * (values[-1][parent] - summed))
            found.append(spread[level] + share**2 * (found[-1][parent] - total))
        return values[::-1], found[::-1]


def summed(codes: Integers, values: Floats, size: int) -> Floats:
    """The sums of values by group."""
    return np.asarray(np.bincount(codes, weights=values, minlength=size), dtype=np.float64)


def parents_of(fine: Integers, coarse: Integers, sizes: tuple[int, int]) -> Integers | None:
    """Which coarse group holds each fine one; None if one of them is cut by a border."""
    parent = np.full(sizes[0], -1, dtype=np.int64)
    parent[fine] = coarse
    return parent if np.array_equal(parent[fine], coarse) else None
