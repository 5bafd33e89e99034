"""The sparse vector technique: many questions, paid only for those that pass a threshold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter, NoBound
from deniable.forms import Form, needs_shape, read_floats, read_numbers
from deniable.mechanisms._mechanism import Mechanism, Norm
from deniable.mechanisms.interactive import Interaction
from deniable.mechanisms.numbers import Laplace

from ._race import Race


@parameters.made("dp.SparseVector(epsilon=1.0, answers=3)")
@dataclass(frozen=True, kw_only=True)
class SparseVector(Mechanism):
    """SparseVector: say of each query in a stream whether it is above a threshold, c times yes.

    Releases   for each query in turn whether qᵢ + Lap(2cΔ/ε₂) ≥ T + Lap(Δ/ε₁); stops after c yes.
               If monotonic: Lap(cΔ/ε₂). With values: also qᵢ + Lap(cΔ/ε₃) of those above
    Privacy    ε-DP, ε = ε₁ + ε₂ (+ ε₃), however long the stream       [LSL17]
    Error      all of k answers are right about queries further than error(confidence, queries=k)
               from T
    Assumes    Δ ≥ max |qᵢ(x) − qᵢ(x′)| over neighbours; queries may depend on earlier answers;
               monotonic: adding a unit moves no query down, or none up
    Numerics   exact: real noise, compared lazily; values are on a lattice

    ε₁ : ε₂ = 1 : (2c)^⅔, or 1 : c^⅔ if monotonic, is the split of least error  [LSL17];
    with values ε₃ is half of ε. The threshold's noise is drawn once and kept; a query's value is
    drawn anew.

    >>> SparseVector(epsilon=100.0, answers=2).release([0, 500, 0, 500, 500], threshold=250)
    [1, 3]
    """

    name: ClassVar[str] = "sparse_vector"
    norm: ClassVar[Norm] = "linf"

    epsilon: float
    answers: int
    sensitivity: float = 1.0
    monotonic: bool = False
    values: bool = False
    threshold: float = 0.0

    def __post_init__(self) -> None:
        parameters.positive("epsilon", self.epsilon)
        parameters.whole("answers", self.answers)
        parameters.positive("sensitivity", self.sensitivity)
        parameters.real("threshold", self.threshold)
        for flag in ("monotonic", "values"):
            if not isinstance(getattr(self, flag), bool):
                raise BadParameter.of(flag, getattr(self, flag), must="True or False")

    def pure(self) -> float:
        return self.epsilon

    @cached_property
    def split(self) -> tuple[Fraction, Fraction, Fraction]:
        """ε₁ (threshold), ε₂ (queries), ε₃ (values): they add up to ε exactly."""
        whole = Fraction(self.epsilon)
        third = whole / 2 if self.values else Fraction(0)
        ratio = Fraction(float(self._moves) ** (2 / 3))
        first = (whole - third) / (1 + ratio)
        return first, whole - third - first, third

    @cached_property
    def scales(self) -> tuple[Fraction, Fraction]:
        """Scales of the threshold's and of each query's noise."""
        first, second, _ = self.split
        return Fraction(self.sensitivity) / first, self._moves * Fraction(self.sensitivity) / second

    @property
    def _moves(self) -> int:
        return self.answers if self.monotonic else 2 * self.answers

    def error(self, confidence: float = 0.95, *, queries: int | None = None) -> float:
        """How far from the threshold that many answers are all right, with this probability."""
        beta = (1 - parameters.confidence("confidence", confidence)) / 2
        once, each = map(float, self.scales)
        return once * math.log(1 / beta) + each * math.log(
            parameters.whole("queries", queries) / beta
        )

    def shown_error(self, confidence: float, *, whole: bool) -> float:
        """That of a value that is shown; yes and no have none."""
        if not self.values:
            raise NoBound("SparseVector has no ±: its answers are yes and no")
        return self.noise.shown_error(confidence, whole=whole)

    @cached_property
    def noise(self) -> Laplace:
        """On the values of queries that were above."""
        scale = self.answers * Fraction(self.sensitivity) / self.split[2]
        up = math.nextafter(float(scale), math.inf)
        return Laplace(scale=up, sensitivity=self.sensitivity)

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """A list of queries; how many there are is public."""
        needs_shape(type(self).__name__, form, dimensions=1, what="a list of queries", example="10")
        if self.values:
            _ = self.noise.lattice
        return lambda value: read_floats(value, form)

    def begin(self) -> SparseStream:
        """The stream's private state: the noisy threshold."""
        return SparseStream(self)

    def draw(self, value: Iterable[float]) -> list[int] | list[tuple[int, float]]:
        """Which queries of the stream are above; with values, what they are, noisily."""
        stream = SparseStream(self)
        above = islice(stream.race.winners(value), self.answers)
        if self.values:
            return [(index, stream.noisy(stream.race.last)) for index in above]
        return list(above)

    @parameters.called("dp.SparseVector(epsilon=1.0, answers=3).release([3, 9], threshold=5)")
    def release(
        self, value: Iterable[float], *, threshold: float | None = None
    ) -> list[int] | list[tuple[int, float]]:
        """Which queries are above the threshold, outside any session: you keep the books."""
        mechanism = self if threshold is None else replace(self, threshold=threshold)
        return mechanism.draw(value)


class SparseStream(Interaction):
    """A noisy threshold that queries are compared with until it has said yes often enough."""

    def __init__(self, mechanism: SparseVector) -> None:
        self._mechanism = mechanism
        self._left = mechanism.answers
        self.race = Race(mechanism.threshold, *mechanism.scales)

    def answering(self) -> Mechanism | None:
        """The mechanism itself, until its last yes."""
        return self._mechanism if self._left else None

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """One query, in whole or real numbers as declared: so is its value, if that is shown."""
        if form.shape:
            raise BadParameter(
                "an opened mechanism takes one query at a time, and the value is declared an array",
                fix="one handle.on(dp.Sensitive(...)) for each query",
            )
        return lambda value: read_numbers(value, form)

    def ask(self, value: object) -> bool | float | None:
        """Whether this query is above; with values, its noisy value or None."""
        above = self.race.above(checked_query(value))
        self._left -= above
        if not self._mechanism.values:
            return above
        return self.noisy(value) if above else None

    def noisy(self, value: object) -> float:
        """The value of a query that was above, with fresh noise of its own."""
        drawn = self._mechanism.noise.draw(value)
        assert isinstance(drawn, int | float)
        return drawn


def checked_query(value: object) -> float | int | Fraction:
    """One finite number."""
    if isinstance(value, np.generic | np.ndarray) and np.ndim(value) == 0:
        value = value.item()
    number = None if isinstance(value, bool) else value
    if not isinstance(number, int | float | Fraction) or not math.isfinite(number):
        raise BadParameter("a query's value must be a finite number")
    return number
