"""Zero-concentrated differential privacy: the Rényi divergence at every order α is at most ρ·α."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import ClassVar, Self

from deniable import parameters

from . import convert
from ._loss import Facts, Loss, OneFigure, Stated, conversions


@parameters.made("dp.Zcdp(0.1)")
@dataclasses.dataclass(frozen=True)
class Zcdp(OneFigure):
    """ρ-zero-concentrated differential privacy                                        [BS16].

    Composition adds: ρ₁ + ρ₂, also when the second mechanism is chosen after the first answer.
    The natural currency of Gaussian noise.

    >>> round(Zcdp(0.5).epsilon_at(1e-6), 3)
    5.222
    """

    rho: float

    kind = "zcdp"
    definition = "zero-concentrated differential privacy (ρ)"
    symbols: ClassVar = {"rho": "ρ"}

    @classmethod
    def from_facts(cls, facts: Facts) -> Self:
        """The least ρ among what is stated and what follows from ε and μ."""
        pure, gaussian = convert.pure_to_zcdp(facts.pure()), convert.gdp_to_zcdp(facts.gdp())
        return cls._proved(facts.zcdp(), pure, gaussian)

    def _epsilon(self, delta: float) -> float:
        return convert.zcdp_to_approx(self.rho, delta)

    def _delta(self, epsilon: float) -> float:
        return convert.zcdp_to_delta(self.rho, epsilon)

    def _group(self, size: int) -> Self:
        """k²ρ                                                                            [BS16]."""
        return self._times(size * size)

    def _converters(self) -> Mapping[type[Loss], Callable[[], Loss]]:
        return conversions(Stated(rho=self.rho), "renyi")
