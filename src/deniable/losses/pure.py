"""Pure differential privacy: no output becomes more than e^ε times as likely for anyone."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import ClassVar, Self

from deniable import parameters

from . import approx
from ._loss import Facts, Loss, OneFigure, Stated, conversions


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
        return approx.epsilon_of_response(self.epsilon, 0.0, delta)

    def _delta(self, epsilon: float) -> float:
        return approx.delta_of_response(self.epsilon, 0.0, epsilon)

    def _group(self, size: int) -> Self:
        """kε: a path of k neighbours                                            [DR14, Thm 2.2]."""
        return self._times(size)

    def _converters(self) -> Mapping[type[Loss], Callable[[], Loss]]:
        facts = Stated(epsilon=self.epsilon)
        return conversions(facts, "approx", "zcdp", "gdp", "renyi", "profile")
