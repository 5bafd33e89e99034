"""Which columns, alone or together, single people out.

Rows are split by one column after another (partition refinement); a row that is alone drops out, so
each further column looks only at people who still hide behind someone. Uniqueness is monotone: who
is alone on some columns is alone on more. A combination is *minimal* for a person if it singles
them out and none of its parts does: the least an attacker has to know [EMF02].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations as subsets
from typing import NamedTuple

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.plots import Axes, bars

from .tables import Integers, Mask, codes, columns_of, crowds, one_code, persons, row_count
from .telling import Facts, Told, people, percent


@dataclass(frozen=True, kw_only=True)
class Combination:
    """Columns that are known together, and whom they single out."""

    columns: tuple[str, ...]
    unique: int
    """People who are alone on these columns."""
    minimal: int
    """Of these, people who are hidden on every smaller part of them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Uniqueness(Told):
    """Every combination of up to `largest` columns, and how many people each singles out."""

    people: int
    columns: tuple[str, ...]
    largest: int
    combinations: tuple[Combination, ...]
    """Largest number of unique people first."""
    needed: Integers
    """For each person the fewest columns that single them out; 0: more than `largest`."""

    def best(self, size: int) -> Combination:
        """The combination of that many columns that singles out most people."""
        of_size = [each for each in self.combinations if len(each.columns) == size]
        if not of_size:
            raise BadParameter.of("size", size, must=f"a whole number from 1 to {self.largest}")
        return of_size[0]

    def of(self, *columns: str) -> Combination:
        """What these columns do together."""
        for each in self.combinations:
            if set(each.columns) == set(columns):
                return each
        raise BadParameter(f"{', '.join(columns)} was not among the combinations looked at")

    def minimal(self, share: float = 0.0) -> tuple[Combination, ...]:
        """Combinations that are minimal for some people, and single out more than that share."""
        floor = parameters.probability("share", share) * self.people
        return tuple(each for each in self.combinations if each.minimal and each.unique > floor)

    def _headline(self) -> str:
        worst = self.best(min(self.largest, len(self.columns)))
        return (
            f"{' + '.join(worst.columns)} single out {worst.unique:,} of {people(self.people)} "
            f"({percent(worst.unique / max(1, self.people))})."
        )

    def _facts(self) -> Facts:
        sizes = range(1, min(self.largest, len(self.columns)) + 1)
        best = [(f"{size} known", self.best(size)) for size in sizes]
        facts = [(name, f"{' + '.join(c.columns)}: {c.unique:,} alone") for name, c in best]
        out = int(np.count_nonzero(self.needed))
        few = f"{self.largest} columns or fewer"
        facts.append(("anyone", f"{people(out)} can be singled out by {few}"))
        return [*facts, ("looked at", f"{len(self.combinations):,} combinations")]

    def plot(self, ax: Axes | None = None) -> Axes:
        """The ten combinations that single out most people."""
        top = self.combinations[:10]
        return bars(
            [" + ".join(each.columns) for each in top],
            [each.unique for each in top],
            title="Who is alone",
            axis_label=f"people singled out, of {self.people:,}",
            ax=ax,
        )


@parameters.called('attacks.uniqueness(table, columns=["age", "zip"])')
def uniqueness(
    table: object,
    *,
    columns: Sequence[str] | None = None,
    largest: int = 3,
    unit: str | None = None,
) -> Uniqueness:
    """All combinations of up to `largest` columns, and whom each singles out.

    With `unit`, the column that identifies people, somebody is singled out if all rows with some
    values they have are their own.

    >>> found = uniqueness({"age": [39, 39, 50], "sex": ["m", "f", "m"]}, largest=2)
    >>> found.of("age").unique, found.of("age", "sex").unique, found.of("age", "sex").minimal
    (1, 3, 1)
    """
    values = {name: v for name, v in columns_of(table, columns).items() if name != unit}
    names, rows = tuple(values), row_count(values)
    depth = min(parameters.whole("largest", largest), len(names))
    coded = [(numbers, len(levels)) for (numbers,), levels in map(codes, values.values())]
    whose = persons(table, unit, rows)
    size = int(whose.max(initial=-1)) + 1
    everyone = np.zeros(rows, dtype=np.int64)
    start = _Hidden(np.arange(rows), everyone, 1, np.zeros(size, dtype=bool))
    refined = _refine(coded, whose, depth, (), start)
    alone = {chosen: np.packbits(mask) for chosen, mask in refined}
    needed = np.zeros(size, dtype=np.int64)
    found = []
    for chosen in sorted(alone, key=len):
        parts = [alone[part] for part in subsets(chosen, len(chosen) - 1) if part]
        fresh = alone[chosen] & ~np.bitwise_or.reduce(parts) if parts else alone[chosen]
        first = np.unpackbits(fresh, count=size).astype(bool)
        needed[first & (needed == 0)] = len(chosen)
        found.append(
            Combination(
                columns=tuple(names[i] for i in chosen),
                unique=int(np.bitwise_count(alone[chosen]).sum()),
                minimal=int(np.count_nonzero(first)),
            )
        )
    found.sort(key=lambda each: (-each.unique, len(each.columns)))
    return Uniqueness(
        people=size, columns=names, largest=depth, combinations=tuple(found), needed=needed
    )


