"""The integer plan: what the engine is to compute, and what each answer is made of afterwards."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from deniable.query.aggregates import Estimator, Tally
from deniable.query.algebra import Function, Question, Scalar, columns_of, one_each
from deniable.units import Unit

# Weights are whole multiples of 2⁻²⁰.
WEIGHT: Final = 2**20
# Of a person's rows with equal join columns, how many each table keeps: of one, and where both
# tables have more than the second number, of both. In between nothing overflows (`compile`).
KEPT_OF_ONE: Final = 10_000
KEPT_OF_BOTH: Final = 256
MOST_KEPT: Final = 2**20

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
            lists = [keys[i].values if i in chosen else (None,) for i in range(len(keys))]
            assert all(values is not None for values in lists)
            yield from product(*lists)  # type: ignore[arg-type]

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
