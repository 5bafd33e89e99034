"""What every filter can do, whatever definition of privacy its budget speaks in."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from deniable import parameters
from deniable.errors import BadParameter, MixedLosses, NoBound, NotAdaptive
from deniable.losses._loss import Facts, Loss, Stated
from deniable.losses.approx import Approx
from deniable.losses.gdp import Gdp
from deniable.losses.pure import Pure
from deniable.losses.renyi import Renyi
from deniable.losses.zcdp import Zcdp

from .price import Price


class Filter(ABC):
    """A ceiling that holds whatever is chosen under it."""

    kind: ClassVar[str]
    kinds: ClassVar[dict[str, type[Filter]]] = {}
    budget: Loss

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        Filter.kinds[cls.kind] = cls

    @abstractmethod
    def price(self, facts: Facts) -> Price:
        """What one release of a mechanism adds; NoBound if nothing is proved in this currency."""

    @abstractmethod
    def admits(self, total: Price) -> bool:
        """May the total of all charges be this? To one part in 10¹² (rounding.RESOLUTION)."""

    @abstractmethod
    def spent(self, total: Price) -> Loss:
        """The total in the budget's kind, rounded up."""

    @abstractmethod
    def left(self, total: Price) -> Loss:
        """The most that one further charge, stated in the budget's kind, may cost; rounded down."""

    def rest(self, reserved: Price, used: Price) -> Loss:
        """The most that one further charge to a reserved part may cost; rounded down."""
        part: Filter = dataclasses.replace(self, budget=self.spent(reserved))  # type: ignore[type-var]
        return part.left(used)

    def block(self, epsilon: float, delta: float = 0.0) -> Price:
        """What a plan fixed in advance adds: (ε, δ)-private as a whole, charged at its start."""
        epsilon = parameters.non_negative("epsilon", epsilon)
        if parameters.fraction_below_one("delta", delta) > 0:
            raise self._mixed(f"a block with δ = {delta:g}")
        return self.price(Stated(epsilon=epsilon))

    def price_of(self, loss: Loss) -> Price:
        """What a bare loss, offered as a spend, adds."""
        match loss:
            case Pure():
                return self.block(loss.epsilon)
            case Approx():
                return self.block(loss.epsilon, loss.delta)
            case Zcdp():
                return self._price_or_mixed(Stated(rho=loss.rho), loss)
            case Gdp():
                return self._price_or_mixed(Stated(mu=loss.mu), loss)
            case Renyi():
                return self._price_or_mixed(Stated(curve=loss.at), loss)
            case Loss():
                raise NotAdaptive(
                    f"a {type(loss).__name__} cannot be added to a running total",
                    why="loss distributions compose lists that are fixed in advance; stopping when "
                    "their sum reaches a budget is not a theorem, it is a leak",
                    fix="offer the plan as one block: filter.block(loss.epsilon_at(delta), delta)",
                )
        raise BadParameter.of("loss", loss, must="a loss, such as dp.epsilon(0.1)")

    def _price_or_mixed(self, facts: Facts, loss: Loss) -> Price:
        try:
            return self.price(facts)
        except NoBound:
            raise self._mixed(f"a spend in {type(loss).__name__}") from None

    def _mixed(self, what: str) -> MixedLosses:
        name = type(self.budget).__name__
        return MixedLosses(
            f"{what} cannot be charged to a budget in {name}",
            why="no theorem bounds the one by the other",
            fix=f"spend in dp.{name}, or open with a budget that covers it: dp.epsilon(…, delta=…)",
        )

    def to_dict(self) -> dict[str, object]:
        """All that is fixed at opening."""
        return {"filter": self.kind, "budget": self.budget.to_dict()}

    @classmethod
    def _from_dict(cls, record: Mapping[str, object], budget: Loss) -> Filter:
        del record
        return cls(budget=budget)  # type: ignore[call-arg]

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> Filter:
        """The filter that `to_dict` wrote."""
        kind, budget = record.get("filter"), record.get("budget")
        if kind not in Filter.kinds or not isinstance(budget, Mapping):
            raise BadParameter.of("filter", kind, must="one of " + ", ".join(sorted(Filter.kinds)))
        return Filter.kinds[str(kind)]._from_dict(record, Loss.from_dict(budget))  # noqa: SLF001
