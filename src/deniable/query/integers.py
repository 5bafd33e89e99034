"""A question in whole numbers: what every row adds, with which weight, and how far that can move.

Every person's rows get one weight, ⌊L·2²⁰/k⌋ or 2²⁰ if that is less, where k is how many rows the
person has in the last relation: it depends on nobody else's rows, and the weights of one person add
up to at most L·2²⁰. The same weight serves all tallies, so that ratios of them (AVG) are not bent.

Where rows are replaced and the schema states how many there are, that number n takes the place of a
noisy count: COUNT(*) = n, SUM = centre·n + Σ(x − centre), AVG = centre + Σ(x − centre)/n. How far a
unit moves Σ(x − centre) does not depend on n, and the rest is computed from noisy numbers and n: a
wrong n makes answers wrong, never less private.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from deniable import fixes
from deniable.errors import MissingUnit, UnsupportedQuery
from deniable.query.aggregates import FAMILIES, Estimator, Measure, Tally
from deniable.query.aggregates.tallies import grid, on_lattice
from deniable.query.algebra import (
    Aggregate,
    Expression,
    Function,
    Join,
    JoinKind,
    PerPerson,
    Project,
    Question,
    Relation,
    Scalar,
    Scan,
    Union,
    columns_of,
    one_each,
    walk,
)
from deniable.units import Unit
from deniable.workload.moves import Moves, moves, moves_of_presence

# Weights are whole multiples of 2⁻²⁰.
WEIGHT: Final = 2**20
# Of a person's rows with equal join columns, how many each table keeps: of one, and where both
# tables have more than the second number, of both. In between nothing overflows (`compile`).
KEPT_OF_ONE: Final = 10_000
KEPT_OF_BOTH: Final = 256
MOST_KEPT: Final = 2**20
MOST_BINS: Final = 2**14
LEAST_BINS: Final = 2**10
SELECTION: Final = "selection"
# Nobody has more rows; and this many times a weight is still a number of 64 bits.
MOST_ROWS: Final = 2**42

Group = tuple[Scalar | None, ...]
"""The keys of a group, in the order of the question; None where its grouping set leaves one out."""


@dataclass(frozen=True, kw_only=True)
class IntegerPlan:
    """A question as whole numbers: which tallies, over which groups, and what they are for.

    `tallies` has each column once, however many aggregates use it. `selection` counts the persons
    of each group where keys are private: choose by it, then show only the groups chosen. `weight`
    is 2²⁰ where rows are weighted, else 1; `rows` and `groups` are the unit's limits, or 1 where
    everyone has a single row. `hidden` is the number of all rows, where several counts of some rows
    are asked for: it is not an answer, but noise on it lets the counts share theirs.
    """

    question: Question
    tallies: tuple[Tally, ...]
    parts: Mapping[str, Estimator]
    selection: Tally | None = None
    hidden: Tally | None = None
    weight: int = 1
    rows: int = 1
    groups: int = 1

    @property
    def unit(self) -> Unit:
        """Whom the bounds are about."""
        return self.question.unit

    @property
    def most(self) -> int:
        """What the weights of one unit's rows add up to at most, on each side of a replacement."""
        return self.rows * self.weight

    @property
    def joined(self) -> tuple[int, int]:
        """How many of a person's rows with equal join columns a table keeps: of one, of both.

        Whoever has n rows here and m there with n·m ≤ `rows` has min(n, m) ≤ √rows, and so loses
        none of them (for `rows` up to 2²⁰).
        """
        rows = min(self.unit.rows, MOST_KEPT)
        return max(rows, KEPT_OF_ONE), max(math.isqrt(rows), KEPT_OF_BOTH)

    @property
    def private_keys(self) -> bool:
        """Whether the groups must be chosen privately."""
        return self.selection is not None

    @property
    def single(self) -> bool:
        """Whether everyone has one row in the last relation, or none."""
        return self.weight == 1 or one_each(self.question.relation)

    def groups_of(self, part: Estimator) -> int | None:
        """In how many groups a person counts at most; None where that leaves nobody out.

        Where keys are public a person's rows count in all groups, each a little less: only people
        are counted in few.
        """
        people = part.aggregate.function is Function.PERSONS
        enough = self.cells is not None and self.cells <= self.groups
        if self.single or enough or not any(self.sets) or not (people or self.private_keys):
            return None
        return self.groups

    @property
    def picked(self) -> bool:
        """Whether noisy values decide which groups are shown."""
        asked = self.question
        cut = asked.limit is not None or asked.offset > 0
        by = [order.expression for order in asked.order_by] if cut else []
        by += [] if asked.having is None else [asked.having]
        return any(self.parts.keys() & columns_of(each).keys() for each in by)

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """The grouping sets, each once."""
        return tuple(dict.fromkeys(tuple(sorted(s)) for s in self.question.grouping_sets))

    def public_groups(self) -> Iterator[Group]:
        """Every group there can be, set by set, in the order of the lists; keys must be public."""
        keys = self.question.keys
        for chosen in self.sets:
            yield from product(
                *(key.listed if i in chosen else (None,) for i, key in enumerate(keys))
            )

    @property
    def cells(self) -> int | None:
        """How many groups there are; None if keys are private."""
        if self.private_keys:
            return None
        keys = self.question.keys
        return sum(math.prod(len(keys[i].values or ()) for i in chosen) for chosen in self.sets)


