"""Junction trees: from the marginals that were measured to cliques that can be computed with.

A distribution that is a product of factors on the measured cliques is also a product of marginals
on the maximal cliques of a triangulated graph, divided by marginals on separators [KF09, Ch. 10].
Which triangulation is found by eliminating, again and again, the column whose neighbours make the
smallest table.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

Clique = tuple[int, ...]
"""Columns by number, those with fewer cells first, so that the last axis of a table is longest."""


@dataclass(frozen=True, kw_only=True)
class Edge:
    """A clique hangs on its parent by the columns they share."""

    child: int
    parent: int
    separator: Clique


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Maximal cliques, and edges from the root outwards: a parent comes before its children."""

    sizes: tuple[int, ...]
    cliques: tuple[Clique, ...]
    edges: tuple[Edge, ...]

    @cached_property
    def neighbours(self) -> tuple[tuple[tuple[int, Clique], ...], ...]:
        """Of each clique, the cliques beside it and what it shares with each."""
        found: list[list[tuple[int, Clique]]] = [[] for _ in self.cliques]
        for edge in self.edges:
            found[edge.child].append((edge.parent, edge.separator))
            found[edge.parent].append((edge.child, edge.separator))
        return tuple(map(tuple, found))

    @cached_property
    def beyond(self) -> dict[tuple[int, int], frozenset[int]]:
        """The columns on the far side of an edge, seen from its first clique."""
        found: dict[tuple[int, int], frozenset[int]] = {}

        def reach(start: int, end: int) -> frozenset[int]:
            if (start, end) not in found:
                further = [reach(end, n) for n, _ in self.neighbours[end] if n != start]
                found[start, end] = frozenset(self.cliques[end]).union(*further)
            return found[start, end]

        for edge in self.edges:
            reach(edge.parent, edge.child)
            reach(edge.child, edge.parent)
        return found

    @property
    def cells(self) -> int:
        """The size of all tables."""
        return sum(math.prod(self.sizes[a] for a in clique) for clique in self.cliques)

    def holder(self, wanted: Iterable[int]) -> int | None:
        """The smallest clique with all these columns; None if there is none."""
        asked = set(wanted)
        holding = [i for i, clique in enumerate(self.cliques) if asked.issubset(clique)]
        size = lambda i: math.prod(self.sizes[a] for a in self.cliques[i])  # noqa: E731
        return min(holding, key=size, default=None)


def ordered(columns: Iterable[int], sizes: Sequence[int]) -> Clique:
    """Columns in the order of a clique: fewer cells first."""
    return tuple(sorted(set(columns), key=lambda a: (sizes[a], a)))


def junction_tree(sizes: Sequence[int], measured: Iterable[Iterable[int]]) -> Tree:
    """A tree of cliques with every column in at least one, and every measured clique inside one.

    >>> tree = junction_tree([2, 2, 2, 2], [(0, 1), (1, 2), (2, 0), (3,)])
    >>> sorted(tree.cliques)
    [(0, 1, 2), (3,)]
    """
    made = _maximal(_eliminated(sizes, measured))
    cliques = tuple(ordered(_columns(mask), sizes) for mask in made)
    shared = [[(a & b).bit_count() for b in made] for a in made]
    # Prim: the spanning tree of largest separators is a junction tree [KF09, Ch. 10].
    nearest = dict.fromkeys(range(1, len(made)), 0)
    edges = []
    while nearest:
        child = max(nearest, key=lambda i: shared[i][nearest[i]])
        parent = nearest.pop(child)
        separator = ordered(_columns(made[child] & made[parent]), sizes)
        edges.append(Edge(child=child, parent=parent, separator=separator))
        for other, now in nearest.items():
            if shared[other][child] > shared[other][now]:
                nearest[other] = child
    return Tree(sizes=tuple(sizes), cliques=cliques, edges=tuple(edges))


def tree_cells(sizes: Sequence[int], measured: Iterable[Iterable[int]]) -> int:
    """How many cells the tables of a junction tree would have."""
    made = _maximal(_eliminated(sizes, measured))
    return sum(math.prod(sizes[a] for a in _columns(mask)) for mask in made)


def growing(sizes: Sequence[int], measured: Iterable[Iterable[int]]) -> Callable[[Clique], int]:
    """How many cells the tables would have with one more clique: see `tree_cells`.

    Only what the clique connects is looked at again: the rest of the tree stays as it is.

    >>> growing([2, 3, 5, 7], [(0, 1), (2,), (3,)])((1, 2))  # 2·3 + 3·5 + 7
    28
    """
    parts = [(1 << a, list[int]()) for a in range(len(sizes))]
    for mask in {sum(1 << a for a in set(clique)) for clique in measured}:
        touched = [part for part in parts if part[0] & mask]
        parts = [part for part in parts if not part[0] & mask]
        held = [each for _, cliques in touched for each in cliques]
        parts.append((functools.reduce(operator.or_, (m for m, _ in touched)), [*held, mask]))

    def cells(mask: int, cliques: list[int]) -> int:
        columns = _columns(mask)
        place = {a: i for i, a in enumerate(columns)}
        local = [[place[a] for a in _columns(each)] for each in cliques]
        return tree_cells([sizes[a] for a in columns], local)

    alone = [cells(*part) for part in parts]

    def grown(clique: Clique) -> int:
        mask = sum(1 << a for a in set(clique))
        touched = [i for i, (columns, _) in enumerate(parts) if columns & mask]
        joined = functools.reduce(operator.or_, (parts[i][0] for i in touched))
        held = [each for i in touched for each in parts[i][1]]
        return sum(alone) - sum(alone[i] for i in touched) + cells(joined, [*held, mask])

    return grown


def _eliminated(sizes: Sequence[int], measured: Iterable[Iterable[int]]) -> list[int]:
    """The cliques of a greedy elimination, as bit masks."""
    near = [1 << a for a in range(len(sizes))]
    for clique in measured:
        mask = sum(1 << a for a in set(clique))
        for a in _columns(mask):
            near[a] |= mask
    weight = [math.log(size) for size in sizes]
    cost = [sum(weight[b] for b in _columns(mask)) for mask in near]
    left, found = set(range(len(sizes))), []
    while left:
        first = min(left, key=lambda a: (cost[a], a))
        mask = near[first]
        found.append(mask)
        left.remove(first)
        for a in _columns(mask & ~(1 << first)):
            near[a] = (near[a] | mask) & ~(1 << first)
            cost[a] = sum(weight[b] for b in _columns(near[a]))
    return found


def _maximal(masks: list[int]) -> list[int]:
    largest: list[int] = []
    for mask in sorted(masks, key=lambda m: -m.bit_count()):
        if not any(mask & other == mask for other in largest):
            largest.append(mask)
    return largest


def _columns(mask: int) -> list[int]:
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found
