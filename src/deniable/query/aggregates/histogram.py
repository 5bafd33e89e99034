"""HISTOGRAM: rows by bins of a number, as many columns as there are bins, for the price of one.

A row is in one bin, so that all counts together move as far as one: they are one vector.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from deniable.query.algebra import Aggregate, Function

from ._estimator import Derived, Floats, Terms
from .linear import Linear
from .tallies import Measure, Tally

if TYPE_CHECKING:
    from deniable.query.allocate import Allocation
    from deniable.query.integers import Book


@dataclass(frozen=True, kw_only=True)
class Histogram(Linear):
    """The count of one bin; those of the others are in the same vector."""

    sql: ClassVar = {"histogram": Function.HISTOGRAM}
    flat: ClassVar = True

    histogram: Tally

    @classmethod
    def of(cls, asked: Aggregate, book: Book) -> Self:
        histogram = book.tally(Measure.HISTOGRAM, asked.argument, asked.where)
        return cls(aggregate=asked, histogram=histogram)

    @property
    def terms(self) -> Terms:
        return [(self.histogram, 1.0)]

    def forms(self) -> Iterator[Terms]:
        """All bins together matter as much as one other answer."""
        yield [(self.histogram, 1 / math.sqrt(len(self.aggregate.edges) - 1))]

    def derive(self, allocation: Allocation, noisy: Mapping[str, Floats]) -> Derived:
        name, unit = self.histogram.name, float(self.histogram.unit)
        return super().derive(allocation, {name: noisy[name][:, self.aggregate.bin] * unit})
