"""A picture of the composed loss on a lattice, by discrete Fourier transforms: for plots alone.

Each pair is moved onto the lattice {ih} by *connecting the dots*: the mass of a cell goes to its
two ends so that both P and Q keep theirs [DGKKM22]. Prices are computed elsewhere (`pricing`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .pairs import Pair
from .pairs._pair import ULP, Reals


def picture(pairs: Sequence[tuple[Pair, int]], *, points: int) -> tuple[Reals, Reals]:
    """Losses and their probabilities within about eight standard deviations: for plots."""
    spare = 1e-9
    mean = variance = 0.0
    for pair, times in pairs:
        low, high = pair.support(spare)
        first, masses, _ = connect(pair, max(high - low, 1e-12) / 2048, spare)
        losses = (first + np.arange(len(masses))) * max(high - low, 1e-12) / 2048
        centre = float(masses @ losses)
        mean += times * centre
        variance += times * float(masses @ (losses - centre) ** 2)
    reach = 8 * math.sqrt(variance) + 1e-9
    fine = 16  # connecting the dots widens each loss by a step: too much for a step of the picture
    step = 2 * reach / (fine * points)
    size = 2 * fine * points
    total = np.ones(size // 2 + 1, complex)
    for pair, times in pairs:
        first, masses, _ = connect(pair, step, spare)
        wrapped = np.bincount((first + np.arange(len(masses))) % size, masses, size)
        total *= np.fft.rfft(wrapped) ** times
    index = math.floor((mean - reach) / step) + np.arange(fine * points)
    law = np.maximum(np.fft.irfft(total, size)[index % size], 0.0)
    return (step * index).reshape(points, fine).mean(axis=1), law.reshape(points, fine).sum(axis=1)


def connect(pair: Pair, step: float, spare: float) -> tuple[int, Reals, float]:
    """First index, masses on the lattice, and the mass above it."""
    low, high = pair.support(spare)
    first, last = math.floor(low / step) - 1, math.ceil(high / step) + 1
    edges: Reals = step * np.arange(first, last + 1, dtype=np.float64)
    cells = pair.masses(edges)
    p = cells.p + cells.p_error
    q = np.maximum(cells.q - cells.q_error, 0.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        back = np.nan_to_num(np.exp(np.log(q) + edges[:-1]), nan=0.0)
    back *= 1 - 16 * ULP * (1 + np.abs(edges).max())
    right = np.clip((p - back) / -math.expm1(-step), 0.0, p)
    masses = np.append(p - right, 0.0) + np.append(0.0, right)
    masses[0] += spare  # what lies below is moved up to the first point
    return first, masses, spare
