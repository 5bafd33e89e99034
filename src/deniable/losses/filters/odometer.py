"""Odometers: how much has been spent so far, as a statement that holds whenever one looks."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from deniable import parameters
from deniable.errors import BadParameter
from deniable.losses import rounding
from deniable.losses._loss import Facts
from deniable.losses.approx import Approx

from ._filter import Price
from .approx import ApproxFilter


@dataclasses.dataclass(frozen=True, kw_only=True)
class Odometer:
    """A ladder of (ε, δ) ceilings: the reading is the lowest one that the total is within.

    At any time, also one chosen after the answers, what was released is private as the reading
    says, up to δ in total: transcripts that read rung j are within filter j, so P(S ∩ j) exceeds
    e^{ε_j}·Q(S ∩ j) by at most δ_j, and Σδ_j = δ. The pure sum needs no δ and is read as it is.
    After [RRUV16] and [FZ21].

    >>> odometer = Odometer.opened(delta=1e-6)
    >>> odometer.reading(Price.zero)
    Approx(epsilon=0.0, delta=1e-06)
    """

    rungs: tuple[ApproxFilter, ...]
    delta: float
    """Of all rungs and all blocks together."""

    @classmethod
    def opened(
        cls,
        *,
        delta: float,
        first: float = 0.125,
        rungs: int = 16,
        blocks: float = 0.25,
    ) -> Odometer:
        """Rungs from ε = `first` up by √2 each, δ split evenly, a share of it for blocks."""
        delta = parameters.confidence("delta", delta)
        first, count = parameters.positive("first", first), parameters.whole("rungs", rungs)
        reserve = parameters.probability("blocks", blocks) * delta
        each = rounding.down((delta - reserve) / count)
        return cls(
            delta=delta,
            rungs=tuple(
                ApproxFilter.opened(
                    Approx(first * 2 ** (j / 2), delta=each + reserve), order=None, reserve=reserve
                )
                for j in range(count)
            ),
        )

    def price(self, facts: Facts) -> Price:
        """What one release adds: its ε, and its divergence at the order of each rung."""
        return self._joined([rung.price(facts) for rung in self.rungs])

    def block(self, epsilon: float, delta: float = 0.0) -> Price:
        """What a plan fixed in advance adds, as in `ApproxFilter.block`."""
        return self._joined([rung.block(epsilon, delta) for rung in self.rungs])

    def reading(self, total: Price) -> Approx | None:
        """The lowest ceiling that holds now; None where nothing does."""
        if not rounding.within(total.delta, self.rungs[0].reserve):
            return None
        curve: Sequence[float] = total.renyi or (0.0,) * len(self.rungs)
        for rung, divergence in zip(self.rungs, curve, strict=True):
            if rounding.within(divergence, rung.divergence):
                return Approx(min(total.epsilon, rung.budget.epsilon), delta=self.delta)
        return Approx(total.epsilon, delta=self.delta) if math.isfinite(total.epsilon) else None

    @staticmethod
    def _joined(prices: list[Price]) -> Price:
        return dataclasses.replace(prices[0], renyi=tuple(price.renyi[0] for price in prices))

    def to_dict(self) -> dict[str, object]:
        """All that is fixed at opening."""
        return {"odometer": [rung.to_dict() for rung in self.rungs], "delta": self.delta}

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> Odometer:
        """The odometer that `to_dict` wrote."""
        rungs = record.get("odometer")
        if not isinstance(rungs, list) or not rungs:
            raise BadParameter.of("odometer", rungs, must="a list of filters")
        delta = parameters.confidence("delta", record.get("delta"))
        return Odometer(rungs=tuple(map(ApproxFilter.from_dict, rungs)), delta=delta)
