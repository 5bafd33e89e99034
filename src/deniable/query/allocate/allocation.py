"""How a question will be answered: which noise on which numbers, and which keys are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

from deniable.errors import UnknownKeys
from deniable.losses import Approx, Loss, Pure
from deniable.losses.filters import ApproxFilter, Filter
from deniable.mechanisms import Mechanism
from deniable.mechanisms.combine import Composed
from deniable.mechanisms.keys import PartitionSelection
from deniable.query.aggregates import Tally
from deniable.query.integers import IntegerPlan
from deniable.workload.split import Noise, law_of, noise_for, spread_of, together
from deniable.workload.tails import Law, of_each

from .part import Part
from .weighing import parts_of

# Of a spend without a δ of its own, private keys take this part of what the ledger keeps for them.
_RESERVE_SHARE: Final = 1 / 10


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """A plan with noise: one mechanism for each vector, in order, and one for private keys."""

    plan: IntegerPlan
    parts: tuple[Part, ...]
    noise: tuple[Noise, ...]
    selection: PartitionSelection | None = None
    among: int = 1
    """Of so many groups noisy values pick those that are shown: each ± must hold for all at once.

    Else it would not hold for those that are shown: the largest of many are mostly too large.
    """

    @property
    def free(self) -> bool:
        """Whether there is nothing to draw: all that is asked for is public."""
        return not self.noise

    @property
    def of_many(self) -> bool:
        """Whether noisy values pick groups among private ones: nobody knows yet of how many."""
        return self.plan.picked and self.selection is not None

    def of_each(self, confidence: float) -> float:
        """With which confidence each group must hold for all of them to hold at once."""
        return of_each(confidence, self.among)

    @property
    def told(self) -> str:
        """Which tallies are told by one vector, where some are: part of what is released."""
        told = [
            ("together" if p.basis.turned else "side by side", ", ".join(t.name for t in p.tallies))
            for p in self.parts
            if p.basis.folded
        ]
        return "".join(f"\n{how} {names}" for how, names in told)

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
        return {tally.name: i for i, part in enumerate(self.parts) for tally in part.tallies}

    def of(self, tally: Tally) -> Noise:
        """The noise on the vector that tells a tally."""
        return self.noise[self._by_name[tally.name]]

    def part_of(self, tally: Tally) -> Part:
        """What the tally is released as."""
        return self.parts[self._by_name[tally.name]]

    def errors(self, *terms: tuple[Tally | None, float]) -> tuple[float, ...]:
        """How Σ factor·tally errs: how much of each of the independent noises is in it.

        In rows or units of the column. Their signs matter where several such sums are added up.
        """
        found: dict[tuple[int, int], float] = {}
        for tally, factor in terms:
            if tally is None:
                continue
            place = self._by_name[tally.name]
            spread = spread_of(self.noise[place])
            for i, part in enumerate(self.parts[place].mixture(tally)):
                found[place, i] = found.get((place, i), 0.0) + factor * part * spread
        return tuple(found.values())


def allocate(
    plan: IntegerPlan,
    *,
    spend: Loss,
    filter: Filter,  # noqa: A002
    emphasis: Mapping[str, float] | None = None,
    fold: bool = True,
) -> Allocation:
    """The noise that answers a question best for an amount, in a ledger with this filter.

    `emphasis` multiplies how much the error of an aggregate matters, by its name; `fold` lets one
    vector tell several tallies.
    """
    if not plan.tallies:
        return Allocation(plan=plan, parts=(), noise=())
    selection, rest = _select(plan, spend, filter)

    @cache
    def parts(law: Law) -> tuple[Part, ...]:
        return parts_of(plan, law, emphasis, fold=fold)

    noise = noise_for(lambda law: [p.vector for p in parts(law)], spend=rest, filter=filter)
    return Allocation(
        plan=plan,
        parts=parts(law_of(noise)),
        noise=noise,
        selection=selection,
        among=(plan.cells or 1) if plan.picked else 1,
    )


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
