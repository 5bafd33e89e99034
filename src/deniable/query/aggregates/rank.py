"""Quantiles, MIN and MAX: read off the ranks of a histogram."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms import QuantileSearch
from deniable.query.algebra import Aggregate, Function
from deniable.release.numbers import digits
from deniable.workload import Ranks, Search, SearchResult, Tree
from deniable.workload.search import usual_reach
from deniable.workload.split import deviation

from ._estimator import SIZES, Derived, Ends, Estimator, Floats, Known, Terms, is_whole
from .tallies import Measure, Tally

if TYPE_CHECKING:
    from deniable.query.allocate import Allocation
    from deniable.query.integers import Book

Integers = NDArray[np.int64]

_OUTERMOST: Final = {Function.MIN: 0.0, Function.MAX: 1.0}


@dataclass(frozen=True, kw_only=True)
class Rank(Estimator):
    """The value at a share of the rows: 0 is the lowest, 1 the highest."""

    sql: ClassVar = {
        "Min": Function.MIN,
        "Max": Function.MAX,
        **dict.fromkeys(
            ("Median", "Quantile", "ApproxQuantile", "PercentileCont", "PercentileDisc"),
            Function.QUANTILE,
        ),
        **dict.fromkeys(
            ("percentile", "approx_percentile", "percentile_approx"), Function.QUANTILE
        ),
    }
    ibis: ClassVar = {
        "Min": Function.MIN,
        "Max": Function.MAX,
        **dict.fromkeys(
            ("Median", "ApproxMedian", "Quantile", "ApproxQuantile"), Function.QUANTILE
        ),
    }
    takes: ClassVar = "ordered"

    histogram: Tally

    @classmethod
    def of(cls, asked: Aggregate, book: Book) -> Self:
        histogram = book.tally(Measure.HISTOGRAM, asked.argument, asked.where)
        return cls(aggregate=asked, histogram=histogram)

    @property
    def tallies(self) -> tuple[Tally, ...]:
        return (self.histogram,)

    @property
    def q(self) -> float:
        """The quantile that was asked for."""
        found = _OUTERMOST.get(self.aggregate.function, self.aggregate.q)
        assert found is not None
        return found

    def forms(self) -> Iterator[Terms]:
        yield [(self.histogram, 1.0)]

    def error(self, allocation: Allocation, *, size: Known, confidence: float = 0.95) -> None:
        """Private: it depends on how close together values lie."""

    def rank_error(self, allocation: Allocation, *, confidence: float = 0.95) -> float:
        """By how many rows its rank may be off."""
        confidence = allocation.of_each(confidence)
        tree, noise = allocation.part_of(self.histogram).tree, allocation.of(self.histogram)
        unit = float(self.histogram.unit)
        if isinstance(noise, QuantileSearch):
            return unit * usual_reach(noise, confidence=confidence)
        assert isinstance(tree, Tree)
        reach = tree.reach(self.q, law=allocation.law, confidence=confidence)
        return unit * deviation(noise) * reach

    def derive(self, allocation: Allocation, noisy: Mapping[str, Floats]) -> Derived:
        q, tally = self.q, self.histogram
        tree, noise = allocation.part_of(tally).tree, allocation.of(tally)
        if isinstance(tree, Search):
            assert isinstance(noise, QuantileSearch)
            found = SearchResult(search=tree, numbers=noisy[tally.name], noise=noise)
            return self._valued(found.cell, found.possible)
        assert tree is not None
        ranks = Ranks(
            tree=tree,
            cells=tree.agreed(noisy[tally.name]),
            law=allocation.law,
            deviation=deviation(noise),
        )
        # The lowest and highest value are where counts begin to rise above the noise.
        sign = {0.0: 1.0, 1.0: -1.0}.get(q, 0.0)
        guess = ranks.cell(q, margin=sign * ranks.reach(q, 0.95))
        return self._valued(guess, lambda level: ranks.possible(q, level, guess=guess))

    def _valued(
        self, guess: Integers, possible: Callable[[float], tuple[Integers, Integers]]
    ) -> Derived:
        """The values of cells: their own of whole numbers, else the middle."""
        bins = self.histogram.bins
        assert bins is not None
        edges, far = bins.edges, int(not bins.whole)

        def interval(confidence: float) -> Ends:
            first, last = possible(confidence)
            return edges[first], edges[last + far]

        values = edges[guess] if bins.whole else (edges[guess] + edges[guess + 1]) / 2
        return Derived(values=values, whole=is_whole(self.aggregate), interval=interval)

    def note(self, allocation: Allocation, size: float | None) -> str:
        rank = self.rank_error(allocation)
        sizes = SIZES if size is None else (size,)
        lost = [f"any value in a group of {n:,g} rows or fewer" for n in sizes if rank >= n]
        kept = [f"{digits(100 * rank / n, 'up')} % of {n:,g} rows" for n in sizes if rank < n]
        return (
            f": noise can move the answer by up to {digits(rank, 'up')} rows in sorted order "
            f"(95 % confidence): {', '.join([*lost[-1:], *kept])}"
        )

    @property
    def estimand(self) -> str:
        if self.aggregate.function in _OUTERMOST:
            which = "largest" if self.q else "smallest"
            reached = f"the {which} value reached by enough rows to be distinguished from noise"
            return f"{super().estimand}; {reached}"
        return super().estimand
