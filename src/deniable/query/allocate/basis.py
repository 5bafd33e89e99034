"""In which numbers tallies are released: themselves, or others that a row moves less.

A row with a value q ∈ [low, high] moves a count by 1 and a sum by q, two columns, each of which
needs noise as if it were alone with half the loss. It moves

    above = Σ w·(q − low)      and      below = Σ w·(high − q)

by q − low and high − q: both at least 0, and together D = high − low whatever q is. One vector then
has all the loss, and both tallies follow from it:

    count = (above + below)/D            sum = (high·above + low·below)/D

What rows can add spans the parallelogram with corners ±(1, low), ±(1, high). Noise of that shape is
the K-norm mechanism's [HT10], and in these coordinates it is that of an L1 ball: Laplace. Where
more rows are counted than have the value, they add D to a third number, *others*, and nothing to
the two: a row still moves all three by D. Where only counts are asked, one of some rows and one of
more, both follow from those rows and the others. Gaussian noise gains nothing by turning a vector:
its L2 norm is the same.

Gaussian noise gains by one more number. A row moves d counts c₁, …, c_d of some rows by 0 or 1
each: by √d in L2. With the number T of all rows, which need not be asked for, it moves

    k·T      and      2·cⱼ − T, j = 1, …, d

by k and ±1: by √(k² + d), whichever counts it is in. From these cⱼ = (k·T)/2k + (2·cⱼ − T)/2 errs
by √((k² + d)·(1 + 1/k²))/2, which is least for k² = √d: (√d + 1)/2 instead of √d [Leb24]. A
person's rows with weights wᵣ, Σ wᵣ ≤ W, move it by Σ wᵣ·vᵣ, where vᵣ has k and ±1 in the places of
the row's group and is 0 elsewhere: by at most Σ wᵣ·‖vᵣ‖ ≤ W·√(k² + d). Several grouping sets lie
beside each other, so that S of them move it √S times as far. (A unit that is replaced moves 2·cⱼ −
T by 2, and nothing is gained.)

Where a unit is replaced in a group, it moves (count, sum) by (0, q − q′), ±(1, q) or nothing,
q ∈ [low, high] around 0: never both by the most they can move. With D = high − low and 2·|q| ≤ D,
one vector of

    k·count      and      2·sum

moves by no more than 2·sum alone, 2·D: in L1 with k = D, since D + 2·|q| ≤ 2·D, and in L2 with
k = √3·D, since 3·D² + 4·q² ≤ 4·D². The sum errs as if it were released by itself, and the count is
had with it. Where a unit can leave one group for another, it moves both by ±(1, q): in L2 k = D
does, since 2·(D² + 4·q²) ≤ 4·D²; in L1 there is nothing to gain.

All coordinates are whole combinations of whole numbers, computed exactly.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations, product

from deniable.query.aggregates import Measure, Tally
from deniable.query.integers import IntegerPlan
from deniable.workload.moves import Moves
from deniable.workload.tails import Law

_FINE = 2**8  # steps of the ratio of two numbers' scales

Form = tuple[float, Mapping[str, float]]
"""How much an answer matters, and how much of the error of each tally, by name, is in it."""


@dataclass(frozen=True, kw_only=True)
class Basis:
    """Whole combinations of tallies' cells, how far one unit moves all of them, and the way back.

    Coordinate i is Σⱼ forth[i][j]·tallyⱼ; tally j is Σᵢ back[j][i]·coordinateᵢ.
    """

    tallies: tuple[Tally, ...]
    forth: tuple[tuple[int, ...], ...]
    back: tuple[tuple[Fraction, ...], ...]
    moves: Moves

    @classmethod
    def plain(cls, tally: Tally) -> Basis:
        """A basis that measures one tally as it is."""
        return cls(tallies=(tally,), forth=((1,),), back=((Fraction(1),),), moves=tally.moves)

    @property
    def folded(self) -> bool:
        """Whether several tallies share this vector."""
        return len(self.tallies) > 1

    @property
    def turned(self) -> bool:
        """Whether its coordinates mix tallies; else each is a multiple of one."""
        return any(sum(map(bool, row)) > 1 for row in self.forth)

    def importance(self, forms: Sequence[Form]) -> float:
        """How much the squared error of one coordinate matters, by what it adds to the answers.

        Errors are in units of what one unit can move: the coordinates together, a tally alone.
        """
        total = 0.0
        for weight, factors in forms:
            held = [factors.get(tally.name, 0.0) for tally in self.tallies]
            for shares in self._shares:
                added = sum(map(operator.mul, held, shares))
                total += weight * added * added
        return total

    @cached_property
    def _shares(self) -> list[list[float]]:
        """For each coordinate, how much of it is in every tally."""
        if not self.folded:
            return [[1.0]]
        scales = [Fraction(self.moves.l1, tally.moves.l1) for tally in self.tallies]
        return [
            [float(back[i] * scale) for back, scale in zip(self.back, scales, strict=True)]
            for i in range(len(self.forth))
        ]


def foldings(tallies: Sequence[Tally], plan: IntegerPlan) -> Iterator[Basis]:
    """Every way for two or three of these tallies to share a vector."""
    counts = [t for t in tallies if t.measure is Measure.COUNT and t.moves.l1]
    sums = [t for t in tallies if t.measure is Measure.SUM and t.moves.l1]
    nested = [pair for pair in permutations(counts, 2) if _within(pair[1], pair[0])]
    for more, some in nested:
        yield _of_counts(more, some, plan)
    for total in sums:
        for count in counts:
            if _within(total, count):
                yield _of_sum(count, total, plan)
        for more, some in nested:
            if _within(total, some):
                yield _of_both(more, some, total, plan)


def with_all_rows(plan: IntegerPlan) -> Iterator[Basis]:
    """All counts together with the number of all rows, for Gaussian noise."""
    counts = [t for t in plan.tallies if t.measure is Measure.COUNT]
    asked = next((t for t in counts if t.where is None and t.value is None), None)
    total, some = asked or plan.hidden, [t for t in counts if t is not asked]
    if plan.unit.sides == 2 or total is None or not some:
        return
    d, one = len(some), _FINE
    k = round(one * d**0.25)
    most, sets = plan.most, len(plan.sets)
    own = [[int(i == j) for i in range(d)] for j in range(d)]
    yield Basis(
        tallies=(*some, total),
        forth=(*((*(2 * one * x for x in row), -one) for row in own), (*[0] * d, k)),
        back=(
            *((*(Fraction(x, 2 * one) for x in row), Fraction(1, 2 * k)) for row in own),
            (*[Fraction(0)] * d, Fraction(1, k)),
        ),
        moves=Moves(
            l1=sets * most * (k + d * one),
            l2_squared=sets * most**2 * (k**2 + d * one**2),
            linf=most * k,
        ),
    )


def side_by_side(tallies: Sequence[Tally], plan: IntegerPlan, law: Law) -> Iterator[Basis]:
    """Every count beside a sum of its rows, where one unit does not move both the most it can."""
    gains = plan.sets == ((),) or law == "gaussian"
    if plan.unit.sides == 1 or not gains:
        return
    counts = [t for t in tallies if t.measure is Measure.COUNT and t.moves.l1]
    sums = [t for t in tallies if t.measure is Measure.SUM and t.moves.l1]
    for total, count in product(sums, counts):
        if _within(total, count):
            yield _beside(count, total, plan, law)


def _beside(count: Tally, total: Tally, plan: IntegerPlan, law: Law) -> Basis:
    """Bounds at the corners: a row that comes or goes, at the farther end; one end for the other.

    In every grouping set a unit adds a point of the hull of 0 and W·(1, q) in some group, so that
    corners have the largest norms. In L1 one end for the other is never farther, as k ≥ span and
    2·far ≥ span; in L∞ it always is, as k < 2·span.
    """
    low, high = _ends(total)
    span, far, most = high - low, max(-low, high), plan.most
    groups = 1 if plan.sets == ((),) else 2
    k = math.isqrt(3 * span * span) if law == "gaussian" and groups == 1 else span
    sets = len(plan.sets)
    return Basis(
        tallies=(count, total),
        forth=((k, 0), (0, 2)),
        back=((Fraction(1, k), Fraction(0)), (Fraction(0), Fraction(1, 2))),
        moves=Moves(
            l1=sets * most * groups * (k + 2 * far),
            l2_squared=sets * most**2 * max(groups * (k**2 + 4 * far**2), 4 * span**2),
            linf=most * 2 * span,
        ),
    )


def _within(some: Tally, more: Tally) -> bool:
    """Whether every row that counts for one counts for the other, by how they are written."""
    return more.where in (None, some.where) and more.value in (None, some.value)


def _of_counts(more: Tally, some: Tally, plan: IntegerPlan) -> Basis:
    one, none = Fraction(1), Fraction(0)
    return Basis(
        tallies=(more, some),
        forth=((1, -1), (0, 1)),
        back=((one, one), (none, one)),
        moves=_moves(1, plan),
    )


def _of_sum(count: Tally, total: Tally, plan: IntegerPlan) -> Basis:
    """A row that counts without a value adds 0 to the sum, which is among [low, high] here."""
    low, high = _ends(total)
    span = high - low
    return Basis(
        tallies=(count, total),
        forth=((-low, 1), (high, -1)),
        back=(
            (Fraction(1, span), Fraction(1, span)),
            (Fraction(high, span), Fraction(low, span)),
        ),
        moves=_moves(span, plan),
    )


def _of_both(more: Tally, some: Tally, total: Tally, plan: IntegerPlan) -> Basis:
    low, high = _ends(total)
    span = high - low
    one, none = Fraction(1, span), Fraction(0)
    return Basis(
        tallies=(more, some, total),
        forth=((span, -span, 0), (0, -low, 1), (0, high, -1)),
        back=((one, one, one), (none, one, one), (none, Fraction(high, span), Fraction(low, span))),
        moves=_moves(span, plan),
    )


def _ends(total: Tally) -> tuple[int, int]:
    return min(total.low, 0), max(total.high, 0)


def _moves(span: int, plan: IntegerPlan) -> Moves:
    """A unit adds a point of the hull of 0 and W·span in some coordinates, in each grouping set.

    So it moves them by at most W·span in L1; if another takes its place, by both.
    """
    most = plan.most * span
    l1 = plan.unit.sides * len(plan.sets) * most
    return Moves(l1=l1, l2_squared=l1 * l1, linf=most)
