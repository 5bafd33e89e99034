"""The least-squares fit where some levels cut across others (ZIP codes across cities).

The levels that nest are fitted in linear time (`nesting`), and that fit is the preconditioner of
conjugate gradients for all levels together. Adding a level never makes a least-squares estimate
worse, so the variances of the nested fit hold for its nodes; a node of a level outside it errs at
most as its own noisy count. Up to 1,500 leaves the variances are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from .nesting import Chain, Floats, Integers, summed

EXACT: Final = 1500
_ROUNDS: Final = 300
_CLOSE: Final = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """All levels by the group of every leaf, and those among them that nest."""

    codes: Sequence[Integers]
    sizes: Sequence[int]
    chain: Chain
    nested: Sequence[int]

    def __call__(
        self, noisy: Sequence[Floats], variances: Sequence[float]
    ) -> tuple[list[Floats], list[Floats]]:
        """Counts by level that are sums of the same leaves, and their variances (at most)."""
        kept = [variances[i] for i in self.nested]
        values, spread = self.chain.fit([noisy[i] for i in self.nested], kept)
        if len(self.nested) == len(self.codes):
            return values, spread
        fitted = self._sums(self._solved(noisy, variances, start=values[0]))
        if self.sizes[0] <= EXACT:
            return fitted, self._exact(variances)
        found = [np.full(n, v) for n, v in zip(self.sizes, variances, strict=True)]
        for place, variance in zip(self.nested, spread, strict=True):
            found[place] = variance
        return fitted, found

    def _sums(self, leaves: Floats) -> list[Floats]:
        pairs = zip(self.codes, self.sizes, strict=True)
        return [summed(codes, leaves, size) for codes, size in pairs]

    def _solved(
        self, noisy: Sequence[Floats], variances: Sequence[float], *, start: Floats
    ) -> Floats:
        """Preconditioned conjugate gradients on the normal equations."""
        zeros = [np.zeros(self.sizes[i]) for i in self.nested[1:]]
        kept = [variances[i] for i in self.nested]

        def spread(levels: Sequence[Floats]) -> Floats:
            parts = zip(levels, self.codes, variances, strict=True)
            return np.asarray(sum(level[codes] / v for level, codes, v in parts))

        def near(x: Floats) -> Floats:
            return self.chain.fit([x * variances[0], *zeros], kept)[0][0]

        x, rest = start.copy(), spread(noisy) - spread(self._sums(start))
        direction = near(rest)
        first = energy = float(rest @ direction)
        for _ in range(_ROUNDS):
            if not energy > _CLOSE * max(first, 1e-300):
                break
            moved = spread(self._sums(direction))
            step = energy / float(direction @ moved)
            x, rest = x + step * direction, rest - step * moved
            turned = near(rest)
            energy, before = float(rest @ turned), energy
            direction = turned + energy / before * direction
        return np.asarray(x)

    def _exact(self, variances: Sequence[float]) -> list[Floats]:
        """The diagonal of G·(Σ GᵀG/v)⁻¹·Gᵀ for each level's matrix G of zeros and ones."""
        grids = [np.eye(n)[:, c] for c, n in zip(self.codes, self.sizes, strict=True)]
        normal = sum(g.T @ g / v for g, v in zip(grids, variances, strict=True))
        inverse = np.linalg.inv(np.asarray(normal))
        return [np.asarray(np.square(g @ _root(inverse)).sum(axis=1)) for g in grids]


def _root(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.cholesky(matrix))
