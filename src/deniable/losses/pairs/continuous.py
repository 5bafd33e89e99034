"""Pairs of continuous distributions: Gaussian, Laplace, and bounded range."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from deniable import parameters
from deniable.losses import convert

from ._pair import ULP, Cells, Complexes, Pair, Reals, log_of_sum


@dataclass(frozen=True, kw_only=True)
class GaussianPair(Pair):
    """N(μ, 1) against N(0, 1): Gaussian noise of standard deviation Δ/μ.

    L ~ N(μ²/2, μ²), ln M(z) = μ² z(z + 1)/2.                       [DRS22; BW18]
    """

    name: ClassVar[str] = "gaussian"
    mu: float

    def __post_init__(self) -> None:
        parameters.non_negative("mu", self.mu)

    def log_mgf(self, z: Complexes) -> tuple[Complexes, Reals]:
        value = self.mu**2 / 2 * z * (z + 1)
        return value, 8 * ULP * np.abs(value)

    def rough_log_mgf(self, c: float) -> float:
        """The same, of a real number."""
        return self.mu**2 / 2 * c * (c + 1)

    def decay(self, c: float, t: float) -> float:
        """|M(c + it)| = M(c) e^(−μ²t²/2)."""
        del c
        return math.exp(-(self.mu**2) * t**2 / 2 * (1 - 8 * ULP))

    def masses(self, edges: Reals) -> Cells:
        """Differences of the normal distribution function, taken in the nearer tail."""
        under_p, error = normal_masses(edges / self.mu - self.mu / 2)
        under_q, error_q = normal_masses(edges / self.mu + self.mu / 2)
        return Cells(under_p, under_q, error, error_q)

    def support(self, mass: float) -> tuple[float, float]:
        """Chernoff: P(|L − μ²/2| > xμ) ≤ e^(−x²/2) on each side."""
        reach = math.sqrt(-2 * math.log(mass)) * self.mu
        return self.mu**2 / 2 - reach, self.mu**2 / 2 + reach

    def largest_loss(self) -> float:
        """Without bound, unless there is no distance at all."""
        return math.inf if self.mu else 0.0

    def delta_alone(self, epsilon: float) -> float:
        """Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)  [BW18, Thm 8]."""
        return convert.gdp_to_delta(self.mu, epsilon)

    def group(self, size: int) -> GaussianPair:
        """Neighbours `size` steps apart are `size` times as far from each other."""
        return GaussianPair(mu=math.nextafter(self.mu * size, math.inf))

    def dominates(self, other: Pair) -> bool:
        """More noise can only hide more."""
        return self == other or (isinstance(other, GaussianPair) and self.mu >= other.mu)


@dataclass(frozen=True, kw_only=True)
class LaplacePair(Pair):
    """Laplace noise of scale b against itself moved by Δ: `ratio` a = Δ/b.

    L is a with chance ½, −a with chance e^(−a)/2, and in between has density e^((l−a)/2)/4.
    M(z) = [(1 + z) e^(za) + z e^(−(1+z)a)]/(1 + 2z).               [ZDW22]
    """

    name: ClassVar[str] = "laplace"
    two_sided: ClassVar[bool] = True
    ratio: float

    def __post_init__(self) -> None:
        parameters.positive("ratio", self.ratio)

    def origin(self) -> float:
        return self.ratio

    def point_masses(self) -> tuple[Reals, Reals]:
        return np.array([0.0, 2 * self.ratio]), 0.5 * np.exp([0.0, -self.ratio])

    def log_mgf(self, z: Complexes) -> tuple[Complexes, Reals]:
        """ln[(1 + z + z e^(−(1+2z)a))/(1 + 2z)]."""
        a = self.ratio
        with np.errstate(under="ignore"):
            back = z * np.exp(-(1 + 2 * z) * a)
        return log_of_sum(
            (1 + z + back) / (1 + 2 * z),
            (np.abs(1 + z) + np.abs(back)) / np.abs(1 + 2 * z),
            32 * ULP * (1 + np.minimum(np.abs(back / z), 1.0) * np.abs(1 + 2 * z) * a),
        )

    def rough_log_mgf(self, c: float) -> float:
        """The same, of a real number."""
        return math.log((1 + c + c * math.exp(-(1 + 2 * c) * self.ratio)) / (1 + 2 * c))

    def masses(self, edges: Reals) -> Cells:
        """Interval masses of the density, and the two atoms at ±a."""
        a = self.ratio
        inside = np.clip(edges, -a, a)
        width = np.diff(inside)
        p = 0.5 * np.exp((inside[1:] - a) / 2) * -np.expm1(-width / 2)
        q = 0.5 * np.exp((-inside[:-1] - a) / 2) * -np.expm1(-width / 2)
        for atom, weight in ((a, 0.5), (-a, 0.5 * math.exp(-a))):
            here = (edges[:-1] < atom) & (atom <= edges[1:])
            p += here * weight
            q += here * weight * math.exp(-atom)
        return Cells(p, q, 32 * ULP * (1 + a) * p, 32 * ULP * (1 + a) * q)

    def support(self, mass: float) -> tuple[float, float]:
        del mass
        return -self.ratio, self.ratio

    def largest_loss(self) -> float:
        return self.ratio

    def delta_alone(self, epsilon: float) -> float:
        """1 − e^((ε − a)/2)."""
        return -math.expm1(min(0.0, epsilon - self.ratio) / 2) * (1 + 16 * ULP)

    def group(self, size: int) -> LaplacePair:
        """Neighbours `size` steps apart are `size` times as far from each other."""
        return LaplacePair(ratio=math.nextafter(self.ratio * size, math.inf))

    def dominates(self, other: Pair) -> bool:
        """A log-concave density moved further is easier to tell apart."""
        return self == other or (isinstance(other, LaplacePair) and self.ratio >= other.ratio)


@dataclass(frozen=True, kw_only=True)
class BoundedRangePair(Pair):
    """Any mechanism whose log-ratios span at most ε: the exponential mechanism, Gumbel noisy max.

    Worst cases are two-point losses {t, t − ε}, 0 ≤ t ≤ ε [DDR20], and which t is worst
    depends on the threshold; when questions may follow answers, so may t. The pair therefore has
    the envelope sup over t of the δ(x) of each: (e^(ε/2) − e^(x/2))²/(e^ε − 1), |x| ≤ ε, which is
    convex in e^x and so the curve of a pair that dominates them all [ZDW22]. Its loss has
    density e^((ε+l)/2)/(2(e^ε − 1)) on [−ε, ε], without atoms.
    M(z) = e^(ε/2) sinh((z + ½)ε)/((z + ½)(e^ε − 1)).

    Moments of one order compose adaptively too, and sup over t of each moment is less than the
    envelope's (in the limit ε²/8 against ε²/6): `log_moment` gives it, and prices are the better.
    """

    name: ClassVar[str] = "bounded_range"
    two_sided: ClassVar[bool] = True
    epsilon: float

    def __post_init__(self) -> None:
        parameters.positive("epsilon", self.epsilon)

    def origin(self) -> float:
        return self.epsilon

    def log_mgf(self, z: Complexes) -> tuple[Complexes, Reals]:
        """ln[(1 − e^(−(1+2z)ε))/((1 + 2z)(1 − e^(−ε)))]."""
        e = self.epsilon
        with np.errstate(under="ignore"):
            back = np.exp(-(1 + 2 * z) * e)
        value, error = log_of_sum(
            -np.expm1(-(1 + 2 * z) * e),
            np.minimum(1 + np.abs(back), np.abs(1 + 2 * z) * e),
            32 * ULP * (1 + np.abs(back) * np.abs(1 + 2 * z) * e),
        )
        scale = np.log((1 + 2 * z) * -np.expm1(-e))
        return value - scale, error + 16 * ULP * (1 + np.abs(scale))

    def decay(self, c: float, t: float) -> float:
        """|sinh| ≤ cosh, and the denominator grows with t."""
        ratio = (c + 0.5) / math.hypot(c + 0.5, t) / math.tanh((c + 0.5) * self.epsilon)
        return min(1.0, ratio * (1 + 32 * ULP))

    def masses(self, edges: Reals) -> Cells:
        """Interval masses of the density."""
        e = self.epsilon
        inside = np.clip(edges, -e, e)
        width = -np.expm1(-np.diff(inside) / 2) / -math.expm1(-e)
        p = np.exp((inside[1:] - e) / 2) * width
        q = np.exp((-inside[:-1] - e) / 2) * width
        return Cells(p, q, 32 * ULP * (1 + e) * p, 32 * ULP * (1 + e) * q)

    def support(self, mass: float) -> tuple[float, float]:
        del mass
        return -self.epsilon, self.epsilon

    def largest_loss(self) -> float:
        return self.epsilon

    def delta_alone(self, epsilon: float) -> float:
        """(e^(ε/2) − e^(x/2))²/(e^ε − 1) at x."""
        gap = -math.expm1(min(0.0, epsilon - self.epsilon) / 2)
        return gap**2 / -math.expm1(-self.epsilon) * (1 + 32 * ULP)

    def log_moment(self, c: float) -> float:
        """c times the largest divergence at 1 + c of any mechanism of this range."""
        return c * self.divergence(1 + c) * (1 + 8 * ULP)

    def divergence(self, order: float) -> float:
        """The largest over all t, in closed form: below that of the envelope."""
        return convert.bounded_range_to_renyi(self.epsilon, order)

    def dominates(self, other: Pair) -> bool:
        """A narrower range is also a wider one."""
        return self == other or (
            isinstance(other, BoundedRangePair) and self.epsilon >= other.epsilon
        )


def normal_masses(x: Reals) -> tuple[Reals, Reals]:
    """Masses of N(0, 1) between consecutive points, with a bound on their absolute error."""
    from scipy.special import ndtr

    below, above = ndtr(x), ndtr(-x)
    upper = x[:-1] > 0
    mass = np.where(upper, above[:-1] - above[1:], below[1:] - below[:-1])
    size = np.where(upper, above[:-1], below[1:])
    # ndtr goes by e^(−x²/2), whose argument is right within an ulp of x²/2.
    reach = np.minimum(np.abs(np.where(upper, x[:-1], x[1:])), 40.0)
    return np.maximum(mass, 0.0), size * ULP * (32 + 4 * reach**2)
