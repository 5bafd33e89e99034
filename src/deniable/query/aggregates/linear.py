"""COUNT, COUNT(DISTINCT), persons and SUM: a sum of noises, the same for every group."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final, Self

import numpy as np

from deniable.query.algebra import Aggregate, Expression, Function
from deniable.release import Summed

from ._estimator import Derived, Ends, Estimator, Floats, Known, Terms, is_whole, sizes
from .tallies import Measure, Tally, middle

if TYPE_CHECKING:
    from deniable.query.allocate import Allocation
    from deniable.query.integers import Book

_MEASURES: Final = {
    Function.COUNT: Measure.COUNT,
    Function.PERSONS: Measure.PERSONS,
    Function.DISTINCT: Measure.DISTINCT,
}


@dataclass(frozen=True, kw_only=True)
class Linear(Estimator):
    """Σ factor·tally, and what is public of it."""

    count: Tally | None = None

    @property
    def terms(self) -> Terms:
        """The tallies, and by what each is multiplied."""
        return [(self.count, 1.0)]

    @property
    def known(self) -> float:
        """What is added that is public."""
        return float(self.rows or 0)

    @property
    def whole(self) -> bool:
        """Whether the answer is a whole number."""
        return True

    @property
    def tallies(self) -> tuple[Tally, ...]:
        return tuple(tally for tally, _ in self.terms if tally is not None)

    def error(self, allocation: Allocation, *, size: Known, confidence: float = 0.95) -> float:
        del size  # every group errs alike
        return self._summed(allocation).half(confidence)

    def smooth_error(self, allocation: Allocation, *, size: Known) -> float:
        del size
        return replace(self._summed(allocation), rounded=False).half(0.95)

    def derive(self, allocation: Allocation, noisy: Mapping[str, Floats]) -> Derived:
        parts = [noisy[t.name] * factor for t, factor in self.terms if t is not None]
        values = functools.reduce(np.add, parts or [np.zeros(1)]) + self.known
        spread = self._summed(allocation)

        def interval(confidence: float) -> Ends:
            shown = np.floor(values + 0.5) if spread.rounded else values
            half = replace(spread, among=1).half(confidence)
            return shown - half, shown + half

        return Derived(values=values, whole=spread.rounded, interval=interval, flat=spread)

    def _summed(self, allocation: Allocation) -> Summed:
        return Summed(
            law=allocation.law,
            scales=sizes(allocation.errors(*self.terms)),
            rounded=self.whole,
            whole=all(tally.unit == 1 for tally in self.tallies),
            among=allocation.among,
        )


@dataclass(frozen=True, kw_only=True)
class Count(Linear):
    """Rows, values that are not missing, distinct values, or persons."""

    sql: ClassVar = {
        "Count": Function.COUNT,
        "CountIf": Function.COUNT,
        "ApproxDistinct": Function.DISTINCT,
        "count_distinct": Function.DISTINCT,
    }
    ibis: ClassVar = {
        "CountStar": Function.COUNT,
        "Count": Function.COUNT,
        "CountDistinct": Function.DISTINCT,
        "ApproxCountDistinct": Function.DISTINCT,
    }
    takes: ClassVar = "anything"

    @classmethod
    def of(cls, asked: Aggregate, book: Book) -> Self:
        rows = book.rows(asked) if asked.function is Function.COUNT else None
        if rows is not None:
            return cls(aggregate=asked, rows=rows)
        measure = _MEASURES[asked.function]
        return cls(aggregate=asked, count=book.tally(measure, asked.argument, asked.where))

    def forms(self) -> Iterator[Terms]:
        yield self.terms

    @property
    def largest(self) -> float:
        return super().largest if self.rows is None else 0.0

    def derivation(self, allocation: Allocation) -> str:
        if self.rows is not None:
            return f"as the number of rows, {self.rows:,}: no noise, no cost"
        assert self.count is not None
        part = allocation.part_of(self.count)
        if not part.basis.turned:
            return ""
        if allocation.law == "gaussian":
            alone = self.count is part.tallies[-1]
            return "from the noisy number of rows" if alone else "from its two noisy numbers"
        first = self.count is part.tallies[0]
        if part.tallies[-1].measure is Measure.COUNT:
            return "from both noisy counts" if first else "from the first noisy count"
        more = " and the noisy number of other rows" if first and len(part.tallies) > 2 else ""
        return f"from the two noisy sums{more}"


@dataclass(frozen=True, kw_only=True)
class Sum(Linear):
    """centre·count + sum, with a count only where the sum is centred."""

    sql: ClassVar = {"Sum": Function.SUM}
    ibis: ClassVar = {"Sum": Function.SUM}

    sum: Tally

    @classmethod
    def of(cls, asked: Aggregate, book: Book) -> Self:
        assert asked.argument is not None
        value, where, centre = asked.argument, asked.where, middle(asked.argument)
        if not (centre and _centred(book, asked)):
            return cls(aggregate=asked, sum=book.tally(Measure.SUM, value, where))
        rows = book.rows(asked)
        return cls(
            aggregate=asked,
            rows=rows,
            count=None if rows is not None else book.tally(Measure.COUNT, value, where),
            sum=book.tally(Measure.SUM, value, where, centre=centre),
        )

    @property
    def terms(self) -> Terms:
        return [(self.sum, 1.0), (self.count, self.sum.centre)]

    @property
    def known(self) -> float:
        return (self.rows or 0) * self.sum.centre

    @property
    def whole(self) -> bool:
        return is_whole(self.aggregate)

    def forms(self) -> Iterator[Terms]:
        """eₛ, or eₛ + centre·eₙ where the sum is centred."""
        if self.count is None:
            yield [(self.sum, 1.0)]
            return
        most = max(abs(self.aggregate.low), abs(self.aggregate.high), 1e-300)
        reach = most - abs(self.sum.centre)
        yield [(self.sum, reach / most), (self.count, self.sum.centre / most)]

    def derivation(self, allocation: Allocation) -> str:
        total, centre = f"({self.sum.text})", f"{self.sum.centre:,g}"
        if self.rows is not None:
            return f"as {total} + {centre} × {self.rows:,}"
        if allocation.part_of(self.sum).basis.turned:
            return "from the two noisy sums"
        if self.count is None:
            return ""
        return f"as {total} + {centre} × {self.count.text}, which errs less than a sum of its own"


def _centred(book: Book, asked: Aggregate) -> bool:
    """Whether a sum is better made of a centred one and a count that is asked anyway.

    Beside a mean or variance of the same rows: its tallies give the sum, too. Beside a count of
    them: with centre c, reach r and m = |c| + r, a unit moves Σx by m and Σ(x − c) by r. Let
    t = |c|/m. The weights of `allocation` are then (1 − t)² and W + t² in place of 1 and W,
    W ≥ 1; and (1 − t)²ᵖ + (W + t²)ᵖ ≤ 1 + Wᵖ for p = ⅓ and ½, since the left falls in t. Where
    units are replaced, Σ(x − c) may move as far as Σx, and nothing is gained; unless lines may be
    left out (then Σx moves by more than high − low) and the number of rows is public.
    """
    from . import FAMILIES

    others = [a for a in book.plan.question.aggregates if a.where == asked.where]
    if any(o.argument == asked.argument for o in others if FAMILIES[o.function].gives_sum):
        return True
    if book.plan.unit.sides == 2:
        return book.rows(asked) is not None and not book.plan.question.relation.scan.complete
    return any(counted(o) == counted(asked) for o in others if o.function is Function.COUNT)


def counted(asked: Aggregate) -> Expression | None:
    """The value that must be there for a row to count; None where it always is."""
    value = asked.argument
    return value if value is not None and value.domain.nullable else None
