"""Differencing: two answers over large groups that differ in one person give that person away.

Nobody is safe in a crowd if the same crowd can be asked about with and without them; refusing small
groups does not help. Defended twin: give `differencing` two Releases of a session instead of two
numbers, or call `defended.differencing`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deniable import parameters
from deniable.errors import BadParameter
from deniable.plots import Axes, bars
from deniable.release import Release
from deniable.release.numbers import shown_error

from .tables import Integers, Mask
from .telling import Facts, Told, people


@dataclass(frozen=True, kw_only=True)
class Difference(Told):
    """What the difference of two answers says about the people in one and not in the other."""

    value: float
    """The estimate: the sum of what these people contributed."""
    error: float
    """95 % of such estimates are no further off; 0: the answers were exact."""
    low: float | None = None
    high: float | None = None
    """What one person could contribute, where that is publicly known."""

    @property
    def learned(self) -> float:
        """How much of the range of possible values is ruled out: 1 is all of it, 0 is nothing."""
        if self.error == 0:
            return 1.0
        if self.low is None or self.high is None:
            return 0.0 if math.isinf(self.error) else float("nan")
        below = max(self.low, self.value - self.error)
        above = min(self.high, self.value + self.error)
        return 1 - max(0.0, above - below) / (self.high - self.low) if above >= below else 0.0

    def _headline(self) -> str:
        if self.error == 0:
            one = "The person in one answer and not in the other"
            return f"{one} contributes exactly {self.value:g}."
        error = shown_error(self.error)
        return f"The person contributes {self.value:.4g} ± {error} (95 % confidence)."

    def _facts(self) -> Facts:
        if self.error == 0:
            why = "exact answers to overlapping questions subtract to one person's value"
            return [("why", why)]
        facts = [("why", "each answer has noise of its own, and the noise does not cancel")]
        if self.low is not None and self.high is not None:
            known = f"between {self.low:g} and {self.high:g} already"
            share = f"{100 * self.learned:.0f} % of that range is ruled out"
            facts.append(("known", f"{known}; {share}"))
        return facts

    def plot(self, ax: Axes | None = None) -> Axes:
        """The estimate and its ±."""
        return bars(
            ["the person"], [self.value], [self.error], title="What the difference tells", ax=ax
        )


@parameters.called("attacks.differencing(1204, 1203)")
def differencing(
    first: float | Release,
    second: float | Release,
    *,
    errors: tuple[float, float] = (0.0, 0.0),
    low: float | None = None,
    high: float | None = None,
) -> Difference:
    """Subtract two answers over groups that differ by one person (or a few).

    Answers are numbers, with their ± (95 %) in `errors` if they are noisy, or Releases, which carry
    their own. `low` and `high` are what is publicly known of one person's value.

    >>> differencing(1_256_257, 1_256_218).value
    39.0
    """
    one, off_by = _answer("first", first, errors[0])
    two, off_by_too = _answer("second", second, errors[1])
    if low is not None and high is not None and not low < high:
        raise BadParameter.of("low", low, must=f"below high ({high:g})")
    return Difference(value=one - two, error=math.hypot(off_by, off_by_too), low=low, high=high)


def _answer(name: str, given: float | Release, error: float) -> tuple[float, float]:
    if not isinstance(given, Release):
        return parameters.real(name, given), parameters.non_negative("errors", error)
    (answer,) = given.answers.values()
    reach = answer.errors()[0]
    return parameters.real(name, given.value), math.inf if reach is None else reach


@dataclass(frozen=True, kw_only=True, eq=False)
class Exposed(Told):
    """Which answers in a log give people away by subtraction."""

    questions: int
    people: int
    pairs: tuple[tuple[int, int, tuple[int, ...]], ...]
    """(question, question, the people in one and not in the other), fewest people first."""
    determined: Integers
    """Everyone whose value follows from all the answers together, by any additions at all."""

    def _headline(self) -> str:
        alone = sum(len(who) == 1 for _, _, who in self.pairs)
        return (
            f"Pairs among {self.questions:,} questions that differ in one person: {alone:,}. "
            f"All answers together give away {people(self.determined.size)} of {self.people:,}."
        )

    def _facts(self) -> Facts:
        return [
            ("pair", f"questions {i} and {j} differ in {people(len(who))}")
            for i, j, who in self.pairs[:5]
        ]

    def plot(self, ax: Axes | None = None) -> Axes:
        """How many pairs of questions differ in one person, in two and so on."""
        sizes = sorted({len(who) for _, _, who in self.pairs}) or [1]
        return bars(
            [people(size) for size in sizes],
            [sum(len(who) == size for _, _, who in self.pairs) for size in sizes],
            title="Questions that differ in few people",
            axis_label="pairs of questions",
            ax=ax,
        )


def search_log(log: Sequence[ArrayLike] | ArrayLike, *, few: int = 1) -> Exposed:
    """Find exact answers in a log of questions that give people away when combined.

    `log` has a row a question and a truth value a person: who is counted in it. Pairs are found by
    one matrix product: |A Δ B| = |A| + |B| − 2|A ∩ B|. Whoever is determined by sums and
    differences of *any* number of answers is found by linear algebra: person i is, if and only if
    the unit vector of i lies in the row space [DN03].

    >>> everyone, all_but_the_last = [1, 1, 1, 1], [1, 1, 1, 0]
    >>> found = search_log([everyone, all_but_the_last])
    >>> found.pairs, found.determined.tolist()
    (((0, 1, (3,)),), [3])
    """
    limit = parameters.whole("few", few)
    asked = np.asarray(log, dtype=bool)
    if asked.ndim != 2 or not asked.size:
        raise BadParameter(
            "a log must be a table with one row per question and one boolean per person"
        )
    counts = asked.astype(np.float32)
    sizes = counts.sum(axis=1)
    apart = sizes[:, None] + sizes[None, :] - 2 * (counts @ counts.T)
    first, second = np.nonzero(np.triu((apart >= 1) & (apart <= limit), 1))
    found = [
        (int(i), int(j), tuple(np.flatnonzero(asked[i] != asked[j]).tolist()))
        for i, j in zip(first, second, strict=True)
    ]
    found.sort(key=lambda pair: len(pair[2]))
    return Exposed(
        questions=asked.shape[0],
        people=asked.shape[1],
        pairs=tuple(found),
        determined=_determined(asked),
    )


def _determined(asked: Mask) -> Integers:
    """People whose unit vector is in the row space: projecting onto it does not move it.

    People who are asked about together always can only be told apart as a group: a group of one
    column is looked at, a larger one never gives its members away.
    """
    patterns, place, sizes = np.unique(asked, axis=1, return_inverse=True, return_counts=True)
    _, singular, rows = np.linalg.svd(patterns.astype(np.float64), full_matrices=False)
    rank = int(np.sum(singular > singular.max(initial=0.0) * 1e-10 * max(patterns.shape)))
    kept = np.sum(rows[:rank] ** 2, axis=0)
    alone = (kept > 1 - 1e-8) & (sizes == 1)
    return np.flatnonzero(alone[place.reshape(-1)])
