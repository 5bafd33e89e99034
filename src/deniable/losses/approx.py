"""Pure differential privacy, e^ε; and approximate: but for a δ of probability."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import ClassVar, Self, overload

from deniable import parameters

from . import convert, rounding
from ._loss import (
    Facts,
    Loss,
    OneFigure,
    Stated,
    conversions,
    figure_or_infinite,
    no_bound,
)


@parameters.made("dp.Pure(1.0)")
@dataclasses.dataclass(frozen=True)
class Pure(OneFigure):
    """ε-differential privacy                                                         [DMNS06].

    Composition adds: ε₁ + ε₂, also when the second mechanism is chosen after the first answer.

    >>> 3 * Pure(0.5)
    Pure(epsilon=1.5)
    >>> Pure(1.0).delta_at(1.0)
    0.0
    """

    epsilon: float

    kind = "pure"
    definition = "pure differential privacy (ε)"
    symbols: ClassVar = {"epsilon": "ε"}

    @classmethod
    def from_facts(cls, facts: Facts) -> Self:
        """The ε that is proved."""
        return cls._proved(facts.pure())

    def _epsilon(self, delta: float) -> float:
        return epsilon_of_response(self.epsilon, 0.0, delta)

    def _delta(self, epsilon: float) -> float:
        return delta_of_response(self.epsilon, 0.0, epsilon)

    def _group(self, size: int) -> Self:
        """kε: a path of k neighbours                                            [DR14, Thm 2.2]."""
        return self._times(size)

    def _converters(self) -> Mapping[type[Loss], Callable[[], Loss]]:
        facts = Stated(epsilon=self.epsilon)
        return conversions(facts, "approx", "zcdp", "gdp", "renyi", "profile")


@parameters.made("dp.Approx(1.0, delta=1e-7)")
@dataclasses.dataclass(frozen=True)
class Approx(Loss):
    """(ε, δ)-differential privacy                                                  [DKMMN06].

    Composition adds both: (ε₁ + ε₂, δ₁ + δ₂). For many mechanisms that is far from the truth:
    compose them in a finer definition (Zcdp, Gdp, Renyi, Profile) and convert once, at the end.

    A sum whose δ reaches 1 promises nothing and reads δ = 1; nobody may ask for such a δ.

    >>> Approx(1.0, delta=1e-6) + Approx(0.5, delta=0.0)
    Approx(epsilon=1.5, delta=1e-06)
    """

    epsilon: float
    delta: float = dataclasses.field(kw_only=True)

    kind = "approx"
    definition = "approximate differential privacy (ε, δ)"
    symbols: ClassVar = {"epsilon": "ε", "delta": "δ"}
    adaptive = True

    ticks: tuple[int, int] = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        epsilon = figure_or_infinite("epsilon", self.epsilon)
        delta = parameters.fraction_below_one("delta", self.delta)
        self._set(rounding.ticks(epsilon), rounding.ticks(delta))

    def _set(self, epsilon: int, delta: int) -> None:
        object.__setattr__(self, "epsilon", rounding.from_ticks(epsilon))
        object.__setattr__(self, "delta", min(1.0, rounding.from_ticks(delta)))
        object.__setattr__(self, "ticks", (epsilon, delta))

    @classmethod
    def _of(cls, epsilon: int, delta: int) -> Self:
        loss: Self = cls.__new__(cls)
        loss._set(epsilon, delta)
        return loss

    def __str__(self) -> str:
        return f"ε = {self._shown(self.epsilon)}, δ = {self._shown(self.delta)}"

    @classmethod
    def from_facts(cls, facts: Facts) -> Self:
        """The pair that is proved."""
        epsilon, delta = facts.approx()
        if math.isinf(epsilon) or delta >= 1:
            epsilon, delta = facts.pure(), 0.0
        if math.isinf(epsilon):
            raise no_bound(cls)
        return cls(epsilon, delta=delta)

    def _plus(self, other: Self) -> Self:
        return self._of(*(mine + its for mine, its in zip(self.ticks, other.ticks, strict=True)))

    def _times(self, times: int) -> Self:
        return self._of(*(times * count for count in self.ticks))

    def _split(self, fraction: Fraction) -> tuple[Loss, Loss]:
        """The part is pure: a δ pays for what cannot be had without, and stays with the rest."""
        part = float(fraction) * self.epsilon
        rest = self._of(self.ticks[0] - rounding.ticks(part), self.ticks[1])
        return Loss.kinds["pure"].from_facts(Stated(epsilon=part)), rest

    def _within(self, other: Self) -> bool:
        """Does all that has this loss have the other?"""
        both = rounding.within(self.epsilon, other.epsilon) and rounding.within(
            self.delta, other.delta
        )
        return both or rounding.within(self._delta(other.epsilon), other.delta)

    @classmethod
    def sum_of_largest(cls, parts: Sequence[Self], count: int) -> Self:
        """The sum of the `count` largest ε, with that of the `count` largest δ."""
        columns = zip(*(part.ticks for part in parts), strict=True)
        return cls._of(*(sum(sorted(column)[-count:]) for column in columns))

    def _epsilon(self, delta: float) -> float:
        return epsilon_of_response(self.epsilon, self.delta, delta)

    def _delta(self, epsilon: float) -> float:
        return delta_of_response(self.epsilon, self.delta, epsilon)

    def _group(self, size: int) -> Self:
        delta = convert.approx_group_delta(self.epsilon, self.delta, size)
        return self._of(size * self.ticks[0], rounding.ticks(delta))

    def to_dict(self) -> dict[str, object]:
        """Both figures, rounded up."""
        return {"kind": self.kind, "epsilon": rounding.to_json(self.epsilon), "delta": self.delta}

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> Self:
        epsilon = rounding.from_json("epsilon", record.get("epsilon"))
        delta = parameters.probability("delta", record.get("delta"))
        return cls._of(rounding.ticks(epsilon), rounding.ticks(delta))

    def _converters(self) -> Mapping[type[Loss], Callable[[], Loss]]:
        facts = Stated(epsilon=self.epsilon, delta=self.delta)
        kinds = ("profile",) if self.delta else ("pure", "zcdp", "gdp", "renyi", "profile")
        return conversions(facts, *kinds)


@overload
def epsilon(epsilon: float) -> Pure: ...
@overload
def epsilon(epsilon: float, *, delta: float) -> Approx: ...
@parameters.called("dp.epsilon(1.0) or dp.epsilon(1.0, delta=1e-7)")
def epsilon(epsilon: float, *, delta: float | None = None) -> Pure | Approx:
    """ε of pure, or with a δ of approximate, differential privacy."""
    epsilon = parameters.non_negative("epsilon", epsilon)
    return Pure(epsilon) if delta is None else Approx(epsilon, delta=delta)


def delta_of_response(epsilon: float, delta: float, at: float) -> float:
    """δ at another ε of randomized response, which dominates all (ε, δ)-privacy; rounded up.

    δ + (1 − δ)·(e^ε − e^at)/(1 + e^ε) for at < ε, else δ                          [KOV15].
    """
    if at >= epsilon or delta >= 1:
        return delta
    if math.isinf(epsilon):
        return 1.0
    share = -math.expm1(at - epsilon) / (1 + math.exp(-epsilon))
    return min(1.0, rounding.up(delta, (1 - delta) * share))


def epsilon_of_response(epsilon: float, delta: float, at: float) -> float:
    """ε at another δ of randomized response, rounded up: the inverse of `delta_of_response`."""
    if at < delta:
        return math.inf
    if at == delta or math.isinf(epsilon):
        return epsilon
    share = (at - delta) / (1 - delta) * (1 - rounding.FORMULA_ERROR)
    lost = share * (1 + math.exp(-epsilon))
    if lost >= 1:
        return 0.0
    return min(epsilon, max(0.0, rounding.up(epsilon, math.log1p(-lost))))
