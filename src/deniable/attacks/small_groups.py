"""Small groups: an average over one person is that person's value.

Defended twin: a session adds noise of the same size to every group, so a group of one and an empty
group look alike; `defended.small_groups` measures it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.plots import Axes, bars

from .tables import Integers, columns_of, crowds, one_code, persons, row_count
from .telling import Facts, Told, people


@dataclass(frozen=True, kw_only=True, eq=False)
class SmallGroups(Told):
    """The groups of a published table that are smaller than `below`."""

    by: tuple[str, ...]
    below: int
    groups: int
    """Groups in all."""
    sizes: Integers
    """Sizes of the small ones, smallest first."""
    keys: tuple[tuple[object, ...], ...]
    """What they are called, in the same order."""
    values: tuple[object, ...]
    """The value of the one person in each group of one, where a value was asked for."""

    @property
    def alone(self) -> int:
        """Groups of one person: anything published about them is about that person."""
        return int(np.sum(self.sizes == 1))

    def _headline(self) -> str:
        return (
            f"{self.alone:,} of {self.groups:,} groups by {' and '.join(self.by)} contain only one "
            "person: an average over such a group is that person's value."
        )

    def _facts(self) -> Facts:
        exposed = f"{people(int(self.sizes.sum()))} in {self.sizes.size:,} groups"
        facts = [(f"below {self.below}", exposed)]
        for key, value in zip(self.keys[:3], self.values[:3] or [None] * 3, strict=False):
            told = ", ".join(map(str, key))
            facts.append(("example", told if value is None else f"{told}: {value}"))
        return facts

    def plot(self, ax: Axes | None = None) -> Axes:
        """How many groups there are of each small size."""
        sizes = range(1, self.below)
        return bars(
            [f"{size}" for size in sizes],
            [int(np.sum(self.sizes == size)) for size in sizes],
            title="Groups of few people",
            axis_label=f"groups, of {self.groups:,}",
            ax=ax,
        )


@parameters.called('attacks.small_groups(table, by=["zip"], below=5)')
def small_groups(
    table: object,
    *,
    by: Sequence[str] | str,
    value: str | None = None,
    below: int = 5,
    unit: str | None = None,
) -> SmallGroups:
    """Groups with fewer than `below` people, and what an average over one person gives away.

    `unit` is the column that identifies people, if they have several rows; the value shown is then
    the first of the one person in the group.

    >>> found = small_groups({"city": ["Oslo", "Oslo", "Moss"], "pay": [3, 5, 9]}, by="city",
    ...                      value="pay")
    >>> found.alone, found.values[0]
    (1, 9)
    """
    limit = parameters.whole("below", below, least=2)
    names = [by] if isinstance(by, str) else list(by)
    if not names:
        raise BadParameter("groups are made by at least one column")
    columns = columns_of(table, names)
    if not row_count(columns):
        raise BadParameter("there is nobody in the table")
    joint = one_code(list(columns.values()))
    first = np.unique(joint, return_index=True)[1]
    counts, _ = crowds(joint, persons(table, unit, joint.size))
    small = np.flatnonzero(counts < limit)
    small = small[np.argsort(counts[small], kind="stable")]
    values: list[object] = []
    if value is not None:
        revealed = columns_of(table, [value])[value].tolist()
        values = [revealed[first[g]] if counts[g] == 1 else None for g in small]
    return SmallGroups(
        by=tuple(names),
        below=limit,
        groups=counts.size,
        sizes=counts[small],
        keys=tuple(tuple(col[first[g]] for col in columns.values()) for g in small.tolist()),
        values=tuple(values),
    )
