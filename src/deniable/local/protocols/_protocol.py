"""What every frequency protocol is: which reports support which categories, p and q."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.local.estimate import Estimate
from deniable.local.reports import Reporter, Tally, is_a_name
from deniable.local.server import AT_ONCE
from deniable.mechanisms.local import reach

Values = NDArray[np.int64]

MOST = 1 << 24  # a server keeps a few counts per category
_SHOWN = 8  # labels in an error


@dataclass(frozen=True, kw_only=True)
class Protocol(Reporter[Estimate]):
    """Frequencies of categories from reports that each person randomizes: see each protocol.

    `categories` is how many there are, or the list of their labels; it is public and fixed in
    advance. One person sends one report, at ε.
    """

    categories: int | Sequence[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "categories", listed(self.categories))

    # ---- the core: p, q, and who supports what

    @property
    @abstractmethod
    def chances(self) -> tuple[Fraction, Fraction]:
        """(p, q): how likely a report supports the sender's category, and any other."""

    def supports(self, tally: Tally, _people: int) -> NDArray[np.int64]:
        """How many reports support each category: what was counted, or what follows from it."""
        return tally[0]

    def numbered(self, values: object) -> Values:
        """Categories by number; labels where the protocol has them."""
        array = np.asarray(values)
        if array.dtype.kind == "U":
            array = np.asarray(values, dtype=object)  # NumPy's texts lose zeros at their end
        numbers = np.array([-1])
        if array.ndim != 1:
            raise BadParameter(
                "values must be a list with one value per person",
                fix="p.encode(value)    (one person); p.encode_all(values)    (a list)",
            )
        if array.dtype.kind in "UOT":
            places = [self._places.get(x, -1) if isinstance(x, str) else -1 for x in array.tolist()]
            numbers = np.array(places, dtype=np.int64)
        elif array.dtype.kind in "iu" or not array.size:
            numbers = array.astype(np.int64)
        if numbers.size and (numbers.min() < 0 or numbers.max() >= self.size):
            raise self._not_one_of_these()
        return numbers

    def _not_one_of_these(self) -> BadParameter:
        shown, more = self.labels[:_SHOWN], ", …" if self.size > _SHOWN else ""
        known = f"one of {', '.join(map(repr, shown))}{more}, or " if shown else ""
        return BadParameter(
            f"a value must be {known}a whole number from 0 to {self.size - 1}",
            why="the categories are public and fixed before anyone reports",
            fix="add a category for all other answers, such as 'other'",
        )

    def estimated(self, tally: Tally, people: int, *, confidence: float = 0.95) -> Estimate:
        """Counts of all categories, with their ±."""
        return self.estimate(self.supports(tally, people), people, confidence=confidence)

    def estimate(
        self,
        supports: NDArray[np.int64],
        people: int,
        *,
        confidence: float = 0.95,
        asked: int | None = None,
    ) -> Estimate:
        """Counts from how many reports support each category, of all people or of those asked."""
        p, q = self.chances
        return Estimate(
            supports=supports,
            people=people,
            chances=(float(p), float(q)),
            labels=self.labels,
            epsilon=self.epsilon,
            confidence=parameters.confidence("confidence", confidence),
            shared=self.shared,
            asked=asked,
        )

    def simulate(self, true_counts: ArrayLike, *, confidence: float = 0.95) -> Estimate:
        """What a server would estimate if so many people of each category took part.

        For planning, with counts you made up: nothing protects the counts you pass in. Everyone's
        client code runs, so the law is the protocol's own.

        >>> from deniable import local
        >>> p = local.Projective(categories=100, epsilon=1.0)
        >>> p.simulate([1000] * 100).people
        100000
        """
        counts = self._made_up(true_counts)
        tally, total = self.tally(), int(counts.sum())
        ends = np.cumsum(counts)
        for start in range(0, total, AT_ONCE):
            people = np.arange(start, min(total, start + AT_ONCE))
            values = np.searchsorted(ends, people, side="right")
            self.count(tally, self.draw(values))
        return self.estimated(tally, total, confidence=confidence)

    def error(self, *, reports: int, confidence: float = 0.95) -> float:
        """The ± of a rare category's count if so many people report: known before anyone does."""
        people = parameters.whole("reports", reports)
        z = reach.deviations(parameters.confidence("confidence", confidence))
        p, q = map(float, self.chances)
        variance = people * self.variance + self.shared * people**2  # Σc² ≤ n²
        return z * math.sqrt(variance) + reach.steps((p, q), z)

    @property
    def influence(self) -> float:
        """How far one dishonest report can move one count: (1 − q)/(p − q).

        A report says nothing about who sent it, so it cannot be told from an honest one; a hundred
        people who conspire move a count by a hundred times this.
        """
        p, q = self.chances
        return float((1 - q) / (p - q))

    @property
    def variance(self) -> float:
        """The variance of a rare category's count, per report: q(1 − q)/(p − q)²."""
        p, q = self.chances
        return float(q * (1 - q) / (p - q) ** 2)

    # ---- identity

    @property
    def size(self) -> int:
        """How many categories there are."""
        return self.categories if isinstance(self.categories, int) else len(self.categories)

    @property
    def steps(self) -> int:
        """What a server does per report: it looks at each category."""
        return self.size

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the categories; none where they are numbers."""
        return () if isinstance(self.categories, int) else tuple(self.categories)

    @property
    def shared(self) -> float:
        """What collisions that people share add to the variance: see `Estimate`."""
        return 0.0

    @property
    def why(self) -> str:
        """Why `choose` chose this protocol; what it is good at, where it was not chosen."""
        chosen: str | None = self.__dict__.get("_why")
        first = (type(self).__doc__ or "").split("\n", 1)[0]
        return chosen or f"{first} {self.length} bytes per report, variance {self.variance:.3g}·n."

    @cached_property
    def _places(self) -> dict[str, int]:
        return {label: place for place, label in enumerate(self.labels)}

    def _made_up(self, true_counts: ArrayLike) -> Values:
        counts = np.asarray(true_counts)
        fits = counts.shape == (self.size,) and counts.dtype.kind in "iu"
        if not fits or counts.min() < 0 or counts.astype(np.float64).sum() > 1 << 40:
            raise BadParameter(
                f"true_counts must be {self.size} whole numbers of at least 0, at most 2⁴⁰ together"
            )
        return counts.astype(np.int64)


def listed(given: object) -> int | tuple[str, ...]:
    """How many categories there are, or their labels."""
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return _labels(tuple(given))
    if not isinstance(given, Integral | bool):
        must = "a whole number of at least 2, or a list of texts"
        fix = 'categories=["tea", "coffee", "water"]    (in one order; not read from the answers)'
        raise BadParameter.of("categories", given, must=must, fix=fix)
    number = parameters.whole("categories", given, least=2)
    if number > MOST:
        raise BadParameter.of(
            "categories", given, must="at most 2²⁴", fix="local.HeavyHitters(bits=32, epsilon=1.0)"
        )
    return number


def _labels(labels: tuple[object, ...]) -> tuple[str, ...]:
    """The labels, if they are two or more distinct texts."""
    texts = tuple(
        each for each in labels if isinstance(each, str) and is_a_name(each) and "\0" not in each
    )
    if len(texts) < len(labels):
        raise BadParameter(
            "the labels of categories must be texts, without zero characters",
            fix="[str(each) for each in categories], and values as texts, too",
        )
    if len(set(texts)) < len(texts):
        twice, _ = Counter(texts).most_common(1)[0]
        raise BadParameter(f"categories must be distinct, and {twice!r} is listed twice")
    if len(texts) < 2:
        raise BadParameter("categories must be two or more", fix='categories=["no", "yes"]')
    return texts
