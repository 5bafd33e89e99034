"""A distribution over all columns, kept as one table of probabilities per clique of a tree.

The tables are *calibrated*: two neighbours agree on the columns they share. Then the distribution
is the product of the tables divided by that of the separators [KF09], and any marginal
can be read off without making the whole table, which may have 10¹⁶ cells and more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from string import ascii_letters

import numpy as np
from numpy.typing import NDArray

from .junction import Clique, Tree, junction_tree, ordered

Table = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Model:
    """A calibrated tree: `tables[i]` is the marginal of `tree.cliques[i]`, and adds up to 1."""

    tree: Tree
    tables: tuple[Table, ...]
    _known: dict[tuple[int, int, Clique], Table] = field(
        default_factory=dict, repr=False, compare=False
    )

    @staticmethod
    def uniform(sizes: Sequence[int]) -> Model:
        """Every column by itself, every cell as likely as any other."""
        tree = junction_tree(sizes, [])
        tables = tuple(np.full(shape, 1 / np.prod(shape)) for shape in shapes(tree))
        return Model(tree=tree, tables=tables)

    def over(self, tree: Tree) -> Model:
        """The same distribution over another tree, which must hold each of this one's factors."""
        return Model(tree=tree, tables=tuple(self.marginal(c) for c in tree.cliques))

    def marginal(self, columns: Iterable[int]) -> Table:
        """The probability of each cell of these columns, with axes in the order given.

        >>> Model.uniform([2, 4]).marginal([1]).tolist()
        [0.25, 0.25, 0.25, 0.25]
        """
        asked = tuple(columns)
        clique = ordered(asked, self.tree.sizes)
        holder = self.tree.holder(clique)
        if holder is not None:
            found = project(self.tables[holder], self.tree.cliques[holder], clique)
        else:
            found = self._gathered(self._nearest(clique), None, clique)
        return found.transpose([clique.index(a) for a in asked])

    def _nearest(self, clique: Clique) -> int:
        """The clique that shares most columns, and of those the smallest."""
        cliques = self.tree.cliques
        asked = set(clique)
        return max(
            range(len(cliques)),
            key=lambda i: (len(asked.intersection(cliques[i])), -self.tables[i].size),
        )

    def _conditional(self, child: int, parent: int, separator: Clique, wanted: Clique) -> Table:
        """P(wanted | separator): axes of the separator first. Most are asked for often."""
        key = (child, parent, wanted)
        if key not in self._known:
            together = separator + wanted
            joint = self._gathered(child, parent, together)
            below = joint.sum(axis=tuple(range(len(separator), len(together))), keepdims=True)
            self._known[key] = ratio(joint, below)
        return self._known[key]

    def _gathered(self, at: int, parent: int | None, wanted: Clique) -> Table:
        """P(wanted) for columns of this clique and of what lies behind it, axes as in `wanted`."""
        clique = self.tree.cliques[at]
        outside = [a for a in wanted if a not in clique]
        messages = []
        for near, separator in self.tree.neighbours[at]:
            if near != parent:
                far = self.tree.beyond[at, near]
                behind = tuple(a for a in outside if a in far)
                if behind:
                    table = self._conditional(near, at, separator, behind)
                    messages.append((separator + behind, separator, table))
        needed = {a for a in wanted if a in clique}.union(*(m[1] for m in messages))
        axes = tuple(a for a in clique if a in needed)
        table = project(self.tables[at], clique, axes)
        for place, (names, _, message) in enumerate(messages):
            later = {a for m in messages[place + 1 :] for a in m[1]}
            kept = [a for a in dict.fromkeys(axes + names) if a in wanted or a in later]
            table = _contracted(table, axes, message, names, kept)
            axes = tuple(kept)
        return table.transpose([axes.index(a) for a in wanted])


def _contracted(
    one: Table, of_one: Clique, other: Table, of_other: Clique, kept: list[int]
) -> Table:
    """The product of two tables, summed over the axes that are not kept."""
    letter = dict(zip(dict.fromkeys(of_one + of_other), ascii_letters, strict=False))
    first, second, last = ("".join(letter[a] for a in names) for names in (of_one, of_other, kept))
    made: Table = np.einsum(f"{first},{second}->{last}", one, other)
    return made


def shapes(tree: Tree) -> list[tuple[int, ...]]:
    """The shape of each clique's table."""
    return [tuple(tree.sizes[a] for a in clique) for clique in tree.cliques]


def project(table: Table, axes: Clique, kept: Clique) -> Table:
    """The sum over all axes that are not kept; `kept` has the order of `axes`."""
    if len(kept) == len(axes):
        return table
    summed: Table = np.add.reduce(table, axis=_gone(axes, kept))
    return np.asarray(summed)


def spread(table: Table, axes: Clique, over: Clique) -> Table:
    """The table with axes of length 1 where `over` has more columns: multiplies as if repeated."""
    return table[_widened(axes, over)]


@lru_cache(maxsize=2**12)
def _gone(axes: Clique, kept: Clique) -> tuple[int, ...]:
    return tuple(i for i, a in enumerate(axes) if a not in kept)


@lru_cache(maxsize=2**12)
def _widened(axes: Clique, over: Clique) -> tuple[slice | None, ...]:
    return tuple(slice(None) if a in axes else None for a in over)


def ratio(above: Table, below: Table) -> Table:
    """The quotient, 0 where both are 0."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
