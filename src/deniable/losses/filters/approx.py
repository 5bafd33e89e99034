"""The filter of an (ε, δ) budget: a pure sum or a Rényi sum, and a reserve for blocks."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Self

from deniable import parameters
from deniable.calibration import last_met
from deniable.errors import BadParameter
from deniable.losses import convert, rounding
from deniable.losses._loss import Facts, Loss, Stated, no_bound
from deniable.losses.approx import Approx
from deniable.losses.renyi import divergences

from ._filter import Filter, Price
from .one_figure import difference


@dataclasses.dataclass(frozen=True, kw_only=True)
class ApproxFilter(Filter):
    """Σε ≤ ε or Σr(α) ≤ r, at one order α fixed at opening; and Σδ of blocks ≤ reserve.

    r is the largest divergence at order α that implies (ε, δ − reserve). Proof: see this package.
    """

    budget: Approx
    order: float
    reserve: float

    kind = "approx"

    def __post_init__(self) -> None:
        convert.check_order(self.order)
        if not 0 <= parameters.non_negative("reserve", self.reserve) <= self.budget.delta:
            raise BadParameter.of("reserve", self.reserve, must="at most the budget's δ")

    @classmethod
    def opened(cls, budget: Loss, *, order: float | None, reserve: float | None) -> Self:
        """With the defaults that `filter_for` describes."""
        assert isinstance(budget, Approx)
        reserve = (
            budget.delta / 4 if reserve is None else parameters.non_negative("reserve", reserve)
        )
        if order is None:
            order = _best_order(budget.epsilon, budget.delta - reserve)
        return cls(budget=budget, order=convert.check_order(order), reserve=reserve)

    @functools.cached_property
    def divergence(self) -> float:
        """r: the ceiling of the Rényi sum."""
        delta = math.nextafter(self.budget.delta - self.reserve, 0.0)
        if delta <= 0:
            return 0.0
        return convert.approx_budget_as_renyi(self.budget.epsilon, delta, self.order)

    def price(self, facts: Facts) -> Price:
        """Its ε and its divergence at the order; what has neither enters as a block."""
        divergence = divergences(facts)(self.order)
        if math.isfinite(divergence):
            return Price(epsilon=facts.pure(), renyi=(divergence,))
        epsilon, delta = facts.approx()
        if math.isinf(epsilon) or delta >= 1:
            raise no_bound(Approx)
        return self.block(epsilon, delta)

    def block(self, epsilon: float, delta: float = 0.0) -> Price:
        """ε to the pure sum, randomized response with ε to the Rényi sum, δ from the reserve."""
        delta = parameters.fraction_below_one("delta", delta)
        price = self.price(Stated(epsilon=parameters.non_negative("epsilon", epsilon)))
        return dataclasses.replace(price, delta=delta)

    def admits(self, total: Price) -> bool:
        """Either sum within its ceiling, and blocks within the reserve."""
        return rounding.within(total.delta, self.reserve) and (
            rounding.within(total.epsilon, self.budget.epsilon)
            or rounding.within(self._renyi(total), self.divergence)
        )

    def spent(self, total: Price) -> Approx:
        """What this list would have cost had it been fixed in advance, by the better sum.

        Not a promise of its own while the session runs: what is promised is the budget.
        """
        delta = self.budget.delta - self.reserve
        by_order = convert.renyi_to_epsilon(self._renyi(total), self.order, delta)
        if total.epsilon <= by_order:
            return Approx(total.epsilon, delta=total.delta)
        return Approx(by_order, delta=rounding.add_up(delta, total.delta))

    def left(self, total: Price) -> Approx:
        """The largest block still admitted: its ε, and what remains of the reserve."""
        if not self.admits(total):
            return Approx(0.0, delta=0.0)
        pure = difference(self.budget.epsilon, total.epsilon)
        by_order = self._largest_response(difference(self.divergence, self._renyi(total)))
        return Approx(max(pure, by_order), delta=difference(self.reserve, total.delta))

    def rest(self, reserved: Price, used: Price) -> Approx:
        """The largest block that keeps both sums within what was reserved, not only one of them."""
        pure = difference(reserved.epsilon, used.epsilon)
        divergence = difference(self._renyi(reserved), self._renyi(used))
        by_order = math.isinf(pure) or not rounding.within(
            convert.pure_to_renyi(pure, self.order), divergence
        )
        epsilon = self._largest_response(divergence) if by_order else pure
        return Approx(epsilon, delta=difference(reserved.delta, used.delta))

    def enlarging(self, reserved: Price, price: Price) -> Price:
        """At the order more than the price itself, so that all of the part's ε can go at once.

        The divergence of randomized response with ε + ε′ is above the sum of those with ε and ε′.
        """
        epsilon = rounding.add_up(reserved.epsilon, price.epsilon)
        if math.isinf(epsilon):  # what was reserved is not counted in ε
            return price
        at_once = convert.pure_to_renyi(epsilon, self.order)
        more = rounding.add_up(at_once, -self._renyi(reserved))
        return dataclasses.replace(price, renyi=(max(self._renyi(price), more),))

    def _largest_response(self, divergence: float) -> float:
        """The largest ε whose randomized response has at most this divergence at the order."""

        def excess(epsilon: float) -> float:
            return convert.pure_to_renyi(epsilon, self.order) - divergence

        for high in (2.0**doubled for doubled in range(1024)):
            if not excess(high) <= 0:
                break
        return last_met(excess, 0.0, high, width=1e-13 * high)

    def _renyi(self, total: Price) -> float:
        return total.renyi[0] if total.renyi else 0.0

    def to_dict(self) -> dict[str, object]:
        """All that is fixed at opening."""
        return super().to_dict() | {"order": self.order, "reserve": self.reserve}

    @classmethod
    def from_record(cls, record: Mapping[str, object], budget: Loss) -> Self:
        assert isinstance(budget, Approx)
        order = parameters.real("order", record.get("order"))
        reserve = parameters.non_negative("reserve", record.get("reserve"))
        return cls(budget=budget, order=order, reserve=reserve)


def _best_order(epsilon: float, delta: float) -> float:
    """The order at which (ε, δ) admits the most Gaussian noise; whole from 8 on."""
    if delta <= 0 or epsilon <= 0:
        return 2.0

    best = convert.best_order(epsilon, delta)
    return best if best < 8 else float(round(best))
