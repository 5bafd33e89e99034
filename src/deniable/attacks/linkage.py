"""Linkage: join what is known from elsewhere to rows whose names were taken off [Swe02].

Defended twin: `defended.linkage` asks a session for noisy counts instead of reading rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.plots import Axes, bars

from .matching import Near, Rule, Spelling, rule_of
from .tables import Array, Floats, Integers, codes, columns_of, row_count
from .telling import Facts, Told, people, percent

Ranges = tuple[Integers, Integers, Integers]

_AT_ONCE = 4_000_000
_TOO_MANY = 500_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Linkage(Told):
    """For each person the attacker knows of, which released rows could be theirs.

    With a `unit`, candidates are the different people behind the remaining rows: ten rows of one
    person re-identify them as surely as one row.
    """

    on: tuple[str, ...]
    candidates: Integers
    """How many rows (or people) remain for each auxiliary record: 1 is re-identified, 0 is not
    found."""
    matches: Integers
    """The row (the first, of several) of each re-identified auxiliary record; −1 for the others."""
    rows: int
    """Rows (or people) in the released table."""
    remains: Ranges = field(repr=False)
    """Where the remaining rows of each record begin and end in the third array, a list of rows."""
    unit: str | None = None
    correct: int | None = None
    """Of the re-identified, how many are right, where the truth was given."""

    @property
    def reidentified(self) -> int:
        """People with exactly one row left."""
        return int(np.sum(self.candidates == 1))

    def narrowed_to(self, k: int) -> int:
        """People with at least one and at most k rows left: guessed right 1 time in k or more."""
        return int(np.sum((self.candidates >= 1) & (self.candidates <= k)))

    @property
    def confidence(self) -> Floats:
        """The chance that a guess among a person's remaining rows is right."""
        return np.where(self.candidates > 0, 1 / np.maximum(1, self.candidates), 0.0)

    def remaining(self, record: int) -> Integers:
        """The released rows that could belong to this auxiliary record, in the table's order."""
        start, stop, rows = self.remains
        if not 0 <= parameters.whole("record", record, least=0) < self.candidates.size:
            raise BadParameter.of("record", record, must=f"below {self.candidates.size:,}")
        return np.sort(rows[start[record] : stop[record]])

    def distribution(self, released: object, column: str, *, record: int) -> dict[object, float]:
        """How a column is distributed over a record's remaining rows, the likeliest value first.

        Someone who is not re-identified may still be as good as exposed: if three rows remain and
        two of them say "≤ 50K", that is a guess with a chance of 2/3.

        >>> voters = {"name": ["Bob"], "zip": ["05402"]}
        >>> clinic = {"zip": ["05401", *["05402"] * 3], "ill": ["no", "flu", "no", "flu"]}
        >>> found = linkage(voters, clinic, on="zip")
        >>> found.remaining(0).tolist(), found.distribution(clinic, "ill", record=0)
        ([1, 2, 3], {'flu': 0.6666666666666666, 'no': 0.3333333333333333})
        """
        values: Array = columns_of(released, [column])[column]
        counts = Counter(values[self.remaining(record)].tolist())
        return {value: count / counts.total() for value, count in counts.most_common()}

    @property
    def rate(self) -> float:
        """The share of the attacker's people who are re-identified."""
        return self.reidentified / max(1, self.candidates.size)

    def _headline(self) -> str:
        return (
            f"{self.reidentified:,} of {people(self.candidates.size)} are re-identified by "
            f"{' + '.join(self.on)} ({percent(self.rate)}); guessing finds 1 in {self.rows:,}."
        )

    def _facts(self) -> Facts:
        left = "rows" if self.unit is None else "people"
        facts = [(f"to {k}", f"{people(self.narrowed_to(k))} narrowed to {k} {left} or fewer")
                 for k in (2, 5, 10)]  # fmt: skip
        guessed = f"{float(np.sum(self.confidence)):,.0f} right by guessing among what remains"
        facts.append(("expected", f"{guessed}, if all are in the table"))
        facts.append(("not found", people(int(np.sum(self.candidates == 0)))))
        if self.correct is not None:
            facts.append(("checked", f"{self.correct:,} of {self.reidentified:,} are right"))
        return facts

    def plot(self, ax: Axes | None = None) -> Axes:
        """How many people are narrowed to one row, two rows and so on."""
        return bars(
            ["not found", "1: re-identified", "2 rows", "3 rows", "4 rows", "5 rows", "more"],
            np.bincount(np.minimum(self.candidates, 6), minlength=7).tolist(),
            title=f"Rows that remain, knowing {' + '.join(self.on)}",
            axis_label="people",
            ax=ax,
        )


