"""The staircase mechanism: the least noise that ε-DP of one number allows."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.forms import Form
from deniable.losses.pairs import Pairs, StaircasePair
from deniable.mechanisms._mechanism import Norm
from deniable.sampling import below, bernoulli, bernoulli_exp, geometric

from ._additive import Additive, as_numbers

CELLS = 2**20
"""Lattice steps in one Δ: the density is constant on each."""


@dataclass(frozen=True, kw_only=True)
class Staircase(Additive):
    """Staircase: add noise whose density goes down by e⁻ᵋ in steps of length Δ, to one number.

    Releases   f(x) + X, where X has density ∝ e^(−kε) at distances [k, k + γ)·Δ from 0, and
               ∝ e^(−(k+1)ε) at [k + γ, k + 1)·Δ; rounded to a lattice of width 2⁻²⁰·Δ
    Privacy    ε-DP                                                         [GV16]
    Error      |X| ≤ t with probability 1 − β, in closed form; E|X| = Δ·e^(ε/2)/(e^ε − 1) is the
               least of all ε-DP noise, against Δ/ε for Laplace
    Assumes    Δ ≥ max |f(x) − f(x′)| over neighbours; one number, not a vector
    Numerics   γ is a multiple of 2⁻²⁰, so the density is constant on lattice cells: a cell is drawn
               exactly, and the place within it decides the rounding as one exact coin

    A vector is refused: two numbers moved by Δ/2 each may each cross a step, which costs 2ε.

    >>> round(Staircase(epsilon=4.0).mean_error, 3), 1 / 4.0  # of Laplace
    (0.138, 0.25)
    """

    name: ClassVar[str] = "staircase"
    norm: ClassVar[Norm] = "linf"

    epsilon: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        self._canonical(epsilon=parameters.positive, sensitivity=parameters.positive)
        if not self.epsilon <= 64:
            raise BadParameter.of("epsilon", self.epsilon, must="a number above 0 and at most 64")

    @classmethod
    def calibrate(cls, *, epsilon: float, sensitivity: float = 1.0) -> Staircase:
        """The same as naming its parameters: it has no others."""
        return cls(epsilon=epsilon, sensitivity=sensitivity)

    @property
    def high_cells(self) -> int:
        """γ in lattice cells, at least one: γ = 1/(1 + e^(ε/2)) minimises E|X|  [GV16]."""
        return max(1, round(CELLS / (1 + math.exp(self.epsilon / 2))))

    def pure(self) -> float:
        return self.epsilon

    def zcdp(self) -> float:
        """The least ρ of its own law."""
        return self._stairs.concentration()

    def pairs(self) -> Pairs:
        """Three losses: ε with probability ½ + γΔ·f(0), −ε with e⁻ᵋ times that, else 0.

        A move by Δ gives just these. One by d < Δ gives loss ε on fewer x: all x < 0, and those in
        [0, γΔ), at most; and at any threshold below ε that set alone decides δ.
        """
        return Pairs.symmetric(self._stairs)

    @property
    def _stairs(self) -> StaircasePair:
        return StaircasePair(epsilon=self.epsilon, fraction=self.high_cells / CELLS)

    def reading(self, form: Form) -> Callable[[Any], Any]:
        _check_size(form.size)
        return super().reading(form)

    def draw(self, value: object) -> float:
        """One number plus noise, on the lattice."""
        number = as_numbers(value)
        _check_size(number.size)
        step = Fraction(self.sensitivity) / CELLS
        place = Fraction(number.item()) / step + Fraction(1, 2)
        point = math.floor(place)
        rest, cell = place - point, self._cell()
        # X = ±(cell + V) steps with V uniform in [0, 1): ⌊rest ± V⌋ is a coin that shows `rest`.
        if below(2, 1)[0]:
            point += cell + int(bernoulli(rest, 1)[0])
        else:
            point -= cell + int(bernoulli(1 - rest, 1)[0])
        try:
            return float(point * step)
        except OverflowError:  # beyond the floats: hold it at their end, which is post-processing
            return sys.float_info.max if point > 0 else -sys.float_info.max

    def _cell(self) -> int:
        """Which cell |X| falls in: the stair by a geometric draw, the cell in it by rejection."""
        stair = int(geometric(1 / Fraction(self.epsilon), 1)[0])
        while True:
            cell = int(below(CELLS, 1)[0])
            if cell < self.high_cells or bernoulli_exp(self.epsilon, 1)[0]:
                return stair * CELLS + cell

    def error(self, confidence: float = 0.95, *, coordinates: int = 1) -> float:
        """Half-width of the interval around one answer, or around several independent ones."""
        return super().error(confidence, coordinates=coordinates) + self.sensitivity / CELLS / 2

    @property
    def mean_error(self) -> float:
        """E|X|, but for the rounding."""
        gamma, fall = self.high_cells / CELLS, math.exp(-self.epsilon)
        high = gamma / (gamma + (1 - gamma) * fall)  # how often |X| is in the high part
        within = high * gamma / 2 + (1 - high) * (1 + gamma) / 2
        return self.sensitivity * (1 / math.expm1(self.epsilon) + within)

    def quantile(self, tail: float) -> float:
        """P(|X| > (k + y)Δ) = e^(−kε)·(1 − (1 − e⁻ᵋ)·s(y)), s the share of a stair up to y."""
        gamma, fall = self.high_cells / CELLS, math.exp(-self.epsilon)
        stair = math.floor(-math.log(tail) / self.epsilon)
        share = (1 - tail * math.exp(stair * self.epsilon)) / -math.expm1(-self.epsilon)
        high = gamma / (gamma + (1 - gamma) * fall)
        y = np.interp(share, (0.0, high, 1.0), (0.0, gamma, 1.0))
        return float(stair + y) * self.sensitivity


def _check_size(size: int) -> None:
    if size != 1:
        raise BadParameter("Staircase takes one number", fix="dp.Laplace takes arrays")
