"""First-order decoding: one projected gradient method, and an influence function for each noise.

Minimises Σ ℓ(aᵢ − (Qx)ᵢ) over the box 0 ≤ x ≤ 1 by accelerated gradients with restarts
[BT09, OC15]. The noise decides ℓ: squares for bounded and Gaussian noise; Huber's function for
Laplace noise, whose bend is far below the noise, so that it is the sum of absolute values all but
exactly; Tukey's for answers of which some are arbitrary [Hub64].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]
Influence = Callable[[Singles], Singles]
"""ψ = ℓ′: how hard each misfit pulls; at slope 1 or less, so that one step size fits all."""

_PATIENCE = 8
_MOST = 400


@dataclass(frozen=True, eq=False)
class Centred:
    """Q less its column means, never formed.

    Nearly all of a 0/1 matrix's norm is in the direction "how many ones are there in all"; without
    it what is left is well conditioned, and a few dozen steps suffice. The price is one direction
    of n: the answers may share an unknown shift.
    """

    matrix: Singles
    means: Singles

    @classmethod
    def of(cls, queries: NDArray[np.generic]) -> Centred:
        """The matrix in single precision; a copy only where it is needed."""
        matrix = np.asarray(queries, dtype=np.float32)
        rows = matrix.shape[0]
        return cls(matrix, (matrix.T @ np.full(rows, 1 / rows, dtype=np.float32)))

    def forward(self, x: Singles) -> Singles:
        """Q x, less its mean."""
        return self.matrix @ x - np.float32(self.means @ x)

    def backward(self, r: Singles) -> Singles:
        """Qᵀ r, the mean taken off the columns."""
        return np.asarray(self.matrix.T @ r - self.means * r.sum(), dtype=np.float32)

    def norm(self) -> float:
        """The largest squared singular value, by power iteration, a little above."""
        x = np.cos(np.arange(self.matrix.shape[1], dtype=np.float32) * 1.7)
        size = 1.0
        for _ in range(6):
            x = self.backward(self.forward(x / np.linalg.norm(x)))
            size = float(np.linalg.norm(x))
        return 1.25 * size


def least_squares(queries: Centred, answers: Singles) -> Singles:
    """Box least squares: for bounded and Gaussian noise."""
    return _descend(queries, answers, lambda r: r, start=None, size=queries.norm())


def least_absolute(queries: Centred, answers: Singles) -> Singles:
    """Least absolute values, all but exactly: for Laplace noise."""
    size = queries.norm()
    x = _descend(queries, answers, lambda r: r, start=None, size=size)
    bend = _spread(answers - queries.forward(x))
    for share in (1.0, 0.3):
        x = _descend(queries, answers, _huber(share * bend), start=x, size=size)
    return x


def robust(queries: Centred, answers: Singles) -> Singles:
    """Huber's function, bent tighter and tighter, then Tukey's: some answers may be anything."""
    size = queries.norm()
    x = _descend(queries, answers, lambda r: r, start=None, size=size)
    spread = np.inf
    for _ in range(20):
        misfit = answers - queries.forward(x)
        answers = answers - np.median(misfit)  # outliers to one side have shifted the mean
        before, spread = spread, _spread(misfit - np.median(misfit))
        if spread > 0.97 * before:
            break
        x = _descend(queries, answers, _huber(0.5 * spread), start=x, size=size)
    return _descend(queries, answers, _tukey(4.685 * 1.4826 * spread), start=x, size=size)


def _spread(misfit: Singles) -> float:
    return float(np.median(np.abs(misfit)))


def _huber(bend: float) -> Influence:
    width = np.float32(max(bend, 1e-6))
    return lambda r: np.clip(r, -width, width)


def _tukey(width: float) -> Influence:
    reach = np.float32(max(width, 1e-6))
    return lambda r: np.asarray(r * np.clip(1 - (r / reach) ** 2, 0, None) ** 2, dtype=np.float32)


def _descend(
    queries: Centred, answers: Singles, influence: Influence, *, start: Singles | None, size: float
) -> Singles:
    """Accelerated projected gradients; ends when the rounded bits have stood still for a while."""
    if start is None:
        start = np.full(queries.matrix.shape[1], 0.5, dtype=np.float32)
    x, ahead, weight, still = start, start, 1.0, 0
    step = np.float32(1 / size)
    for _ in range(_MOST):
        slope = queries.backward(influence(answers - queries.forward(ahead)))
        after: Singles = np.clip(ahead + step * slope, 0, 1)
        if float(np.dot(ahead - after, after - x)) > 0:  # going uphill: start the momentum afresh
            weight = 1.0
        following = (1 + np.sqrt(1 + 4 * weight * weight)) / 2
        ahead = after + np.float32((weight - 1) / following) * (after - x)
        moved = float(np.abs(after - x).max())
        still = still + 1 if np.array_equal(after > 0.5, x > 0.5) and moved < 0.02 else 0
        x, weight = after, following
        if still >= _PATIENCE or moved < 1e-5:
            break
    return x
