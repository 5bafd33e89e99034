"""The moments of a sampled Gaussian's privacy loss.

With r(x) = 1 − q + q e^(μx − μ²/2) and φ the normal density,

    remove: M(z) = ∫ φ r^(1+z) dx,  L = ln r        add: M(z) = ∫ φ r^(−z) dx,  L = −ln r

and |φ(x + iy)| = φ(x) e^(y²/2). The largest loss when adding is −ln(1 − q): losses are counted from
there, and from 0 when removing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ._pair import ULP, Reals
from .quadrature import WIDEST, SampledMoments, log_between, log_mixed, log_shrinks

_DIGITS = 45.0
"""What lies outside of the limits is below e^(−45) ≈ 3e-20, relatively."""
_NEAR = np.array([1.5, 2.0, 2.5, 3.0, 3.5, 4.0])
_CURVE = (1 - np.cos(_NEAR)) / _NEAR**2 * (1 - 1e-12)
_HALF_LOG_TAU = math.log(math.tau) / 2


@dataclass(frozen=True)
class NormalMixture(SampledMoments):
    """(1−q)N(0,1) + qN(μ,1) against N(0,1), or `added`: N(0,1) against the mixture."""

    mu: float
    rate: float
    added: bool
    cut: float = math.inf
    """x beyond which losses are taken to be infinite when removing."""
    start: float = -math.inf
    """x up to which losses are left out when removing."""

    def origin(self) -> float:
        """The largest loss when adding, else 0; rounded up."""
        return -math.log1p(-self.rate) * (1 + 4 * ULP) if self.added else 0.0

    def deficits(self, x: Reals) -> Reals:
        """Ln(1 + q/(1 − q) e^m) when adding, −ln r when removing."""
        m = self._exponent(x)
        if not self.added:
            return -log_mixed(m, self.rate)
        return np.logaddexp(0.0, m + math.log(self.rate) - math.log1p(-self.rate))

    def slope(self, x: Reals) -> Reals:
        return self.rate * np.exp(np.minimum(self._exponent(x) - self.log_ratio(x), 700.0))

    def log_ratio(self, x: Reals) -> Reals:
        """ln r(x), the logarithm of the ratio of densities."""
        return log_mixed(self._exponent(x), self.rate)

    def log_weights(self, x: Reals, c: float) -> Reals:
        """φ r^(1+c), or φ e^(−cD) when adding."""
        power = -c * self.deficits(x) if self.added else (1 + c) * self.log_ratio(x)
        return power - x**2 / 2 - _HALF_LOG_TAU

    def log_most(self, low: Reals, high: Reals, across: Reals, c: float) -> Reals:
        """|r| ≤ r at the same Re x; and where f″ ≥ −b, f is at most its ends and b · width²/8."""
        ends = np.maximum(self.log_weights(low, c), self.log_weights(high, c))
        most = ends + (high - low) ** 2 / 8 + across**2 / 2
        if not self.added:
            return most
        slope = self.slope(high)
        most += c * self.mu**2 * np.minimum(slope, 0.25) * (high - low) ** 2 / 8
        return most + c * log_shrinks(slope, self.mu * across)

    def steepness(self) -> float:
        """The exponent m is μx − μ²/2."""
        return self.mu

    def limits(self, c: float) -> tuple[float, float, float]:
        """M(c) ≥ 1: what is below e^(−45) of that does not count."""
        low, high = max(-9.5, self.start), min((1 + c) * self.mu + 9.5, self.cut)
        high = max(high, min(low + 9.5, self.cut))
        if self.added:
            low, high = -math.sqrt(2 * (_DIGITS + 3 - c * math.log1p(-self.rate))), 9.5
        return low, high, min(WIDEST / self.mu, WIDEST)

    def log_beyond(self, low: float, high: float, c: float) -> float:
        """By Mills' ratio; ln r rises by at most μ."""
        ends = self.log_weights(np.array([low, high, min(self.cut, 1e6)]), c)
        if self.added:  # D ≥ 0 on the left, and no less than D(high) on the right
            left = -(low**2) / 2 - _HALF_LOG_TAU - math.log(-low) if low < -1 else 0.0
            right = float(ends[1]) if high > 1 else -c * float(self.deficits(np.array([high]))[0])
            return float(np.logaddexp(left, right))
        left = float(ends[0]) - math.log(-low) if low < -1 else math.inf
        if self.start > -math.inf:
            first = float(self.log_weights(np.array([self.start]), c)[0])
            left = min(left, log_between(max(first, float(ends[0])), self.start, low))
        rate = high - (1 + c) * self.mu
        right = float(ends[1]) - math.log(rate) if rate > 0.5 else math.inf
        return float(np.logaddexp(left, min(right, log_between(max(ends[1:]), high, self.cut))))

    def precision(self, x: Reals) -> Reals:
        """Those of m count as far as it moves the loss."""
        return np.abs(self.deficits(x)) + self.slope(x) * self.mu * (np.abs(x) + self.mu)

    def _exponent(self, x: Reals) -> Reals:
        return self.mu * x - self.mu**2 / 2

    def decay(self, c: float, t: float) -> float:
        """A bound on |M(c + is)|/M(c) for every s ≥ t: the better of two arguments, step by step.

        Small spread: where losses stay within Y/s of each other, cos y ≤ 1 − κy² with
        κ = (1 − cos Y)/Y², and the modulus is at most 1 − κs²V, V being the sum over cells of
        products of masses times squared distances.
        Fast phase: on x > a, where w/L′ falls, one integration by parts leaves 2w(a)/(s L′(a)).
        """
        if t <= 0:
            return 1.0
        spread, worst = _spread(self, c), 0.0
        while True:
            times = t * 1.25 ** np.arange(32)
            with np.errstate(over="ignore"):
                phase = np.min(1 - spread.above + 2 * spread.amplitude / times[:, None], axis=1)
            reach = np.searchsorted(spread.distance, _NEAR / (1.25 * times[:, None]), side="right")
            close = 1 - times**2 * np.max(_CURVE * spread.variance[reach], axis=1)
            enough = np.flatnonzero((phase <= close) | (times > 1e300))
            last = enough[0] if len(enough) else len(times)
            worst = float(close[:last].max(initial=worst))
            if len(enough):
                return min(1.0, max(worst, float(phase[last])))
            t = float(times[-1]) * 1.25


