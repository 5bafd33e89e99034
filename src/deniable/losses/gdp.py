"""Gaussian differential privacy: no harder to tell apart than N(0, 1) and N(μ, 1)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import ClassVar, Self

from deniable import parameters

from . import convert, rounding
from ._loss import Facts, Loss, OneFigure, Stated, conversions


@parameters.made("dp.Gdp(0.5)")
@dataclasses.dataclass(frozen=True)
class Gdp(OneFigure):
    """μ-Gaussian differential privacy                                                [DRS22].

    Composition adds squares: √(μ₁² + μ₂²), also when the second mechanism is chosen after the first
    answer [ST22]. Exact for Gaussian noise: nothing is lost, neither in sums nor in (ε, δ).

    >>> Gdp(3.0) + Gdp(4.0)
    Gdp(mu=5.0)
    """

    mu: float

    kind = "gdp"
    definition = "Gaussian differential privacy (μ)"
    symbols: ClassVar = {"mu": "μ"}

    @staticmethod
    def _exact(number: float) -> int:
        return rounding.square_ticks(number)

    @staticmethod
    def _read(count: int) -> float:
        return rounding.from_square_ticks(count)

    @classmethod
    def from_facts(cls, facts: Facts) -> Self:
        """The least μ among what is stated and what follows from ε."""
        return cls._proved(facts.gdp(), convert.pure_to_gdp(facts.pure()))

    def _epsilon(self, delta: float) -> float:
        return convert.gdp_to_epsilon(self.mu, delta)

    def _delta(self, epsilon: float) -> float:
        return convert.gdp_to_delta(self.mu, epsilon)

    def _group(self, size: int) -> Self:
        """kμ                                                                     [DRS22]."""
        return self._times(size * size)

    def _converters(self) -> Mapping[type[Loss], Callable[[], Loss]]:
        return conversions(Stated(mu=self.mu), "zcdp", "renyi", "profile")
