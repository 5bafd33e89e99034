"""What a charge adds to the totals that a filter watches."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

from deniable import parameters
from deniable.errors import BadParameter, MixedLosses
from deniable.losses import rounding


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
