"""The discrete Laplace mechanism: two-sided geometric noise on whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from deniable import parameters
from deniable.losses import rounding
from deniable.losses.pairs import DiscreteLaplacePair, Pairs
from deniable.mechanisms._mechanism import Norm
from deniable.sampling import discrete_laplace

from ._additive import Integers, WholeNoise, ratio_up


@parameters.made("dp.DiscreteLaplace(scale=2) or dp.DiscreteLaplace.calibrate(epsilon=0.5)")
@dataclass(frozen=True, kw_only=True)
class DiscreteLaplace(WholeNoise):
    """Discrete Laplace: add two-sided geometric noise to a whole number or to each of an array.

    Releases   f(x) + Z, P(Z = z) = (1 − q)/(1 + q)·q^|z|, q = e^(−1/b)
    Privacy    ε-DP, ε = Δ₁/b                                               [GRS12]
               at Δ₁ = 1 it is randomized response: as dear as an ε-DP mechanism can be
    Error      |Z| ≤ k with probability 1 − 2q^(k+1)/(1 + q), per coordinate
    Assumes    f is in whole numbers and Δ₁ ≥ max ‖f(x) − f(x′)‖₁ over neighbours
    Numerics   drawn exactly                                                [CKS20]

    >>> m = DiscreteLaplace(scale=2.0)
    >>> m.epsilon_at(), m.error(0.95)
    (0.5, 6.0)
    """

    name: ClassVar[str] = "discrete_laplace"
    norm: ClassVar[Norm] = "l1"

    scale: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        self._canonical(scale=parameters.positive, sensitivity=parameters.whole)

    @classmethod
    @parameters.called("dp.DiscreteLaplace.calibrate(epsilon=0.5)")
    def calibrate(cls, *, epsilon: float, sensitivity: int = 1) -> Self:
        """The least noise that is ε-DP for whole numbers that one unit moves by at most Δ₁."""
        epsilon = parameters.positive("epsilon", epsilon)
        sensitivity = parameters.whole("sensitivity", sensitivity)
        return cls(scale=ratio_up(sensitivity, epsilon), sensitivity=sensitivity)

    def pure(self) -> float:
        return ratio_up(self.sensitivity, self.scale)

    def zcdp(self) -> float:
        """The Kullback–Leibler divergence, which no Rényi divergence exceeds α-fold.

        As for `Laplace`: with y = e^(2s/b), E[exp((α − 1)·L)] is a positive factor times
        y^Δ + (1 − q)·(y^(Δ−1) + … + y) + 1. Times (y − 1) that is y^Δ·(y − q) − (1 − qy), and since
        |y − q| > |1 − qy| for |y| > 1, all its zeros lie on the unit circle: s is imaginary there,
        w = s² negative, and the logarithm concave in w.

        KL = [Δ·(1 − q^Δ) + Σ (1 − q)·q^x·(Δ − 2x)]/((1 + q)·b) over x = 1 … Δ − 1.
        """
        q, steps = math.exp(-1 / self.scale), self.sensitivity
        simple = super().zcdp()
        if steps == 1:
            return simple
        # Σ (1−q)q^x over x = 1 … Δ−1 is q − q^Δ; of x(1−q)q^x it is q(1−q^(Δ−1))/(1−q) − (Δ−1)q^Δ.
        # Each term is right to a few roundings: differences of powers are not taken of powers.
        # Where they cancel, the room for that is larger than ε·tanh(ε/2), which loses no digits.
        power = math.exp(-steps / self.scale)
        gap, lost = -math.expm1(-1 / self.scale), -math.expm1(-steps / self.scale)
        inner = -q * math.expm1(-(steps - 1) / self.scale)
        terms = (steps * lost, steps * inner, -2 * inner / gap, 2 * (steps - 1) * power)
        bound = math.fsum(terms) + 2.0**-44 * math.fsum(map(abs, terms))
        return min(simple, rounding.up(bound / ((1 + q) * self.scale)))

    def pairs(self) -> Pairs:
        """The law against the law moved by Δ₁, also for vectors.

        At losses of the parity of Δ the curve δ_Δ(t) = 1 − e^((t−Δ)/2) (in units of 1/b) is that
        of the real Laplace mechanism, and it is affine in e^t between them. The proof for
        `Laplace.pairs` carries over with sums in place of integrals: the room is p(1 − q)·b·q^m,
        and cutting adds p(1 − q)·(b + u)/2·q^m, with p = 1/(1 + q) and m = (b − u)/2.
        """
        return Pairs.symmetric(DiscreteLaplacePair(scale=self.scale, shift=self.sensitivity))

    def _noise(self, count: int) -> Integers:
        return discrete_laplace(Fraction(self.scale), count)

    def quantile(self, tail: float) -> float:
        """The least k with P(|Z| > k) ≤ tail."""
        q = math.exp(-1 / self.scale)
        least = -self.scale * math.log(tail * (1 + q) / 2)  # P(|Z| ≥ k) ≤ tail from this k on
        return float(max(0, math.ceil(least) - 1))
