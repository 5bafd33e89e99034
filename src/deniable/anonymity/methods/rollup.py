"""The classes of a generalisation, counted from those of any finer one.

A class is known by one of the table's distinct combinations that lies in it; all else follows from
the labels of that one. Rolling up costs as much as there are classes below, not rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from deniable.anonymity.diversity import Pairs
from deniable.anonymity.tables import Codes, grouped, joined

# Up to so many possible classes a place for each is cheaper than sorting those that occur.
_DENSE = 1 << 17


@dataclass(frozen=True, kw_only=True)
class Cells:
    """The table's distinct combinations, at every level: `labels[column][level][cell]`."""

    labels: tuple[tuple[Codes, ...], ...] = field(repr=False)
    sizes: tuple[tuple[int, ...], ...]
    sensitive: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """How many levels each column has: the shape of the lattice."""
        return tuple(len(levels) for levels in self.labels)

    def at(self, levels: Sequence[int]) -> list[tuple[Codes, int]]:
        """The labels of each column at its level, and how many there are."""
        chosen = zip(self.labels, self.sizes, levels, strict=True)
        return [(labels[level], sizes[level]) for labels, sizes, level in chosen]


@dataclass(frozen=True, kw_only=True)
class Classes(Pairs):
    """Classes by sensitive value (one value if there is no such column), each with its cell."""

    cells: Codes = field(repr=False)

    def sizes(self) -> Codes:
        """How many rows each class has."""
        return np.bincount(self.classes, self.counts).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class People:
    """Pairs of a distinct combination and a person who has it, each once."""

    cells: Codes = field(repr=False)
    codes: Codes = field(repr=False)
    size: int

    def in_classes(self, cells: Cells, levels: Sequence[int]) -> Codes:
        """How many people each class has at these levels; a person counts in each of theirs.

        Numbers of people do not add up when classes merge, so they are counted from the pairs.
        """
        firsts, of_cell = grouped(*joined(cells.at(levels)))
        classes = of_cell[self.cells]
        once = grouped(*joined([(classes, firsts.size), (self.codes, self.size)]))[0]
        return np.bincount(classes[once], minlength=firsts.size).astype(np.int64)


def rolled_up(cells: Cells, finer: Classes, levels: Sequence[int]) -> Classes:
    """The classes at these levels, from classes that are finer in every column."""
    parts = [(labels[finer.cells], size) for labels, size in cells.at(levels) if size > 1]
    key, domain = joined([*parts, (finer.values, cells.sensitive)])
    keys, chosen, counts = _added(key, domain, finer.counts)
    if cells.sensitive == 1:
        classes = np.arange(keys.size)
    else:
        classes = np.cumsum(np.diff(keys // cells.sensitive, prepend=-1) > 0) - 1
    return Classes(
        classes=classes,
        values=finer.values[chosen],
        counts=counts,
        size=cells.sensitive,
        cells=finer.cells[chosen],
    )


def _added(key: Codes, domain: int, counts: Codes) -> tuple[Codes, Codes, Codes]:
    """The distinct keys, a place where each stands, and the sum of its counts."""
    if domain <= max(_DENSE, 4 * key.size):
        sums = np.bincount(key, counts, domain)
        keys = np.flatnonzero(sums)
        place = np.empty(domain, np.int64)
        place[key] = np.arange(key.size)
        return keys, place[keys], sums[keys].astype(np.int64)
    order = np.argsort(key)
    ranked = key[order]
    starts = np.flatnonzero(np.diff(ranked, prepend=-1))
    return ranked[starts], order[starts], np.add.reduceat(counts[order], starts)
