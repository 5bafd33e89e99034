"""Exact marginals of a session's table, hidden until a session computes them after a charge.

`counted` lets the engine count: GROUPING SETS, many in one scan. `Tabulated` counts more of them
while rows pass by, once; `Listed` holds the cells of every row, so that any marginal can be counted
when an algorithm asks for it. All are read when the first value is computed, and bounded for the
session's unit: a person's rows count as at most the stated number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from deniable.losses import rounding
from deniable.query.algebra import Aggregate, Expression, Function, Key
from deniable.query.backends import engine_for
from deniable.query.bind.bins import cell_of
from deniable.query.bind.builder import question
from deniable.query.bind.keys import MOST_SETS
from deniable.query.query import Query
from deniable.query.rows import Matrix, Once, Rows
from deniable.sensitive import Sensitive
from deniable.statistics.building import COUNT, About

from .domain import Domain
from .inference import Clique, Partitions, merged, merged_shape
from .latest import Latest

MOST_COUNTED: Final = 2**18
"""More cells than this, over all marginals, are counted from rows instead of by the engine."""
MOST_ASKED: Final = 2 * MOST_SETS
"""More marginals than this would take too many scans."""
MOST_TABULATED: Final = 2**25
"""More than this are not held at once: a marginal is counted whenever it is asked for."""
MOST_SENT: Final = 2**22
"""As `MOST_TABULATED`, where every executor sends its counts."""
MOST_KEPT: Final = 2**24
"""The cells of marginals that are kept in case they are asked for again."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Hidden:
    """The counts of one marginal: a hidden vector, in which 1 is worth `worth` rows."""

    columns: Clique
    value: Sensitive[Integers]
    worth: float
    shape: tuple[int, ...]

    @property
    def l1(self) -> float:
        """How far one unit moves the vector, in its own units."""
        bound = self.value.bound("l1")
        assert bound is not None
        return bound

    @property
    def l2(self) -> float:
        """How far one unit moves the vector in the Euclidean norm."""
        bound = self.value.bound("l2")
        assert bound is not None
        return bound

    def merged(self, partitions: Partitions | None) -> Hidden:
        """The same counts in groups of cells.

        Of one unit, each side (what it adds, what it takes away) is a vector u ≥ 0 whose L1 norm is
        at most b, and merging keeps both facts. So the L2 norm is at most b, and that of a
        difference of two at most √2·b, as no cross term is positive.
        """
        if not any(partitions or ()):
            return self
        unit, shape = self.value.unit, merged_shape(self.shape, partitions)
        sides = 1 if unit is None else unit.sides
        l2 = rounding.up(self.l1 / math.sqrt(sides))
        value = self.value.then(
            lambda exact: merged(exact.reshape(self.shape), partitions).ravel(),
            l1=self.l1,
            l2=l2,
            whole=True,
            shape=math.prod(shape),
        )
        held = value.kept()  # asked for in every round
        return Hidden(columns=self.columns, value=held, worth=self.worth, shape=shape)


def is_apart(about: About) -> bool:
    """Whether rows are in other processes, which then count them."""
    return engine_for([about.source]).apart


def counted(about: About, domain: Domain, cliques: Iterable[Clique]) -> dict[Clique, Hidden]:
    """Marginals that the engine counts, at most 64 of them in one scan of the rows."""
    keys = [
        Key(name=f"c{i}", expression=expression, values=tuple(range(size)))
        for i, (expression, size) in enumerate(
            zip(_cells(about, domain), domain.sizes, strict=True)
        )
    ]
    wanted, found = list(dict.fromkeys(cliques)), {}
    for start in range(0, len(wanted), MOST_SETS):
        part = wanted[start : start + MOST_SETS]
        used = sorted({a for clique in part for a in clique})
        asked = question(
            about.scope,
            about.asking,
            keys=[keys[a] for a in used],
            aggregates=[COUNT],
            sets=[tuple(used.index(a) for a in clique) for clique in part],
            text="marginals",
        )
        for vector in Query(session=about.session, question=asked).vectors():
            clique = tuple(int(name[1:]) for name in vector.keys)
            found[clique] = Hidden(
                columns=clique,
                value=vector.value,
                worth=float(vector.worth),
                shape=tuple(domain.sizes[a] for a in clique),
            )
    return {clique: found[clique] for clique in wanted}


