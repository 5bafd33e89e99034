"""How far a weighted sum of independent noises of one law lies from zero.

`factor` bounds the distance in standard deviations of the sum, whatever the weights are. `reach`
gives the distance for a probability; `tail` gives the probability for a distance, element by
element. An interval for a ratio such as an average asks of each possible truth how likely noise
as large as what is seen would be [Fie54]: the noise of a linear combination, whose tail is exact.

The sum Σ sᵢ·Zᵢ of Laplace noises is distributed as the mixture Σ wᵢ·Lap(sᵢ), by partial fractions
of its characteristic function Π 1/(1 + sᵢ²t²), with wᵢ = Π_{j≠i} sᵢ²/(sᵢ² − sⱼ²).
"""

from __future__ import annotations

import functools
import math
from statistics import NormalDist
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from deniable.calibration import last_met

Floats = NDArray[np.float64]
Law = Literal["laplace", "gaussian"]
LAWS: Final[tuple[Law, ...]] = ("laplace", "gaussian")

# Equal scales make a weight 0/0: they are moved apart, outwards.
_APART: Final = 1.002
_FEW: Final = 20_000


def of_each(confidence: float, many: int) -> float:
    """The probability that each of many independent events needs for all to hold at once.

    >>> round(of_each(0.95, 1000), 6)
    0.999949
    """
    return min(float(confidence ** (1 / many)), 1 - 2.0**-53)


def factor(law: Law, confidence: float) -> float:
    """How many standard deviations hold a weighted sum of independent noises of one law.

    Of all weighted sums of Laplace noises a single one has the longest tails, from about 92 %
    confidence on; the normal law, to which sums of many tend, has longer ones below.
    """
    tail = (1 - confidence) / 2
    normal = -NormalDist().inv_cdf(tail)
    return normal if law == "gaussian" else max(normal, -math.log(2 * tail) / math.sqrt(2))


@functools.lru_cache(maxsize=4096)
def reach(law: Law, scales: tuple[float, ...], *, confidence: float) -> float:
    """How far Σ sᵢ·Zᵢ is from zero at most; Z standard normal, or Laplace of scale 1.

    >>> round(reach("laplace", (10.0,), confidence=0.95), 2)
    29.96
    """
    if law == "gaussian":
        return -NormalDist().inv_cdf((1 - confidence) / 2) * math.hypot(*scales)
    largest = max(scales, default=0.0)
    if not largest:
        return 0.0
    wide = sorted(s / largest for s in scales if s > 1e-6 * largest)
    for i in range(1, len(wide)):
        wide[i] = max(wide[i], wide[i - 1] * _APART)
    squares = [s * s for s in wide]
    weights = [
        math.prod(own / (own - other) for j, other in enumerate(squares) if j != i)
        for i, own in enumerate(squares)
    ]

    def excess(amount: float) -> float:
        parts = zip(weights, wide, strict=True)
        return confidence - 1 + math.fsum(w * math.exp(-amount / s) for w, s in parts)

    # As an increasing function of −amount: the last at which the tail is small enough.
    far = 2 * sum(wide) * -math.log(1 - confidence)
    return -largest * last_met(lambda x: excess(-x), -far, 0.0, width=1e-9 * far)


def tail(law: Law, amounts: Floats, scales: list[Floats]) -> Floats:
    """P(|Σ sᵢ·Zᵢ| > amount), element by element; Z standard normal, or Laplace of scale 1.

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
        ordered[i] = np.maximum(ordered[i], ordered[i - 1] * _APART)
    return ordered
