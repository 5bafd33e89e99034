"""Mechanisms whose price is that of another one, by reduction; and prices that are remembered."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from deniable.calibration import looseness
from deniable.losses import Loss

from ._mechanism import Mechanism

if TYPE_CHECKING:
    from deniable.losses.pairs import Pairs

L = TypeVar("L", bound=Loss)
T = TypeVar("T")

_MOST: Final = 1_000  # prices remembered: a bound on memory


class PricedAs(Mechanism):
    """A mechanism whose every answer is computed from those of `priced_as`, at its price."""

    @property
    @abstractmethod
    def priced_as(self) -> Mechanism:
        """What it is post-processing of."""

    def pure(self) -> float:
        return self.priced_as.pure()

    def approx(self) -> tuple[float, float]:
        return self.priced_as.approx()

    def zcdp(self) -> float:
        return self.priced_as.zcdp()

    def gdp(self) -> float:
        return self.priced_as.gdp()

    def renyi(self, order: float) -> float:
        return self.priced_as.renyi(order)

    def pairs(self) -> Pairs | None:
        return self.priced_as.pairs()

    def epsilon_at(self, delta: float = 0.0) -> float:
        return self.priced_as.epsilon_at(delta)

    def delta_at(self, epsilon: float) -> float:
        return self.priced_as.delta_at(epsilon)

    def loss(self, kind: type[L]) -> L:
        return self.priced_as.loss(kind)


class Prices(Generic[T]):
    """What mechanisms cost by some rule, worked out once for each: equal ones cost the same.

    Only prices of deniable's own mechanisms are kept, which are values that never change. Those of
    others, and the rougher ones of a search, are worked out each time.
    """

    def __init__(self, rule: Callable[[Mechanism], T]) -> None:
        self._rule = rule
        self._known: dict[Mechanism, T] = {}

    def __call__(self, mechanism: Mechanism) -> T:
        if looseness.get() != 1:
            return self._rule(mechanism)
        try:
            return self._known[mechanism]
        except TypeError:  # its parameters have no hash
            return self._rule(mechanism)
        except KeyError:
            price = self._rule(mechanism)
        if all(_never_changes(type(each)) for each in mechanism.within()):
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[mechanism] = price
        return price


@functools.cache
def _never_changes(kind: type[Mechanism]) -> bool:
    """Whether these are values of deniable's own, all of which tells them apart."""
    own = kind.__module__.startswith("deniable.")
    return own and all(part.compare for part in fields(kind))
