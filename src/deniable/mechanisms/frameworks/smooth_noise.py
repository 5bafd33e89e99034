"""Noise sized to the data themselves, through a smooth bound on local sensitivity."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from deniable import parameters
from deniable.errors import BadParameter, NoBound
from deniable.forms import Form, read_pair
from deniable.mechanisms._mechanism import Mechanism, Norm
from deniable.sampling import lazy
from deniable.sampling.lattice import Lattice
from deniable.sensitive import Sensitive

_LEAST_BETA = 2.0**-20


@dataclass(frozen=True, kw_only=True)
class SmoothNoise(Mechanism):
    """SmoothNoise: add noise scaled to a smooth bound S(x) on how far one unit moves f near x.

    Releases   f(x) + (S(x)/s)·T₂ with Student's t of 2 degrees of freedom (δ = 0), or
               f(x) + (2S(x)/ε)·Lap(1) (δ > 0); rounded to a lattice, held in [low, high]
    Privacy    δ = 0: ε-DP with s = (ε − 2β)·2√2/3, β = ε/6           [BS19, see below]
               δ > 0: (ε, δ)-DP with the largest β ≤ ε/2 such that (ε/2 + β)/(eᵝ − 1) ≥ ln(1/δ)
               [NRS07, see below]
    Error      not shown: S(x) depends on the data, and so would any ±
    Assumes    S(x) ≥ how far one unit can move f(x), and S(x) ≤ eᵝ·S(x′) for neighbours, with β of
               this mechanism (sensitivity.smooth computes such S)
    Numerics   exact: real noise rounded to a lattice fixed by low and high

    The value is (f(x), S(x)).

    Student: ln of the density of eᵗ·T_d at z has derivative −1 + (d + 1)u²/(d + u²) in t, u =
    ze⁻ᵗ, which lies in (−1, d), and −(d + 1)z/(d + z²) in z, at most (d + 1)/(2√d). So dilation
    by e^β costs dβ and translation by s costs s·(d + 1)/(2√d); here d = 2.
    Laplace: replacing S(x) by S(x′) changes ln of the density by |z|(e^λ − 1) − λ with |λ| ≤ β. For
    λ < 0 that is at most β, which is held to ε/2; for λ > 0 it exceeds ε/2 only where
    |z| > (ε/2 + β)/(eᵝ − 1), so with probability at most δ. The translation that follows is by at
    most S(x′) and costs the other ε/2.
    """

    name: ClassVar[str] = "smooth_noise"
    norm: ClassVar[Norm] = "linf"
    of_samples: ClassVar[bool] = False

    epsilon: float
    low: float
    high: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        parameters.positive("epsilon", self.epsilon)
        parameters.fraction_below_one("delta", self.delta)
        low, high = parameters.real("low", self.low), parameters.real("high", self.high)
        if not low < high:
            raise BadParameter.of("high", self.high, must=f"above low = {self.low:g}")
        if self.beta < _LEAST_BETA:
            raise BadParameter.of("epsilon", self.epsilon, must="large enough that β ≥ 2⁻²⁰")
        if not 2.0**-900 <= high - low <= 2.0**900:
            raise BadParameter.of("high", self.high, must="between 2⁻⁹⁰⁰ and 2⁹⁰⁰ above low")

    @property
    def beta(self) -> float:
        """How fast S may change between neighbours: by a factor of at most e^β."""
        if self.delta == 0:
            return self.epsilon / 6
        wanted = -math.log(self.delta) * (1 + 2**-40)
        low, high = 0.0, min(self.epsilon / 2, 700.0)
        for _ in range(80):  # (ε/2 + β)/(eᵝ − 1) falls with β
            middle = (low + high) / 2
            met = middle > 0 and (self.epsilon / 2 + middle) / math.expm1(middle) >= wanted
            low, high = (middle, high) if met else (low, middle)
        return low

    def pure(self) -> float:
        """ε, with Student's noise."""
        return self.epsilon if self.delta == 0 else math.inf

    def approx(self) -> tuple[float, float]:
        return self.epsilon, self.delta

    def error(self, confidence: float = 0.95) -> float:
        """Refused: the ± would reveal something about the data."""
        parameters.confidence("confidence", confidence)
        raise NoBound(
            "smooth noise has no ± that may be shown",
            why="its size depends on the data, and so would the ±",
            fix="repeat the question through sample-and-aggregate, whose ± is public",
        )

    def _check_covers(self, value: Sensitive[Any]) -> None:
        """The bound S travels with the value; `sensitivity.smooth` proves it."""

    @cached_property
    def lattice(self) -> Lattice:
        """Where answers lie: 2⁻⁴⁰ or so of the range."""
        return Lattice.for_scale((self.high - self.low) * 2.0**-20)

    def reading(self, _form: Form) -> Callable[[Any], Any]:
        """Two real numbers: the answer and its smooth bound."""
        return read_pair

    def draw(self, value: tuple[float, float]) -> float:
        """The noisy answer, held in [low, high]; exact however large the bound or the noise is."""
        center, bound = value
        if not (math.isfinite(center) and 0 < bound < math.inf):
            raise BadParameter("the value must be (a finite number, a smooth bound above 0)")
        place = self.lattice.steps(min(max(center, self.low), self.high))
        steps = self.lattice.steps(bound)
        if self.delta > 0:
            point = lazy.rounded(place, 2 * steps / Fraction(self.epsilon), lazy.Laplace())
        else:
            # s is irrational: a rational a little below it only adds noise.
            per = Fraction((self.epsilon - 2 * self.beta) * 2 * math.sqrt(2) / 3 * (1 - 2**-48))
            point = lazy.rounded(place, steps / per, lazy.StudentTwo())
        exact = point * Fraction(2) ** self.lattice.exponent
        return float(min(max(exact, Fraction(self.low)), Fraction(self.high)))
