"""The moments of a sampled Gaussian's privacy loss, by quadrature with a proved error.

With r(x) = 1 − q + q e^(μx − μ²/2) and φ the normal density,

    remove: M(z) = ∫ φ r^(1+z) dx,  L = ln r        add: M(z) = ∫ φ r^(−z) dx,  L = −ln r

The integrand is analytic in the strip |Im x| < π/μ and tiny at both ends, so the trapezoid rule
errs by at most 2N/(e^(2πY/h) − 1), where N bounds ∫|integrand| along Im x = ±Y  [TW14, Thm 5.1].
At height y, with θ = μ|y|: |φ| = φ(x) e^(y²/2), |arg r| ≤ θ and r(x) cos(θ/2) ≤ |r(x + iy)| ≤ r(x).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ._pair import ULP, Complexes, Reals, log_of_sum

_DIGITS = 42.0
"""Errors of quadrature are kept below e^(−42) ≈ 6e-19, relatively."""
_BLOCK = 2**18
_NEAR = np.array([1.5, 2.0, 2.5, 3.0, 3.5, 4.0])
_CURVE = (1 - np.cos(_NEAR)) / _NEAR**2 * (1 - 1e-12)


@dataclass(frozen=True)
class NormalMixture:
    """(1−q)N(0,1) + qN(μ,1) against N(0,1), or `added`: N(0,1) against the mixture."""

    mu: float
    rate: float
    added: bool

    def log_mgf(self, z: Complexes) -> tuple[Complexes, Reals]:
        """ln M at points of one line Re z = c > 0, and a bound on its error."""
        c = float(z[0].real) if len(z) else 1.0
        order = np.argsort(np.abs(z.imag))
        values, errors = np.empty(z.shape, complex), np.empty(z.shape)
        start = 0
        while start < len(z):
            t_start = abs(float(z[order[start]].imag))
            count = max(16, _BLOCK // self.nodes(c, 2 * t_start + 1))
            block = order[start : start + count]
            if t_start > 0:  # the finer mesh that larger t need is paid for by octaves
                block = block[np.abs(z[block].imag) <= 2 * t_start + 1]
            values[block], errors[block] = self._block(c, z[block])
            start += len(block)
        return values, errors

    def nodes(self, c: float, t: float) -> int:
        """How many points the quadrature takes."""
        low, high = self._range(c)
        return math.ceil((high - low) / self._mesh(c, t)[0]) + 1

    def decay(self, c: float, t: float) -> float:
        """A bound on |M(c + is)|/M(c) for every s ≥ t: the better of two arguments, step by step.

        Small spread: where losses stay within Y/s of each other, cos y ≤ 1 − κy² with
        κ = (1 − cos Y)/Y², and the modulus is at most 1 − κs²V, V being the sum over cells of
        products of masses times squared distances.
        Fast phase: on x > a, where w/L′ falls, one integration by parts leaves 2w(a)/(s L′(a)).
        """
        if t <= 0:
            return 1.0
        spread = _spread(self, c)
        worst = 0.0
        while True:
            phase = float(np.min(1 - spread.above + 2 * spread.amplitude / t))
            reach = np.searchsorted(spread.distance, _NEAR / (1.25 * t), side="right")
            close = 1 - t**2 * float(np.max(_CURVE * spread.variance[reach]))
            if phase <= close or t > 1e300:
                return min(1.0, max(worst, phase))
            worst = max(worst, close)
            t *= 1.25

    # ---- quadrature

    def _mesh(self, c: float, t: float) -> tuple[float, float]:
        """The step, and the relative error it leaves at c + it."""
        height = min(math.sqrt(2 * _DIGITS), (0.6 if self.added else 0.9) * math.pi / self.mu)
        theta = self.mu * height
        growth = height**2 / 2 + t * theta
        growth -= c * math.log(math.cos(theta / 2)) if self.added else 0.0
        step = 2 * math.pi * height / (growth + _DIGITS)
        return step, 2.1 * math.exp(-_DIGITS)

    def _range(self, c: float) -> tuple[float, float]:
        """Where the real integrand is not negligible; M(c) ≥ 1."""
        if self.added:
            return -math.sqrt(2 * (_DIGITS + 3 - c * math.log1p(-self.rate))), 9.5
        return -9.5, (1 + c) * self.mu + 9.5

    def log_ratio(self, x: Reals) -> Reals:
        """Ln r(x), right within 16 ulp/(1 − q) of itself."""
        s = self.mu * x - self.mu**2 / 2
        near = np.log1p(self.rate * np.expm1(np.minimum(s, 700.0)))
        return np.where(s < 700.0, near, s + math.log(self.rate))

    def log_weights(self, x: Reals, c: float) -> tuple[Reals, Reals]:
        """ln of the real integrand φ r^(1+c) or φ r^(−c), and ln r."""
        log_r = self.log_ratio(x)
        power = -c if self.added else 1 + c
        return power * log_r - x**2 / 2 - math.log(2 * math.pi) / 2, log_r

    def _block(self, c: float, z: Complexes) -> tuple[Complexes, Reals]:
        t = np.abs(z.imag)
        step, left_over = self._mesh(c, float(t.max()))
        low, high = self._range(c)
        x: Reals = low + step * np.arange(math.ceil((high - low) / step) + 1, dtype=np.float64)
        log_w, log_r = self.log_weights(x, c)
        top = float(log_w.max())
        w = step * np.exp(log_w - top)
        phase = np.outer(-z.imag if self.added else z.imag, log_r)
        total = np.cos(phase) @ w + 1j * (np.sin(phase) @ w)
        size = float(w.sum())
        # An exponent is right within 16 ulp/(1 − q) of its parts: x²/2 and (1 + c + t) |ln r|.
        fixed = float(w @ (16 + 4 * x**2)) / size + len(x) + 4 * abs(top)
        slope = 32 / (1 - self.rate) * float(w @ np.abs(log_r)) / size
        relative = left_over + ULP * (fixed + (1 + c + t) * slope)
        relative += self._ends(c, x, log_w - top) / size
        value, error = log_of_sum(total, np.full(t.shape, size), relative)
        return value + top, error + 8 * ULP * abs(top)

    def _ends(self, c: float, x: Reals, log_w: Reals) -> float:
        """What the sum lacks on both sides, by geometric series in ln w (or by Mills' ratio)."""
        low, high = float(x[0]), float(x[-1])
        first, last = math.exp(log_w[0]), math.exp(log_w[-1])
        if not self.added:
            return first / -low + last / (high - (1 + c) * self.mu)
        # r ≥ 1 − q, and r^(−c) at the left end is nearly that.
        gain = -c * math.log1p(-self.rate) + c * float(self.log_ratio(x[:1])[0])
        return first * math.exp(gain) / -low + last / high


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
    low, high = mixture._range(c)  # noqa: SLF001
    edges = np.linspace(low, high, max(200, math.ceil((high - low) / 0.05)) + 1)
    width = edges[1] - edges[0]
    value, error = mixture.log_mgf(np.array([complex(c)]))
    log_m, slack = float(value[0].real), float(error[0]) + 1e-12
    at_edge, log_r = mixture.log_weights(edges, c)
    # d ln r/dx rises from 0 to μ.
    slope = mu * rate * np.exp(np.minimum(mu * edges - mu**2 / 2 - log_r, 700.0))
    middle, _ = mixture.log_weights((edges[1:] + edges[:-1]) / 2, c)
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
    amplitude = np.exp(at_edge[:-1] - log_m + slack) / slope[:-1] * (1 + 1e-12)
    return Spread(right, variance * (1 - 1e-9), above, np.where(falls, amplitude, 0.0))
