"""Singling out: predicates that are true of exactly one person [CN20, GBWT23].

The attacker reads the release, writes down predicates that isolate one record in it ("born ≤ 1931
and zip = 05401 and sex = f"), and hopes that they isolate one person in the original data. So do
some predicates by luck: the same predicates are tried on a control of the same size, and random
predicates on the members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deniable import parameters
from deniable.attacks.tables import (
    Array,
    Floats,
    Integers,
    Mask,
    codes,
    columns_of,
    persons,
    row_count,
)
from deniable.errors import BadParameter
from deniable.sampling.public import PublicRandom

from ._risk import Rate, Risk

_PATIENCE = 100
"""Predicates that are tried for each one that is wanted."""


class Condition(NamedTuple):
    """One column compared with one value; the sign is one of = ≠ ≤ ≥ < > and ∅ (missing)."""

    column: int
    sign: str
    value: float


Predicate = tuple[Condition, ...]


@parameters.called("attacks.singling_out(released, members=inside, controls=outside)")
def singling_out(
    released: object,
    *,
    members: object,
    controls: object,
    columns: Sequence[str] | None = None,
    known: int = 3,
    attacks: int = 500,
    unit: str | None = None,
    seed: int = 0,
) -> Risk:
    """How often a predicate that isolates one record of a release isolates one person.

    `released` is a synthetic, anonymised or raw table, `members` the people it was made from and
    `controls` others like them. Each predicate uses `known` columns: with 1, rare values and
    extremes of single columns (univariate); with more, a record of the release at random, numbers
    as "at least" or "at most" away from the median (multivariate). Members and controls are cut to
    the same number of people, because a predicate isolates more easily among few. With `unit`, the
    column that identifies people, a predicate isolates a person if all rows it matches are theirs.

    >>> table = {"age": list(range(20, 80)), "city": ["Oslo", "Moss"] * 30}
    >>> others = {"age": [50] * 60, "city": ["Oslo", "Moss"] * 30}
    >>> risk = singling_out(table, members=table, controls=others, known=1, attacks=20)
    >>> risk.members, risk.controls.hits, risk.value
    (Rate(hits=20, trials=20), 0, 1.0)
    """
    wanted = parameters.whole("attacks", attacks)
    size = parameters.whole("known", known)
    random = PublicRandom(seed)
    names = [n for n in (columns or columns_of(released)) if n != unit]
    if size > len(names):
        raise BadParameter.of("known", known, must=f"at most the number of columns, {len(names)}")
    made, inside, outside = _coded((released, members, controls), names, unit)
    people = min(inside.people, outside.people)
    inside, outside = (rows.sample(people, random) for rows in (inside, outside))
    proposals = _univariate(made, random) if size == 1 else _multivariate(made, size, random)
    found = _isolating(proposals, made, wanted, tries=_PATIENCE * wanted)
    guesses = [_at_random(made, size, random) for _ in range(wanted)]
    how = "single columns" if size == 1 else f"{size} columns together"
    return Risk(
        criterion="singling-out",
        attack=f"predicates on {how} that isolate one record of the release",
        members=Rate(sum(map(inside.isolated_by, found)), len(found)),
        controls=Rate(sum(map(outside.isolated_by, found)), len(found)),
        baseline=Rate(sum(map(inside.isolated_by, guesses)), wanted),
        wanted=wanted,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Rows:
    """A table as numbers: text as codes that all tables share; NaN is a missing number."""

    values: Floats
    """A row for each column of the table."""
    ordered: tuple[bool, ...]
    person: Integers

    @property
    def people(self) -> int:
        return int(np.unique(self.person).size)

    def sample(self, people: int, random: PublicRandom) -> _Rows:
        everyone = np.unique(self.person)
        chosen = random.generator.choice(everyone, people, replace=False)
        keep = np.isin(self.person, chosen)
        return _Rows(values=self.values[:, keep], ordered=self.ordered, person=self.person[keep])

    def isolated_by(self, predicate: Predicate) -> bool:
        """Whether the predicate is true of exactly one person."""
        matched = np.ones(self.person.size, dtype=bool)
        for column, sign, value in predicate:
            matched &= _SIGNS[sign](self.values[column], value)
        whose = self.person[matched]
        return bool(whose.size) and bool(np.all(whose == whose[0]))


_SIGNS: dict[str, Callable[[Floats, float], Mask]] = {
    "=": np.equal,
    "≤": np.less_equal,
    "≥": np.greater_equal,
    "<": np.less,
    ">": np.greater,
    "≠": lambda values, value: ~(np.isnan(values) | (values == value)),
    "∅": lambda values, _: np.isnan(values),
}
"""Where each condition holds; a missing number meets no condition but its own."""


def _coded(
    tables: Sequence[object], names: Sequence[str], unit: str | None
) -> tuple[_Rows, _Rows, _Rows]:
    """The three tables as numbers that mean the same in each."""
    read = [columns_of(table, names) for table in tables]
    if not all(row_count(columns) for columns in read):
        raise BadParameter("singling out needs at least one row in each table")
    values: list[list[Floats]] = []
    ordered = []
    for name in names:
        parts: list[Array] = [columns[name] for columns in read]
        number = all(part.dtype.kind in "iuf" for part in parts)
        ordered.append(number)
        same = parts if number else codes(*parts)[0]
        values.append([part.astype(np.float64) for part in same])
    # Records of a release need not say whose they are.
    known = unit is not None and unit in columns_of(tables[0])
    units = [unit if known else None, unit, unit]
    first, second, third = (
        _Rows(
            values=np.array([column[i] for column in values]),
            ordered=tuple(ordered),
            person=persons(table, units[i], row_count(read[i])),
        )
        for i, table in enumerate(tables)
    )
    return first, second, third


def _isolating(
    proposals: Iterator[Predicate], made: _Rows, wanted: int, *, tries: int
) -> list[Predicate]:
    """Different predicates that isolate one record of the release."""
    found: dict[Predicate, None] = {}
    for _, predicate in zip(range(tries), proposals, strict=False):
        if predicate not in found and made.isolated_by(predicate):
            found[predicate] = None
        if len(found) == wanted:
            break
    return list(found)


def _univariate(made: _Rows, random: PublicRandom) -> Iterator[Predicate]:
    """Values that occur once, the extremes of numbers, and the only missing value."""
    proposals: list[Predicate] = []
    for column, values in enumerate(made.values):
        present, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        rare = present[counts == 1] if np.all(np.diff(made.person) > 0) else present
        proposals += [(Condition(column, "=", float(value)),) for value in rare]
        proposals.append((Condition(column, "∅", 0.0),))
        if made.ordered[column] and present.size:
            proposals.append((Condition(column, "≤", float(present[0])),))
            proposals.append((Condition(column, "≥", float(present[-1])),))
    yield from (proposals[i] for i in random.generator.permutation(len(proposals)))


def _multivariate(made: _Rows, size: int, random: PublicRandom) -> Iterator[Predicate]:
    """A record's own values in some columns; numbers as at least or at most, away from the middle.

    >>> rows = _Rows(values=np.array([[1.0, 5.0, 9.0]]), ordered=(True,), person=np.arange(3))
    >>> next(_multivariate(rows, 1, PublicRandom(0)))[0].sign in "≤≥"
    True
    """
    with np.errstate(all="ignore"):
        middle = [np.nanmedian(v) if not np.all(np.isnan(v)) else 0.0 for v in made.values]
    while True:
        row = random.generator.integers(made.person.size)
        chosen = np.sort(random.generator.choice(len(middle), size, replace=False)).tolist()
        yield tuple(
            _condition(i, float(made.values[i, row]), float(middle[i]), ordered=made.ordered[i])
            for i in chosen
        )


def _condition(column: int, value: float, middle: float, *, ordered: bool) -> Condition:
    if np.isnan(value):
        return Condition(column, "∅", 0.0)
    if not ordered:
        return Condition(column, "=", value)
    return Condition(column, "≥" if value > middle else "≤", value)


def _at_random(made: _Rows, size: int, random: PublicRandom) -> Predicate:
    """Any values of the columns with any signs: what an attacker could write without thinking."""
    chosen = random.generator.choice(len(made.values), size, replace=False).tolist()
    parts = []
    for column in chosen:
        value = float(random.generator.choice(np.unique(made.values[column])))
        signs = "=≠≤≥<>" if made.ordered[column] else "=≠"
        sign = "∅" if np.isnan(value) else signs[random.generator.integers(len(signs))]
        parts.append(Condition(column, sign, value))
    return tuple(parts)
