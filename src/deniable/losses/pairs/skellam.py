"""Skellam noise against itself moved: its exact loss, its divergences, its Gaussian bound.

The masses are p(k) ∝ I_|k|(v), known by the ratios rₖ = I_{k+1}/I_k (see `sampling.bessel`), which
are computed in floats here. One step of r_{k−1} = 1/(2k/v + rₖ) errs by at most 4 ulp and
multiplies the error so far by rₖ·r_{k−1}. Products of those are (I_j/I_k)², at most p(j)/p(k), so
that a ratio errs relatively by at most 4 ulp·A with A = Σ_{j≥0} p(j)/p(0), as p is log-concave.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from deniable import parameters
from deniable.losses import rounding
from deniable.sampling.bessel import checked

from ._pair import ULP, Reals
from .discrete import AtomicPair

_FAR = 700.0  # e⁻⁷⁰⁰ is just above the least normal double
_LEFT_OUT = 2.0**-1008


@dataclass(frozen=True, kw_only=True)
class SkellamPair(AtomicPair):
    """Skellam noise of a variance, against itself moved by `shift` whole steps.

    It also dominates every vector of such noises, independent of each other, whose entries move by
    whole numbers of at most `shift` in sum. *Proof.* Let f be the trade-off function of one number
    moved by 1 [DRS22]. Move a vector to its neighbour one entry and one step at a time: each of the
    at most `shift` moves is tested no better than f, so the whole is tested no better than f
    composed with itself (1 − f of 1 − f of …) `shift` times [DRS22]. For one number that
    composition is attained: p is log-concave, the best test rejects above a threshold (with a coin
    at the threshold), and the power of that test under a move by d is its size with the threshold
    lowered by d, coin included.                                                                ∎
    """

    name: ClassVar[str] = "skellam"
    variance: float
    shift: int = 1

    def __post_init__(self) -> None:
        checked(self.variance)
        parameters.whole("shift", self.shift)

    def atoms(self) -> tuple[Reals, Reals]:
        """From far right to far left: rising losses."""
        law = _moved(self.variance, self.shift)
        kept = law.masses > 0
        losses = np.maximum.accumulate(law.losses + law.loss_error)
        return losses[kept], (law.masses * (1 + law.mass_error))[kept]

    def origin(self) -> float:
        """0: the largest loss is too unlikely to count from."""
        return 0.0

    def infinite_mass(self) -> float:
        """Both tails that `atoms` leaves out, below 2e^(−700), rounded up to 2⁻¹⁰⁰⁸."""
        return _LEFT_OUT

    def group(self, size: int) -> SkellamPair:
        """Neighbours `size` steps apart are `size` times as far from each other."""
        return SkellamPair(variance=self.variance, shift=self.shift * size)

    def divergence(self, order: float) -> float:
        """ln E[e^(sL)]/s at s = α − 1: a finite sum, and a bound on what it leaves out.

        With r_n ≥ 1/(1 + 2(n + 1)/v) the loss at −n is at most Δ·ln(1 + 2(n + Δ)/v). From the last
        n summed on, masses fall by r_n or faster, and terms by r_n·e^(sΔ/(v/2 + n + Δ)).
        """
        s, law = order - 1, _moved(self.variance, self.shift)
        reach = (len(law.masses) - 1) // 2
        fall = law.last_ratio * math.exp(min(700.0, s * self.shift / (self.variance / 2 + reach)))
        if fall >= 1:
            return math.inf
        first = s * self.shift * math.log1p(2 * (reach + self.shift + 1) / self.variance)
        tail = first + math.log(2 * law.masses[-1] + _LEFT_OUT) - math.log1p(-fall)
        with np.errstate(divide="ignore"):
            exponents = np.log(law.masses) + s * law.losses
        top = max(float(exponents.max()), tail)
        total = float(np.exp(exponents - top).sum()) + math.exp(tail - top)
        # Every summand is right to its relative error; the sum is pairwise.
        slip = law.mass_error.max() + s * law.loss_error + 16 * ULP * (40 + abs(top))
        return max(0.0, rounding.up((top + math.log(total) + float(slip)) / s))


def gaussian_bound(variance: float) -> float:
    """μ such that Skellam noise moved by 1 is μ-Gaussian-differentially private.

    The best test of F against F moved by 1 rejects above a threshold t; its trade-off curve joins
    the points (1 − F(t), F(t − 1)) by straight lines, and Φ(Φ⁻¹(1 − α) − μ) is convex. So the bound
    holds if and only if q(t) − q(t − 1) ≤ μ for all whole t, where q = Φ⁻¹ ∘ F.        [DRS22]
    Up to t = T that is computed. Beyond, with S(t) = P(X ≥ t) and λ the hazard of the normal law,

        q(t) − q(t − 1) ≤ ln(S(t)/S(t + 1))/λ(q(t − 1)),    λ(q) ≥ (q + √(q² + 4))/2    [Bir42]
        S(t + 1)/S(t) = E[r_J] ≥ exp(−asinh((E J + 1)/v))    for J drawn like X ≥ t (Jensen)
        E J ≤ t + v/(t + ½), as P(X ≥ t + k)/P(X ≥ t) ≤ r_tᵏ
        S(t) ≤ e^(−c), c = t·asinh(t/v) − √(t² + v²) + v (Chernoff), bounds q(t − 1) from below

    Both use e^(−asinh((n + 1)/v)) ≤ r_n ≤ e^(−asinh((n + ½)/v)) for r_n = I_{n+1}(v)/I_n(v), the
    ratio of neighbouring masses. e^(−asinh a) is the positive root u of u² + 2a·u = 1.
    Lower: 1/r_n = 2(n + 1)/v + r_{n+1} (the recurrence of I) and r_{n+1} ≤ r_n (X is a difference
    of Poisson numbers, so its law is log-concave): r_n² + 2(n + 1)/v·r_n ≥ 1.
    Upper: as a function of v, r′ = 1 − (2n + 1)/v·r − r². r starts below the root u(v) of the right
    side, v/(2n + 2) against v/(2n + 1), and u grows; where r first met u it would have r′ = 0 < u′.

    The quotient of these bounds falls in t: √(1 + z²)·asinh²z ≥ 2(z·asinh z − √(1 + z²) + 1).
    """
    from scipy import special

    law = _moved(variance, 1)
    reach = (len(law.masses) - 1) // 2
    with np.errstate(divide="ignore"):  # where masses are 0, which is beyond what is used
        logs = np.log(np.cumsum(law.masses[: reach + 1]))[::-1]  # ln S(t) for t = 0 … reach
    q = -special.ndtri_exp(logs[1:][logs[1:] > 40 - _FAR])  # there the sums lack e⁻⁴⁰ of themselves
    slip = law.mass_error[reach - len(q) : reach][::-1] + 1e-12  # of ln S, and of its inverse
    steps = np.diff(q, prepend=-q[0]) + 2 * slip / np.maximum(0.5, q) + 8 * ULP * np.abs(q)
    return rounding.up(max(float(steps.max()), _far_step(variance, len(q))))


def _far_step(variance: float, t: int) -> float:
    """A bound on q(t) − q(t − 1), and on all such steps further out; t is far out already."""
    exponent, q = _exponent(t, variance), 1.0
    for _ in range(60):  # −ln(1 − Φ(q)) ≤ q²/2 + ln(q + 1/q) + ln √(2π)
        q = math.sqrt(2 * (exponent - math.log(q + 1 / q) - 0.91894))
    hazard = (q + math.sqrt(q * q + 4)) / 2
    return rounding.up(math.asinh((t + 1) / variance + 1 / (t + 0.5)) / hazard * (1 + 1e-12))


class _Law(NamedTuple):
    losses: Reals
    """ln p(x)/p(x − Δ) for x from far right to far left."""
    masses: Reals
    mass_error: Reals
    loss_error: float
    last_ratio: float


@lru_cache(maxsize=8)
def _moved(variance: float, shift: int) -> _Law:
    reach = _reach(variance)
    logs = _log_ratios(variance, reach + shift)
    falls = np.concatenate([[0.0], np.cumsum(logs)])  # ln p(k)/p(0)
    weights = np.exp(falls)
    total = 2 * math.fsum(weights[1:]) + 1
    each = 4 * ULP * (total + 4)  # of one ratio: A is below Σ p/p(0)
    places = np.abs(np.arange(reach, -reach - 1, -1))
    moved = np.abs(np.arange(reach, -reach - 1, -1) - shift)
    steps = np.arange(len(falls))
    slip = steps * each + 2 * ULP * steps * np.abs(falls) / np.maximum(1, np.sqrt(steps))
    masses = weights[places] / total
    losses = falls[places] - falls[moved]
    far = float(np.abs(losses).max())
    loss_error = shift * (each + 2 * ULP * abs(float(falls[-1]))) + 4 * ULP * far
    return _Law(
        losses=losses,
        masses=masses,
        mass_error=2 * slip[places] + 64 * ULP,
        loss_error=loss_error,
        last_ratio=math.exp(logs[reach]),
    )


def _log_ratios(variance: float, size: int) -> Reals:
    """ln rₖ for k = 0 … size, downward from where the start no longer matters."""
    ratio, logs = 0.0, np.empty(size + 1)
    twice = 2 / variance
    for k in range(2 * size + 64, size + 1, -1):
        ratio = 1 / (twice * k + ratio)
    for k in range(size + 1, 0, -1):
        ratio = 1 / (twice * k + ratio)
        logs[k - 1] = math.log(ratio)
    return logs


def _reach(variance: float) -> int:
    """The least k with P(X ≥ k) ≤ e⁻⁷⁰⁰ by Chernoff."""
    low, high = 0, 64
    while _exponent(high, variance) < _FAR:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _exponent(middle, variance) >= _FAR else (middle, high)
    return high


def _exponent(k: int, variance: float) -> float:
    """Chernoff's −ln P(X ≥ k) ≥ k·asinh(k/v) − v·(√(1 + (k/v)²) − 1)."""
    z = k / variance
    return k * math.asinh(z) - variance * z * z / (1 + math.sqrt(1 + z * z))
