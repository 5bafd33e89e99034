"""Noisy projected gradient descent: every step is a Gaussian release of a clipped gradient sum.

Privacy    Each row's gradient is clipped to norm M and rounded towards 0 on a lattice, so the sum
           is an exact vector of whole numbers that one unit moves by at most M in L2 (2M if it is
           replaced). T releases with noise of √T·Δ/μ are μ-GDP together, also though each point
           depends on the noise before                                       [DRS22].
           Projections, averages and steps are computed from released numbers alone.
Error      From the center with step length r/√(T(n²M² + dσ²)), the average of the points has
           E[ΣF] − min ΣF ≤ r·√((n²M² + dσ²)/T), σ² = TΔ²/μ²                 [BST14].
           Per row that is M·r·√(1/T + d·(Δ/M)²/(μn)²): T = (μn)²/d steps are enough, and no more
           than `MOST` are made.
Time       T passes over the rows, whatever is in them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.learn.engine.rowwise import squares
from deniable.mechanisms import Gaussian
from deniable.sensitive import Sensitive
from deniable.units import Unit

from .brought import SPARE
from .domains import Domain
from .restricted import Floats

MOST, FEWEST = 256, 8
LATTICE = 2.0**36
"""Steps of the lattice in M: rows have 16 binary digits, slopes 20."""
Totals = NDArray[np.object_]
"""Whole numbers without a limit."""
Sums = Callable[[Floats], Totals]


@dataclass(frozen=True, kw_only=True)
class Descent:
    """T noisy steps on a set; everything here is public."""

    domain: Domain
    coordinates: int
    lipschitz: float
    mu: float
    size: float
    unit: Unit

    @property
    def turns(self) -> int:
        """The number T of steps."""
        told = self.mu * self.size
        useful = told * told / self.coordinates
        return int(min(max(useful, FEWEST), MOST))

    @property
    def mechanism(self) -> Gaussian:
        """The noise of one step, in steps of the lattice."""
        sensitivity = LATTICE * self.unit.sides
        sigma = sensitivity * math.sqrt(self.turns) / self.mu * (1 + 2.0**-40)
        return Gaussian(sigma=sigma, sensitivity=sensitivity)

    def excess(self, *, least: float, most: float, confidence: float | None = None) -> float:
        """A bound on the mean loss above the least, for between so many rows: expected, or with p.

        With probability p, half of what is left each: Σζₜ·(xₜ − x*) is a martingale with normal
        steps of at most σD, and Σ‖ζₜ‖² is σ²·χ² with dT degrees of freedom [LM00].
        """
        reach = self.domain.reach(self.coordinates)
        whole = self.lipschitz * self.domain.diameter(self.coordinates)
        if least <= 0:
            return whole
        sigma, d, turns = self._sigma, self.coordinates, self.turns
        noise, strayed = d * sigma * sigma, 0.0
        if confidence is not None:
            rare = -math.log((1 - confidence) / 2)
            noise *= 1 + 2 * math.sqrt(rare / (d * turns)) + 2 * rare / (d * turns)
            noise += 2 * most * self.lipschitz * sigma * math.sqrt(2 * rare / turns)
            strayed = whole / self.lipschitz * sigma * math.sqrt(2 * rare / turns)
        climbed = self._length * ((most * self.lipschitz) ** 2 + noise) / 2
        return min(whole, (reach**2 / (2 * self._length * turns) + climbed + strayed) / least)

    @property
    def _sigma(self) -> float:
        """The noise of one coordinate of a gradient sum."""
        return self.mechanism.sigma / LATTICE * self.lipschitz

    @property
    def _length(self) -> float:
        """The step length, for a gradient sum."""
        gradient = self.size * self.lipschitz, math.sqrt(self.coordinates) * self._sigma
        return self.domain.reach(self.coordinates) / math.sqrt(self.turns) / math.hypot(*gradient)

    def steps(self, sums: Sums) -> Generator[Any, Any, Floats]:
        """Yields one release per step, and returns the average of the points."""
        point = self.domain.center(self.coordinates)
        total = np.zeros(self.coordinates)
        for _ in range(self.turns):
            total += point
            noisy = yield self.mechanism.on(self._sensitive(sums, point.copy()))
            slope = np.asarray(noisy, dtype=np.float64) * (self.lipschitz / LATTICE)
            point = self.domain.project(point - self._length * slope)
        return self.domain.project(total / self.turns)

    def _sensitive(self, sums: Sums, point: Floats) -> Sensitive[Any]:
        return Sensitive(
            lambda: sums(point),
            l2=LATTICE * self.unit.sides,
            unit=self.unit,
            whole=True,
            shape=self.coordinates,
        )


def sums_of_gradients(gradients: Floats, *, norm: float) -> Totals:
    """Σ of gradients, each clipped to the norm and rounded towards 0; those not finite count 0.

    They are clipped to a little less, for the last digits of the other rows: see `brought`.
    """
    matrix = gradients.copy()
    matrix[~np.isfinite(matrix).all(axis=1)] = 0.0
    largest = np.abs(matrix).max(axis=1, initial=0.0)
    safe = np.where(largest > 0, largest, 1.0)
    unit = matrix / safe[:, None]
    lengths = np.sqrt(squares(unit))
    with np.errstate(over="ignore"):
        factors = np.minimum(safe / norm, (1 - SPARE) / np.maximum(lengths, 2.0**-500))
    steps = np.trunc(unit * (factors * LATTICE)[:, None]).astype(np.int64)
    parts = np.add.reduceat(steps, np.arange(0, len(steps), 1 << 16), axis=0)
    total: Totals = parts.astype(object).sum(axis=0)
    return total
