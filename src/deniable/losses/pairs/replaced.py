"""Sampled mechanisms when a unit is replaced by another: the pair that dominates, and its law.

Let R be the answer without the unit, P and P′ those with it before and after. A sample of rate q
gives A = (1−q)R + qP and B = (1−q)R + qP′. With Y = dP′/dP and Z = dR/dP, for α ≥ 1 and any s,

    H_α(A‖B) = E_P[(q − αqY − (α−1)(1−q)Z)₊] ≤ E_P[(s − αqY)₊] + E_P[(q − s − (α−1)(1−q)Z)₊].

Suppose that noise with a symmetric, log-concave density f, on the line or on the integers, against
itself moved by Δ dominates what one unit does when it is added or removed. Then f moved by 2Δ
dominates (P, P′): if P′(E) is F(t), then R(E) ≤ F(t + Δ) and P(E) ≤ F(t + 2Δ). So both terms on
the right are at most what they are for P = f(x − Δ), R = f(x) and P′ = f(x + Δ). There Y and Z both
fall with x, so some s in [0, q] lets both terms change sign where their sum does, and the two sides
are equal. Therefore

    (1−q) f(x) + q f(x − Δ)   against   (1−q) f(x) + q f(x + Δ)

dominates for α ≥ 1; x ↦ −x exchanges the two, so it does for α < 1 also. No pair is smaller: these
are neighbours that the noise f itself has.

Every ε-private mechanism is dominated by randomized response, and that is discrete Laplace noise at
Δ = 1: so the theorem covers all mechanisms of pure differential privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deniable.calibration import last_met

from ._pair import ULP, Complexes, Reals, log_of_parts
from .discrete import ComputedAtoms, DiscreteGaussianPair, DiscreteLaplacePair
from .exponential import ExponentialMixture
from .quadrature import WIDEST, SampledMoments, log_between, log_mixed, log_shrinks

_HALF_LOG_TAU = math.log(math.tau) / 2


@dataclass(frozen=True)
class ReplacedMixture(SampledMoments):
    """L(x) = ln r(μx − μ²/2) − ln r(−μx − μ²/2), which rises with x, under the first mixture."""

    shift: float
    """μ."""
    rate: float
    cut: float = math.inf
    """x beyond which losses are taken to be infinite."""

    def origin(self) -> float:
        """0: losses have no largest value."""
        return 0.0

    def largest_loss(self) -> float:
        """Infinite: the loss has no bound."""
        return math.inf

    def delta(self, epsilon: float) -> float:
        """∫ A − e^ε B over x > t, where L(t) = ε; rounded up."""
        from scipy.special import ndtr

        far = 40 + self.shift
        if -self._deficit(far) <= epsilon:
            return math.ulp(0.0)  # more than Φ(−40)
        t = last_met(lambda x: -self._deficit(x) - epsilon, 0.0, far, width=1e-12)
        none, some, other = ndtr([-t, self.shift - t, -self.shift - t])
        odds = math.expm1(epsilon)
        parts = self.rate * (some - other), -odds * ((1 - self.rate) * none + self.rate * other)
        slip = 64 * ULP * (1 + t**2) * (self.rate * some - parts[1]) + 1e-12 * sum(parts)
        return max(0.0, float(sum(parts) + slip))

    def cdf(self, x: Reals) -> Reals:
        """That of the noise."""
        from scipy.special import ndtr

        return np.asarray(ndtr(x))

    def _deficit(self, x: float) -> float:
        return float(self.deficits(np.array([x]))[0])

    def deficits(self, x: Reals) -> Reals:
        return self._log_ratio(-x) - self._log_ratio(x)

    def slope(self, x: Reals) -> Reals:
        """Those of both logarithms together: convex, so largest at the ends."""
        return self._share(x) + self._share(-x)

    def log_weights(self, x: Reals, c: float) -> Reals:
        """φ r₊^(1+c) r₋^(−c)."""
        return (1 + c) * self._log_ratio(x) - c * self._log_ratio(-x) - x**2 / 2 - _HALF_LOG_TAU

    def log_most(self, low: Reals, high: Reals, across: Reals, c: float) -> Reals:
        """As for the mixture of two: r₋ alone may shrink, and bends downwards."""
        ends = np.maximum(self.log_weights(low, c), self.log_weights(high, c))
        share = self._share(-low)
        bend = 1 + c * self.shift**2 * np.minimum(share, 0.25)
        shrinks = c * log_shrinks(share, self.shift * across)
        return ends + bend * (high - low) ** 2 / 8 + across**2 / 2 + shrinks

    def steepness(self) -> float:
        """Both exponents are ±μx − μ²/2."""
        return self.shift

    def limits(self, c: float) -> tuple[float, float, float]:
        """On the left r₊ ≤ 1 and L ≤ 0."""
        return -9.5, min((1 + 2 * c) * self.shift + 9.5, self.cut), min(WIDEST / self.shift, WIDEST)

    def log_beyond(self, low: float, high: float, c: float) -> float:
        """By Mills' ratio; beyond `high` the exponent rises no faster than there."""
        left = -(low**2) / 2 - _HALF_LOG_TAU - math.log(-low) if low < -1 else math.inf
        share = float(self._share(np.array([-high]))[0])
        rate = high - self.shift * (1 + c + c * share)
        ends = self.log_weights(np.array([high, min(self.cut, 1e6)]), c)
        right = float(ends[0]) - math.log(rate) if rate > 0.5 else math.inf
        bend = 1 + c * self.shift**2 / 4
        right = min(right, log_between(max(ends), high, self.cut, bend))
        return float(np.logaddexp(left, right))

    def precision(self, x: Reals) -> Reals:
        """Those of both exponents count as far as they move the loss."""
        size = self.shift * (np.abs(x) + self.shift)
        return np.abs(self._log_ratio(x)) + np.abs(self._log_ratio(-x)) + self.slope(x) * size

    def _log_ratio(self, x: Reals) -> Reals:
        return log_mixed(self.shift * x - self.shift**2 / 2, self.rate)

    def _share(self, x: Reals) -> Reals:
        exponent = self.shift * x - self.shift**2 / 2
        return self.rate * np.exp(np.minimum(exponent - log_mixed(exponent, self.rate), 700.0))


