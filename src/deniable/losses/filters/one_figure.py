"""Filters that watch one sum: ε, ρ or μ²."""

from __future__ import annotations

import dataclasses
import math
from typing import Final

from deniable.losses import rounding
from deniable.losses._loss import Facts, no_bound
from deniable.losses.approx import Pure
from deniable.losses.gdp import Gdp
from deniable.losses.zcdp import Zcdp

from ._filter import Filter, Price

_NOTHING: Final = 2.0**-40


@dataclasses.dataclass(frozen=True, kw_only=True)
class PureFilter(Filter):
    """Σε ≤ ε: the likelihood ratio of a whole transcript is the product of its steps'  [RRUV16]."""

    budget: Pure

    kind = "pure"

    def price(self, facts: Facts) -> Price:
        epsilon = facts.pure()
        if math.isinf(epsilon):
            raise no_bound(Pure)
        return Price(epsilon=epsilon)

    def admits(self, total: Price) -> bool:
        return rounding.within(total.epsilon, self.budget.epsilon)

    def spent(self, total: Price) -> Pure:
        return Pure(total.epsilon)

    def left(self, total: Price) -> Pure:
        return Pure(difference(self.budget.epsilon, total.epsilon))


@dataclasses.dataclass(frozen=True, kw_only=True)
class ZcdpFilter(Filter):
    """Σρ ≤ ρ: the Rényi filter at every order at once       [FZ21; Lec21; WRRW23]."""

    budget: Zcdp

    kind = "zcdp"

    def price(self, facts: Facts) -> Price:
        return Price(rho=Zcdp.from_facts(facts).rho)

    def admits(self, total: Price) -> bool:
        return rounding.within(total.rho, self.budget.rho)

    def spent(self, total: Price) -> Zcdp:
        return Zcdp(total.rho)

    def left(self, total: Price) -> Zcdp:
        return Zcdp(difference(self.budget.rho, total.rho))


@dataclasses.dataclass(frozen=True, kw_only=True)
class GdpFilter(Filter):
    """Σμ² ≤ μ²                                                                 [ST22]."""

    budget: Gdp

    kind = "gdp"

    def price(self, facts: Facts) -> Price:
        mu = Gdp.from_facts(facts).mu
        return Price(mu_squared=rounding.product(mu, mu))

    def admits(self, total: Price) -> bool:
        return rounding.within(total.mu_squared, self.budget.mu**2)

    def spent(self, total: Price) -> Gdp:
        return Gdp(rounding.up(math.sqrt(total.mu_squared)))

    def left(self, total: Price) -> Gdp:
        return Gdp(rounding.down(math.sqrt(difference(self.budget.mu**2, total.mu_squared))))


def difference(ceiling: float, spent: float) -> float:
    """What is left under a ceiling, rounded down; nothing where it is passed, or all but reached.

    What rounding leaves of a ceiling is not a budget: an answer for it would be noise alone.
    """
    if math.isinf(ceiling):
        return ceiling
    rest = math.nextafter(ceiling - spent, 0.0) if spent < ceiling else 0.0
    return rest if rest > ceiling * _NOTHING else 0.0
