"""Linkage of histories: a few approximate events find one person among many [NS08].

The release has many rows per person: what they rated, bought or were treated for, and when. The
attacker knows a few such events of somebody, roughly, some of them wrong. Each person is scored by
how many of the events they have, rare ones counting more. The best is matched only if the lead over
the second best is large: a stranger's score is close to that of others.

The lead is measured as a share of what the known events can score at most. Narayanan and Shmatikov
divide by the standard deviation of all scores instead; where histories are sparse nearly all scores
are 0, their deviation vanishes, and one event in common by chance passes any threshold.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.plots import Axes, bars

from .linkage import linkage
from .matching import Near, Rule, Spelling, rule_of
from .tables import Floats, Integers, Mask, codes, columns_of, row_count
from .telling import Facts, Told, people, percent


@dataclass(frozen=True, kw_only=True, eq=False)
class Histories(Told):
    """For each person the attacker knows of, the history that fits best, and by how much."""

    names: tuple[object, ...]
    """The people the attacker knows of."""
    best: tuple[object, ...]
    """The person of the release who fits each of them best."""
    scores: Floats
    margins: Floats
    """Best score less second best, as a share of the largest possible score."""
    matched: Mask
    """Where the margin is large enough to claim a match."""
    margin: float
    people: int
    """People in the release."""
    correct: int | None = None
    """Of the matched, how many are right, where the truth was given."""
    controls: tuple[int, int] | None = None
    """Matched, and all, among people known not to be in the release."""

    @property
    def rate(self) -> float:
        """The share of the attacker's people who are matched."""
        return float(np.mean(self.matched)) if self.matched.size else 0.0

    def _headline(self) -> str:
        return (
            f"{int(self.matched.sum()):,} of {people(len(self.names))} are matched to one history "
            f"({percent(self.rate)}); guessing finds 1 in {self.people:,}."
        )

    def _facts(self) -> Facts:
        facts = [("margin", f"a lead of {percent(self.margin)} of the largest possible score")]
        if self.correct is not None:
            facts.append(("checked", f"{self.correct:,} of {int(self.matched.sum()):,} are right"))
        if self.controls is not None:
            wrong, size = self.controls
            facts.append(("control", f"{wrong:,} of {size:,} people who are not in it are matched"))
        return facts

    def plot(self, ax: Axes | None = None) -> Axes:
        """How many people have a margin of each size."""
        edges = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0]
        counts = np.histogram(self.margins, bins=edges)[0]
        labels = [f"{low:g} to {high:g}" for low, high in itertools.pairwise(edges)]
        return bars(
            labels,
            counts.tolist(),
            title="Lead of the best history over the second best",
            axis_label="people",
            ax=ax,
        )


@parameters.called('attacks.histories(known, released, unit="person", on=["day"])')
def histories(
    known: object,
    released: object,
    *,
    unit: str,
    on: Sequence[str | Rule],
    name: str | None = None,
    margin: float = 0.25,
    truth: Mapping[object, object] | None = None,
    controls: object | None = None,
) -> Histories:
    """Match people by a few events each, though each event is known only roughly.

    `known` has one row per event that the attacker knows, with the column `name` for whose it is
    (called as `unit` if not given); `released` many rows per `unit`. `on` says when two events may
    be the same: equal columns, and `near("date", within=14)` or `near("rating", within=1)`. A match
    is claimed if the best score leads the second best by `margin`, a share of the largest possible
    score [NS08].
    `truth` maps names to units, to check; `controls` are events of people who are not in the
    release, to see how often strangers are matched: raise `margin` until few are.

    >>> from deniable.attacks import near
    >>> released = {"user": [1, 1, 1, 2, 2, 3], "film": ["a", "b", "c", "a", "d", "d"],
    ...             "day": [10, 20, 30, 11, 50, 51]}
    >>> known = {"who": ["Ada", "Ada"], "film": ["b", "c"], "day": [22, 29]}
    >>> found = histories(known, released, unit="user", name="who",
    ...                   on=["film", near("day", within=3)])
    >>> found.names, found.best, found.matched.tolist()
    (('Ada',), (1,), [True])
    """
    rules = [rule_of(what) for what in on]
    if not any(not isinstance(rule, Near | Spelling) for rule in rules):
        raise BadParameter(
            "histories are joined on at least one column by equality, such as the item",
            fix='on=["item", near("date", within=14)]',
        )
    least = parameters.probability("margin", margin)
    column = unit if name is None else name
    board = _Scoreboard(released, unit, rules)
    names, scores, most = board.scores(known, column)
    best, top, margins = _standing(scores, most)
    matched = (margins >= least) & (top > 0)
    whom = tuple(board.people[i] for i in best)
    right = None
    if truth is not None:
        told = zip(names, whom, matched, strict=True)
        right = sum(bool(sure) and truth.get(who) == found for who, found, sure in told)
    strangers = None
    if controls is not None:
        _, high, gaps = _standing(*board.scores(controls, column)[1:])
        strangers = int(np.sum((gaps >= least) & (high > 0))), high.size
    return Histories(
        names=tuple(names),
        best=whom,
        scores=top,
        margins=margins,
        matched=matched,
        margin=least,
        people=len(board.people),
        correct=right,
        controls=strangers,
    )


def _standing(scores: Floats, most: Floats) -> tuple[Integers, Floats, Floats]:
    """For each row: the place of the best score, the score, and its lead as a share of `most`."""
    best = np.argmax(scores, axis=1)
    rows = np.arange(scores.shape[0])
    top = scores[rows, best]
    rest = scores.copy()
    rest[rows, best] = -np.inf
    second = rest.max(axis=1) if scores.shape[1] > 1 else np.zeros(rows.size)
    return best, top, (top - second) / most


class _Scoreboard:
    """The released events by what is compared for equality, and who they belong to."""

    def __init__(self, released: object, unit: str, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self.released = columns_of(released, [unit, *(rule.released for rule in rules)])
        if not row_count(self.released):
            raise BadParameter("the release has no rows")
        (self.whose,), self.people = codes(self.released[unit])

    def scores(self, known: object, name: str) -> tuple[list[object], Floats, Floats]:
        """Names, for each the score of every person of the release, and the largest possible.

        An event that n people have counts 1/ln(1 + n): what everybody did says little. One that
        nobody has counts as if one person had it.
        """
        rows = columns_of(known, [name, *(rule.column for rule in self.rules)])
        (who,), names = codes(rows[name])
        found = linkage(rows, self.released, on=self.rules)
        totals, most = np.zeros((len(names), len(self.people))), np.zeros(len(names))
        start, stop, left = found.remains
        for event in range(who.size):
            persons = np.unique(self.whose[left[start[event] : stop[event]]])
            weight = 1 / math.log1p(max(1, persons.size))
            most[who[event]] += weight
            totals[who[event], persons] += weight
        return names, totals, most