class _Hidden(NamedTuple):
    """Rows that do not give their person away yet, the class each is in, and who is alone."""

    rows: Integers
    classes: Integers
    number: int
    alone: Mask


def _refine(
    coded: Sequence[tuple[Integers, int]],
    whose: Integers,
    depth: int,
    prefix: tuple[int, ...],
    hidden: _Hidden,
) -> Iterator[tuple[tuple[int, ...], Mask]]:
    """Each combination of columns that begins with `prefix`, with who is alone on it."""
    for column in range(prefix[-1] + 1 if prefix else 0, len(coded)):
        numbers, levels = coded[column]
        chosen = (*prefix, column)
        room = hidden.number * levels
        key, sizes = _compact(hidden.classes * levels + numbers[hidden.rows], room)
        persons = whose[hidden.rows]
        shared = _shared(key, persons, sizes.size)
        lonely = ~shared[key]
        alone = hidden.alone.copy()
        alone[persons[lonely]] = True
        yield chosen, alone
        if len(chosen) < depth:
            rank = np.cumsum(shared)
            left = ~lonely
            rest = _Hidden(
                hidden.rows[left], rank[key[left]] - 1, int(rank[-1]) if rank.size else 0, alone
            )
            yield from _refine(coded, whose, depth, chosen, rest)


def _shared(key: Integers, persons: Integers, room: int) -> Mask:
    """Which classes hold rows of several people: then some row is not of the person marked last."""
    last = np.zeros(room, dtype=np.int64)
    last[key] = persons
    shared = np.zeros(room, dtype=bool)
    shared[key[last[key] != persons]] = True
    return shared


def _compact(key: Integers, room: int) -> tuple[Integers, Integers]:
    """Keys and how often each occurs; by a table where that is small, else by sorting."""
    if room <= 1 << 20 or room <= 8 * key.size:
        return key, np.bincount(key, minlength=1)
    _, place, group = np.unique(key, return_inverse=True, return_counts=True)
    return place, group


@dataclass(frozen=True, kw_only=True)
class Narrowing:
    """How much knowing one more column narrows a person down."""

    name: str
    distinct: int
    """Different values (or, with columns already known, different combinations)."""
    unique: int
    """People who are alone."""
    crowd: float
    """The size of the group that a random person hides in, on average."""
    bits: float
    """Entropy: how many yes/no questions the column answers about a person, on average."""


@dataclass(frozen=True, kw_only=True)
class Selectivity(Told):
    """The columns an attacker could learn next, the most identifying first."""

    people: int
    known: tuple[str, ...]
    columns: tuple[Narrowing, ...]

    @property
    def best(self) -> str:
        """The column that would help most."""
        return self.columns[0].name

    def of(self, name: str) -> Narrowing:
        """The figures of one column."""
        return next(each for each in self.columns if each.name == name)

    def _headline(self) -> str:
        first = self.columns[0]
        given = f"Knowing {' + '.join(self.known)}, " if self.known else ""
        return (
            f"{given}{first.name} is the most identifying {'next ' if given else ''}column: "
            f"{first.unique:,} of {people(self.people)} are alone."
        )

    def _facts(self) -> Facts:
        return [
            (c.name, f"{c.unique:,} alone; a crowd of {c.crowd:,.1f} on average; {c.bits:.1f} bits")
            for c in self.columns
        ]

    def plot(self, ax: Axes | None = None) -> Axes:
        """People singled out by each column."""
        return bars(
            [each.name for each in self.columns],
            [each.unique for each in self.columns],
            title="How identifying each column is",
            axis_label=f"people singled out, of {self.people:,}",
            ax=ax,
        )


@parameters.called('attacks.selectivity(table, known=["age"])')
def selectivity(
    table: object,
    *,
    known: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    unit: str | None = None,
) -> Selectivity:
    """How far each column narrows people down, given the columns that are known already.

    With `unit`, the column that identifies people, each person counts once per value.

    >>> selectivity({"age": [39, 39, 50], "sex": ["m", "f", "m"]}, known=["sex"]).of("age").unique
    3
    """
    values = columns_of(table)
    given = columns_of(table, known)
    chosen = columns_of(table, columns) if columns is not None else values
    rows = row_count(values)
    whose = persons(table, unit, rows)
    size = int(whose.max(initial=-1)) + 1
    start = one_code(list(given.values())) if given else np.zeros(rows, dtype=np.int64)
    found = []
    for name, column in chosen.items():
        if name in given or name == unit:
            continue
        groups, alone = crowds(one_code([start, column]), whose)
        shares = groups / max(1, groups.sum())
        found.append(
            Narrowing(
                name=name,
                distinct=groups.size,
                unique=alone,
                crowd=float(groups.sum() * np.sum(shares**2)),
                bits=float(-np.sum(shares * np.log2(shares))),
            )
        )
    if not found:
        raise BadParameter("there is no column left to learn")
    found.sort(key=lambda each: (-each.unique, each.crowd))
    return Selectivity(people=size, known=tuple(given), columns=tuple(found))
