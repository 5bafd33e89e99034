"""The filter of a whole Rényi curve."""

from __future__ import annotations

import dataclasses
import math

from deniable.losses import rounding
from deniable.losses._loss import Facts, no_bound
from deniable.losses.renyi import Renyi, divergences

from ._filter import Filter, Price
from .one_figure import difference


@dataclasses.dataclass(frozen=True, kw_only=True)
class RenyiFilter(Filter):
    """Σr(α) ≤ r(α) at *every* order of the budget, each of which is a filter [FZ21; Lec21].

    At every order, not at some: the order may not be chosen after the answers.
    """

    budget: Renyi

    kind = "renyi"

    def price(self, facts: Facts) -> Price:
        """Its curve, on the budget's orders."""
        curve = tuple(map(divergences(facts), self.budget.orders))
        if all(map(math.isinf, curve)):
            raise no_bound(Renyi)
        return Price(renyi=curve)

    def admits(self, total: Price) -> bool:
        """Within the budget at every order."""
        return all(map(rounding.within, self._curve(total), self.budget.values))

    def spent(self, total: Price) -> Renyi:
        """The sum at each order."""
        return Renyi(orders=self.budget.orders, values=self._curve(total))

    def left(self, total: Price) -> Renyi:
        """What remains at each order."""
        values = tuple(map(difference, self.budget.values, self._curve(total)))
        return Renyi(orders=self.budget.orders, values=values)

    def _curve(self, total: Price) -> tuple[float, ...]:
        return total.renyi or (0.0,) * len(self.budget.orders)