@dataclass(frozen=True, kw_only=True)
class Cells:
    """What the engine found: groups, and for every tally a whole number for each of them.

    `numbers[name]` is an array of Python integers (dtype object: sums can be wider than 64 bits),
    shape (groups,). `histograms[name]` is int64 of shape (groups, bins), held at the ends of int64.
    Groups with public keys are all there, in the order of `IntegerPlan.public_groups`; private ones
    are those found, sorted.
    """

    groups: tuple[Group, ...] = field(repr=False)
    numbers: Mapping[str, NDArray[np.object_]] = field(repr=False)
    histograms: Mapping[str, NDArray[np.int64]] = field(repr=False)


def limited(rows: int) -> str:
    """What becomes of a person with more rows than that, in words."""
    most = f"{rows} row{'s' * (rows > 1)}"
    return f"a person with more than {most} counts as {most}"


# ---- from a question to that plan


def in_integers(question: Question, *, bins: int | None = None) -> IntegerPlan:
    """The question as integer tallies with exact bounds on what one unit can change."""
    _check(question)
    unit, weighted = question.unit, question.person is not None
    several = weighted and not one_each(question.relation)
    start = IntegerPlan(
        question=question,
        tallies=(),
        parts={},
        weight=WEIGHT if weighted else 1,
        rows=min(unit.rows, MOST_ROWS) if several else 1,
        groups=(unit.groups or unit.rows) if several else 1,
    )
    private = any(question.keys[i].values is None for s in start.sets for i in s)
    start = replace(start, selection=_persons(start, SELECTION) if private else None)
    book = Book(plan=start, bins=bins or _bins(start))
    parts = {each.name: FAMILIES[each.function].of(each, book) for each in question.aggregates}
    tallies = tuple(book.made.values())
    return replace(start, tallies=tallies, parts=parts, hidden=_hidden(start, tallies))


def _hidden(plan: IntegerPlan, tallies: Sequence[Tally]) -> Tally | None:
    """The number of all rows, if it may help several counts and is not asked for itself."""
    counts = [tally for tally in tallies if tally.measure is Measure.COUNT]
    everything = any(tally.where is None and tally.value is None for tally in counts)
    if plan.unit.sides == 2 or len(counts) < 2 or everything:
        return None
    name = f"t{len(tallies)}"  # the next one
    asked = Tally(name=name, measure=Measure.COUNT, denominator=plan.weight, moves=_NOWHERE)
    return _moved(plan, asked)


def _check(question: Question) -> None:
    """What a person or a row adds must depend on its own rows alone."""
    if question.relation.private and (question.unit.column is None) != (question.person is None):
        raise MissingUnit(
            "this query does not say which person each row belongs to",
            why=f"the session protects {question.unit}",
        )
    if question.person is None:
        for each in walk(question.relation):
            several = isinstance(each, Join) and not each.unique
            if several or isinstance(each, PerPerson) or (isinstance(each, Union) and each.private):
                raise UnsupportedQuery(
                    "where every row is a unit, a row may not become several, nor several one",
                    why="one row could then change the answer more than once",
                    fix=fixes.person("..."),
                )


def _bins(plan: IntegerPlan) -> int:
    """Fewer bins where there are many groups: about 2¹⁸ in all, a public number."""
    groups = (plan.cells or 2**8).bit_length()
    return max(LEAST_BINS, min(MOST_BINS, 1 << max(0, 19 - groups)))


# ---- tallies, each made once


