"""What is released for a question: a vector for each tally, and how much its error matters.

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
from dataclasses import dataclass
from typing import Final

from deniable.query.algebra import Function
from deniable.query.bound import IntegerPlan, Moves, Parts, Tally

from .split import Law, Vector
from .trees import Tree, tree_for

# What hardly matters still gets enough to be of use, should the guess be wrong.
_LEAST: Final = 1 / 64


@dataclass(frozen=True, kw_only=True)
class Released:
    """What one tally becomes under a law: itself, or a tree over the bins of a histogram."""

    tally: Tally
    tree: Tree | None
    weight: float

    @property
    def levels(self) -> int:
        """In how many counts a row is."""
        return 1 if self.tree is None else self.tree.levels

    @property
    def vector(self) -> Vector:
        """Its bounds: each level of a tree is a histogram, which one unit moves as far."""
        moves = self.tally.moves
        square = Moves(l1=0, l2_squared=self.levels * moves.l2_squared, linf=0)
        return Vector(
            l1=_up(max(1, self.levels * moves.l1)),
            l2=max(1.0, square.l2),
            weight=max(self.weight, _LEAST) * self.levels**2,
        )


def released(plan: IntegerPlan, law: Law) -> tuple[Released, ...]:
    """Everything that gets noise, in the order of the plan's tallies."""
    weights = _weights(plan)
    return tuple(
        Released(
            tally=tally,
            tree=None if tally.bins is None else tree_for(tally.bins.count, law=law),
            weight=weights[tally.name],
        )
        for tally in plan.tallies
    )


def _weights(plan: IntegerPlan) -> dict[str, float]:
    weights = {tally.name: 0.0 for tally in plan.tallies}
    for parts in plan.parts.values():
        for tally, weight in _importance(parts):
            weights[tally.name] += weight
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
    reach = float(parts.aggregate.high - parts.aggregate.low) / 2
    return [(parts.sum, (reach / most) ** 2), (parts.count, (parts.sum.centre / most) ** 2)]


def _up(whole: int) -> float:
    """The least float that is not below a whole number."""
    number = float(whole)
    return number if int(number) >= whole else math.nextafter(number, math.inf)
