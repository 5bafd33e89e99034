"""Sampled Laplace and sampled bounded-range losses: their moments.

Both pairs have densities κe^(±l/2) on [−a, a]; Laplace has atoms at both ends besides. Count from
the largest loss, x = a − l: with s = q e^(±a)/r(±a) and u(x) = 1 − s + s e^(∓x), the upper sign for
remove, r = r(±a)·u(x), and the deficit is D(x) = ∓ln u(x) ≥ 0 on [0, 2a].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ._pair import Reals
from .quadrature import WIDEST, SampledMoments, log_mixed, log_shrinks


@dataclass(frozen=True)
class ExponentialMixture(SampledMoments):
    """A sampled pair whose inner density is κe^(±l/2) between atoms of `atom` and `atom`·e^(−a)."""

    reach: float
    """a."""
    log_density: float
    """ln κe^(a/2): of the density under P at the largest loss."""
    atom: float
    rate: float
    added: bool
    kept: tuple[bool, bool] = (True, True)
    """Whether the upper and the lower atom are part of it."""

    def largest_loss(self) -> float:
        """ln r(a), or −ln r(−a) when adding."""
        end = -self.reach if self.added else self.reach
        return abs(float(log_mixed(np.array([end]), self.rate)[0]))

    def deficits(self, x: Reals) -> Reals:
        """D(x): by how much a loss is below the largest."""
        if self.added:
            return log_mixed(x, self._share())
        # 1 − s = (1 − q)/r(a)
        rest = (1 - self.rate) * math.exp(-self.largest_loss())
        return -log_mixed(-x, self._share(), rest)

    def point_masses(self) -> tuple[Reals, Reals] | None:
        """Those at both ends, under P′."""
        if not self.atom:
            return None
        ends = self.deficits(np.array([0.0, 2 * self.reach]))
        masses = np.log(self.atom) - np.array([0.0, self.reach])
        if not self.added:  # under Q the atoms are swapped, and P′ = r Q
            masses = masses[::-1] + self.largest_loss() - ends
        return ends, np.exp(masses) * self.kept

    def slope(self, x: Reals) -> Reals:
        d = self.deficits(x)
        return self._share() * np.exp(np.minimum(x - d if self.added else d - x, 700.0))

    def log_weights(self, x: Reals, c: float) -> Reals:
        """Under P′ = rQ when removing, under P when adding."""
        if self.added:
            return self.log_density - x / 2 - c * self.deficits(x)
        ends = self.log_density - self.reach + self.largest_loss()
        return ends + x / 2 - (1 + c) * self.deficits(x)

    def log_most(self, low: Reals, high: Reals, across: Reals, c: float) -> Reals:
        """Each factor is largest at one of the ends."""
        if self.added:
            return self.log_weights(low, c) + c * log_shrinks(self.slope(high), across)
        return self.log_weights(high, c) + (1 + c) * (self.deficits(high) - self.deficits(low))

    def steepness(self) -> float:
        """x is the inner loss itself."""
        return 1.0

    def limits(self, c: float) -> tuple[float, float, float]:
        del c
        return 0.0, 2 * self.reach, WIDEST

    def log_beyond(self, low: float, high: float, c: float) -> float:
        """The logarithm of the tilted density is convex: outside it is largest at the ends."""
        ends = self.log_weights(np.array([0.0, low, high, 2 * self.reach]), c)
        with np.errstate(divide="ignore"):
            widths = np.log([low, 2 * self.reach - high])
        return float(np.logaddexp(max(ends[:2]) + widths[0], max(ends[2:]) + widths[1]))

    def precision(self, x: Reals) -> Reals:
        """The share s is right within 1 + a ulp."""
        return (1 + self.reach) * self.deficits(x)

    def table(self, low: float, high: float, points: int) -> Reals:
        """Dense near the largest loss."""
        return np.concatenate([[low], np.geomspace(2.0**-60 * high, high, points - 1)])

    def _share(self) -> float:
        if self.added:
            return self.rate * math.exp(self.largest_loss() - self.reach)
        return math.exp(math.log(self.rate) + self.reach - self.largest_loss())
