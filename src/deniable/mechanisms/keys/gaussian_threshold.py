"""Show keys whose noisy count passes a threshold, with Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from deniable import parameters
from deniable.calibration import analytic_gaussian_sigma, last_met
from deniable.losses import convert, rounding
from deniable.mechanisms._mechanism import two_or_more
from deniable.mechanisms.numbers.gaussian import Gaussian

from ._keys import LEAST, KeyMechanism, checked_counts, checked_delta, in_order

_ALL_SPLITS = 64


@dataclass(frozen=True, kw_only=True)
class GaussianThreshold(KeyMechanism):
    """Gaussian threshold: show the keys whose noisy number of people is large, and that number.

    Releases   {key: n + Z}, sorted by key, for the keys with n + Z ≥ T; Z = N(0, σ²) rounded
    Privacy    (ε, δ)-DP if δ ≥ δ_σ(ε; √g₁) + g₂·P(1 + Z ≥ T) for all g₁ + g₂ = g, where δ_σ(ε; Δ)
               is that of the Gaussian mechanism                            [WKZK24]
    Error      |Z| ≤ σ·Φ⁻¹(1 − β/2) with probability 1 − β; a key is shown only if n + Z ≥ T
    Assumes    numbers of distinct people; a person has at most g keys
    Numerics   the threshold is a whole number and its tail that of the rounded noise, exactly

    Better than Laplace when people have many keys: √g of noise in place of g. A ledger of (ε, δ)
    charges it at `delta`.

    >>> from deniable.mechanisms.keys import LaplaceThreshold
    >>> keys = GaussianThreshold.calibrate(epsilon=1.0, delta=1e-6, groups=25)
    >>> keys.threshold < LaplaceThreshold.calibrate(epsilon=1.0, delta=1e-6, groups=25).threshold
    True
    """

    name: ClassVar[str] = "gaussian_threshold"

    sigma: float
    threshold: int
    delta: float
    groups: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._canonical(
            sigma=parameters.positive, threshold=two_or_more, delta=parameters.confidence
        )

    @classmethod
    def calibrate(cls, *, epsilon: float, delta: float, groups: int = 1) -> Self:
        """Noise for half of δ, and the lowest threshold that costs at most the other half."""
        groups = parameters.whole("groups", groups)
        epsilon = parameters.positive("epsilon", epsilon)
        delta = checked_delta(delta)
        wide = rounding.up(math.sqrt(groups))
        sigma = analytic_gaussian_sigma(epsilon, delta=delta / 2, sensitivity=wide)
        least = Gaussian(sigma=sigma).quantile(delta / groups)
        threshold = max(2, math.floor(1.5 + least))
        while True:
            mechanism = cls(sigma=sigma, threshold=threshold, groups=groups, delta=delta)
            if mechanism.delta_at(epsilon) <= delta:
                return mechanism
            threshold += 1

    def approx(self) -> tuple[float, float]:
        """(ε, δ) at the δ that was named."""
        return self.epsilon_at(self.delta), self.delta

    def delta_at(self, epsilon: float) -> float:
        """The largest of δ_σ(ε; √g₁) + g₂·P(1 + Z ≥ T), over how many keys are new."""
        epsilon = parameters.non_negative("epsilon", epsilon)
        new = self._shown_alone()
        if self.groups > _ALL_SPLITS:  # each term at its own largest
            noise = convert.gdp_to_delta(self._mu(self.groups), epsilon)
            return min(1.0, rounding.up(noise, self.groups * new))
        old = range(self.groups + 1)
        deltas = [convert.gdp_to_delta(self._mu(g), epsilon) if g else 0.0 for g in old]
        return min(
            1.0,
            max(rounding.up(d, (self.groups - g) * new) for g, d in zip(old, deltas, strict=True)),
        )

    def epsilon_at(self, delta: float = 0.0) -> float:
        """The least ε at which `delta_at` is δ; ∞ if the threshold alone costs more."""
        delta = parameters.fraction_below_one("delta", delta)
        high = 1.0
        while self.delta_at(high) > delta:
            high *= 2
            if high > 1e6:
                return math.inf
        if self.delta_at(0.0) <= delta:
            return 0.0
        found = last_met(lambda x: self.delta_at(-x) - delta, -high, 0.0, width=1e-12 * high)
        return rounding.up(-found)

    def _mu(self, groups: int) -> float:
        return rounding.up(math.sqrt(groups) / self.sigma)

    def _shown_alone(self) -> float:
        """P(1 + Z ≥ T) = Φ(−(T − 1.5)/σ), rounded up."""
        x = (self.threshold - 1.5) / self.sigma
        tail = math.erfc(x / math.sqrt(2)) / 2
        return max(LEAST, rounding.up(tail * (1 + 2.0**-50 * (1 + x) ** 2)))

    def error(self, confidence: float = 0.95, *, coordinates: int = 1) -> float:
        """Half-width of the interval around a count, before looking at which counts are shown."""
        return Gaussian(sigma=self.sigma).error(confidence, coordinates=coordinates, whole=True)

    def draw(self, value: object) -> dict[Hashable, int]:
        """The keys shown, sorted, with their noisy counts."""
        keys, counts = checked_counts(value)
        noisy = np.asarray(Gaussian(sigma=self.sigma).draw(counts))
        shown = {k: n for k, n in zip(keys, noisy.tolist(), strict=True) if n >= self.threshold}
        return {key: shown[key] for key in in_order(shown)}
