"""The exponential mechanism over a finite, public list of candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from deniable import parameters
from deniable.sampling import select

from ._scores import Selection, checked_scores


@parameters.made("dp.Exponential(epsilon=1.0)")
@dataclass(frozen=True, kw_only=True)
class Exponential(Selection):
    """Exponential: pick a candidate with probability growing exponentially in its score.

    Releases   i with probability ∝ exp(ε·uᵢ/2Δ); ∝ exp(ε·uᵢ/Δ) if monotonic
    Privacy    ε-DP                                                       [MT07]
               its privacy losses span at most ε: ρ-zCDP with ρ = ln(sinh(t)/t) + t/tanh(t) − 1,
               t = ε/2, which is below ε²/8; Rényi as tight               [DDR20; CR21]
    Error      the score is within (2Δ/ε)·ln(m/β) of the best of m with probability 1 − β
    Assumes    Δ ≥ max |uᵢ(x) − uᵢ(x′)| over neighbours and candidates; candidates are public
    Numerics   exact: Gumbel-max in floats with a certified gap, refined where the gap is too small

    >>> Exponential(epsilon=10.0).release([0, 0, 1000])
    2
    """

    name: ClassVar[str] = "exponential"
    bounded_range: ClassVar[bool] = True

    def draw(self, value: ArrayLike) -> int:
        """The index of the chosen candidate."""
        return select.gumbel_max(checked_scores(value), 1 / self.scale)
