"""Junction trees: from the marginals that were measured to cliques that can be computed with.

A distribution that is a product of factors on the measured cliques is also a product of marginals
on the maximal cliques of a triangulated graph, divided by marginals on separators [KF09].
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
        cells = {i: math.prod(self.sizes[a] for a in self.cliques[i]) for i in holding}
        return min(cells, key=cells.__getitem__, default=None)


def ordered(columns: Iterable[int], sizes: Sequence[int]) -> Clique:
    """Columns in the order of a clique: fewer cells first."""
    return tuple(sorted(set(columns), key=lambda a: (sizes[a], a)))


def junction_tree(sizes: Sequence[int], measured: Iterable[Iterable[int]]) -> Tree:
    """A tree of cliques with every column in at least one, and every measured clique inside one.

    >>> tree = junction_tree([2, 2, 2, 2], [(0, 1), (1, 2), (2, 0), (3,)])
    >>> sorted(tree.cliques)
    [(0, 1, 2), (3,)]
    """
    made = _Graph(sizes, measured).cliques()
    cliques = tuple(ordered(_columns(mask), sizes) for mask in made)
    shared = [[(a & b).bit_count() for b in made] for a in made]
    # Prim: the spanning tree of largest separators is a junction tree [KF09].
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
    graph = _Graph(sizes, measured)
    return sum(map(graph.size, graph.cliques()))


def growing(sizes: Sequence[int], measured: Iterable[Iterable[int]]) -> Callable[[Clique], int]:
    """How many cells the tables would have with one more clique: see `tree_cells`.

    Only what the clique connects is looked at again: the rest of the tree stays as it is.

    >>> growing([2, 3, 5, 7], [(0, 1), (2,), (3,)])((1, 2))  # 2·3 + 3·5 + 7
    28
    """
    graph = _Graph(sizes, measured)
    parts = [1 << a for a in range(len(sizes))]
    for mask in set(graph.near):
        parts = _joined(parts, mask)
    alone = {part: sum(map(graph.size, graph.cliques(part))) for part in parts}

    def grown(clique: Clique) -> int:
        mask = _mask(clique)
        touched = [part for part in parts if part & mask]
        among = functools.reduce(operator.or_, touched)
        made = sum(map(graph.size, graph.cliques(among, also=mask)))
        return sum(alone.values()) - sum(alone[part] for part in touched) + made

    return grown


class _Graph:
    """Which columns were measured together: a bit mask per column, with its own bit."""

    def __init__(self, sizes: Sequence[int], measured: Iterable[Iterable[int]]) -> None:
        self._sizes = sizes
        self._weights = [math.log(size) for size in sizes]
        self._costs: dict[int, float] = {}
        self.near = [1 << a for a in range(len(sizes))]
        for clique in measured:
            mask = _mask(clique)
            for a in _columns(mask):
                self.near[a] |= mask

    def size(self, mask: int) -> int:
        """How many cells a table of these columns has."""
        return math.prod(self._sizes[a] for a in _columns(mask))

    def _cost(self, mask: int) -> float:
        """The logarithm of its size. The same few are asked for again and again."""
        if mask not in self._costs:
            self._costs[mask] = sum(self._weights[a] for a in _columns(mask))
        return self._costs[mask]

    def cliques(self, among: int | None = None, *, also: int = 0) -> list[int]:
        """The maximal cliques of a greedy elimination, as bit masks.

        `among` are columns that are connected with no others, and `also` is one more clique.
        """
        left = _columns((1 << len(self.near)) - 1 if among is None else among)
        near = list(self.near)
        for a in _columns(also):
            near[a] |= also
        queue, found = {a: (self._cost(near[a]), a) for a in left}, []
        while queue:
            _, first = min(queue.values())
            del queue[first]
            mask = near[first]
            found.append(mask)
            rest = mask & ~(1 << first)
            for a in _columns(rest):
                near[a] = (near[a] | rest) & ~(1 << first)
                queue[a] = self._cost(near[a]), a
        return _maximal(found)


def _maximal(masks: list[int]) -> list[int]:
    largest: list[int] = []
    for mask in sorted(masks, key=lambda m: -m.bit_count()):
        if not any(mask & other == mask for other in largest):
            largest.append(mask)
    return largest


def _joined(parts: list[int], mask: int) -> list[int]:
    """The parts, with all that these columns touch made one."""
    touched = [part for part in parts if part & mask]
    others = [part for part in parts if not part & mask]
    return [*others, functools.reduce(operator.or_, touched, mask)]


def _mask(columns: Iterable[int]) -> int:
    return sum(1 << a for a in set(columns))


@functools.lru_cache(maxsize=2**14)
def _columns(mask: int) -> tuple[int, ...]:
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return tuple(found)
