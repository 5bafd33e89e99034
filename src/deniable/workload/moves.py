"""How far one unit can move a column of integer cells: exact whole numbers, in three norms.

A unit has rows r with weights wᵣ ≥ 0, Σ wᵣ ≤ W (one row: w = W = 1; a person: W = L·2²⁰), and each
row adds wᵣ·qᵣ, qᵣ ∈ [low, high], to one cell of every grouping set. What the unit adds within one
grouping set is thus a point of the hull of {0, W·low·eᵢ, W·high·eᵢ}; norms are convex, so they are
largest at corners: all weight in one cell. With m = max(|low|, |high|):

    add or remove   L1 = L2 = L∞ = W·m
    replace         one point for another: in one cell W·(max(high, 0) − min(low, 0)), in two cells
                    W·m each; W·(high − low) where each unit always has exactly one row that counts

S grouping sets are S disjoint families of cells: S·L1, √S·L2, L∞.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from deniable.units import Relation


@dataclass(frozen=True, kw_only=True)
class Moves:
    """Bounds on what one unit can change, in whole numbers; L2 as its square, which is whole.

    >>> Moves(l1=3, l2_squared=9, linf=3).l2
    3.0
    """

    l1: int
    l2_squared: int
    linf: int

    @property
    def l2(self) -> float:
        """The L2 bound, rounded up to a float."""
        return _root_up(Fraction(self.l2_squared))


def moves(
    *,
    low: int,
    high: int,
    weight: int,
    relation: Relation,
    sets: int = 1,
    one_cell: bool = False,
    always: bool = False,
) -> Moves:
    """The bounds for rows that add a number in [low, high], of `weight` together.

    `one_cell`: there is a single cell. `always`: each unit is exactly one row, and it counts.

    >>> moves(low=0, high=1, weight=1, relation=Relation.REPLACE)
    Moves(l1=2, l2_squared=2, linf=1)
    """
    most = weight * max(abs(low), abs(high))
    if relation.sides == 1:
        return Moves(l1=sets * most, l2_squared=sets * most**2, linf=most)
    if one_cell:
        span = weight * (high - low if always else max(high, 0) - min(low, 0))
        return Moves(l1=span, l2_squared=span**2, linf=span)
    span = weight * (max(high, 0) - min(low, 0))
    return Moves(l1=sets * 2 * most, l2_squared=sets * max(2 * most**2, span**2), linf=span)


def moves_of_presence(*, cells: int, relation: Relation, one_cell: bool = False) -> Moves:
    """The bounds for a unit that is there (1) or not (0) in at most `cells` cells.

    A unit that is replaced leaves that many and enters as many others, unless there is but one.

    >>> moves_of_presence(cells=3, relation=Relation.ADD_REMOVE)
    Moves(l1=3, l2_squared=3, linf=1)
    """
    both = 1 if one_cell else relation.sides
    return Moves(l1=both * cells, l2_squared=both * cells, linf=1)


def _root_up(square: Fraction) -> float:
    """The least float known to be no smaller than the root.

    The whole root of the square times 2¹²⁰ is rounded to a float, by at most half of its last
    place, which is 256 or more: so the next float is above the root.
    """
    root = float(math.isqrt(math.ceil(square) << 120)) / 2.0**60 if square else 0.0
    return math.nextafter(root, math.inf) if Fraction(root) ** 2 < square else root
