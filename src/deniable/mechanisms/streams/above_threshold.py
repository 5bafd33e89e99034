"""The first query in a stream that passes a threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from deniable import parameters
from deniable.forms import Form
from deniable.mechanisms._mechanism import Mechanism, Norm

from .sparse_vector import SparseStream, SparseVector


@parameters.made("dp.AboveThreshold(epsilon=1.0)")
@dataclass(frozen=True, kw_only=True)
class AboveThreshold(Mechanism):
    """AboveThreshold: the first query of a stream that is above a threshold, or None.

    Releases   the first i with qᵢ + Lap(2Δ/ε₂) ≥ T + Lap(Δ/ε₁); Lap(Δ/ε₂) if monotonic
    Privacy    ε-DP, ε = ε₁ + ε₂, however long the stream               [DR14, Thm 3.23; LSL17]
    Error      all of k answers are right about queries further than error(confidence, queries=k)
               from T
    Assumes    Δ ≥ max |qᵢ(x) − qᵢ(x′)| over neighbours; queries may depend on earlier answers
    Numerics   exact: real noise, compared lazily; only the index leaves

    It is SparseVector with one answer; None means that no query passed, never −1.

    >>> AboveThreshold(epsilon=100.0).release([0, 500, 0], threshold=250)
    1
    >>> AboveThreshold(epsilon=100.0).release([0, 0], threshold=250) is None
    True
    """

    name: ClassVar[str] = "above_threshold"
    norm: ClassVar[Norm] = "linf"

    epsilon: float
    sensitivity: float = 1.0
    monotonic: bool = False
    threshold: float = 0.0

    def __post_init__(self) -> None:
        _ = self.as_sparse  # checks the parameters

    @property
    def as_sparse(self) -> SparseVector:
        """The same mechanism as a sparse vector of one answer."""
        return SparseVector(
            epsilon=self.epsilon,
            answers=1,
            sensitivity=self.sensitivity,
            monotonic=self.monotonic,
            threshold=self.threshold,
        )

    def pure(self) -> float:
        return self.epsilon

    def error(self, confidence: float = 0.95, *, queries: int | None = None) -> float:
        """How far from the threshold that many answers are all right, with this probability."""
        return self.as_sparse.error(confidence, queries=queries)

    def shown_error(self, confidence: float, *, whole: bool) -> float:
        """None: its answers are not numbers."""
        return self.as_sparse.shown_error(confidence, whole=whole)

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """A list of queries; how many there are is public."""
        return self.as_sparse.reading(form)

    def begin(self) -> SparseStream:
        """The stream's private state: the noisy threshold."""
        return SparseStream(self.as_sparse)

    def draw(self, value: Iterable[float]) -> int | None:
        """The index of the first query above, or None."""
        return next(self.begin().race.winners(value), None)

    @parameters.called("dp.AboveThreshold(epsilon=1.0).release([3, 9], threshold=5)")
    def release(self, value: Iterable[float], *, threshold: float | None = None) -> int | None:
        """The first query above the threshold, outside any session: you keep the books."""
        mechanism = self if threshold is None else replace(self, threshold=threshold)
        return mechanism.draw(value)
