"""What a k-anonymous table still reveals: the attacks that ended its career.

    homogeneity     a class whose members all have the same sensitive value [MKGV07]
    background      an attacker who can rule out a value or two about a person [MKGV07]
    composition     two releases, each anonymous, of the same people [GKS08]
    minimality      knowing that the algorithm did no more than it had to [WFWP07]

Each works on what is published. `attacks` has those that need other data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import BadParameter
from deniable.parameters import confidence as checked_confidence
from deniable.parameters import whole

from .checking import paired
from .diversity import Pairs, distinct, ranked
from .tables import Codes, arrow, check_columns, classes_of, encoded

if TYPE_CHECKING:
    from .anonymizing import Anonymized

_BLOCK = 1 << 24


@dataclass(frozen=True, kw_only=True)
class Inferred:
    """Whose sensitive value an attacker learns who knows their quasi-identifiers.

    `people` of `rows` are learned with at least the asked confidence; `baseline` is the share of
    the commonest value, which anyone could guess of anyone.
    """

    rows: int
    people: int
    baseline: float

    @property
    def share(self) -> float:
        """The share of rows whose value is learned."""
        return self.people / max(1, self.rows)

    def __str__(self) -> str:
        return (
            f"the value of {self.people:,} of {self.rows:,} people is learned "
            f"({100 * self.share:.1f} %); "
            f"the commonest value is held by {100 * self.baseline:.1f} %"
        )


def homogeneity(
    table: object, *, quasi: Sequence[str], sensitive: str, confidence: float = 1.0
) -> Inferred:
    """Whose value is plain because (almost) all of their class share it.

    >>> import deniable as dp
    >>> from deniable.anonymity import anonymize
    >>> quasi = ["age", "sex", "marital_status", "education"]
    >>> done = anonymize(dp.load_adult(), quasi=quasi, k=10)
    >>> print(homogeneity(done.frame, quasi=quasi, sensitive="income"))
    the value of 1,762 of 31,180 people is learned (5.7 %); the commonest value is held by 75.5 %
    """
    return background(table, quasi=quasi, sensitive=sensitive, ruled_out=0, confidence=confidence)


def background(
    table: object,
    *,
    quasi: Sequence[str],
    sensitive: str,
    ruled_out: int = 1,
    confidence: float = 1.0,
) -> Inferred:
    """Whose value is learned by someone who can rule out some values that are not theirs.

    "She has no heart disease" is easier to know than what she has. The attacker knows `ruled_out`
    such facts about each person, the most identifying ones: a row whose value has n of the N rows
    of its class is learned with probability n / (N − rows of the values ruled out).
    """
    known = whole("ruled_out", ruled_out, least=0)
    if confidence != 1.0:
        checked_confidence("confidence", confidence)
    read = arrow(table)
    names = check_columns(quasi, read.column_names, what="quasi")
    check_columns([*names, sensitive], read.column_names, what="quasi and sensitive")
    classes = classes_of([encoded(read, name) for name in names])[1]
    column = encoded(read, sensitive)
    rows = int(classes.size)
    if not rows:
        return Inferred(rows=0, people=0, baseline=0.0)
    pairs = paired(classes, column.codes, size=column.size)
    sure = _posterior(pairs, known) >= confidence - 1e-12
    return Inferred(
        rows=rows, people=int(pairs.counts[sure].sum()), baseline=float(pairs.overall().max())
    )


@dataclass(frozen=True, kw_only=True)
class Composition:
    """What two releases tell about the people who are in both.

    `first` and `second` are the numbers of people whose value each release reveals by itself,
    `together` the number revealed by laying one on the other; `candidates` the mean number of
    values that remain possible for a person: by the first, by the second, by both.
    """

    people: int
    first: int
    second: int
    together: int
    candidates: tuple[float, float, float]

    def __str__(self) -> str:
        one, other, both = self.candidates
        return (
            f"of {self.people:,} people the first release reveals {self.first:,}, the second "
            f"{self.second:,}, both together {self.together:,}; values that remain possible: "
            f"{one:.3g} and {other:.3g}, together {both:.3g}"
        )


def composition(
    first: Anonymized, second: Anonymized, *, quasi: Sequence[str], sensitive: str
) -> Composition:
    """Lay two releases of the same table on each other: a person's value is in both their classes.

    An attacker finds a person's class in each by what they know of them. `quasi` are the columns of
    that knowledge, in whichever release they are.
    """
    one, other = (_support(release, quasi, sensitive) for release in (first, second))
    rows, at, there = np.intersect1d(first.rows, second.rows, return_indices=True)
    both = np.empty(rows.size, np.int64)
    mine, theirs = one.classes[at], other.classes[there]
    names = sorted(set(one.values) | set(other.values), key=str)
    left, right = (part.table(names) for part in (one, other))
    step = max(1, _BLOCK // max(1, len(names)))
    for low in range(0, rows.size, step):
        here = slice(low, low + step)
        both[here] = (left[mine[here]] & right[theirs[here]]).sum(axis=1)
    alone, again = left.sum(axis=1)[mine], right.sum(axis=1)[theirs]
    return Composition(
        people=int(rows.size),
        first=int((alone == 1).sum()),
        second=int((again == 1).sum()),
        together=int((both == 1).sum()),
        candidates=(_mean(alone), _mean(again), _mean(both)),
    )


def _mean(counts: Codes) -> float:
    return float(counts.mean()) if counts.size else 0.0


def minimality(groups: Sequence[int], *, cases: int, l: int) -> list[Fraction]:
    """The chance that a member of each group is a case, given that the groups had to be joined.

    A class of a published table joins groups that the attacker can tell apart (from a public list
    of who is in it), and holds so many `cases` of a sensitive value. If the algorithm joins groups
    only when the cases are more than 1/ℓ of one of them, then the joining itself says that they
    were. Exact, over all ways to deal the cases to the members [WFWP07].

    Two people in one group, five in another, two cases, ℓ = 2: joined, everyone seems to be a case
    with probability 2/7. But they were joined:

    >>> [str(chance) for chance in minimality([2, 5], cases=2, l=2)]
    ['1', '0']
    """
    sizes = [whole("groups", size) for size in groups]
    number, share = whole("cases", cases, least=0), whole("l", l)
    if not sizes or number > sum(sizes):
        raise BadParameter.of("cases", cases, must="at most the number of people in the groups")
    # Ways to deal x cases to a group without breaking 1/ℓ; products of these count the ways to
    # deal to several groups: polynomials in a variable that marks a case.
    within = [[math.comb(n, x) for x in range(n // share + 1)] for n in sizes]
    before = [[1]]
    for ways in within:
        before.append(_product(before[-1], ways, number))
    every = math.comb(sum(sizes), number)
    broken = every - _at(before[-1], number)
    if broken == 0:
        raise BadParameter(
            "these groups never need to be merged: no assignment of the cases violates ℓ-diversity",
            why="the attack works only if the merge was necessary",
        )
    found, after = [Fraction(0)] * len(sizes), [1]
    for i in range(len(sizes) - 1, -1, -1):
        others = _product(before[i], after, number)
        kept = sum(x * ways * _at(others, number - x) for x, ways in enumerate(within[i]))
        expected = Fraction(number * sizes[i] * every, sum(sizes)) - kept
        found[i] = expected / (broken * sizes[i])
        after = _product(after, within[i], number)
    return found


@dataclass(frozen=True, kw_only=True)
class _Support:
    """Which values occur in each class of a release."""

    classes: Codes
    values: list[object]
    pairs: Pairs

    def table(self, names: list[object]) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        places = {name: place for place, name in enumerate(names)}
        columns = np.array([places[value] for value in self.values], np.int64)
        found = np.zeros((int(self.classes.max(initial=-1)) + 1, len(names)), bool)
        found[self.pairs.classes, columns[self.pairs.values]] = True
        return found


def _support(release: Anonymized, quasi: Sequence[str], sensitive: str) -> _Support:
    read = arrow(release.frame)
    known = [name for name in quasi if name in read.column_names]
    names = check_columns(known or list(quasi), read.column_names, what="quasi")
    classes = classes_of([encoded(read, name) for name in names])[1]
    check_columns([sensitive], read.column_names, what="sensitive")
    column = encoded(read, sensitive)
    pairs = paired(classes, column.codes, size=column.size)
    return _Support(classes=classes, values=column.values.to_pylist(), pairs=pairs)


def _posterior(pairs: Pairs, known: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """For each class and value, how sure one is after ruling out the commonest other values."""
    order, rank = ranked(pairs)
    counts, starts, kinds = pairs.counts[order], pairs.starts, distinct(pairs)
    total = np.repeat(np.add.reduceat(counts, starts), kinds)
    top = np.repeat(np.add.reduceat(np.where(rank < known, counts, 0), starts), kinds)
    one_more = np.repeat(np.add.reduceat(np.where(rank <= known, counts, 0), starts), kinds)
    gone = np.where(rank < known, one_more - counts, top)
    sure = np.empty(counts.size)
    sure[order] = counts / (total - gone)
    return sure


def _product(first: list[int], second: list[int], degree: int) -> list[int]:
    """The product of two polynomials, up to a degree."""
    out = [0] * min(degree + 1, len(first) + len(second) - 1)
    for i, a in enumerate(first[: len(out)]):
        for j, b in enumerate(second[: len(out) - i]):
            out[i + j] += a * b
    return out


def _at(polynomial: list[int], power: int) -> int:
    return polynomial[power] if 0 <= power < len(polynomial) else 0
