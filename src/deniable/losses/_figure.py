"""Losses that are one figure: what Pure, Zcdp and Gdp share.

The figure is kept exactly, as a whole number of ticks (see `rounding`), and rounded up when read.
So k·a equals a + … + a to the last bit, in any order, and a million additions lose nothing.

∞ may be held (a ledger must be able to say that nothing bounds what was released) and is contagious
in sums; `0 * loss` is 0 whatever the loss. A budget may not be ∞: `epsilon`, `rho`, `mu` refuse it.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Self

from deniable import parameters
from deniable.errors import NoBound

from . import rounding
from ._loss import Facts, Loss


class OneFigure(Loss):
    """A loss that is one figure, and whose sums are sums of that figure."""

    adaptive = True
    figure: ClassVar[str]
    """The name of the field that holds it."""
    symbol: ClassVar[str]

    _ticks: int

    def __post_init__(self) -> None:
        number = figure_or_infinite(self.figure, getattr(self, self.figure))
        object.__setattr__(self, self.figure, number)
        object.__setattr__(self, "_ticks", self._exact(number))

    def __str__(self) -> str:
        return f"{self.symbol} = {rounding.shown_up(getattr(self, self.figure))}"

    @staticmethod
    def _exact(number: float) -> int:
        return rounding.ticks(number)

    @staticmethod
    def _read(count: int) -> float:
        return rounding.from_ticks(count)

    @classmethod
    def _of(cls, count: int) -> Self:
        loss = cls.__new__(cls)
        object.__setattr__(loss, cls.figure, cls._read(count))
        object.__setattr__(loss, "_ticks", count)
        return loss

    @classmethod
    def _proved(cls, *figures: float) -> Self:
        """The least of several figures that all hold; NoBound if none is finite."""
        least = min(figures)
        if math.isinf(least):
            raise no_bound(cls)
        return cls(least)  # type: ignore[call-arg]

    def _plus(self, other: Self) -> Self:
        return self._of(self._ticks + other._ticks)

    def _times(self, times: int) -> Self:
        return self._of(times * self._ticks)

    def _within(self, other: Self) -> bool:
        return rounding.within(getattr(self, self.figure), getattr(other, self.figure))

    @classmethod
    def sum_of_largest(cls, parts: Sequence[Self], count: int) -> Self:
        """The sum of the `count` largest."""
        counts = sorted(part._ticks for part in parts)  # noqa: SLF001
        return cls._of(sum(counts[-count:]))

    def to_dict(self) -> dict[str, object]:
        """The kind and the figure, rounded up."""
        return {"kind": self.kind, self.figure: rounding.to_json(getattr(self, self.figure))}

    @classmethod
    def _from_dict(cls, record: Mapping[str, object]) -> Self:
        return cls(rounding.from_json(cls.figure, record.get(cls.figure)))  # type: ignore[call-arg]


def figure_or_infinite(name: str, value: object) -> float:
    """A number of at least 0, or ∞."""
    if isinstance(value, float) and value == math.inf:
        return math.inf
    return parameters.non_negative(name, value)


def conversions(facts: Facts, *kinds: str) -> Mapping[type[Loss], Callable[[], Loss]]:
    """What each of these kinds makes of the facts."""
    chosen = [Loss.kinds[kind] for kind in kinds]
    return {kind: functools.partial(kind.from_facts, facts) for kind in chosen}


def no_bound(kind: type[Loss]) -> NoBound:
    """Nothing is proved in this definition."""
    return NoBound(
        f"nothing is proved about this in the definition of dp.{kind.__name__}",
        why="a price without a theorem would be a guess",
        fix="price it in another definition: dp.Profile and dp.Renyi cover the most mechanisms",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stated:
    """What a loss says of any mechanism that has it, in the form mechanisms state their facts."""

    epsilon: float = math.inf
    delta: float = 0.0
    rho: float = math.inf
    mu: float = math.inf
    curve: Callable[[float], float] | None = None

    def pure(self) -> float:
        """ε, where no δ is needed."""
        return math.inf if self.delta else self.epsilon

    def approx(self) -> tuple[float, float]:
        """(ε, δ)."""
        return self.epsilon, self.delta

    def zcdp(self) -> float:
        """ρ."""
        return self.rho

    def gdp(self) -> float:
        """μ."""
        return self.mu

    def renyi(self, order: float) -> float:
        """The curve, or α·ρ."""
        return self.curve(order) if self.curve else rounding.product(self.rho, order)

    def pairs(self) -> object:
        """Randomized response for (ε, δ), two Gaussians for μ, None for the others."""
        from .pairs import ApproxPair, GaussianPair, Pairs  # noqa: PLC0415  (loads numpy)

        if math.isfinite(self.mu):
            return Pairs.symmetric(GaussianPair(mu=self.mu))
        if math.isfinite(self.epsilon):
            return Pairs.symmetric(ApproxPair(epsilon=self.epsilon, delta=self.delta))
        return None
