"""What a charge adds to totals, and what every filter of them can do, whatever its budget."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Self

from deniable import fixes, parameters
from deniable.errors import BadParameter, MixedLosses, NoBound, NotAdaptive
from deniable.losses import rounding
from deniable.losses._loss import Facts, Loss, Stated
from deniable.losses.approx import Approx, Pure
from deniable.losses.gdp import Gdp
from deniable.losses.renyi import Renyi
from deniable.losses.zcdp import Zcdp


@dataclasses.dataclass(frozen=True, kw_only=True)
class Price:
    """What a charge adds to a filter's totals: figures of at least 0, ∞ where nothing is proved.

    >>> Price(epsilon=0.5) + Price(epsilon=0.25, delta=1e-9)
    Price(epsilon=0.75, delta=1e-09, rho=0.0, mu_squared=0.0, renyi=())
    """

    epsilon: float = 0.0
    delta: float = 0.0
    rho: float = 0.0
    mu_squared: float = 0.0
    renyi: tuple[float, ...] = ()
    """The divergence at each of the filter's orders."""

    symbols: ClassVar = {"epsilon": "ε", "delta": "δ", "rho": "ρ", "mu_squared": "μ²"}
    zero: ClassVar[Price]

    def __add__(self, other: Price) -> Price:
        if not isinstance(other, Price):
            return NotImplemented
        few, many = self.renyi, other.renyi
        if few and many and len(few) != len(many):
            raise MixedLosses("cannot add prices of different filters", fix="filter.price(...)")
        made = object.__new__(Price)  # a ledger adds millions: `__init__` is most of the time
        figures = vars(made)
        for name in _FIGURES:
            one, two = getattr(self, name), getattr(other, name)
            figures[name] = rounding.add_up(one, two) if one and two else one or two
        figures["renyi"] = tuple(map(rounding.add_up, few, many)) if few and many else few or many
        return made

    def __radd__(self, other: object) -> Price:
        return self if other == 0 else NotImplemented

    def __mul__(self, times: int) -> Price:
        """That many equal prices at once, rounded up once."""
        times = parameters.whole("times", times, least=0)

        def scaled(figure: float) -> float:
            return rounding.from_ticks(times * rounding.ticks(figure))

        figures = {name: scaled(getattr(self, name)) for name in _FIGURES}
        return Price(**figures, renyi=tuple(map(scaled, self.renyi)))

    __rmul__ = __mul__

    def to_dict(self) -> dict[str, object]:
        """A flat record for ledgers: only what is not 0."""
        record: dict[str, object] = {
            name: rounding.to_json(getattr(self, name)) for name in _FIGURES if getattr(self, name)
        }
        return record | ({"renyi": list(map(rounding.to_json, self.renyi))} if self.renyi else {})

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> Price:
        """The price that `to_dict` wrote."""
        unknown = set(record) - {*_FIGURES, "renyi"}
        if unknown:
            raise BadParameter(f"a price has no field {min(unknown)!r}")
        figures = {n: rounding.from_json(n, record[n]) for n in _FIGURES if n in record}
        curve = record.get("renyi", ())
        if not isinstance(curve, list | tuple):
            raise BadParameter.of("renyi", curve, must="a list of numbers")
        return Price(**figures, renyi=tuple(rounding.from_json("renyi", value) for value in curve))


