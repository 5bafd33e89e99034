"""Show keys whose noisy count passes a threshold, with Laplace noise."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from deniable import parameters
from deniable.losses import rounding
from deniable.mechanisms._mechanism import two_or_more
from deniable.mechanisms.numbers._additive import ratio_up
from deniable.mechanisms.numbers.laplace import Laplace

from ._keys import LEAST, KeyMechanism, checked_counts, checked_delta, in_order


@dataclass(frozen=True, kw_only=True)
class LaplaceThreshold(KeyMechanism):
    """Laplace threshold: show the keys whose noisy number of people is large, and that number.

    Releases   {key: n + Z}, sorted by key, for the keys with n + Z ≥ T; Z = Lap(b) rounded
    Privacy    (ε, δ)-DP, ε = g/b, δ = g·P(1 + Z ≥ T) = g·½·e^(−(T − 1.5)/b)   [KKMN09]
    Error      |Z| ≤ b·ln(1/β) with probability 1 − β; a key is shown only if n + Z ≥ T
    Assumes    numbers of distinct people; a person has at most g keys
    Numerics   the threshold is a whole number and its tail that of the rounded noise, exactly

    Let one person with g keys join, g₂ of which nobody had. The other keys are (g − g₂)/b-DP, the
    new ones are shown with probability at most g₂·P(1 + Z ≥ T): (0, δ)-DP. The two compose.

    >>> LaplaceThreshold.calibrate(epsilon=1.0, delta=1e-6)
    LaplaceThreshold(scale=1.0, threshold=15, groups=1)
    """

    name: ClassVar[str] = "laplace_threshold"

    scale: float
    threshold: int
    groups: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._canonical(scale=parameters.positive, threshold=two_or_more)

    @classmethod
    def calibrate(cls, *, epsilon: float, delta: float, groups: int = 1) -> Self:
        """The least noise and the lowest threshold that are (ε, δ)-DP for people with g keys."""
        groups = parameters.whole("groups", groups)
        scale = ratio_up(groups, parameters.positive("epsilon", epsilon))
        delta = checked_delta(delta)
        threshold = max(2, math.floor(1.5 + scale * math.log(groups / (2 * delta))))
        while True:
            mechanism = cls(scale=scale, threshold=threshold, groups=groups)
            if mechanism.approx()[1] <= delta:
                return mechanism
            threshold += 1

    def approx(self) -> tuple[float, float]:
        """(g/b, g·½·e^(−(T − 1.5)/b))."""
        exponent = -(self.threshold - 1.5) / self.scale
        # The exponent is right to 2⁻⁵² of itself.
        shown = self.groups / 2 * math.exp(exponent) * (1 - 2.0**-50 * exponent)
        return ratio_up(self.groups, self.scale), min(1.0, max(LEAST, rounding.up(shown)))

    def error(self, confidence: float = 0.95, *, coordinates: int = 1) -> float:
        """Half-width of the interval around a count, before looking at which counts are shown."""
        return self._noise.error(confidence, coordinates=coordinates, whole=True)

    @property
    def _noise(self) -> Laplace:
        return Laplace(scale=self.scale, sensitivity=self.groups)

    def draw(self, value: object) -> dict[Hashable, int]:
        """The keys shown, sorted, with their noisy counts."""
        keys, counts = checked_counts(value)
        noisy = np.asarray(self._noise.draw(counts))
        shown = {k: n for k, n in zip(keys, noisy.tolist(), strict=True) if n >= self.threshold}
        return {key: shown[key] for key in in_order(shown)}
