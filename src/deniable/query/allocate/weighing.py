"""Which vectors are released for a question, and how much the error of each matters.

An answer errs by a sum of the tallies' errors (`Estimator.forms`). The weight of a vector is the
square of what its noise adds to the answers, each in units of what one person can move it by. It
rests on guesses about data nobody has looked at: they move errors, never privacy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from deniable import parameters
from deniable.errors import BadParameter, UnknownName
from deniable.query.aggregates import Tally
from deniable.query.algebra import columns_of
from deniable.query.integers import IntegerPlan
from deniable.workload.search import FEWEST_CELLS, Search
from deniable.workload.search import MOST_GROUPS as MOST_SEARCHED
from deniable.workload.tails import Law
from deniable.workload.trees import Tree, tree_for

from .basis import Basis, Form, foldings, side_by_side, with_all_rows
from .part import Part

# What hardly matters still gets enough to be of use, should the guess be wrong.
_LEAST: Final = 1 / 64
# An answer that is collected has no more groups; where keys are private, the first are shown.
MOST_GROUPS: Final = 2**22


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
    """Which tallies are told together: those where that errs less.

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
    return min(plan.cells, plan.unit.sides * len(plan.sets) * plan.rows * plan.weight)


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
