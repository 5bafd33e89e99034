"""The k best candidates in one shot."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.forms import Form
from deniable.losses import convert, rounding
from deniable.losses.pairs import BoundedRangePair, Pairs
from deniable.sampling import select

from ._scores import Selection, checked_scores


@dataclass(frozen=True, kw_only=True)
class TopK(Selection):
    """TopK: the k candidates of nearly the highest scores, best first.

    Releases   the indices of the k largest uᵢ + Gumbel(2kΔ/ε), in order; no scores
    Privacy    ε-DP: the law is that of k exponential mechanisms at ε/k, each without the winners
               before it                                                    [DR19, Lemma 4.2]
               below k·(ε/k)²/8-zCDP, by bounded range                      [DDR20]
    Error      each is within (2kΔ/ε)·ln(m/β) of the best left, with probability 1 − β a round
    Assumes    Δ ≥ max |uᵢ(x) − uᵢ(x′)| over neighbours and candidates; candidates are public
    Numerics   exact: real Gumbel noise, compared lazily

    >>> TopK(k=2, epsilon=100.0).release([0, 1000, 0, 2000])
    array([3, 1])
    """

    name: ClassVar[str] = "top_k"

    k: int

    def __post_init__(self) -> None:
        super().__post_init__()
        parameters.whole("k", self.k)

    @property
    def scale(self) -> Fraction:
        """Scale of the Gumbel noise: k times that of one selection."""
        return self.k * super().scale

    @property
    def _round(self) -> float:
        return math.nextafter(self.epsilon / self.k, math.inf)

    def zcdp(self) -> float:
        """k times that of one round, whose privacy losses span at most ε/k."""
        return rounding.up(self.k * convert.bounded_range_to_zcdp(self._round))

    def renyi(self, order: float) -> float:
        """k times that of one round."""
        rounds = rounding.up(self.k * convert.bounded_range_to_renyi(self._round, order))
        return min(rounds, super().renyi(order))

    def pairs(self) -> Pairs | None:
        """A single round's pair; several rounds are priced as an ε-private black box."""
        if self.k == 1:
            return Pairs.symmetric(BoundedRangePair(epsilon=self.epsilon))
        return super().pairs()

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """One score for each of at least k candidates."""
        read = super().reading(form)
        self._check_count(form.size)
        return read

    def draw(self, value: ArrayLike) -> NDArray[np.int64]:
        """The indices of the chosen candidates, best first."""
        scores = checked_scores(value)
        self._check_count(scores.size)
        return select.noisy_top(scores, self.scale, self.k, noise="gumbel")

    def _check_count(self, candidates: int) -> None:
        if candidates < self.k:
            raise BadParameter(f"there are fewer candidates than k = {self.k}")
