"""A sampled Gaussian when a unit is replaced by another: the pair and its moments.

Let R be the answer without the unit, P and P′ those with it before and after. A sample of rate q
gives A = (1−q)R + qP and B = (1−q)R + qP′. For α ≥ 1, α′ = 1 + (α − 1)/q and λ = αq/(α − 1 + q):

    H_α(A‖B) = q H_α′(P ‖ λP′ + (1−λ)R) = q E_P[(1 − α′(λY₁ + (1−λ)Y₂))₊],  Y₁ = dP′/dP, Y₂ = dR/dP

(advanced joint convexity, [BBG18, Thm 2]). For Gaussian noise Y₁ and Y₂ are lognormal of mean 1,
with logarithms of standard deviation |a − a′| ≤ 2μ and |a| ≤ μ. The expectation is that of a convex
function of a sum, so it is largest when both are comonotone, and grows in the convex order of each,
that is in both deviations  [SS07, Thm 3.A.39 and 3.A.12]. So the worst case for every α ≥ 1 lies on
one line, and the pair

    (1−q)N(0,1) + qN(μ,1)   against   (1−q)N(0,1) + qN(−μ,1)

dominates; x ↦ −x exchanges the two, so it does for α < 1 also. μ is how far one unit moves the
answer by being in the sample or not, over σ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ._pair import Reals
from .quadrature import WIDEST, SampledMoments, log_between, log_mixed, log_shrinks

_HALF_LOG_TAU = math.log(math.tau) / 2


@dataclass(frozen=True)
class ReplacedMixture(SampledMoments):
    """L(x) = ln r(μx − μ²/2) − ln r(−μx − μ²/2), which rises with x, under the first mixture."""

    mu: float
    rate: float
    cut: float = math.inf
    """x beyond which losses are taken to be infinite."""

    def origin(self) -> float:
        """0: losses have no largest value."""
        return 0.0

    def deficits(self, x: Reals) -> Reals:
        """−L(x)."""
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
        bend = 1 + c * self.mu**2 * np.minimum(share, 0.25)
        shrinks = c * log_shrinks(share, self.mu * across)
        return ends + bend * (high - low) ** 2 / 8 + across**2 / 2 + shrinks

    def steepness(self) -> float:
        """Both exponents are ±μx − μ²/2."""
        return self.mu

    def limits(self, c: float) -> tuple[float, float, float]:
        """On the left r₊ ≤ 1 and L ≤ 0."""
        return -9.5, min((1 + 2 * c) * self.mu + 9.5, self.cut), min(WIDEST / self.mu, WIDEST)

    def log_beyond(self, low: float, high: float, c: float) -> float:
        """By Mills' ratio; beyond `high` the exponent rises no faster than there."""
        left = -(low**2) / 2 - _HALF_LOG_TAU - math.log(-low) if low < -1 else math.inf
        share = float(self._share(np.array([-high]))[0])
        rate = high - self.mu * (1 + c + c * share)
        ends = self.log_weights(np.array([high, min(self.cut, 1e6)]), c)
        right = float(ends[0]) - math.log(rate) if rate > 0.5 else math.inf
        bend = 1 + c * self.mu**2 / 4
        right = min(right, log_between(max(ends), high, self.cut, bend))
        return float(np.logaddexp(left, right))

    def precision(self, x: Reals) -> Reals:
        """Those of both exponents count as far as they move the loss."""
        size = self.mu * (np.abs(x) + self.mu)
        return np.abs(self._log_ratio(x)) + np.abs(self._log_ratio(-x)) + self.slope(x) * size

    def _log_ratio(self, x: Reals) -> Reals:
        return log_mixed(self.mu * x - self.mu**2 / 2, self.rate)

    def _share(self, x: Reals) -> Reals:
        exponent = self.mu * x - self.mu**2 / 2
        return self.rate * np.exp(np.minimum(exponent - log_mixed(exponent, self.rate), 700.0))
