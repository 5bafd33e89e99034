"""How far a weighted sum of independent noises of one law is from zero, with some probability."""

from __future__ import annotations

import functools
import math
from statistics import NormalDist
from typing import Final, Literal

from deniable.calibration import last_met

Law = Literal["laplace", "gaussian"]

# Two equal scales make the formula 0/0: they are moved apart, outwards.
APART: Final = 1.002


def of_each(confidence: float, many: int) -> float:
    """With which probability each of many independent events must hold for all to hold at once.

    >>> round(of_each(0.95, 1000), 6)
    0.999949
    """
    return min(float(confidence ** (1 / many)), 1 - 2.0**-53)


@functools.lru_cache(maxsize=4096)
def reach(law: Law, scales: tuple[float, ...], *, confidence: float) -> float:
    """How far Σ sᵢ·Zᵢ is from zero at most; Z standard normal, or Laplace of scale 1.

    Laplace: the sum is distributed as Σ wᵢ·Lap(sᵢ) by partial fractions of its characteristic
    function Π 1/(1 + sᵢ²t²), with wᵢ = Π_{j≠i} sᵢ²/(sᵢ² − sⱼ²).

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
        wide[i] = max(wide[i], wide[i - 1] * APART)
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
