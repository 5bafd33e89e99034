"""How a question will be answered: which noise on which numbers, and which keys are shown.

An answer errs by a sum of the tallies' errors (`Estimator.forms`). The weight of a vector is the
square of what its noise adds to the answers, each in units of what one person can move it by. It
rests on guesses about data nobody has looked at: they move errors, never privacy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from typing import Final

from deniable import parameters
from deniable.errors import BadParameter, UnknownKeys, UnknownName
from deniable.losses import Approx, Loss, Pure
from deniable.losses.filters import ApproxFilter, Filter
from deniable.mechanisms import Mechanism
from deniable.mechanisms.combine import Composed
from deniable.mechanisms.keys import PartitionSelection
from deniable.query.aggregates import Tally
from deniable.query.algebra import columns_of
from deniable.query.integers import IntegerPlan
from deniable.workload.search import FEWEST_CELLS, Search
from deniable.workload.search import MOST_GROUPS as MOST_SEARCHED
from deniable.workload.split import Noise, law_of, noise_for, spread_of, together
from deniable.workload.tails import Law, of_each
from deniable.workload.trees import Tree, tree_for

from .basis import Basis, Form, foldings, side_by_side, with_all_rows
from .part import Part

# Of a spend without a δ of its own, private keys take this part of what the ledger keeps for them.
_RESERVE_SHARE: Final = 1 / 10
# What hardly matters still gets enough to be of use, should the guess be wrong.
_LEAST: Final = 1 / 64
# An answer that is collected has no more groups; where keys are private, the first are shown.
MOST_GROUPS: Final = 2**22


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
    def shared(self) -> str:
        """Which tallies share a vector, where some do: part of what is released."""
        shared = [
            ("together" if p.basis.turned else "side by side", ", ".join(t.name for t in p.tallies))
            for p in self.parts
            if p.basis.folded
        ]
        return "".join(f"\n{how} {names}" for how, names in shared)

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
        """The noise on the vector from which a tally follows."""
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
    filter: Filter,
    emphasis: Mapping[str, float] | None = None,
    fold: bool = True,
) -> Allocation:
    """The noise that answers a question best for an amount, in a ledger with this filter.

    `emphasis` multiplies how much the error of an aggregate matters, by its name; `fold` lets
    several tallies share a vector.
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
    plan: IntegerPlan, spend: Loss, filter_: Filter
) -> tuple[PartitionSelection | None, Loss]:
    """The choice of private keys, and what is left of the spend for numbers.

    Keys get as much ε as one more column would, but at least a quarter.
    """
    if plan.selection is None:
        return None, spend
    if not isinstance(filter_, ApproxFilter) or not isinstance(spend, Pure | Approx):
        raise UnknownKeys.of(*(key.name for key in plan.question.keys if key.values is None))
    named = spend.delta if isinstance(spend, Approx) else 0.0
    delta = min(named / 4 or filter_.reserve * _RESERVE_SHARE, filter_.reserve)
    epsilon = spend.epsilon * max(1 / 4, 1 / (1 + len(plan.tallies)))
    chosen = PartitionSelection(epsilon=epsilon, delta=delta, groups=plan.selection.moves.l1)
    left = spend.epsilon - epsilon
    return chosen, Approx(left, delta=named - named / 4) if named else Pure(left)


# ---- which vectors are released


def parts_of(
    plan: IntegerPlan, law: Law, emphasis: Mapping[str, float] | None = None, *, fold: bool = True
) -> tuple[Part, ...]:
    """Everything that gets noise; `emphasis` is how much more an aggregate matters, by its name.

    Without `fold` every tally is released by itself.
    """
    forms = _forms(plan, emphasis or {})
    groups, divided = touched(plan), _divided(plan)
    return tuple(
        Part(
            basis=basis,
            tree=_tree(plan, basis.tallies[0], law),
            weight=_weight(basis, forms),
            groups=groups,
            fine=basis.folded or basis.tallies[0].name in divided,
        )
        for basis in _bases(plan, forms, law, fold=fold)
    )


def emphasis(plan: IntegerPlan, weights: Mapping[str, float]) -> dict[str, float]:
    """How much more each aggregate matters if columns of the answer have these weights."""
    if not isinstance(weights, Mapping):
        raise BadParameter.of("weights", weights, must="a dict", fix='weights={"n": 4}')
    made = {output.name: columns_of(output.expression) for output in plan.question.outputs}
    named = {name: used for name, used in made.items() if plan.parts.keys() & used.keys()}
    given: dict[str, float] = {}
    for column, weight in weights.items():
        used = [name for name in named.get(column, ()) if name in plan.parts]
        if not used:
            raise UnknownName.of("noisy column of the answer", str(column), known=named)
        weighed = parameters.positive(f"weights[{column!r}]", weight)
        given |= {name: max(weighed, given.get(name, 0.0)) for name in used}
    return given


