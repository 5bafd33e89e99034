"""Permute-and-flip: the exponential mechanism's better twin under pure privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from deniable import parameters
from deniable.sampling import select

from ._scores import Selection, checked_scores


@parameters.made("dp.PermuteAndFlip(epsilon=1.0)")
@dataclass(frozen=True, kw_only=True)
class PermuteAndFlip(Selection):
    """PermuteAndFlip: visit candidates at random, take one by a coin that favours high scores.

    Releases   the first i, in random order, whose coin exp(ε(uᵢ − u*)/2Δ) falls heads, u* = max u;
               the same law as argmaxᵢ uᵢ + Exp(2Δ/ε)                         [DKSSWXZ21]
    Privacy    ε-DP; its loss is not of bounded range, so no ε²/8-zCDP      [MS20]
    Error      never worse than Exponential; within (2Δ/ε)·ln(m/β) with probability 1 − β   [MS20]
    Assumes    Δ ≥ max |uᵢ(x) − uᵢ(x′)| over neighbours and candidates; candidates are public
    Numerics   exact: real exponential noise, compared lazily

    >>> PermuteAndFlip(epsilon=10.0).release([0, 0, 1000])
    2
    """

    name: ClassVar[str] = "permute_and_flip"

    def draw(self, value: ArrayLike) -> int:
        """The index of the chosen candidate."""
        return select.noisy_max(checked_scores(value), self.scale, noise="exponential")
