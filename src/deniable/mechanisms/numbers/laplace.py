"""The Laplace mechanism: real double-exponential noise, rounded to a lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from deniable import parameters
from deniable.losses import rounding
from deniable.mechanisms._mechanism import Norm
from deniable.sampling import lazy, rounded_laplace

from ._additive import Floats, Integers, RealNoise, ratio_up

if TYPE_CHECKING:
    from deniable.losses.pairs import Pairs


@parameters.made("dp.Laplace(scale=2.0) or dp.Laplace.calibrate(epsilon=0.5)")
@dataclass(frozen=True, kw_only=True)
class Laplace(RealNoise):
    """Laplace: add double-exponential noise to a number or to each number of an array.

    Releases   f(x) + Lap(b)ᵈ, rounded to a lattice
    Privacy    ε-DP, ε = Δ₁/b                                      [DMNS06; DR14, Thm 3.6]
               (ε − 1 + e⁻ᵋ)-zCDP;
               for vectors, one number moved by Δ₁ is the worst case
    Error      |noise| ≤ b·ln(1/β) with probability 1 − β, per coordinate
    Assumes    Δ₁ ≥ max ‖f(x) − f(x′)‖₁ over neighbours
    Numerics   whole numbers stay whole; floats lie on a lattice of width 2ᵏ ≈ 2⁻²⁰·b. The
               continuous distribution is rounded exactly, so its privacy guarantee carries
               over                                                            [Mir12, CKS20]

    >>> Laplace.calibrate(epsilon=0.1, sensitivity=1)
    Laplace(scale=10.0, sensitivity=1.0)
    >>> round(Laplace(scale=10).error(0.95), 2)
    29.96
    """

    name: ClassVar[str] = "laplace"
    norm: ClassVar[Norm] = "l1"

    scale: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        self._canonical(scale=parameters.positive, sensitivity=parameters.positive)

    @classmethod
    @parameters.called("dp.Laplace.calibrate(epsilon=0.5)")
    def calibrate(cls, *, epsilon: float, sensitivity: float = 1.0) -> Self:
        """The least noise that is ε-DP for values that one unit moves by at most Δ₁."""
        epsilon = parameters.positive("epsilon", epsilon)
        sensitivity = parameters.positive("sensitivity", sensitivity)
        return cls(scale=ratio_up(sensitivity, epsilon), sensitivity=sensitivity)

    def pure(self) -> float:
        return ratio_up(self.sensitivity, self.scale)

    def zcdp(self) -> float:
        """The Kullback–Leibler divergence ε − 1 + e⁻ᵋ, which no Rényi divergence exceeds α-fold.

        With s = α − ½ and w = s², E[exp((α − 1)·L)] = e^(−ε/2)·(cosh sε + sinh(sε)/2s). As an
        entire function of w it has order ½ and only negative zeros: s = iτ solves
        sin τε + 2τ·cos τε = 0, the eigenvalues of −y″ = τ²y with y(0) = 0 and y(ε) + 2y′(ε) = 0.
        By Hadamard's product its logarithm is concave in w, hence below its tangent at w = ¼
        (α = 1), which is KL·(w − ¼) = KL·α(α − 1). So D_α ≤ α·KL for every α > 1, with equality
        as α → 1.
        """
        epsilon = self.pure()
        if epsilon < 0.01:  # the alternating series, cut after a positive term: no cancellation
            series = epsilon**2 * (1 / 2 - epsilon / 6 + epsilon**2 / 24)
            return max(rounding.up(series), math.ulp(0.0))  # ε² may be below the least float
        return rounding.up(epsilon, -1.0, math.exp(-epsilon))

    def renyi(self, order: float) -> float:
        """ln[α/(2α−1)·e^((α−1)ε) + (α−1)/(2α−1)·e^(−αε)] / (α − 1)    [Mir17, Prop 6]."""
        if math.isinf(order):
            return self.pure()
        epsilon, less = self.pure(), order - 1
        # ln(A + B) with e^((α−1)ε) taken out: ln1p(−(1 − A′) + B′), A′ + B′ ≤ 1.
        rest = less / (2 * order - 1) * math.expm1(-(2 * order - 1) * epsilon)
        exact = rounding.up(epsilon, math.log1p(rest) / less, 2.0**-50 * epsilon / less)
        return min(exact, self.pure(), rounding.up(order * self.zcdp()))

    def pairs(self) -> Pairs:
        """Lap(0) against Lap(Δ₁/b), also for vectors.

        For a ≥ b > 0, moving two coordinates by a and b is dominated by moving one by a + b:
        δ_{a⊗b}(ε) = E[δ_a(ε − L_b)] where δ_a(t) = 1 − e^((t−a)/2) on [−a, a]. On [0, a − b] this
        is 1 − e^((ε−a)/2)·(1 + b/2)·e^(−b/2) ≤ δ_{a+b}(ε). On [a − b, a + b], with u = ε − a,
        cutting δ_a at 0 adds (u + b)/4·e^((u−b)/2), at most the room (b/2)·e^((u−b)/2) left above.
        Negative ε follow by symmetry, more coordinates by induction; a smaller shift is dominated
        because the law is log-concave.
        """
        from deniable.losses.pairs import LaplacePair, Pairs

        return Pairs.symmetric(LaplacePair(ratio=self.pure()))

    @property
    def _spread(self) -> float:
        return self.scale

    def _rounded(self, spread: Fraction, rests: Floats) -> Integers:
        return rounded_laplace(spread, rests)

    def _lazy(self) -> lazy.LazyReal:
        return lazy.Laplace()

    @property
    def rounded_variance(self) -> float:
        """The variance of the noise on whole numbers: √q·(1 + q)/(1 − q)² with q = e^(−1/b).

        P(|noise| ≥ k) is q^(k−½), and E[noise²] is the sum of (2k − 1)·P(|noise| ≥ k).
        """
        q = math.exp(-1 / self.scale)
        return math.sqrt(q) * (1 + q) / math.expm1(-1 / self.scale) ** 2

    def quantile(self, tail: float) -> float:
        return -self.scale * math.log(tail)