@dataclass(frozen=True)
class ReplacedExponential:
    """Laplace noise of scale 1, moved by a: L(x) = ln r(2x − a) − ln r(−a) on [0, a], and odd.

    For x > 0 the first mixture is that of a unit that is removed and the second is r(−a)·f; for
    x < 0 the first is r(−a)·f, as when a unit is added. So the law of the loss is that of removal
    without its lower atom, moved by −ln r(−a), and r(−a) times that of adding without its upper
    atom, moved by ln r(−a).
    """

    shift: float
    """a."""
    rate: float

    def largest_loss(self) -> float:
        """ln r(a) − ln r(−a)."""
        high, low = log_mixed(np.array([self.shift, -self.shift]), self.rate)
        return float(high - low) * (1 + 64 * ULP)

    origin = largest_loss

    def cdf(self, x: Reals) -> Reals:
        """That of the noise."""
        half = np.exp(-np.abs(x)) / 2
        return np.where(x < 0, half, 1 - half)

    def deficits(self, x: Reals) -> Reals:
        """By how much L(x) is below the largest."""
        ends = 2 * np.minimum(np.abs(x), self.shift) - self.shift
        least = log_mixed(np.array([-self.shift]), self.rate)
        return self.largest_loss() - np.sign(x) * (log_mixed(ends, self.rate) - least)

    def point_masses(self) -> tuple[Reals, Reals]:
        """The atoms at both ends of the law."""
        a, q, low = self.shift, self.rate, self._weight()
        masses = np.array([(1 - q) * math.exp(-a) + q, low * math.exp(-a)]) / 2
        return np.array([0.0, 2 * self.largest_loss()]), masses

    def log_mgf(self, z: Complexes) -> tuple[Complexes, Reals]:
        """The sum of both halves."""
        (above, slip), (below, other) = (part.log_mgf(z) for part in self._parts())
        shift = z * self.largest_loss()
        slips = other + 128 * ULP * np.abs(shift)
        return log_of_parts([(above, slip), (below - shift, slips)], [1.0, self._weight()])

    def rough_log_mgf(self, c: float) -> float:
        """The sum of both halves, from few nodes."""
        above, below = (part.rough_log_mgf(c) for part in self._parts())
        return float(
            np.logaddexp(above, below - c * self.largest_loss() + math.log(self._weight()))
        )

    def delta(self, epsilon: float) -> float:
        """q(1 − e^((y − a)/2)), where r(y) = e^ε r(−a); rounded up  (y from −a to a)."""
        if epsilon >= self.largest_loss():
            return 0.0
        sizes = [self.shift, math.log(self._weight()), -math.log(self.rate), -math.inf]
        if epsilon:
            sizes[3] = epsilon + math.log(-math.expm1(-epsilon))
        grown = sum(sizes)  # of (e^(y + a) − 1)
        gap = 2 * self.shift - float(np.logaddexp(0.0, grown))
        slack = 32 * ULP * (1 + sum(map(abs, sizes))) if epsilon else 0.0
        slack = slack * math.exp(min(grown, 0.0)) + 16 * ULP * (1 + self.shift)
        return self.rate * -math.expm1(-(max(gap, 0.0) + slack) / 2)

    def _weight(self) -> float:
        return math.exp(float(log_mixed(np.array([-self.shift]), self.rate)[0]))

    def _parts(self) -> tuple[ExponentialMixture, ExponentialMixture]:
        density = -math.log(4)
        return (
            ExponentialMixture(
                self.shift, density, 0.5, self.rate, added=False, kept=(True, False)
            ),
            ExponentialMixture(self.shift, density, 0.5, self.rate, added=True, kept=(False, True)),
        )


