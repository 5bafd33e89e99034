"""Laws on an interval, by numerical integration: what draws in one dimension must have."""

import numpy as np

from deniable.learn.convex.objectives import STEP


class Interval:
    """The density ∝ exp(−b·Σφ(aᵢx − tᵢ) − m(x − o)²/2) on [low, high]."""

    def __init__(self, rows, *, weight, ridge, low, high, center=0.0):
        self.x = np.linspace(low, high, 40_001)
        exponent = ridge * (self.x - center) ** 2 / 2
        for point, target in zip(rows.points[:, 0] * STEP, rows.targets, strict=True):
            exponent = exponent + weight * rows.link.value(point * self.x - target)
        self.density = np.exp(exponent.min() - exponent)
        self.density /= np.trapezoid(self.density, self.x)
        steps = (self.density[1:] + self.density[:-1]) / 2 * np.diff(self.x)
        self.below = np.append(0.0, np.cumsum(steps))

    def chance(self, points):
        return np.interp(points, self.x, self.below)

    def quantile(self, chances):
        return np.interp(chances, self.below, self.x)


def apart(first, second, epsilon):
    """δ(ε): ∫max(p − e^ε·q, 0), for densities on one grid."""
    excess = np.maximum(first.density - np.exp(epsilon) * second.density, 0.0)
    return float(np.trapezoid(excess, first.x))