class _Rowwise:
    """The cells of every row, hidden: marginals of them are hidden vectors."""

    def __init__(self, about: About, domain: Domain) -> None:
        self._sizes = domain.sizes
        sums = [
            Aggregate(name=f"c{i}", function=Function.SUM, argument=expression)
            for i, expression in enumerate(_cells(about, domain))
        ]
        asked = question(about.scope, about.asking, keys=[], aggregates=sums, text="rows in cells")
        self._rows: Rows = Query(session=about.session, question=asked).rows()
        sides = self._rows.unit.sides
        self._worth = 1 / self._rows.weight
        self._l1 = float(sides * self._rows.most)
        self._l2 = rounding.up(math.sqrt(sides) * self._rows.most)
        self._reader = _Reader(
            sizes=domain.sizes,
            lattices=tuple((n.centre, float(n.worth)) for n in self._rows.numbers),
            weighted=self._rows.weight > 1,
        )

    def _hidden(self, once: Once[Any], clique: Clique, use: Callable[[Any], Integers]) -> Hidden:
        shape = tuple(self._sizes[a] for a in clique)
        size = math.prod(shape)
        value = once.then(use, l1=self._l1, l2=self._l2, whole=True, shape=size)
        return Hidden(columns=clique, value=value, worth=self._worth, shape=shape)


class Listed(_Rowwise):
    """The cells of every row are held, so that any marginal can be counted when it is asked for."""

    def __init__(self, about: About, domain: Domain) -> None:
        super().__init__(about, domain)
        self._once: Once[_Codes] = self._rows.once(self._reader, gather=_joined)
        self._kept: Latest[Clique, Integers] = Latest(MOST_KEPT)

    def __getitem__(self, clique: Clique) -> Hidden:
        def counts(codes: _Codes) -> Integers:
            found = self._kept.get(clique)
            if found is None:
                found = codes.counts(clique)
                self._kept.put(clique, found, size=found.size)
            return found

        return self._hidden(self._once, clique, counts)


class Tabulated(_Rowwise):
    """Marginals that are known in advance, counted while rows pass by: on Spark in executors."""

    def __init__(self, about: About, domain: Domain, cliques: Iterable[Clique]) -> None:
        super().__init__(about, domain)
        wanted = tuple(dict.fromkeys(cliques))
        ends = np.cumsum([domain.size_of(clique) for clique in wanted]).tolist()
        self._places = dict(zip(wanted, pairwise([0, *ends]), strict=True))
        self._once: Once[Integers] = self._rows.once(_Counter(self._reader, wanted))

    def __getitem__(self, clique: Clique) -> Hidden:
        start, end = self._places[clique]
        return self._hidden(self._once, clique, lambda counts: counts[start:end])


@dataclass(frozen=True, kw_only=True)
class _Codes:
    """The cell of each row in each column, and its weight if rows have weights."""

    sizes: tuple[int, ...]
    columns: list[NDArray[Any]]
    weights: Integers | None

    def counts(self, clique: Clique) -> Integers:
        """Rows, or their weights, per cell of these columns."""
        first, *others = clique
        place, cells = self.columns[first].astype(np.int64), self.sizes[first]
        for a in others:
            place *= self.sizes[a]
            place += self.columns[a]
            cells *= self.sizes[a]
        if self.weights is None:
            return np.bincount(place, minlength=cells)
        # In float64 sums would be rounded beyond 2⁵³: high and low halves of weights apart.
        high, low = self.weights >> 20, self.weights & 0xFFFFF
        halves = [np.bincount(place, weights=part, minlength=cells) for part in (high, low)]
        return (halves[0].astype(np.int64) << 20) + halves[1].astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class _Reader:
    """Reads cells from bounded rows: one or two bytes each, as there are millions."""

    sizes: tuple[int, ...]
    lattices: tuple[tuple[float, float], ...]
    weighted: bool

    def __call__(self, rows: Matrix) -> _Codes:
        columns = [
            np.rint(centre + rows.points[:, i] * worth).astype(np.min_scalar_type(self.sizes[i]))
            for i, (centre, worth) in enumerate(self.lattices)
        ]
        return _Codes(
            sizes=self.sizes, columns=columns, weights=rows.weights if self.weighted else None
        )


@dataclass(frozen=True)
class _Counter:
    """Counts marginals of some rows: it may run in an executor."""

    read: _Reader
    cliques: tuple[Clique, ...]

    def __call__(self, rows: Matrix) -> Integers:
        codes = self.read(rows)
        return np.concatenate([codes.counts(clique) for clique in self.cliques])


def _joined(parts: Iterator[_Codes]) -> _Codes:
    """All rows; column by column, so that hardly more than they take is held."""
    held = list(parts)
    first = held[0]
    columns = [np.concatenate([part.columns.pop(0) for part in held]) for _ in first.sizes]
    weights = [part.weights for part in held if part.weights is not None]
    return _Codes(
        sizes=first.sizes, columns=columns, weights=np.concatenate(weights) if weights else None
    )


def _cells(about: About, domain: Domain) -> list[Expression]:
    """The number of each column's cell."""
    return [cell_of(about.column(name), cells) for name, cells in domain.cells.items()]
