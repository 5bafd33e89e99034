"""How a question will be answered: which noise on which numbers, and which keys are shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from deniable.errors import UnknownKeys
from deniable.losses import Approx, Loss, Pure
from deniable.losses.filters import ApproxFilter, Filter
from deniable.mechanisms import Laplace, Mechanism, QuantileSearch
from deniable.mechanisms.combine import Composed
from deniable.mechanisms.keys import PartitionSelection
from deniable.query.bound import IntegerPlan, Tally

from .split import Law, Noise, law_of, noise_for, together
from .weighing import Released, released

# Of a spend without a δ of its own, private keys take this part of what the ledger keeps for them.
_RESERVE_SHARE: Final = 1 / 10


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """A plan with noise: one mechanism for each vector, in order, and one for private keys."""

    plan: IntegerPlan
    parts: tuple[Released, ...]
    noise: tuple[Noise, ...]
    selection: PartitionSelection | None = None

    @property
    def law(self) -> Law:
        """The law of all its noise."""
        return law_of(self.noise)

    @cached_property
    def mechanism(self) -> Mechanism:
        """Everything that is drawn, as one mechanism."""
        numbers = together(self.noise)
        if self.selection is None:
            return numbers
        return Composed.of((self.selection, 1), (numbers, 1))

    @cached_property
    def _by_name(self) -> dict[str, int]:
        return {part.tally.name: i for i, part in enumerate(self.parts)}

    def of(self, tally: Tally) -> Noise:
        """The noise on a tally."""
        return self.noise[self._by_name[tally.name]]

    def released(self, tally: Tally) -> Released:
        """What the tally is released as."""
        return self.parts[self._by_name[tally.name]]

    def unit(self, tally: Tally) -> float:
        """What 1 is worth in what is released of a tally."""
        return float(self.released(tally).unit)

    def scale(self, tally: Tally | None) -> float:
        """The scale of the noise on a tally, in rows or in units of its column; 0 for none."""
        return 0.0 if tally is None else spread_of(self.of(tally)) * self.unit(tally)


def spread_of(noise: Noise) -> float:
    """b of Laplace noise, σ of Gaussian noise."""
    assert not isinstance(noise, QuantileSearch)
    return noise.scale if isinstance(noise, Laplace) else noise.sigma


def allocate(
    plan: IntegerPlan,
    *,
    spend: Loss,
    filter: Filter,  # noqa: A002
    emphasis: dict[str, float] | None = None,
) -> Allocation:
    """The noise that answers a question best for an amount, in a ledger with this filter.

    `emphasis` multiplies how much the error of a tally matters, by its name.
    """
    selection, rest = _select(plan, spend, filter)

    def parts(law: Law) -> tuple[Released, ...]:
        return _emphasised(released(plan, law), emphasis or {})

    noise = noise_for(lambda law: [p.vector for p in parts(law)], spend=rest, filter=filter)
    return Allocation(plan=plan, parts=parts(law_of(noise)), noise=noise, selection=selection)


def _emphasised(parts: tuple[Released, ...], by: dict[str, float]) -> tuple[Released, ...]:
    return tuple(replace(part, weight=part.weight * by.get(part.tally.name, 1.0)) for part in parts)


def _select(
    plan: IntegerPlan,
    spend: Loss,
    filter: Filter,  # noqa: A002
) -> tuple[PartitionSelection | None, Loss]:
    """The choice of private keys, and what is left of the spend for numbers.

    Keys get as much ε as one more column would, but at least a quarter.
    """
    if plan.selection is None:
        return None, spend
    if not isinstance(filter, ApproxFilter) or not isinstance(spend, Pure | Approx):
        keys = [plan.question.keys[i].name for i in range(len(plan.question.keys))]
        raise UnknownKeys.of(", ".join(keys))
    named = spend.delta if isinstance(spend, Approx) else 0.0
    delta = min(named / 4 or filter.reserve * _RESERVE_SHARE, filter.reserve)
    epsilon = spend.epsilon * max(1 / 4, 1 / (1 + len(plan.tallies)))
    chosen = PartitionSelection(epsilon=epsilon, delta=delta, groups=plan.selection.moves.l1)
    left = spend.epsilon - epsilon
    return chosen, Approx(left, delta=named - named / 4) if named else Pure(left)
