"""VAR and STDDEV, of a population or a sample: squares and a sum around a centre, and a count."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, ClassVar, Final, Self

import numpy as np

from deniable.query.algebra import Aggregate, Function
from deniable.workload.ratios import Confidence, Sums

from ._estimator import Derived, Ends, Floats, Terms, mixture, worst
from .mean import Mean
from .tallies import Measure, Tally

if TYPE_CHECKING:
    from deniable.query.allocate import Allocation
    from deniable.query.integers import Book

_ROOTS: Final = frozenset({Function.STDDEV_SAMP, Function.STDDEV_POP})
_SAMPLES: Final = frozenset({Function.VAR_SAMP, Function.STDDEV_SAMP})


@dataclass(frozen=True, kw_only=True)
class Spread(Mean):
    """The variance or its root; that of a sample is corrected by n/(n − 1), n noisy or not."""

    sql: ClassVar = {
        "Variance": Function.VAR_SAMP,
        "VariancePop": Function.VAR_POP,
        "Stddev": Function.STDDEV_SAMP,
        "StddevSamp": Function.STDDEV_SAMP,
        "StddevPop": Function.STDDEV_POP,
        "var": Function.VAR_SAMP,
        "std": Function.STDDEV_SAMP,
    }
    ibis: ClassVar = {
        "Variance.sample": Function.VAR_SAMP,
        "Variance.pop": Function.VAR_POP,
        "StandardDev.sample": Function.STDDEV_SAMP,
        "StandardDev.pop": Function.STDDEV_POP,
    }

    squares: Tally

    @classmethod
    def of(cls, asked: Aggregate, book: Book) -> Self:
        mean, value = Mean.of(asked, book), asked.argument
        squares = book.tally(Measure.SQUARES, value, asked.where, centre=mean.sum.centre)
        return cls(**vars(mean), squares=squares)

    @property
    def tallies(self) -> tuple[Tally, ...]:
        return *super().tallies, self.squares

    @property
    def largest(self) -> float:
        """A sample's variance is twice the population's where two rows are at the two ends."""
        return self._told((1 + self._less) * self.width**2)

    def _told(self, variance: float) -> float:
        return math.sqrt(variance) if self.aggregate.function in _ROOTS else variance

    @property
    def _less(self) -> int:
        return int(self.aggregate.function in _SAMPLES)

    def forms(self) -> Iterator[Terms]:
        """(e_q − 2m·eₛ + (m² − v)·eₙ)/n; with r the width, m taken as ±r/4, m² − v as ±r²/4."""
        for first, second in product((1, -1), repeat=2):
            yield [(self.squares, 1.0), (self.sum, first / 2), (self.count, second / 4)]

    def error_at(self, allocation: Allocation, size: float, confidence: float) -> float:
        """At the worst mean m and variance v: |m² − v| ≤ r², and n/(n − 1) as much of a sample."""
        width, grown = self.width, float(corrected(size, self._less))
        most = width**2 * grown
        terms = [
            (self.squares, (1.0,)),
            (self.sum, (2 * width, -2 * width)),
            (self.count, (most, -most)),
        ]
        off = worst(allocation, terms, allocation.of_each(confidence)) / size
        return min(self.largest, self._told(grown * off))

    def derive(self, allocation: Allocation, noisy: Mapping[str, Floats]) -> Derived:
        sums, less = self.sums(allocation, noisy), self._less
        power = 0.5 if self.aggregate.function in _ROOTS else 1.0

        def interval(confidence: Confidence) -> Ends:
            low, high = sums.variance_interval(confidence, less=less)
            return low**power, high**power

        values = (sums.variance() * corrected(sums.count, less)) ** power
        return Derived(values=values, whole=False, interval=interval, table=interval)

    def sums(self, allocation: Allocation, noisy: Mapping[str, Floats]) -> Sums:
        return replace(
            super().sums(allocation, noisy),
            squares=noisy[self.squares.name],
            mixture=mixture(allocation, (self.count, self.sum, self.squares)),
        )

    def derivation(self, allocation: Allocation) -> str:
        if self.rows is not None:
            return f"as the variance of {self.rows:,} rows with these two sums"
        if allocation.part_of(self.sum).basis.turned:
            return "from the noisy sums and squares"
        return "from the noisy count, sum and squares"


def corrected(rows: float | Floats, less: int) -> Floats:
    """n/(n − 1) where `less` is 1, of two rows or more; else 1."""
    many = np.maximum(rows, 1.0 + less)
    return np.asarray(many / (many - less))
