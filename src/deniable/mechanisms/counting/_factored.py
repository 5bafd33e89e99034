"""What counters by a factor of the matrix of running sums share.

Numbers x₁, x₂, … become yₜ = Σⱼ cₜ₋ⱼ·dⱼ·xⱼ in whole numbers, and each y gets Gaussian noise of its
own width σₜ. Undoing c and d and adding up gives the totals. A unit that moves the stream by Δ₁
moves y, in units of σₜ, by at most Δ₁ times the longest column, √Σₜ (cₜ₋ⱼ·dⱼ/σₜ)² ≤ 1/σ: so the
price is that of one number with noise σ. The matrix is lower triangular: values may follow answers.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Final

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.mechanisms.numbers.gaussian import Gaussian

from ._online import Online, inverse
from ._stream import Counter, Floats

ABOVE: Final = 1 + 2.0**-20
"""Norms are computed in floats, whose errors are below 2⁻²⁹, and rounded up by that."""
WEIGHT: Final = 2**12
"""The largest d."""
LARGEST: Final = 2**50
"""Values beyond this are clipped to it, which moves no two of them apart."""
_ROOM: Final = 41
"""Bits for σ and the digits of c: d and the rest of σₜ/σ take 14, and noise has 55 at most."""
_WIDEST: Final = 2.0**38
_FIRST: Final = 128


class Factored(Counter):
    """Totals from y with noise; subclasses say what c, d and σₜ are."""

    sigma: float
    sensitivity: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._canonical(sigma=parameters.positive, sensitivity=parameters.positive)
        if not 1 / _WIDEST <= self.sigma <= _WIDEST:
            raise BadParameter.of("sigma", self.sigma, must="between 2⁻³⁸ and 2³⁸")

    @property
    def priced_as(self) -> Gaussian:
        """Gaussian noise on a number that one unit moves by Δ₁."""
        return Gaussian(sigma=self.sigma, sensitivity=self.sensitivity)

    @property
    def digits(self) -> int:
        """c is in multiples of 2 to the minus so many."""
        return min(40, _ROOM - max(0, math.frexp(self.sigma)[1]))

    @abstractmethod
    def _column(self, steps: int) -> Floats:
        """c₀, …, in multiples of 2⁻ᶠ: whole numbers, exactly."""

    @abstractmethod
    def _weight(self, step: int, /) -> int:
        """d of a step, from 0, at most `WEIGHT`."""

    @abstractmethod
    def _spread(self, step: int, /) -> float:
        """σₜ of a step, from 0, in multiples of 2⁻ᶠ."""

    def _undoing(self, column: Floats) -> Floats:
        """The first column of C⁻¹, of a column in multiples of 2⁻ᶠ."""
        return inverse(np.ldexp(column, -self.digits))

    def totals(self) -> Callable[[int], float]:
        """Encoded exactly, with noise on the lattice, and decoded."""
        column, undoing = list[int](), list[float]()
        encode, decode = Online(column, exact=True), Online(undoing, exact=False)
        step, so_far = 0, 0.0

        def total(number: int) -> float:
            nonlocal step, so_far
            if len(column) < min(2 * step + 2, self.steps):
                longer = self._column(min(max(_FIRST, 4 * step), self.steps))
                column[:] = longer.astype(np.int64).tolist()
                undoing[len(undoing) :] = self._undoing(longer)[len(undoing) :].tolist()
            weight = self._weight(step)
            exact = encode(min(max(number, -LARGEST), LARGEST) * weight)  # private
            noise = Gaussian(sigma=self._spread(step)).draw(0)
            assert isinstance(noise, int)
            so_far += float(decode((exact + noise) / (1 << self.digits))) / weight
            step += 1
            return so_far

        return total