_FIGURES = tuple(Price.symbols)
Price.zero = Price()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Filter(ABC):
    """A ceiling that holds whatever is chosen under it."""

    kind: ClassVar[str]
    kinds: ClassVar[dict[str, type[Filter]]] = {}
    budget: Loss

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        Filter.kinds[cls.kind] = cls

    @classmethod
    def opened(cls, budget: Loss, *, order: float | None, reserve: float | None) -> Self:
        """The filter of a budget; what else is fixed at opening, `filter_for` describes."""
        if order is not None or reserve is not None:
            raise BadParameter(
                "order and reserve belong to a budget with a δ",
                fix="dp.epsilon(…, delta=…)",
            )
        return cls(budget=budget)

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
        return dataclasses.replace(self, budget=self.spent(reserved)).left(used)

    def enlarging(self, reserved: Price, price: Price) -> Price:
        """What to add to a reserved part so that it grows by an amount of this price."""
        del reserved
        return price

    def block(self, epsilon: float, delta: float = 0.0) -> Price:
        """What a plan fixed in advance adds: (ε, δ)-private as a whole, charged at its start."""
        epsilon = parameters.non_negative("epsilon", epsilon)
        if parameters.fraction_below_one("delta", delta) > 0:
            raise MixedLosses(
                f"a block with δ = {delta:g} cannot be charged: the budget has no δ",
                fix="charge it without a delta, or open the session with "
                "budget=dp.epsilon(1.0, delta=1e-7)",
            )
        return self.price(Stated(epsilon=epsilon))

    def price_of(self, loss: Loss) -> Price:
        """What a bare loss, offered as a spend, adds."""
        match loss:
            case Pure():
                return self.block(loss.epsilon)
            case Approx() if not loss.delta or isinstance(self.budget, Approx):
                return self.block(loss.epsilon, loss.delta)
            case Approx():
                raise self._other("has a δ")
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
        raise BadParameter.of("amount", loss, must="a loss", fix="amount=dp.epsilon(0.1)")

    def _price_or_mixed(self, facts: Facts, loss: Loss) -> Price:
        try:
            return self.price(facts)
        except NoBound:
            raise self._other(f"is in {loss.symbol}") from None

    def _other(self, offered: str) -> MixedLosses:
        """An amount that this budget does not count; a tenth of the budget is one that it does."""
        name, most = self.budget.figure, self.budget.share(0.1)
        return MixedLosses(
            f"this budget is in {self.budget.symbol}, and the amount {offered}",
            why="losses add up only within one definition of privacy",
            fix=fixes.amount("amount", name, rounding.shown_down(getattr(most, name))),
        )

    def to_dict(self) -> dict[str, object]:
        """All that is fixed at opening."""
        return {"filter": self.kind, "budget": self.budget.to_dict()}

    @classmethod
    def from_record(cls, _record: Mapping[str, object], budget: Loss) -> Self:
        """The filter of this kind that `to_dict` wrote, whose budget is read already."""
        return cls(budget=budget)

    @classmethod
    def from_dict(cls, record: Mapping[str, object]) -> Self:
        """The filter that `to_dict` wrote."""
        kind, budget = record.get("filter"), record.get("budget")
        if kind not in Filter.kinds or not isinstance(budget, Mapping):
            raise BadParameter.of("filter", kind, must="one of " + ", ".join(sorted(Filter.kinds)))
        found = Filter.kinds[str(kind)].from_record(record, Loss.from_dict(budget))
        assert isinstance(found, cls)
        return found


def filter_for(budget: Loss, *, order: float | None = None, reserve: float | None = None) -> Filter:
    """The filter that enforces a budget: made once, when a ledger opens.

    `order` and `reserve` are for Approx budgets. Without them, the order is the one that admits the
    most Gaussian noise (the largest ρ = r/α), and a quarter of δ is reserved for blocks: a block's
    cost depends on ln(1/δ_b) only, and the order loses ln(4/3)/(α − 1) of ε, about 1 %.

    >>> filter_for(Approx(1.0, delta=1e-6)).order
    23.0
    """
    if getattr(budget, "kind", "") not in Filter.kinds:
        raise NotAdaptive(
            f"a {type(budget).__name__} cannot be a running ceiling",
            why="it composes lists fixed in advance; which list this is, is chosen as one goes",
            fix="dp.epsilon(…), dp.epsilon(…, delta=…), dp.rho(…) or dp.mu(…)",
        )
    if math.isinf(budget.epsilon_at(0.5)):
        raise BadParameter.of("budget", budget, must="finite", why="∞ would admit everything")
    return Filter.kinds[budget.kind].opened(budget, order=order, reserve=reserve)