class Spread(NamedTuple):
    """Facts about the tilted loss, for cuts at the right ends of cells; all on the safe side."""

    distance: Reals
    """From the least possible loss to the loss at the cut."""
    variance: Reals
    """Σ_{j<k} wⱼ wₖ (distance of cells)² below cut i − 1 (so that entry 0 is 0)."""
    above: Reals
    """Mass above the left end of each cell from which w/L′ falls; 0 elsewhere."""
    amplitude: Reals
    """w/L′ at that left end, over M(c)."""


@lru_cache(maxsize=256)
def _spread(mixture: NormalMixture, c: float) -> Spread:
    mu, rate = mixture.mu, mixture.rate
    power = -c if mixture.added else 1 + c
    low, high, _ = mixture.limits(c)
    edges = np.linspace(low, high, max(200, math.ceil((high - low) / 0.05)) + 1)
    width = edges[1] - edges[0]
    value, error = mixture.log_mgf(np.array([complex(c)]))
    log_m, slack = float(value[0].real), float(error[0]) + 1e-12
    log_r = mixture.log_ratio(edges)
    at_edge = mixture.log_weights(edges, c)
    # d ln r/dx rises from 0 to μ.
    slope = mu * rate * np.exp(np.minimum(mu * edges - mu**2 / 2 - log_r, 700.0))
    middle = mixture.log_weights((edges[1:] + edges[:-1]) / 2, c)
    steepest = np.maximum(np.abs(edges[1:]), np.abs(edges[:-1])) + abs(power) * slope[1:]
    mass = width * np.exp(middle - steepest * width / 2 - log_m - slack)
    loss = (log_r - math.log1p(-rate)) * (1 + 1e-12)
    noise = -8 * ULP * math.log1p(-rate)  # far to the left ln r cancels against ln(1 − q)
    left, right = np.maximum(loss[:-1] * (1 - 2e-12) - noise, 0.0), loss[1:] + noise
    lower = [np.cumsum(m) - m for m in (mass, mass * right, mass * right**2)]
    gained = mass * (left**2 * lower[0] - 2 * left * lower[1] + lower[2])
    slip = 1e-12 * mass * (left**2 * lower[0] + lower[2])
    variance = np.concatenate([[0.0], np.cumsum(np.maximum(gained - slip, 0.0))])
    falls = edges[:-1] + mu - max(power + 1, 0.0) * slope[1:] > 0
    falls = np.logical_and.accumulate(falls[::-1])[::-1]
    above = np.where(falls, np.cumsum(mass[::-1])[::-1], 0.0)
    with np.errstate(over="ignore", divide="ignore"):  # ∞ is a bound too
        amplitude = np.exp(at_edge[:-1] - log_m + slack) / slope[:-1] * (1 + 1e-12)
    return Spread(right, variance * (1 - 1e-9), above, np.where(falls, amplitude, 0.0))
