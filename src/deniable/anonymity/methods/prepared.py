"""A table read once and coded, ready to be searched or cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from deniable.anonymity.checking import paired
from deniable.anonymity.demands import Demands
from deniable.anonymity.hierarchies import Ladder, Rungs, ladder
from deniable.anonymity.suggesting import suggested
from deniable.anonymity.tables import (
    Coded,
    Codes,
    arrow,
    check_columns,
    classes_of,
    encoded,
    grouped,
    joined,
    persons,
)
from deniable.errors import UnknownName

from .lattice import Problem
from .loss import ADDITIVE, Costs, costs
from .rollup import Cells, Classes, People

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """The quasi-identifiers as codes; `cell` is each row's distinct combination of them.

    `given` are the columns whose hierarchy the user stated; the rest were suggested. `person` says
    whose each row is, where k counts people.
    """

    read: pa.Table = field(repr=False)
    columns: tuple[Coded, ...] = field(repr=False)
    rungs: tuple[Rungs, ...] = field(repr=False)
    given: frozenset[str]
    sensitive: Coded | None = field(repr=False)
    tree: tuple[Codes, ...] = field(repr=False)
    cell: Codes = field(repr=False)
    firsts: Codes = field(repr=False)
    person: Coded | None = field(default=None, repr=False)

    @property
    def names(self) -> list[str]:
        """The quasi-identifiers."""
        return [column.name for column in self.columns]

    @property
    def ordered(self) -> bool:
        """Whether the sensitive column is measured by rank."""
        return self.sensitive is not None and self.sensitive.ordered

    def codes(self, column: int) -> Codes:
        """The codes of the distinct combinations."""
        return self.columns[column].codes[self.firsts]

    def weights(self, column: int) -> Codes:
        """How many rows each value of a column has."""
        one = self.columns[column]
        return np.bincount(one.codes, minlength=one.size)

    def costs(self, loss: str) -> tuple[Costs, ...]:
        """What each level of each column costs, in additive losses; all columns count alike."""
        if loss not in ADDITIVE:
            return ()
        share = 1 / len(self.columns)
        return tuple(
            costs(loss, column, rungs, self.weights(i), share=share)
            for i, (column, rungs) in enumerate(zip(self.columns, self.rungs, strict=True))
        )

    def problem(self, demands: Demands, *, loss: str, suppression: float) -> Problem:
        """The search for the best node, with its finest class table."""
        labels = tuple(
            tuple(where[self.codes(i)] for where in rungs.maps)
            for i, rungs in enumerate(self.rungs)
        )
        sizes = tuple(tuple(map(len, rungs.labels)) for rungs in self.rungs)
        found, size = self.values
        pairs = paired(self.cell, found, size=size)
        bottom = Classes(**vars(pairs), cells=pairs.classes)
        return Problem(
            cells=Cells(labels=labels, sizes=sizes, sensitive=size),
            bottom=bottom,
            demands=demands,
            loss=loss,
            costs=self.costs(loss),
            suppression=suppression,
            ordered=self.ordered,
            tree=self.tree,
            people=self._people(),
        )

    def _people(self) -> People | None:
        """Who is in each distinct combination, once each."""
        if self.person is None:
            return None
        whose = self.person
        once = grouped(*joined([(self.cell, self.firsts.size), (whose.codes, whose.size)]))[0]
        return People(cells=self.cell[once], codes=whose.codes[once], size=whose.size)

    def classes_at(self, levels: Sequence[int]) -> Codes:
        """The class of each distinct combination; numbered as in the node's own class table."""
        parts = [
            (rungs.maps[level][self.codes(i)], len(rungs.labels[level]))
            for i, (rungs, level) in enumerate(zip(self.rungs, levels, strict=True))
        ]
        return grouped(*joined(parts))[1]

    @property
    def values(self) -> tuple[Codes, int]:
        """Each row's sensitive value, and how many there are: one, if no column is sensitive."""
        if self.sensitive is None:
            return np.zeros_like(self.cell), 1
        return self.sensitive.codes, self.sensitive.size


def prepared(
    table: object,
    quasi: Sequence[str],
    sensitive: str | None,
    hierarchies: Mapping[str, Ladder],
    unit: str | None = None,
) -> Prepared:
    """Read and code the columns, and lay a hierarchy on each quasi-identifier."""
    read = arrow(table)
    names = check_columns(quasi, read.column_names, what="quasi")
    private = [] if sensitive is None else [sensitive]
    check_columns([*names, *private], read.column_names, what="quasi and sensitive")
    people = [] if unit is None else check_columns(unit, read.column_names, what="unit")
    for name in hierarchies:
        if name not in read.column_names:
            raise UnknownName.of("column", name, known=read.column_names)
    columns = tuple(encoded(read, name) for name in names)
    rungs = tuple(
        ladder(hierarchies[c.name] if c.name in hierarchies else suggested(c), c) for c in columns
    )
    hidden = None if sensitive is None else encoded(read, sensitive)
    tree: tuple[Codes, ...] = ()
    if hidden is not None and hidden.name in hierarchies:
        tree = ladder(hierarchies[hidden.name], hidden).maps[1:]
    firsts, cell = classes_of(columns)
    return Prepared(
        read=read,
        columns=columns,
        rungs=rungs,
        given=frozenset(hierarchies),
        sensitive=hidden,
        tree=tree,
        cell=cell,
        firsts=firsts,
        person=persons(read, people[0]) if people else None,
    )
