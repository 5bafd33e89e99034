"""Mechanisms whose price is that of another one, by reduction."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, TypeVar

from deniable.losses import Loss

from ._mechanism import Mechanism

if TYPE_CHECKING:
    from deniable.losses.pairs import Pairs

L = TypeVar("L", bound=Loss)


class PricedAs(Mechanism):
    """A mechanism whose every answer is computed from those of `priced_as`, at its price."""

    @property
    @abstractmethod
    def priced_as(self) -> Mechanism:
        """What it is post-processing of."""

    def pure(self) -> float:
        """As the other."""
        return self.priced_as.pure()

    def approx(self) -> tuple[float, float]:
        """As the other."""
        return self.priced_as.approx()

    def zcdp(self) -> float:
        """As the other."""
        return self.priced_as.zcdp()

    def gdp(self) -> float:
        """As the other."""
        return self.priced_as.gdp()

    def renyi(self, order: float) -> float:
        """As the other."""
        return self.priced_as.renyi(order)

    def pairs(self) -> Pairs | None:
        """As the other."""
        return self.priced_as.pairs()

    def epsilon_at(self, delta: float = 0.0) -> float:
        """As the other."""
        return self.priced_as.epsilon_at(delta)

    def delta_at(self, epsilon: float) -> float:
        """As the other."""
        return self.priced_as.delta_at(epsilon)

    def loss(self, kind: type[L]) -> L:
        """As the other."""
        return self.priced_as.loss(kind)