# ---- what matters

Forms = Mapping[str, Sequence[Form]]
"""How answers err, by the tallies that they are made of."""


def _weight(basis: Basis, forms: Forms) -> float:
    used = {id(form): form for tally in basis.tallies for form in forms.get(tally.name, ())}
    return max(basis.importance(list(used.values())), _LEAST)


def _forms(plan: IntegerPlan, emphasis: Mapping[str, float]) -> Forms:
    """How the answers err. Where signs are not known, each of them counts for its part."""
    made: dict[str, list[Form]] = {tally.name: [] for tally in plan.tallies}
    for name, parts in plan.parts.items():
        found = list(parts.forms())
        for each in found:
            factors = {tally.name: factor for tally, factor in each if tally is not None}
            form = emphasis.get(name, 1.0) / len(found), factors
            for used in factors:
                made[used].append(form)
    return made


# ---- what is released


def _bases(plan: IntegerPlan, forms: Forms, law: Law, *, fold: bool) -> list[Basis]:
    """Which tallies share a vector: those that err less by it.

    The least Σ wⱼ/εⱼ² is (Σ wⱼ^⅓)³/ε², and the least Σ wⱼ/μⱼ² is (Σ wⱼ^½)²/μ²: the better basis has
    the smaller sum of roots. Weights are in units of L1; Gaussian noise is in those of L2.
    """
    found: dict[str, Basis] = {tally.name: Basis.plain(tally) for tally in plan.tallies}

    def root(basis: Basis) -> float:
        weight, moves = _weight(basis, forms), basis.moves
        if law == "laplace":
            return math.cbrt(weight)
        return math.sqrt(weight) * (moves.l2 / moves.l1 if moves.l1 else 1.0)

    roots = {name: root(plain) for name, plain in found.items()}

    def gain(basis: Basis) -> float:
        return sum(roots.get(tally.name, 0.0) for tally in basis.tallies) - root(basis)

    together = chain(
        foldings(plan.tallies, plan) if law == "laplace" else with_all_rows(plan),
        side_by_side(plan.tallies, plan, law),
    )
    ways = [(gain(basis), basis) for basis in together] if fold else []
    for gained, basis in sorted(ways, key=operator.itemgetter(0), reverse=True):
        taken = [found[t.name].folded for t in basis.tallies if t.name in found]
        if gained > 0 and not any(taken):
            found |= dict.fromkeys((t.name for t in basis.tallies), basis)
    return list({id(basis): basis for basis in found.values()}.values())


def _divided(plan: IntegerPlan) -> set[str]:
    """The tallies of averages and variances, by name."""
    ratios = [each for each in plan.parts.values() if each.divides]
    return {tally.name for each in ratios for tally in each.tallies}


def touched(plan: IntegerPlan) -> int:
    """How many cells one unit can move.

    Where keys are private, a unit's rows are kept in so many cells as its presence is counted in,
    and so many again where another takes its place: the L1 bound of the count of persons. Where
    they are public, a row is in one cell of each grouping set, and a person's k rows weigh
    ⌊L·2²⁰/k⌋, which is nothing if k > L·2²⁰.
    """
    if plan.selection is not None:
        return plan.selection.moves.l1
    assert plan.cells is not None
    return min(plan.cells, plan.unit.sides * len(plan.sets) * plan.most)


def _tree(plan: IntegerPlan, tally: Tally, law: Law) -> Tree | Search | None:
    """How a histogram is released: searched for its one quantile, or as a tree for several."""
    if tally.bins is None:
        return None
    cells = tally.bins.count
    users = [each for each in plan.parts.values() if tally in each.tallies]
    if any(each.flat for each in users):
        return Tree(cells=cells, branching=(cells,))
    asked = [each.aggregate.q for each in users]
    few = plan.cells is not None and plan.cells <= MOST_SEARCHED
    if law == "laplace" and len(asked) == 1 and few and cells >= FEWEST_CELLS:
        (q,) = asked  # MIN and MAX have none
        if q is not None and 0 < q < 1:
            return Search(cells=cells, q=q)
    return tree_for(cells, law=law)
