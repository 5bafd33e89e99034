"""AVG: a centred sum over a count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Self

import numpy as np

from deniable.query.algebra import Aggregate, Function
from deniable.workload.ratios import Confidence, Sums

from ._estimator import (
    Derived,
    Ends,
    Estimator,
    Floats,
    Known,
    Terms,
    half_width,
    is_whole,
    mixture,
    worst,
)
from .tallies import Measure, Tally, middle

if TYPE_CHECKING:
    from deniable.query.allocate import Allocation
    from deniable.query.integers import Book

# An average that may be anything within its bounds, with this confidence, is given as their middle.
_DROWNED: Final = 0.95


@dataclass(frozen=True, kw_only=True)
class Mean(Estimator):
    """centre + sum/count."""

    sql: ClassVar = {"Avg": Function.AVG, "mean": Function.AVG}
    ibis: ClassVar = {"Mean": Function.AVG}
    gives_sum: ClassVar = True
    divides: ClassVar = True

    count: Tally | None
    sum: Tally

    @classmethod
    def of(cls, asked: Aggregate, book: Book) -> Self:
        assert asked.argument is not None
        value, where, rows = asked.argument, asked.where, book.rows(asked)
        return cls(
            aggregate=asked,
            rows=rows,
            count=None if rows is not None else book.tally(Measure.COUNT, value, where),
            sum=book.tally(Measure.SUM, value, where, centre=middle(value)),
        )

    @property
    def tallies(self) -> tuple[Tally, ...]:
        return (self.sum,) if self.count is None else (self.count, self.sum)

    @property
    def width(self) -> float:
        """How far values may lie from the centre."""
        return half_width(self.sum)

    @property
    def largest(self) -> float:
        return 2 * self.width

    def forms(self) -> Iterator[Terms]:
        """(eₛ − m·eₙ)/n, m the mean around the centre, taken as ± half the width."""
        for sign in (1, -1):
            yield [(self.sum, 1.0), (self.count, sign / 2)]

    def error(self, allocation: Allocation, *, size: Known, confidence: float = 0.95) -> Known:
        known = size if self.rows is None else self.rows
        return None if known is None else self.error_at(allocation, known, confidence)

    def error_at(self, allocation: Allocation, size: float, confidence: float) -> float:
        """The ± for a group of so many rows."""
        width = self.width
        terms = [(self.sum, (1.0,)), (self.count, (width, -width))]
        return min(self.largest, worst(allocation, terms, allocation.of_each(confidence)) / size)

    def derive(self, allocation: Allocation, noisy: Mapping[str, Floats]) -> Derived:
        """Within the bounds; their middle where noise drowns a group."""
        sums = self.sums(allocation, noisy)
        low, high = float(self.aggregate.low), float(self.aggregate.high)
        centre, step = self.sum.centre, self.sum.lattice.width / 2
        if self.sum.lattice.exponent == 0 and is_whole(self.aggregate):
            step = 0.0

        def interval(confidence: Confidence) -> Ends:
            first, last = sums.mean_interval(confidence)
            first, last = centre + first - step, centre + last + step
            return np.clip(first, low, high), np.clip(last, low, high)

        told = np.clip(centre + sums.mean(), low, high)
        drowned = sums.drowned(allocation.of_each(_DROWNED))
        values = np.where(drowned, low / 2 + high / 2, told)
        return Derived(values=values, whole=False, interval=interval, table=interval)

    def sums(self, allocation: Allocation, noisy: Mapping[str, Floats]) -> Sums:
        """The noisy numbers and how they err."""
        total, count = noisy[self.sum.name], self.count
        return Sums(
            law=allocation.law,
            count=np.full_like(total, self.rows) if count is None else noisy[count.name],
            total=total,
            squares=None,
            mixture=mixture(allocation, (self.count, self.sum)),
            reach=self.width,
        )

    def derivation(self, allocation: Allocation) -> str:
        total, centre = f"({self.sum.text})", f"{self.sum.centre:,g}"
        if self.rows is not None:
            if not self.sum.centre:
                return f"as {self.sum.text} / {self.rows:,}"
            return f"as {centre} + {total} / {self.rows:,}"
        assert self.count is not None
        if allocation.part_of(self.sum).basis.turned:
            return "from the ratio of the two noisy sums"
        return f"as {centre} + {total} / {self.count.text}"
