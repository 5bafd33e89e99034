"""What is released for a question: vectors that tell its tallies, and how much their errors matter.

The answer's errors are made of the vectors' (with y = x − centre, |y| ≤ r, and errors eₙ, eₛ, e_q
of count, sum and squares):

    COUNT      eₙ
    SUM        eₛ                or eₛ + centre·eₙ where the sum is centred
    AVG        (eₛ − m·eₙ)/n     m the mean of y, taken as r/2
    VAR        (e_q − 2m·eₛ + (m² − v)·eₙ)/n     m taken as r/4, m² − v as r²/4

Squares of these factors, relative to what one person can move each tally by (1, r, r²), are the
weights. They are guesses about data nobody has looked at: they move errors, never privacy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import UnknownName
from deniable.losses import rounding
from deniable.query.algebra import Function, columns_of
from deniable.query.bound import Cells, IntegerPlan, Moves, Parts, Tally
from deniable.release.reach import Law
from deniable.units import Relation

from .basis import Basis, foldings
from .search import FEWEST_CELLS, Search
from .search import MOST_GROUPS as MOST_SEARCHED
from .split import Vector
from .trees import Tree, tree_for

Floats = NDArray[np.float64]

# What hardly matters still gets enough to be of use, should the guess be wrong.
_LEAST: Final = 1 / 64
_BITS: Final = 32
_SEARCH_PARTS: Final = 3
_INT64: Final = np.iinfo(np.int64)
# An answer that is collected has no more groups; where keys are private, the first are shown.
MOST_GROUPS: Final = 2**22


@dataclass(frozen=True, kw_only=True)
class Released:
    """What becomes one vector: tallies in some basis, or a histogram as a tree, or to be searched.

    Sums of weighted values are wider than 64 bits. Those that one unit moves by more than 2³² are
    rounded to whole multiples of 2^`shift`, ⌊x/2ᵏ + ½⌋ in every cell, before noise is added: a cell
    that moves by δ then moves by less than |δ|/2ᵏ + 1, and one that stays stays. So for the d cells
    that one unit can move, L1 ≤ Δ₁/2ᵏ + d and L2 ≤ Δ₂/2ᵏ + √d, however many others there are.
    What remains holds half a billion units at least, and d costs next to nothing.
    """

    basis: Basis
    tree: Tree | Search | None
    weight: float
    groups: int
    """At most so many groups have numbers that one unit can move."""

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """What it tells."""
        return self.basis.tallies

    @property
    def shift(self) -> int:
        """How many binary digits are rounded away."""
        return 0 if self.tree is not None else max(0, self.basis.moves.l1.bit_length() - _BITS)

    @property
    def worth(self) -> float:
        """What 1 is worth in the last of its tallies."""
        return float(self.tallies[-1].unit * 2**self.shift)

    @property
    def levels(self) -> int:
        """In how many counts a row is."""
        return 1 if self.tree is None else self.tree.levels

    @property
    def vector(self) -> Vector:
        """Its bounds: each level of a tree is a histogram, which one unit moves as far."""
        moves, coarse = self.basis.moves, 2**self.shift
        rounded = self.groups * len(self.basis.forth) if self.shift else 0
        square = Moves(l1=0, l2_squared=self.levels * moves.l2_squared, linf=0)
        return Vector(
            l1=_up(max(1, -(-self.levels * moves.l1 // coarse) + rounded)),
            l2=max(1.0, rounding.up(square.l2 / coarse, math.sqrt(rounded))),
            weight=self.weight * self._parts**2,
            share=self.tree.q if isinstance(self.tree, Search) else None,
        )

    @property
    def _parts(self) -> int:
        """Among how many counts of a row the loss is divided."""
        return _SEARCH_PARTS if isinstance(self.tree, Search) else self.levels

    def mixture(self, tally: Tally) -> tuple[float, ...]:
        """What 1 in each coordinate is worth in a tally: rows, values or squared values."""
        place = next(i for i, each in enumerate(self.tallies) if each.name == tally.name)
        return tuple(float(p * tally.unit * 2**self.shift) for p in self.basis.back[place])

    def numbers(self, cells: Cells) -> NDArray[np.int64]:
        """What gets noise: a number or a row of them for each group."""
        if self.tree is not None:
            return self.tree.sums(cells.histograms[self.tallies[0].name])
        columns = [cells.numbers[tally.name] for tally in self.tallies]
        found = [
            self.rounded(sum(f * c for f, c in zip(row, columns, strict=True) if f))
            for row in self.basis.forth
        ]
        return found[0] if len(found) == 1 else np.stack(found, axis=-1)

    def rounded(self, numbers: NDArray[np.object_]) -> NDArray[np.int64]:
        """Whole numbers of any width as those that get noise, held at the ends of 64 bits."""
        if self.shift:
            numbers = (numbers + (1 << self.shift - 1)) >> self.shift
        return np.clip(numbers, _INT64.min, _INT64.max).astype(np.int64)

    def read(self, noisy: object) -> dict[str, Floats]:
        """Each tally from the noisy numbers, in rows or units of its column; trees as they are."""
        found = np.asarray(noisy, dtype=np.float64)
        if self.tree is not None:
            return {self.tallies[0].name: found}
        found = found.reshape(-1, len(self.basis.forth))
        return {
            tally.name: _combined(found, back) * float(tally.unit * 2**self.shift)
            for tally, back in zip(self.tallies, self.basis.back, strict=True)
        }


def _combined(numbers: Floats, factors: Sequence[Fraction]) -> Floats:
    """Divided once, at the end: without noise whole numbers come back as they were."""
    below = math.lcm(*(f.denominator for f in factors))
    total: Floats = numbers @ np.array([float(f * below) for f in factors])
    return total / below


def released(
    plan: IntegerPlan, law: Law, emphasis: Mapping[str, float] | None = None
) -> tuple[Released, ...]:
    """Everything that gets noise; `emphasis` is how much more a tally matters, by its name."""
    more = emphasis or {}
    weights = {
        name: max(weight * more.get(name, 1.0), _LEAST)
        for name, weight in _weights(plan, {}).items()
    }
    groups = _touched(plan)
    return tuple(
        Released(
            basis=basis,
            tree=_tree(plan, basis.tallies[0], law),
            weight=basis.importance([weights[t.name] for t in basis.tallies]),
            groups=groups,
        )
        for basis in _bases(plan, weights, law)
    )


def _bases(plan: IntegerPlan, weights: Mapping[str, float], law: Law) -> list[Basis]:
    """Which tallies are told together: under Laplace noise, those where that errs less.

    The least Σ wⱼ/εⱼ² is (Σ wⱼ^⅓)³/ε²: the better basis has the smaller sum of roots.
    """

    def root(basis: Basis) -> float:
        return math.cbrt(basis.importance([weights[t.name] for t in basis.tallies]))

    def gain(basis: Basis) -> float:
        return sum(root(Basis.plain(t)) for t in basis.tallies) - root(basis)

    found: dict[str, Basis] = {tally.name: Basis.plain(tally) for tally in plan.tallies}
    ways = list(foldings(plan.tallies, plan)) if law == "laplace" else []
    for basis in sorted(ways, key=gain, reverse=True):
        if gain(basis) > 0 and not any(found[t.name].folded for t in basis.tallies):
            found |= dict.fromkeys((t.name for t in basis.tallies), basis)
    return list({id(basis): basis for basis in found.values()}.values())


def _touched(plan: IntegerPlan) -> int:
    """How many cells one unit can move.

    Where keys are private, a unit's rows are kept in so many cells as its presence is counted in,
    and so many again where another takes its place: the L1 bound of the count of persons. Where
    they are public, a row is in one cell of each grouping set, and a person's k rows weigh
    ⌊L·2²⁰/k⌋, which is nothing if k > L·2²⁰.
    """
    if plan.selection is not None:
        return plan.selection.moves.l1
    assert plan.cells is not None
    both = 1 if plan.unit.relation is Relation.ADD_REMOVE else 2
    return min(plan.cells, both * len(plan.sets) * plan.rows * plan.weight)


def emphasis(plan: IntegerPlan, weights: Mapping[str, float]) -> dict[str, float]:
    """By how much more each tally matters if columns of the answer have these weights."""
    named = {output.name: columns_of(output.expression) for output in plan.question.outputs}
    given: dict[str, float] = {}
    for column, weight in weights.items():
        used = [name for name in named.get(column, ()) if name in plan.parts]
        if not used:
            raise UnknownName.of("noisy column of the answer", column, known=named)
        weighed = parameters.positive(f"weights[{column!r}]", weight)
        given |= {name: max(weighed, given.get(name, 0.0)) for name in used}
    plain, weighted = _weights(plan, {}), _weights(plan, given)
    return {name: weighted[name] / plain[name] for name in plain if plain[name]}


def _weights(plan: IntegerPlan, given: Mapping[str, float]) -> dict[str, float]:
    """How much the squared error of each tally matters, over all aggregates that are made of it."""
    weights = {tally.name: 0.0 for tally in plan.tallies}
    for name, parts in plan.parts.items():
        for tally, weight in _importance(parts):
            weights[tally.name] += weight * given.get(name, 1.0)
    return weights


def _importance(parts: Parts) -> list[tuple[Tally, float]]:
    match parts.aggregate.function:
        case Function.SUM:
            return _of_sum(parts)
        case Function.AVG:
            guess = {"sum": 1.0, "count": 1 / 4}
        case Function.QUANTILE | Function.MIN | Function.MAX:
            guess = {"histogram": 1.0}
        case Function.COUNT | Function.DISTINCT | Function.PERSONS:
            guess = {"count": 1.0}
        case _:
            guess = {"squares": 1.0, "sum": 1 / 4, "count": 1 / 16}
    return [(getattr(parts, name), weight) for name, weight in guess.items()]


def _of_sum(parts: Parts) -> list[tuple[Tally, float]]:
    assert parts.sum is not None
    if parts.count is None:
        return [(parts.sum, 1.0)]
    most = max(abs(parts.aggregate.low), abs(parts.aggregate.high), 1e-300)
    reach = most - abs(parts.sum.centre)
    return [(parts.sum, (reach / most) ** 2), (parts.count, (parts.sum.centre / most) ** 2)]


def _tree(plan: IntegerPlan, tally: Tally, law: Law) -> Tree | Search | None:
    """How a histogram is released: searched for its one quantile, or as a tree for several."""
    if tally.bins is None:
        return None
    cells = tally.bins.count
    asked = [p.aggregate.q for p in plan.parts.values() if p.histogram is tally]
    few = plan.cells is not None and plan.cells <= MOST_SEARCHED
    if law == "laplace" and len(asked) == 1 and few and cells >= FEWEST_CELLS:
        (q,) = asked  # MIN and MAX have none
        if q is not None and 0 < q < 1:
            return Search(cells=cells, q=q)
    return tree_for(cells, law=law)


def _up(whole: int) -> float:
    """The least float that is not below a whole number."""
    number = float(whole)
    return number if int(number) >= whole else math.nextafter(number, math.inf)
