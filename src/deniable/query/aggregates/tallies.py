"""Tallies: columns of whole numbers, one for each group, each with how far one unit can move it.

A tally says what every row adds to its group, as an integer in [low, high]; the engine clamps to
that after all its own arithmetic, so the bound holds whatever rounding the engine does. (Of a
column as it was read the clamp is left out, where monotone arithmetic proves it idle.)
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field
from fractions import Fraction

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import EXACT, Expression, Kind
from deniable.query.algebra.show import plain
from deniable.sampling import Lattice
from deniable.schema.binning import Grid
from deniable.workload.moves import Moves

# A row's number has at most this many bits: times a weight of 20 it is exact in 64.
BITS = 32
# Whole numbers up to here are left as they are: times a weight they still fit in 64 bits.
WHOLE = 2**40


class Measure(enum.StrEnum):
    """What a tally adds up per row."""

    COUNT = "count"
    """1 for every row (where the value, if there is one, is not missing)."""
    SUM = "sum"
    """value − centre, in steps of the lattice."""
    SQUARES = "squares"
    """(value − centre)², in steps of the lattice."""
    HISTOGRAM = "histogram"
    """1 in the bin of the value: as many cells for each group as there are bins."""
    DISTINCT = "distinct"
    """Different values among those that each person brings, at most `rows` each; no weights."""
    PERSONS = "persons"
    """Different persons, each in at most `groups` groups; no weights."""


@dataclass(frozen=True, kw_only=True)
class Tally:
    """One column of integer cells.

    A row for which `where` is true (or None) and `value` (or None) is not missing counts. In the
    cells stand sums of weight·q, q ∈ [low, high] and weight ≤ `denominator`: divide by it to read
    rows or lattice steps. `moves` is in the units of the cells.
    """

    name: str
    measure: Measure
    value: Expression | None = None
    where: Expression | None = None
    low: int = 1
    high: int = 1
    centre: float = 0.0
    lattice: Lattice = field(default_factory=lambda: Lattice(exponent=0))
    bins: Grid | None = None
    denominator: int = 1
    moves: Moves

    @property
    def unit(self) -> Fraction:
        """What 1 in a cell is worth: rows, values or squared values."""
        return Fraction(2) ** self.lattice.exponent / self.denominator

    @property
    def text(self) -> str:
        """What is counted or added up, in words."""
        of = "" if self.value is None else f" of {plain(self.value)}"
        where = "" if self.where is None else f" where {plain(self.where)}"
        name = {
            Measure.COUNT: "the number of rows" if self.value is None else "the number",
            Measure.SUM: f"the sum{of} − {self.centre:g}" if self.centre else "the sum",
            Measure.SQUARES: f"the sum of squares{of} − {self.centre:g}",
            Measure.HISTOGRAM: "the histogram",
            Measure.DISTINCT: "the number of distinct values",
            Measure.PERSONS: "the number of people",
        }[self.measure]
        return name + ("" if of and of in name else of) + where


def grid(value: Expression, *, at_most: int) -> Grid:
    """The cells of a bounded value: one per whole number if they fit, else `at_most`."""
    low, high = value.domain.bounds
    if value.kind is Kind.INT and high - low < at_most and max(-low, high) <= EXACT:
        return Grid(type="int", low=low, high=high, cells=int(high - low) + 1, whole=True)
    width = float(high) - float(low)
    if math.isinf(width):
        raise UnsupportedQuery(
            "these bounds are too far apart to rank values between them",
            fix="bounds of at most 8e307 on either side of 0",
        )
    wide = width > 0 and math.isfinite(at_most / width)
    return Grid(type=value.kind.value, low=low, high=high, cells=at_most if wide else 1)


def middle(value: Expression) -> float:
    """The middle of the bounds; of whole numbers a whole one, so that sums stay exact.

    That is the one nearer 0, so that |centre| and the reach around it add up to max(|low|, |high|).

    >>> from deniable.query.algebra import Column, Domain
    >>> middle(Column(name="age", domain=Domain(kind=Kind.INT, low=0, high=125)))
    62.0
    """
    low, high = value.domain.bounds
    half = Fraction(low) / 2 + Fraction(high) / 2
    if value.kind is Kind.INT and abs(half) > EXACT:
        return 0.0  # its float may be beyond 64 bits
    return float(math.trunc(half)) if value.kind is Kind.INT else float(half) + 0.0


def on_lattice(value: Expression, *, centre: float, squared: bool) -> tuple[Lattice, int, int]:
    """The lattice of value − centre, or of its square, and the least and most lattice point."""
    low, high = (Fraction(end) - Fraction(centre) for end in value.domain.bounds)
    if squared:
        low, high = Fraction(0), max(low * low, high * high)
    whole = value.kind is Kind.INT and max(-low, high) <= WHOLE
    lattice = Lattice(exponent=0 if whole else _exponent(low, high))
    return lattice, lattice.point(low), lattice.point(high)


def _exponent(low: Fraction, high: Fraction) -> int:
    """The finest with at most 2ᴮᴵᵀˢ steps from 0 to the farther end."""
    most = max(abs(low), abs(high))
    if most == 0:
        return 0
    exponent = most.numerator.bit_length() - most.denominator.bit_length() + 1 - BITS
    if exponent > 900:
        raise UnsupportedQuery(
            "these bounds are too far from 0 to add up values between them",
            fix="bounds of at most 1e270, or 1e135 for a variance",
        )
    return max(-960, exponent)
