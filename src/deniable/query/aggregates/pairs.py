"""COVAR_POP, COVAR_SAMP and CORR: sums of two values and of their products, around both centres."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, ClassVar, Final, Self

import numpy as np

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import Aggregate, Expression, Function, Kind, call, literal
from deniable.workload.ratios import OF_A_MEAN, Confidence, Pairs, correlation_ends

from ._estimator import Derived, Ends, Estimator, Floats, Known, Terms, mixture, worst
from .mean import Mean
from .spread import Spread, corrected
from .tallies import WHOLE, Measure, Tally, middle

if TYPE_CHECKING:
    from deniable.query.allocate import Allocation
    from deniable.query.integers import Book

_FARTHEST: Final = 1e270


@dataclass(frozen=True, kw_only=True)
class Covariance(Estimator):
    """Of the rows that have both values; that of a sample is corrected by n/(n − 1).

    `first` and `second` are the means of either value over those rows: they share a count.
    """

    sql: ClassVar = {"CovarPop": Function.COVAR_POP, "CovarSamp": Function.COVAR_SAMP}
    ibis: ClassVar = {
        "Covariance.pop": Function.COVAR_POP,
        "Covariance.sample": Function.COVAR_SAMP,
    }
    pair: ClassVar = True
    divides: ClassVar = True

    first: Mean
    second: Mean
    products: Tally

    @classmethod
    def of(cls, asked: Aggregate, book: Book) -> Self:
        x, y, where, rows = asked.argument, asked.other, _both(asked), book.rows(asked)
        assert x is not None
        assert y is not None
        count = None if rows is not None else book.tally(Measure.COUNT, None, where)
        first, second = (
            Mean(
                aggregate=replace(asked, function=Function.AVG, argument=value, other=None),
                rows=rows,
                count=count,
                sum=book.tally(Measure.SUM, value, where, centre=middle(value)),
            )
            for value in (x, y)
        )
        products = book.tally(Measure.SUM, _product(x, y), where)
        return cls(aggregate=asked, rows=rows, first=first, second=second, products=products)

    @property
    def tallies(self) -> tuple[Tally, ...]:
        listed = (*self.first.tallies, *self.second.tallies, self.products)
        return tuple({tally.name: tally for tally in listed}.values())

    @property
    def _less(self) -> int:
        return int(self.aggregate.function is Function.COVAR_SAMP)

    @property
    def largest(self) -> float:
        return self._widest

    @property
    def _widest(self) -> float:
        """The largest ± of a covariance there can be, also where it is divided afterwards."""
        return 2 * (1 + self._less) * self.first.width * self.second.width

    def forms(self) -> Iterator[Terms]:
        """(eₚ − a·eₛ′ − b·eₛ + (a·b − c)·eₙ)/n, means a and b taken as ± a quarter of the width."""
        for i, j, k in product((0.25, -0.25), repeat=3):
            sums = [(self.first.sum, i), (self.second.sum, j)]
            yield [(self.products, 1.0), *sums, (self.first.count, k)]

    def error(self, allocation: Allocation, *, size: Known, confidence: float = 0.95) -> Known:
        known = size if self.rows is None else self.rows
        return None if known is None else self.error_at(allocation, known, confidence)

    def error_at(self, allocation: Allocation, size: float, confidence: float) -> float:
        """Of the covariance, at the worst means: |a·b − c| ≤ r·r′ for values within r and r′.

        Of a sample's, n/(n − 1) times that.
        """
        miss = 1 - allocation.of_each(confidence)
        x, y, grown = self.first.width, self.second.width, float(corrected(size, self._less))
        most = x * y * grown
        terms = [
            (self.products, (1.0,)),
            (self.first.sum, (y, -y)),
            (self.second.sum, (x, -x)),
            (self.first.count, (most, -most)),
        ]
        off = worst(allocation, terms, 1 - (1 - 2 * OF_A_MEAN) * miss) / size
        each = 1 - OF_A_MEAN * (1 - confidence)
        # Of the means, also where their variances are asked for.
        means = [Mean.error_at(m, allocation, size, each) for m in (self.first, self.second)]
        return min(self._widest, grown * (off + means[0] * means[1]))

    def derive(self, allocation: Allocation, noisy: Mapping[str, Floats]) -> Derived:
        pairs, less = self.pairs(allocation, noisy), self._less

        def interval(confidence: Confidence) -> Ends:
            return pairs.covariance_interval(confidence, less=less)

        values = pairs.covariance() * corrected(pairs.first.count, less)
        return Derived(values=values, whole=False, interval=interval, table=interval)

    def pairs(self, allocation: Allocation, noisy: Mapping[str, Floats]) -> Pairs:
        """The noisy numbers and how they err."""
        first, second = self.first, self.second
        tallies = (first.count, first.sum, second.sum, self.products)
        return Pairs(
            first=first.sums(allocation, noisy),
            second=second.sums(allocation, noisy),
            products=noisy[self.products.name],
            mixture=mixture(allocation, tallies),
        )

    def derivation(self, allocation: Allocation) -> str:
        del allocation
        return "from the noisy sums of both values and of their products"


@dataclass(frozen=True, kw_only=True)
class Correlation(Covariance):
    """The covariance over both standard deviations."""

    sql: ClassVar = {"Corr": Function.CORR}
    ibis: ClassVar = {"Correlation.pop": Function.CORR, "Correlation.sample": Function.CORR}

    first: Spread
    second: Spread

    @classmethod
    def of(cls, asked: Aggregate, book: Book) -> Self:
        found, where = Covariance.of(asked, book), _both(asked)
        first, second = (
            Spread(
                **vars(mean) | {"aggregate": replace(mean.aggregate, function=Function.VAR_POP)},
                squares=book.tally(
                    Measure.SQUARES, mean.aggregate.argument, where, centre=mean.sum.centre
                ),
            )
            for mean in (found.first, found.second)
        )
        return cls(**vars(found) | {"first": first, "second": second})

    @property
    def largest(self) -> float:
        return 2.0

    def forms(self) -> Iterator[Terms]:
        """As of a covariance, and half of a correlation of ½ of both variances."""
        for terms, i, j in product(super().forms(), (0.25, -0.25), (0.25, -0.25)):
            yield [*terms, (self.first.squares, i), (self.second.squares, j)]

    def error(self, allocation: Allocation, *, size: Known, confidence: float = 0.95) -> None:
        """Private: it depends on how far the values spread."""

    def derive(self, allocation: Allocation, noisy: Mapping[str, Floats]) -> Derived:
        pairs = self.pairs(allocation, noisy)
        interval = pairs.correlation_interval
        return Derived(values=pairs.correlation(), whole=False, interval=interval, table=interval)

    def note(self, allocation: Allocation, size: float | None) -> str:
        """The ± at a few sizes if values are spread evenly across their bounds; they may not be."""
        if allocation.of_many:
            return ""
        known = self.rows or size
        sizes = {} if known is None else {"sizes": (known,)}
        at = self.at_sizes(lambda n: self._evenly(allocation, n), **sizes)
        return f" {at} rows, if both columns are spread evenly across their bounds"

    def _evenly(self, allocation: Allocation, size: float) -> float:
        """The largest ± for any correlation of values spread evenly across their bounds."""
        each = 1 - 0.05 / 3
        x, y = self.first.width**2 / 3, self.second.width**2 / 3
        off = self.error_at(allocation, size, each)
        spreads = []
        for spread, variance in ((self.first, x), (self.second, y)):
            less = spread.error_at(allocation, size, each)
            spreads.append((np.maximum(variance - less, [0.0]), np.array([variance + less])))
        found = 0.0
        for r in (0.0, 0.5, 1.0):
            c = np.array([r * np.sqrt(x * y)])
            low, high = correlation_ends((c - off, c + off), *spreads)
            found = max(found, float(high[0]) - r, r - float(low[0]))
        return found

    def derivation(self, allocation: Allocation) -> str:
        del allocation
        return "from the noisy sums and squares of both values and the sum of their products"


def _both(asked: Aggregate) -> Expression | None:
    """The rows that count: those that have both values."""
    values = [v for v in (asked.argument, asked.other) if v is not None and v.domain.nullable]
    there = [call("not", call("is_null", value)) for value in dict.fromkeys(values)]
    wanted = [*([] if asked.where is None else [asked.where]), *there]
    return call("and", *wanted) if len(wanted) > 1 else next(iter(wanted), None)


def _product(x: Expression, y: Expression) -> Expression:
    """(x − centre)·(y − centre′): of whole numbers that are not too large, a whole number."""
    reaches = [max(abs(e - middle(value)) for e in value.domain.bounds) for value in (x, y)]
    if reaches[0] * reaches[1] > _FARTHEST:
        raise UnsupportedQuery(
            "these bounds are too far apart to multiply values between them",
            fix="bounds of at most 1e135",
        )
    whole = x.kind is y.kind is Kind.INT and reaches[0] * reaches[1] <= WHOLE
    return call("multiply", *(_around(value, whole=whole) for value in (x, y)))


def _around(value: Expression, *, whole: bool) -> Expression:
    centre = middle(value)
    number = value if whole or value.kind is Kind.FLOAT else call("to_float", value)
    if not centre:
        return number
    return call("subtract", number, literal(int(centre) if whole else centre))
