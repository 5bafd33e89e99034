"""What every mechanism that picks the best of several candidates shares: how scores come in."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import BadParameter, NoBound
from deniable.forms import Form, as_array, needs_shape, read_floats
from deniable.losses import convert
from deniable.mechanisms._mechanism import Mechanism, Norm

if TYPE_CHECKING:
    from deniable.losses.pairs import Pairs

LOWEST = -sys.float_info.max
"""The score of a candidate whose score is NaN or missing: it ranks last."""


@dataclass(frozen=True, kw_only=True)
class Selection(Mechanism):
    """Picks a candidate whose score is nearly the best. Candidates are public; scores are private.

    `sensitivity` is how far one unit can move any one score (L∞). `monotonic` says that adding a
    unit moves no score down, or none up: counts are so; then half the noise is enough.
    """

    norm: ClassVar[Norm] = "linf"

    epsilon: float
    sensitivity: float = 1.0
    monotonic: bool = False

    def __post_init__(self) -> None:
        parameters.positive("epsilon", self.epsilon)
        parameters.positive("sensitivity", self.sensitivity)
        if not isinstance(self.monotonic, bool):
            raise BadParameter.of("monotonic", self.monotonic, must="True or False")

    @property
    def bounded_range(self) -> bool:
        """Whether its privacy losses span at most ε, between any two outcomes: by Gumbel noise."""
        return False

    def pure(self) -> float:
        return self.epsilon

    def zcdp(self) -> float:
        """That of bounded range, where it has one; else what follows from ε."""
        if self.bounded_range:
            return convert.bounded_range_to_zcdp(self.epsilon)
        return super().zcdp()

    def pairs(self) -> Pairs | None:
        """The dominating pair of bounded range, where it has one; else any ε-private black box."""
        from deniable.losses.pairs import BoundedRangePair, Pairs

        if self.bounded_range:
            return Pairs.symmetric(BoundedRangePair(epsilon=self.epsilon))
        return super().pairs()

    @cached_property
    def scale(self) -> Fraction:
        """Scale of the noise added to each score, exactly: 2Δ/ε, or Δ/ε if monotonic."""
        moved = Fraction(self.sensitivity) * (1 if self.monotonic else 2)
        return moved / Fraction(self.epsilon)

    def error(self, confidence: float = 0.95, *, candidates: int | None = None) -> float:
        """How far below the best the chosen score may be, with this probability, among so many."""
        beta = 1 - parameters.confidence("confidence", confidence)
        return float(self.scale) * math.log(parameters.whole("candidates", candidates) / beta)

    def shown_error(self, confidence: float, *, whole: bool) -> float:
        """None: an index is not a noisy number."""
        del confidence, whole
        raise NoBound(f"{type(self).__name__} has no ±: its answers are not numbers")

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """One score for each candidate; how many there are is public."""
        name = type(self).__name__
        needs_shape(name, form, dimensions=1, what="one score for each candidate", example="3")
        return lambda value: read_scores(value, form)


def read_scores(value: Any, form: Form) -> NDArray[np.float64]:
    """One float64 per candidate; a score that is missing, NaN or −∞ ranks last."""
    array = as_array(value, form)
    if array.dtype == object:
        array = array.copy()
        array[np.reshape([_missing(x) for x in array.flat], array.shape)] = LOWEST
    return read_floats(_nan_last(array), form)


def _missing(score: Any) -> bool:
    """Whether it is None, pandas' NA, NaN or −∞ of any type."""
    try:
        return score is None or math.isnan(score) or score == -math.inf
    except (TypeError, ValueError):
        return type(score).__name__ == "NAType"


def _nan_last(scores: NDArray[Any]) -> NDArray[Any]:
    if scores.dtype.kind != "f":
        return scores
    wide = scores if scores.dtype.itemsize > 8 else scores.astype(np.float64)
    return np.where(np.isnan(wide) | np.isneginf(wide), LOWEST, wide)


def checked_scores(scores: ArrayLike) -> NDArray[np.float64]:
    """One float64 per candidate, NaN last; refused before anything is drawn."""
    given = np.asarray(scores)
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iuf":
        raise BadParameter("scores must be a list of numbers, one a candidate, and at least one")
    if given.dtype.kind != "f" and int(abs(given).max()) > 2**53:
        raise BadParameter("scores must be whole numbers of at most 2⁵³, or floats")
    array: NDArray[np.float64] = _nan_last(given.astype(np.float64))
    if not np.isfinite(array).all():
        raise BadParameter("scores must be finite numbers")
    return array
