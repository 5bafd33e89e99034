"""Small trees on noisy histograms: what is grown from noisy numbers costs nothing more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.learn.engine.cells import Cells
from deniable.learn.engine.spaces import Floats

Places = NDArray[np.int64]


def grown(
    space: Cells, slopes: Floats, weights: Floats, *, noise: float, leaves: int, ordered: list[bool]
) -> Floats:
    """For each cell, the Newton step of the leaf that it is in: a tree per column (and class).

    `slopes` are noisy sums of residuals by cell, `weights` bounds on their second derivatives.
    Cells without an order are leaves of their own.
    """
    if slopes.ndim > 1:
        columns = [
            grown(space, each, weights, noise=noise, leaves=leaves, ordered=ordered)
            for each in slopes.T
        ]
        return np.stack(columns, axis=1)
    steps = np.zeros_like(slopes)
    for start, size, in_order in zip(space.starts, space.sizes, ordered, strict=True):
        part = slice(start, start + size)
        cuts = _cuts(slopes[part], weights[part], noise, leaves) if in_order else np.arange(size)
        bounds = np.append(cuts, size)
        total, weight = (np.add.reduceat(each[part], cuts) for each in (slopes, weights))
        cells = np.diff(bounds)
        steps[part] = np.repeat(_step(total, weight, cells, noise), cells)
    return steps


def _step(total: Floats, weight: Floats, cells: Places, noise: float) -> Floats:
    """A damped Newton step, shrunk by the share of its square that noise explains [JS61]."""
    explained = cells * noise**2 / np.maximum(total**2, 1e-300)
    found: Floats = np.maximum(1 - explained, 0.0) * total / (weight + noise)
    return found


def _cuts(slopes: Floats, weights: Floats, noise: float, leaves: int) -> Places:
    """Where leaves begin: the split with the largest gain above noise, again and again."""
    size = len(slopes)
    total, weight = (np.concatenate([[0.0], np.cumsum(each)]) for each in (slopes, weights))

    def worth(start: Places, stop: Places) -> Floats:
        excess = (total[stop] - total[start]) ** 2 - (stop - start) * noise**2
        found: Floats = np.maximum(excess, 0.0) / (weight[stop] - weight[start] + noise)
        return found

    begins = [0]
    for _ in range(leaves - 1):
        start = np.repeat(begins, np.diff([*begins, size]))  # of the leaf of each cell
        stop = np.repeat([*begins[1:], size], np.diff([*begins, size]))
        places = np.arange(size)
        gain = worth(start, places) + worth(places, stop) - worth(start, stop)  # 0 at its start
        best = int(gain.argmax())
        if gain[best] <= 2 * noise**2 / (weight[-1] / leaves + noise):
            break
        begins = sorted([*begins, best])
    return np.array(begins)
