"""Coarser views of a table: the cells of a column merged into groups.

A marginal with many cells is mostly noise. Counted in groups of cells it is not, and a model that
is fitted to the groups keeps, within each, the shape that it had before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Partition:
    """The group of each cell of a column; groups are numbered from 0, and none is empty.

    >>> Partition(np.array([0, 1, 1])).sums(np.array([[5, 2, 3]]), axis=1)
    array([[5, 5]])
    """

    group: NDArray[np.int64]

    @cached_property
    def count(self) -> int:
        """How many groups there are."""
        return int(self.group.max()) + 1

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The cells group by group."""
        return np.argsort(self.group, kind="stable")

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.searchsorted(self.group[self.order], np.arange(self.count))

    @cached_property
    def _sorted(self) -> bool:
        return bool((np.diff(self.group) >= 0).all())

    def sums(self, table: NDArray[Any], *, axis: int) -> NDArray[Any]:
        """The table with the cells of each group added up along an axis."""
        held = table if self._sorted else table.take(self.order, axis=axis)
        found: NDArray[Any] = np.add.reduceat(held, self._starts, axis=axis)
        return found

    def after(self, first: Partition | None) -> Partition:
        """These groups of the groups of another partition, as groups of its cells."""
        return self if first is None else Partition(self.group[first.group])


Partitions = tuple[Partition | None, ...]
"""One per axis of a table; None where each cell stays by itself."""


def merged(table: NDArray[Any], partitions: Partitions | None) -> NDArray[Any]:
    """The table in groups."""
    for axis, each in enumerate(partitions or ()):
        if each is not None:
            table = each.sums(table, axis=axis)
    return table


def unmerged(table: NDArray[Any], partitions: Partitions | None) -> NDArray[Any]:
    """A table with a value per group as one with a value per cell."""
    for axis, each in enumerate(partitions or ()):
        if each is not None:
            table = table.take(each.group, axis=axis)
    return table


def merged_shape(shape: Sequence[int], partitions: Partitions | None) -> tuple[int, ...]:
    """The shape of the table in groups."""
    each = partitions or (None,) * len(shape)
    return tuple(n if p is None else p.count for n, p in zip(shape, each, strict=True))


def by_mass(mass: NDArray[np.float64], groups: int, *, ordered: bool) -> Partition | None:
    """About so many groups of equal mass; None if there are no more cells than that.

    Cells in order are cut into runs. Of cells without an order the heaviest stay by themselves, and
    the rest become one group.
    """
    if len(mass) <= groups:
        return None
    if ordered:
        middle = (np.cumsum(mass) - mass / 2) / max(float(mass.sum()), 1e-300)
        place = np.minimum((middle * groups).astype(np.int64), groups - 1)
    else:
        place = np.full(len(mass), groups - 1)
        place[np.argsort(-mass, kind="stable")[: groups - 1]] = np.arange(groups - 1)
    return Partition(np.unique(place, return_inverse=True)[1].astype(np.int64))


def by_count(counts: NDArray[np.float64], least: float, *, ordered: int) -> Partition | None:
    """Groups of cells that stand out: k cells do if their counts add up to `least`·√k.

    No two cells that stand out are joined. The first `ordered` cells are in order: those that do
    not are joined with the next ones until they do. All others that do not are one group, or part
    of the smallest one. None if every cell stays by itself.
    """
    groups: list[list[int]] = []
    run: list[int] = []
    for cell in range(ordered):
        run.append(cell)
        alone = counts[cell] >= least
        if alone and groups:
            groups[-1] += run[:-1]
            run = [cell]
        if alone or _stands_out(counts, run, least):
            groups.append(run)
            run = []
    if groups:
        groups[-1] += run
        run = []
    for cell in range(ordered, len(counts)):
        if counts[cell] >= least:
            groups.append([cell])
        else:
            run.append(cell)
    if run and (not groups or _stands_out(counts, run, least)):
        groups.append(run)
    elif run:
        min(groups, key=lambda cells: float(counts[cells].sum())).extend(run)
    if len(groups) == len(counts):
        return None
    group = np.zeros(len(counts), dtype=np.int64)
    for number, cells in enumerate(sorted(groups, key=min)):
        group[cells] = number
    return Partition(group)


def _stands_out(counts: NDArray[np.float64], cells: list[int], least: float) -> bool:
    return bool(counts[cells].sum() >= least * len(cells) ** 0.5)