def replaced_atoms(pair: DiscreteLaplacePair | DiscreteGaussianPair, rate: float) -> ComputedAtoms:
    """The atoms of L(x) = ln r(m(x)) − ln r(m(−x)), m(x) = ln f(x − Δ)/f(x)."""
    without, moved, m = _noise(pair)
    grown = log_mixed(m, rate)
    losses = grown - grown[::-1] + 64 * ULP * (np.abs(grown) + np.abs(grown[::-1]))
    masses = (1 - rate) * without + rate * moved
    kept = masses > 0
    origin = None if pair.origin() else 0.0
    return ComputedAtoms(losses[kept], masses[kept], origin, lost=pair.infinite_mass())


def _noise(pair: DiscreteLaplacePair | DiscreteGaussianPair) -> tuple[Reals, Reals, Reals]:
    """f(x), f(x − Δ) and the logarithm of their ratio, at points from −n to n; rounded up.

    Beyond ±Δ the ratio of discrete Laplace noise stays, and all that lies there is one atom.
    """
    if isinstance(pair, DiscreteLaplacePair):
        x, ratio = np.arange(-pair.shift, pair.shift + 1.0), math.exp(-1 / pair.scale)
        here, there = np.abs(x) / pair.scale, np.abs(x - pair.shift) / pair.scale
        weights = np.full(len(x), -math.expm1(-1 / pair.scale))
        weights[[0, -1]] = 1.0
        whole, m = 1 + ratio, here - there
    else:
        reach, width = math.ceil(38 * pair.sigma) + pair.shift, 2 * pair.sigma**2
        x, weights = np.arange(-reach, reach + 1.0), np.ones(2 * reach + 1)
        here, there = x**2 / width, (x - pair.shift) ** 2 / width
        whole, m = math.fsum(np.exp(-here)), (2 * x - pair.shift) * pair.shift / width
    without, moved = (
        weights * np.exp(-part) / whole * (1 + 32 * ULP * (2 + part)) for part in (here, there)
    )
    return without, moved, m