@parameters.called('attacks.linkage(auxiliary, released, on=["age", "zip"])')
def linkage(
    auxiliary: object,
    released: object,
    *,
    on: Sequence[str | Rule] | str,
    truth: Sequence[int] | None = None,
    unit: str | None = None,
) -> Linkage:
    """Join auxiliary records to released rows on shared columns, exactly or by rules.

    `on` holds names of columns and rules (`near`, `month`, `year`, `prefix`, `spelling`). `truth`
    gives the right row of each auxiliary record (−1: not in the table), to check the matches.
    `unit` is the column of the released table that identifies people, if they have several rows
    (a pseudonym will do).

    >>> voters = {"name": ["Ada", "Bob"], "zip": ["05401", "05402"], "sex": ["f", "m"]}
    >>> clinic = {"zip": ["05401", "05402", "05402"], "sex": ["f", "m", "m"], "ill": [1, 0, 1]}
    >>> found = linkage(voters, clinic, on=["zip", "sex"])
    >>> found.reidentified, found.candidates.tolist(), found.matches.tolist()
    (1, [1, 2], [0, -1])
    """
    rules = [rule_of(what) for what in ([on] if isinstance(on, str | Rule) else on)]
    if not rules:
        raise BadParameter("a linkage needs at least one column to join on")
    known = columns_of(auxiliary, [rule.column for rule in rules])
    rows = columns_of(released, [rule.released for rule in rules])
    pairs = [(rule, known[rule.column], rows[rule.released]) for rule in rules]
    start, stop, left = _matched(pairs)
    size = row_count(rows)
    whose = None if unit is None else codes(columns_of(released, [unit])[unit])[0][0]
    counts = stop - start if whose is None else _people_behind((start, stop, left), whose)
    matches = np.where(counts == 1, np.append(left, -1)[start], -1)
    right = None
    if truth is not None:
        told = np.asarray(truth)
        named = matches if whose is None else np.where(matches < 0, -1, whose[matches])
        wanted = told if whose is None else np.where(told < 0, -2, whose[told])
        right = int(np.sum((counts == 1) & (named == wanted)))
    return Linkage(
        on=tuple(rule.column for rule in rules),
        candidates=counts,
        matches=matches,
        rows=size if whose is None else int(np.unique(whose).size),
        remains=(start, stop, left),
        unit=unit,
        correct=right,
    )


def _matched(pairs: Sequence[tuple[Rule, Array, Array]]) -> Ranges:
    """The rows that fit each auxiliary record: from where to where in a list of rows."""
    start, stop, order = _ranges(pairs)
    close = [rule.close(a, b) for rule, a, b in pairs if isinstance(rule, Near | Spelling)]
    if not close:
        return start, stop, order
    counts = np.zeros(start.size, dtype=np.int64)
    found = [np.zeros(0, dtype=np.int64)]
    for first, second in _expand(start, stop, order):
        keep = np.ones(first.size, dtype=bool)
        for test in close:
            keep[keep] = test(first[keep], second[keep])
        counts += np.bincount(first[keep], minlength=counts.size)
        found.append(second[keep])
    ends = np.cumsum(counts)
    return ends - counts, ends, np.concatenate(found)


def _people_behind(remains: Ranges, whose: Integers) -> Integers:
    """How many different people the remaining rows of each record belong to."""
    size = int(whose.max(initial=0)) + 1
    counts = np.zeros(remains[0].size, dtype=np.int64)
    for record, row in _expand(*remains):
        once = np.unique(record * size + whose[row]) // size
        counts += np.bincount(once, minlength=counts.size)
    return counts


def _ranges(pairs: Sequence[tuple[Rule, Array, Array]]) -> Ranges:
    """For each auxiliary record a range of places in an order of the released rows.

    The order is by the columns where equality decides, then by the first number that has a reach:
    whoever may match lies in the range; the rules then decide.
    """
    wanted, keys = np.zeros(len(pairs[0][1])), np.zeros(len(pairs[0][2]))
    for rule, a, b in pairs:
        if not isinstance(rule, Near | Spelling):
            both, levels = codes(rule.alike(a), rule.alike(b))
            wide = [old * len(levels) + new for old, new in zip((wanted, keys), both, strict=True)]
            wanted, keys = (code.astype(np.float64) for code in codes(*wide)[0])
    reach = 0.0
    number = next(((rule, a, b) for rule, a, b in pairs if isinstance(rule, Near)), None)
    if number is not None:
        close, a, b = number
        first, second = close.numbers(a), close.numbers(b)
        low, high = np.nanmin(second, initial=0.0), np.nanmax(second, initial=0.0)
        span = high - low + 4 * close.within + 1
        near = np.clip(first, low - 1.5 * close.within, high + 1.5 * close.within)
        wanted, keys = wanted * span + near, keys * span + second
        reach = close.within + 1e-12 * float(np.abs(wanted).max(initial=0.0))  # never too short
    order = np.argsort(keys, kind="stable")
    start = np.searchsorted(keys[order], wanted - reach, side="left")
    stop = np.searchsorted(keys[order], wanted + reach, side="right")
    return start, np.maximum(start, stop), order


def _expand(
    start: Integers, stop: Integers, order: Integers
) -> Iterator[tuple[Integers, Integers]]:
    """The pairs (auxiliary, released) of all ranges, in portions."""
    sizes = stop - start
    ends = np.cumsum(sizes)
    if sizes.size and int(ends[-1]) > _TOO_MANY:
        raise BadParameter(
            "these rules leave too many pairs to compare",
            fix="on=[..., 'zip'] or near(...): a column that narrows people down first",
        )
    done = 0
    while done < sizes.size:
        before = int(ends[done - 1]) if done else 0
        upto = max(done + 1, int(np.searchsorted(ends, before + _AT_ONCE, side="right")))
        part = np.arange(done, upto)
        first = np.repeat(part, sizes[part])
        place = np.arange(first.size) - np.repeat(np.cumsum(sizes[part]) - sizes[part], sizes[part])
        yield first, order[np.repeat(start[part], sizes[part]) + place]
        done = upto


def linked_rows(result: Linkage, released: object, *, column: str) -> list[tuple[int, object]]:
    """What the attack reveals: the value of `column` for each re-identified auxiliary record."""
    values: Array = columns_of(released, [column])[column]
    hits = np.flatnonzero(result.candidates == 1)
    return list(zip(hits.tolist(), values[result.matches[hits]].tolist(), strict=True))
