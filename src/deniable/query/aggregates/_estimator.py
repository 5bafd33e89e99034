"""What every family of aggregates answers for: its tallies, its ± in advance, its estimate."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from deniable.query.algebra import Aggregate, Domain, Function, Kind
from deniable.release import Summed
from deniable.release.numbers import shown_error
from deniable.workload import reach

from .tallies import Tally

if TYPE_CHECKING:
    from deniable.query.allocate import Allocation
    from deniable.query.integers import Book

Floats = NDArray[np.float64]
Ends = tuple[Floats, Floats]
Known = float | None
"""A number; None where it is private."""
Terms = list[tuple[Tally | None, float]]
"""Tallies, and how much of each one's error is in an answer."""

SIZES: Final = (100, 1_000, 10_000)
"""Of groups, for which plans state a ± that depends on it."""


@dataclass(frozen=True, kw_only=True)
class Estimator(ABC):
    """One aggregate of a question, made of tallies.

    A family is a subclass in a file of its own: how its functions are spelled, which tallies they
    need, how their error depends on those of the tallies, and how the noisy tallies give an
    estimate with an interval. `rows` is the number of rows where that is public; it then takes the
    place of a noisy count.
    """

    sql: ClassVar[Mapping[str, Function]] = {}
    """The parser's names of functions (`Avg`), or names that it does not know (`mean`)."""
    ibis: ClassVar[Mapping[str, Function]] = {}
    """The operations of Ibis (`Mean`); with a choice as in `Variance.pop`."""
    takes: ClassVar[Literal["anything", "ordered", "number"]] = "number"
    """Anything; or numbers, dates and moments with bounds; or numbers with bounds."""
    pair: ClassVar[bool] = False
    """Whether there are two arguments."""
    gives_sum: ClassVar[bool] = False
    """Whether a count and a centred sum of the argument are among its tallies."""
    divides: ClassVar[bool] = False
    """Whether it is a function of several noisy numbers that is not linear."""

    flat: ClassVar[bool] = False
    """Whether each count of a histogram is an answer: then no blocks of them are counted."""

    aggregate: Aggregate
    rows: int | None = None

    @classmethod
    @abstractmethod
    def of(cls, asked: Aggregate, book: Book) -> Self:
        """The aggregate with its tallies."""

    @property
    @abstractmethod
    def tallies(self) -> tuple[Tally, ...]:
        """All that it is made of."""

    # ---- before anything is spent

    @abstractmethod
    def forms(self) -> Iterator[Terms]:
        """Its error as factors of the tallies' errors, all in units of what one unit can move.

        It rests on guesses about data nobody has looked at. Where signs are not known there are
        several forms, of which each counts for its part.
        """

    @abstractmethod
    def error(self, allocation: Allocation, *, size: Known, confidence: float = 0.95) -> Known:
        """The ± for a group of that many rows; None where it depends on private facts."""

    def smooth_error(self, allocation: Allocation, *, size: Known) -> float:
        """The ± before it is rounded as whole answers are."""
        return self.error(allocation, size=size) or 0.0

    @property
    def largest(self) -> float:
        """The largest ± there can be: where estimates lie between public ends."""
        return math.inf

    # ---- from noisy numbers

    @abstractmethod
    def derive(self, allocation: Allocation, noisy: Mapping[str, Floats]) -> Derived:
        """The estimate and its interval for every group; free."""

    # ---- words

    def derivation(self, allocation: Allocation) -> str:
        """The step of the plan that makes it of noisy numbers; empty where none needs saying."""
        del allocation
        return ""

    def note(self, allocation: Allocation, size: float | None) -> str:
        """What follows its name in the plan's notes, where its ± is not known in advance."""
        if size is not None or allocation.of_many or self.error(allocation, size=None) is not None:
            return ""
        return f" {self.at_sizes(lambda n: self.error(allocation, size=n) or 0.0)} rows (at most)"

    @staticmethod
    def at_sizes(error: Callable[[float], float], sizes: Sequence[float] = SIZES) -> str:
        """The ± in groups of a few sizes."""
        return ", ".join(f"± {shown_error(error(n))} in a group of {n:,g}" for n in sizes)

    @property
    def clips(self) -> bool:
        """Whether values outside their bounds are moved to the nearer one."""
        return self.takes != "anything"

    @property
    def estimand(self) -> str:
        """What it estimates, where that is not quite what was asked."""
        if not self.clips:
            return ""
        values = (self.aggregate.shown, self.aggregate.other)
        ends = [span_of(value.domain) for value in values if value is not None]
        return f"values are clipped to {' and '.join(ends)}"


@dataclass(frozen=True, kw_only=True)
class Derived:
    """One aggregate of every group: the values, and where the noiseless one of each may be."""

    values: Floats
    whole: bool
    interval: Callable[[float], Ends]
    flat: Summed | None = None
    """The noise that is the same for every group, where it is; its ± may be for all at once."""
    table: Callable[[Floats], Ends] | None = None
    """The interval for a column of several confidences, where asking once is quicker."""

    def intervals(self, confidences: Sequence[float]) -> list[Ends]:
        """The interval at each of several confidences."""
        if self.table is None:
            return [self.interval(confidence) for confidence in confidences]
        low, high = self.table(np.array(confidences)[:, None])
        return list(zip(low, high, strict=True))

    def cells(self) -> list[int | float]:
        """The values as plain numbers."""
        if self.whole:
            return [int(v) for v in np.floor(self.values + 0.5)]
        return [float(v) for v in self.values]


# ---- what families share


def worst(
    allocation: Allocation,
    terms: Sequence[tuple[Tally | None, tuple[float, ...]]],
    confidence: float,
) -> float:
    """How far Σ factor·tally is off at the worst of some factors.

    Between them it is off no more: how far noise reaches is a convex function of the factors.
    """
    tallies = [tally for tally, _ in terms]
    return max(
        reach(
            allocation.law,
            sizes(allocation.errors(*zip(tallies, factors, strict=True))),
            confidence=confidence,
        )
        for factors in product(*(factors for _, factors in terms))
    )


def sizes(errors: tuple[float, ...]) -> tuple[float, ...]:
    """The scales of independent noises, without those that are not there."""
    return tuple(abs(each) for each in errors if each)


def is_whole(asked: Aggregate) -> bool:
    """Whether its values are whole numbers."""
    return asked.argument is not None and asked.argument.kind is Kind.INT


def span_of(known: Domain) -> str:
    """The ends between which values are clipped."""
    return f"[{_end(known.low)}, {_end(known.high)}]"


def _end(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def half_width(total: Tally) -> float:
    """How far values may lie from the centre of a sum."""
    assert total.value is not None
    low, high = (float(end) for end in total.value.domain.bounds)
    return max(high - total.centre, total.centre - low)


def mixture(allocation: Allocation, tallies: Sequence[Tally | None]) -> Floats:
    """How some tallies err: a row for each, a column for every independent noise in any of them.

    What is public (None) has no noise.
    """
    rows = [allocation.errors(*((t, float(t is one)) for t in tallies)) for one in tallies]
    found = np.array(rows)
    return found[:, found.any(axis=0)]