@dataclass(kw_only=True)
class Book:
    """The tallies made so far; the same measure of the same value is one tally."""

    plan: IntegerPlan
    bins: int
    made: dict[tuple[object, ...], Tally] = field(default_factory=dict)

    def tally(
        self,
        measure: Measure,
        value: Expression | None,
        where: Expression | None,
        *,
        centre: float = 0.0,
    ) -> Tally:
        """The tally, made once."""
        if measure is Measure.COUNT and value is not None and not value.domain.nullable:
            value = None  # a value that is never missing counts all rows
        key = (measure, value, where, centre)
        if key not in self.made:
            name = f"t{len(self.made)}"
            asked = Tally(name=name, measure=measure, value=value, where=where, moves=_NOWHERE)
            self.made[key] = _tally(self.plan, asked, centre=centre, bins=self.bins)
        return self.made[key]

    def rows(self, asked: Aggregate) -> int | None:
        """How many rows an aggregate is of, where that is public: all of the table, in one group.

        (Lines of a file that cannot be read are then taken for rows with the middle value.)
        """
        plan, source = self.plan, _unfiltered(self.plan.question.relation)
        values = (asked.argument, asked.other)
        missing = any(value is not None and value.domain.nullable for value in values)
        every = plan.sets == ((),) and asked.where is None and not missing
        replaced = plan.weight == 1 and plan.unit.sides == 2
        return source.size if every and replaced and isinstance(source, Scan) else None


def within_set(plan: IntegerPlan, chosen: tuple[int, ...]) -> IntegerPlan:
    """The same tallies over the groups of one grouping set, and how far a unit moves them there."""
    alone = replace(plan, question=replace(plan.question, grouping_sets=(chosen,)))
    return replace(alone, tallies=tuple(_moved(alone, tally) for tally in plan.tallies))


def _tally(plan: IntegerPlan, asked: Tally, *, centre: float, bins: int) -> Tally:
    """The tally with its lattice or bins, and how far a unit moves it."""
    if asked.measure is Measure.PERSONS:
        return replace(_persons(plan, asked.name), where=asked.where)
    if asked.measure is Measure.DISTINCT:
        return _moved(plan, asked)
    made = replace(asked, denominator=plan.weight)
    if asked.measure is Measure.HISTOGRAM:
        assert asked.value is not None
        made = replace(made, bins=grid(asked.value, at_most=bins))
    elif asked.measure is not Measure.COUNT:
        assert asked.value is not None
        squared = asked.measure is Measure.SQUARES
        lattice, low, high = on_lattice(asked.value, centre=centre, squared=squared)
        made = replace(made, centre=centre, lattice=lattice, low=low, high=high)
    return _moved(plan, made)


def _moved(plan: IntegerPlan, tally: Tally) -> Tally:
    if tally.measure is Measure.PERSONS:
        return replace(tally, moves=_persons(plan, tally.name).moves)
    return replace(tally, moves=_moves(plan, tally, weight=plan.rows * tally.denominator))


_NOWHERE: Final = Moves(l1=0, l2_squared=0, linf=0)


def _moves(plan: IntegerPlan, tally: Tally, *, weight: int) -> Moves:
    one_cell = plan.sets == ((),) and tally.measure is not Measure.HISTOGRAM
    complete = tally.value is None or not tally.value.domain.nullable
    return moves(
        low=tally.low,
        high=tally.high,
        weight=weight,
        relation=plan.unit.relation,
        sets=len(plan.sets),
        one_cell=one_cell,
        always=plan.weight == 1
        and tally.measure is not Measure.DISTINCT
        and tally.where is None
        and complete
        and _every_row(plan.question.relation),
    )


def _every_row(relation: Relation) -> bool:
    """Whether every row of the table is there, once; lines of a file may be left out."""
    source = _unfiltered(relation)
    return isinstance(source, Scan) and source.complete


def _unfiltered(relation: Relation) -> Relation:
    """What a relation has all rows of, each once: a LEFT JOIN with unique rows also keeps them."""
    match relation:
        case Project():
            return _unfiltered(relation.source)
        case Join(kind=JoinKind.LEFT, unique=True):
            return _unfiltered(relation.left)
    return relation


def _persons(plan: IntegerPlan, name: str) -> Tally:
    """At most `groups` groups of a set have a person; the set without keys has them once."""
    cells = sum(plan.groups if chosen else 1 for chosen in plan.sets)
    found = moves_of_presence(cells=cells, relation=plan.unit.relation, one_cell=plan.sets == ((),))
    return Tally(name=name, measure=Measure.PERSONS, moves=found)
