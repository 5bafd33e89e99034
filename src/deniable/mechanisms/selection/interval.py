"""The exponential mechanism over an interval of numbers whose score is constant on pieces."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.forms import Form, as_array, read_floats
from deniable.sampling import below, select

from ._scores import Selection, checked_scores, read_scores

_STEPS = 2**40  # candidates are at most this many, and at least half as many


@dataclass(frozen=True, kw_only=True)
class IntervalExponential(Selection):
    """IntervalExponential: pick a number in [low, high] with probability growing with its score.

    Releases   r on a public grid with probability ∝ exp(ε·u(r)/2Δ); ∝ exp(ε·u(r)/Δ) if monotonic
    Privacy    ε-DP; below ε²/8-zCDP, as its privacy losses span at most ε  [MT07; DDR20]
    Error      the score is within (2Δ/ε)·ln(m/β) of the best with probability 1 − β, where 1/m is
               the share of the interval that has the best score
    Assumes    Δ ≥ max |u(r, x) − u(r, x′)| over neighbours and r; low and high are public
    Numerics   exact: candidates are the points of a grid of 2³⁹ to 2⁴⁰ steps from `low` up, set by
               low and high; a piece counts as many points as it holds, in integers

    The value is (edges, scores): piece i is [edgesᵢ, edgesᵢ₊₁) and its score is scoresᵢ. The pieces
    may come from data; together they must cover [low, high].

    >>> pick = IntervalExponential(epsilon=50.0, low=0.0, high=10.0)
    >>> 4 <= pick.release(([0, 4, 6, 10], [0, 100, 0])) < 6
    True
    """

    name: ClassVar[str] = "interval_exponential"
    bounded_range: ClassVar[bool] = True

    low: float
    high: float

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = parameters.real("low", self.low), parameters.real("high", self.high)
        if not low < high or math.isinf(high - low):
            raise BadParameter.of("high", self.high, must=f"above low = {self.low:g}")
        if self.step <= math.ulp(max(abs(low), abs(high))):
            raise BadParameter.of(
                "high", self.high, must="further from low than floats can resolve"
            )

    @property
    def step(self) -> float:
        """Distance of neighbouring candidates: a power of two."""
        return 2.0 ** (math.ceil(math.log2(self.high - self.low)) - int(math.log2(_STEPS)))

    def reading(self, _form: Form) -> Callable[[Any], Any]:
        """Edges and scores of as many pieces as there are: the answer does not show how many."""
        return _read_pieces

    def draw(self, value: tuple[ArrayLike, ArrayLike]) -> float:
        """A number in [low, high]."""
        edges, given = value
        scores = checked_scores(given)
        first = self.first_points(edges, scores.size)
        points = np.diff(first)
        held = points > 0
        piece = select.gumbel_max(scores[held], 1 / self.scale, widths=points[held])
        start = first[:-1][held][piece]
        number = int(start) + int(below(int(points[held][piece]), 1)[0])
        return self.low + number * self.step

    def first_points(self, edges: ArrayLike, pieces: int) -> NDArray[np.int64]:
        """The number of the first grid point in each piece, and one past the last of all."""
        array = np.asarray(edges, dtype=np.float64)
        if (
            array.shape != (pieces + 1,)
            or not np.isfinite(array).all()
            or (np.diff(array) < 0).any()
        ):
            raise BadParameter("edges must be finite, in order, and one more than the scores")
        inside = np.clip(array, self.low, self.high)
        first = np.ceil((inside - self.low) / self.step).astype(np.int64)
        first[0], first[-1] = 0, math.floor((self.high - self.low) / self.step) + 1
        return first


def _read_pieces(value: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    edges, scores = value
    pieces = as_array(scores, Form()).shape
    ends = read_floats(edges, Form(shape=as_array(edges, Form()).shape))
    return ends, read_scores(scores, Form(shape=pieces))
