"""How likely a weighted sum of independent noises is far from zero, exactly.

The answer to an AVG or a VARIANCE is a function of several noisy numbers. Intervals for it are
found by asking of each possible truth how likely noise as large as what is seen would be [Fie54]:
the noise of a linear combination, whose tail is known. (`release.reach` is its inverse.)
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from deniable.release.reach import APART, Law

Floats = NDArray[np.float64]

_FEW = 20_000


def tail(law: Law, amounts: Floats, scales: list[Floats]) -> Floats:
    """P(|Σ sᵢ·Zᵢ| > amount), element by element; Z standard normal, or Laplace of scale 1.

    Laplace: the sum is distributed as Σ wᵢ·Lap(sᵢ) by partial fractions of its characteristic
    function Π 1/(1 + sᵢ²t²), with wᵢ = Π_{j≠i} sᵢ²/(sᵢ² − sⱼ²).

    >>> one = np.ones(1)
    >>> tail("laplace", 3 * one, [one]).round(4), tail("gaussian", 2 * one, [one]).round(4)
    (array([0.0498]), array([0.0455]))
    """
    if law == "gaussian":
        spread = functools.reduce(np.hypot, scales, np.zeros_like(amounts))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(amounts == 0, 0.0, np.abs(amounts) / spread)
        return _erfc(ratio / np.sqrt(2))
    apart = _apart(np.stack(np.broadcast_arrays(*scales)))
    apart, amounts = apart / apart[-1], amounts / apart[-1]  # squares of tiny scales would be 0
    total = np.zeros_like(np.broadcast_to(amounts, apart.shape[1:]), dtype=np.float64)
    for i, own in enumerate(apart):
        others = [s for j, s in enumerate(apart) if j != i]
        weight = np.ones_like(own)
        for other in others:
            weight = weight * own**2 / (own**2 - other**2)
        total = total + weight * np.exp(-np.abs(amounts) / own)
    return np.clip(total, 0.0, 1.0)


def _erfc(x: Floats) -> Floats:
    """Element by element; for few, loading SciPy would take longer than all of them."""
    if x.size <= _FEW:
        return np.asarray(np.frompyfunc(math.erfc, 1, 1)(x), dtype=np.float64)
    from scipy.special import erfc

    return np.asarray(erfc(x), dtype=np.float64)


def _apart(scales: Floats) -> Floats:
    """Sorted, each at least 0.2 % above the one before, none below 10⁻⁶ of the largest."""
    ordered = np.sort(np.abs(scales), axis=0)
    ordered[0] = np.maximum(ordered[0], 1e-6 * ordered[-1])
    ordered[0] = np.where(ordered[0] == 0, np.finfo(np.float64).tiny ** 0.25, ordered[0])
    for i in range(1, len(ordered)):
        ordered[i] = np.maximum(ordered[i], ordered[i - 1] * APART)
    return ordered
