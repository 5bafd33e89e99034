"""What becomes one vector: whole numbers that are computed, rounded, and get noise of one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from deniable.losses import rounding
from deniable.query.aggregates import Tally
from deniable.query.integers import Cells
from deniable.workload.moves import Moves
from deniable.workload.search import Search
from deniable.workload.split import Vector
from deniable.workload.trees import Tree

from .basis import Basis

Floats = NDArray[np.float64]

# One unit moves numbers by so many bits at least, once digits are rounded away: 2⁶³⁻²⁶ units fit.
_BITS: Final = 26
# More where it can move many numbers, each of which is rounded against it.
_SPARE_BITS: Final = 8
_MOST_BITS: Final = 33
_FINE_BITS: Final = 20
_SEARCH_PARTS: Final = 3
_INT64: Final = np.iinfo(np.int64)


@dataclass(frozen=True, kw_only=True)
class Part:
    """What becomes one vector: tallies in some basis; a histogram as it is, as a tree or searched.

    Sums of weighted values are wider than 64 bits. Those that one unit moves by too much are
    rounded to whole multiples of 2^`shift`, ⌊x/2ᵏ + ½⌋ in every cell, before noise is added: a cell
    that moves by δ then moves by less than |δ|/2ᵏ + 1, and one that stays stays. So for the d cells
    that one unit can move, L1 ≤ Δ₁/2ᵏ + d and L2 ≤ Δ₂/2ᵏ + √d, however many others there are. One
    unit then moves them by 2²⁵ steps or more, so that d costs little, and 2³⁰ units at least fit.

    Where answers are put together of several numbers, or divided, those that a unit hardly moves
    are multiplied (`shift` < 0), so that noise has many steps, and its law is as good as smooth.
    """

    basis: Basis
    tree: Tree | Search | None
    weight: float
    groups: int
    """At most so many groups have numbers that one unit can move."""
    fine: bool = False
    """Whether answers are put together of it."""

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """What it measures, in words."""
        return self.basis.tallies

    @cached_property
    def shift(self) -> int:
        """How many binary digits are rounded away, or added."""
        if self.tallies[0].bins is not None:
            return 0
        bits = self.basis.moves.l1.bit_length()
        most = min(_MOST_BITS, max(_BITS, self._moved.bit_length() + _SPARE_BITS))
        least = min(0, bits - _FINE_BITS) if self.fine else 0
        return max(least, bits - most)

    @property
    def _moved(self) -> int:
        """How many numbers one unit can move."""
        return self.groups * len(self.basis.forth)

    @property
    def worth(self) -> float:
        """What 1 is worth in the last of its tallies."""
        return float(self.tallies[-1].unit * self._step)

    @property
    def _step(self) -> Fraction:
        return Fraction(2) ** self.shift

    @property
    def levels(self) -> int:
        """In how many counts a row is."""
        return 1 if self.tree is None else self.tree.levels

    @cached_property
    def vector(self) -> Vector:
        """Its bounds: each level of a tree is a histogram, which one unit moves as far."""
        moves, step = self.basis.moves, self._step
        rounded = self._moved if self.shift > 0 else 0
        square = Moves(l1=0, l2_squared=self.levels * moves.l2_squared, linf=0)
        return Vector(
            l1=_up(max(1, math.ceil(self.levels * moves.l1 / step) + rounded)),
            l2=max(1.0, rounding.up(square.l2 / float(step), math.sqrt(rounded))),
            weight=self.weight * self._parts**2,
            share=self.tree.q if isinstance(self.tree, Search) else None,
        )

    @property
    def linf(self) -> float:
        """How far one unit can move each of its numbers."""
        moved = Fraction(self.basis.moves.linf) / self._step
        return _up(max(1, math.ceil(moved) + (self.shift > 0)))

    @property
    def _parts(self) -> int:
        """Among how many counts of a row the loss is divided."""
        return _SEARCH_PARTS if isinstance(self.tree, Search) else self.levels

    def mixture(self, tally: Tally) -> tuple[float, ...]:
        """What 1 in each coordinate is worth in a tally: rows, values or squared values."""
        place = next(i for i, each in enumerate(self.tallies) if each.name == tally.name)
        return tuple(float(p * tally.unit * self._step) for p in self.basis.back[place])

    @property
    def shape(self) -> tuple[int, ...]:
        """Of what gets noise, for each group: () is one number."""
        if isinstance(self.tree, Search):
            return (self.tree.cells,)
        if self.tree is not None:
            return (self.tree.nodes,)
        if (bins := self.tallies[0].bins) is not None:
            return (bins.count,)
        return (len(self.basis.forth),) if len(self.basis.forth) > 1 else ()

    def numbers(self, cells: Cells) -> NDArray[np.int64]:
        """What gets noise: a number or a row of them for each group."""
        if self.tallies[0].bins is not None:
            histogram = cells.histograms[self.tallies[0].name]
            return histogram if self.tree is None else self.tree.sums(histogram)
        columns = [cells.numbers[tally.name] for tally in self.tallies]
        found = [
            self.rounded(sum(f * c for f, c in zip(row, columns, strict=True) if f))
            for row in self.basis.forth
        ]
        return found[0] if len(found) == 1 else np.stack(found, axis=-1)

    def rounded(self, numbers: NDArray[np.object_]) -> NDArray[np.int64]:
        """Whole numbers of any width as those that get noise, held at the ends of 64 bits."""
        if self.shift > 0:
            numbers = (numbers + (1 << self.shift - 1)) >> self.shift
        more = max(0, -self.shift)
        held = np.clip(numbers, _INT64.min >> more, _INT64.max >> more)
        return held.astype(np.int64) << more

    def read(self, noisy: object) -> dict[str, Floats]:
        """Each tally from the noisy numbers, in rows or units of its column; trees as they are."""
        found = np.asarray(noisy, dtype=np.float64)
        if self.tree is not None:
            return {self.tallies[0].name: found}
        found = found.reshape(-1, len(self.basis.forth))
        return {
            tally.name: _combined(found, back) * float(tally.unit * self._step)
            for tally, back in zip(self.tallies, self.basis.back, strict=True)
        }


def _combined(numbers: Floats, factors: Sequence[Fraction]) -> Floats:
    """Divided once, at the end: without noise whole numbers come back as they were."""
    below = math.lcm(*(f.denominator for f in factors))
    total: Floats = numbers @ np.array([float(f * below) for f in factors])
    return total / below


def _up(whole: int) -> float:
    """The least float that is not below a whole number."""
    number = float(whole)
    return number if int(number) >= whole else math.nextafter(number, math.inf)
