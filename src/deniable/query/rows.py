"""The bounded rows of a query, for algorithms that learn from rows: read when needed, once.

    rows = s.sql("SELECT sex, SUM(age), SUM(hours) FROM data GROUP BY sex").rows()
    steps = mechanism.on(rows.then(gradient, l2=1.0, shape=3))

Every value is clipped to its bounds and put on a lattice, every key is one of the public list, and
the rows of one person together weigh at most `rows` of the unit. Only a session opens them, after
a charge; how far one unit moves what an algorithm makes of them is the algorithm's to prove.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable.query.algebra import Key
from deniable.query.backends.engine import AT_ONCE, engine_for, tables_of
from deniable.query.execute import Reading, RowByRow, canonical
from deniable.query.integers import IntegerPlan
from deniable.sensitive import Sensitive
from deniable.units import Unit

if TYPE_CHECKING:
    from deniable.query.execute import Execution

T = TypeVar("T")

_IN_CACHE = 2**20
"""How many numbers a batch holds where each is used many times: it fits a processor's cache."""


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Bounded rows as arrays: what a function of them is given, inside a session.

    `points` has a line for each row and a column for each number of the query, in steps of its
    lattice; `keys` are places in the public lists. A row counts as `weights`/`Rows.weight` rows:
    as 1 where each row is a unit. `people` numbers the person of each row, and `digests` is a keyed
    hash of that person, which no other row changes; None where each row is a unit.
    """

    keys: NDArray[np.int64]
    points: NDArray[np.int64]
    weights: NDArray[np.int64]
    people: NDArray[np.int64]
    digests: NDArray[np.int64] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Number:
    """What one column of `points` holds: `centre` + point · `worth`, point within [low, high]."""

    measure: str
    of: str
    worth: Fraction
    centre: float
    low: int
    high: int


Each = Callable[[Callable[[Matrix], Any]], list[Any]]
"""Reads the rows: what a function makes of some rows at a time, at least once."""


class Rows:
    """Hidden rows: which columns they have is public, and what is in them is not."""

    def __init__(self, reading: RowReading) -> None:
        plan = reading.plan
        self._reading, self._parts = reading, reading.another()
        self.unit: Unit = plan.unit
        self.weight, self.most = plan.weight, plan.most
        """1 in `weights` is a `weight`-th of a row; one unit's add up to at most `most`."""
        self.keys = {key.name: key.values for key in plan.question.keys}
        self.numbers = tuple(
            Number(
                measure=tally.measure.value,
                of="" if tally.value is None else repr(tally.value),
                worth=Fraction(2) ** tally.lattice.exponent,
                centre=tally.centre,
                low=min(tally.low, 0),
                high=tally.high,
            )
            for tally in plan.tallies
        )

    def then(self, function: Callable[[Matrix], Any], **declared: Any) -> Sensitive[Any]:
        """What a function makes of the rows; its form and bounds are declared, and yours to prove.

        What is declared is as for `dp.Sensitive`. The rows are kept for other functions of them, so
        that their arrays cannot be written to.
        """
        reading = self._reading
        return Sensitive(
            lambda: function(reading.matrix()), unit=self.unit, ready=[reading], **declared
        )

    def in_parts(self, function: Callable[[Each], Any], **declared: Any) -> Sensitive[Any]:
        """What a function makes of the rows, read some at a time; it keeps what it needs of them.

        So all rows are never in memory together. `people` tells apart the rows of one part alone.
        """
        reading = self._parts
        return Sensitive(
            lambda: function(reading.each), unit=self.unit, ready=[reading], **declared
        )

    @property
    def apart(self) -> bool:
        """Whether the rows are spread over other processes: then `total` is the better way."""
        return self._reading.apart

    def total(self, function: Callable[[Matrix], Any], **declared: Any) -> Sensitive[Any]:
        """Σ of what a function makes of some of the rows each time: added up where the rows are.

        Of rows that are spread over executors only sums come back. The function travels there by
        pickle, and is given rows without keys; its sums must not depend on how rows are cut.
        """
        reading = self._parts
        return Sensitive(
            lambda: reading.total(function), unit=self.unit, ready=[reading], **declared
        )

    def once(
        self,
        function: Callable[[Matrix], Any],
        gather: Callable[[Iterator[Any]], T] | None = None,
    ) -> Once[Any]:
        """What a function makes of some of the rows at a time, read once: see `total`.

        It is added up where the rows are, or handed part by part to `gather`.
        """
        return Once(self._reading.another(), function, gather)

    def __repr__(self) -> str:
        of = ", ".join([*self.keys, *(n.of or n.measure for n in self.numbers)])
        return f"Rows(hidden, {of}, unit={self.unit!r})"


class Once(Generic[T]):
    """What was made of all rows in one reading of them: other values are computed from it."""

    def __init__(
        self,
        reading: RowReading,
        function: Callable[[Matrix], Any],
        gather: Callable[[Iterator[Any]], T] | None,
    ) -> None:
        self._reading, self._function, self._gather = reading, function, gather

    def then(self, use: Callable[[T], Any], **declared: Any) -> Sensitive[Any]:
        """What is computed from it; its form and bounds are declared, and yours to prove."""
        reading = self._reading
        return Sensitive(
            lambda: use(reading.once(self._function, self._gather)),
            unit=reading.plan.unit,
            ready=[reading],
            **declared,
        )


class RowReading(Reading):
    """The rows of a plan, read from the engine once, when they are first needed.

    A reading serves one purpose, and is ready for it: one that has all it needs connects no more.
    """

    _matrix: Matrix | None = None
    _once: Any = None

    def _execution(self) -> Execution:
        return RowByRow(self.plan, tables=self._tables)

    @property
    def _known(self) -> bool:
        return self._matrix is not None or self._once is not None

    def another(self) -> RowReading:
        """The same rows for another purpose."""
        return RowReading(self.plan, tables=self._tables)

    def matrix(self) -> Matrix:
        """The rows, as arrays."""
        with self._alone:
            if self._matrix is None:
                found = _matrix(self.plan, self._opened().rows())
                self._matrix = Matrix(**{name: _fixed(each) for name, each in vars(found).items()})
            return self._matrix

    def each(self, function: Callable[[Matrix], Any]) -> list[Any]:
        """What a function makes of the rows, some at a time, as the engine finds them."""
        with self._alone, closing(self._opened().batches(numbers=_IN_CACHE)) as tables:
            return [function(_matrix(self.plan, table)) for table in tables]

    @property
    def apart(self) -> bool:
        """Whether the engine of these tables holds rows elsewhere; known from public facts."""
        return engine_for(tables_of(self.plan.question.relation, self._tables)).apart

    def total(self, function: Callable[[Matrix], Any]) -> Any:
        """The sums of all parts together; of no rows at all, those of none."""
        work = self._work(function)
        none = np.asarray(function(work.none), dtype=np.int64)
        with self._alone:
            found = self._opened().sums(work)
        return none if found is None else found.reshape(none.shape)

    def once(
        self, function: Callable[[Matrix], Any], gather: Callable[[Iterator[Any]], Any] | None
    ) -> Any:
        """What is made of all rows: by one function, and gathered in one way."""
        with self._alone:
            if self._once is None:
                made = self.total(function) if gather is None else gather(self._each(function))
                self._once = _fixed(made)
            return self._once

    def _each(self, function: Callable[[Matrix], Any]) -> Iterator[Any]:
        work = self._work(function)
        with closing(self._opened().batches(numbers=AT_ONCE)) as tables:
            for table in tables:
                yield function(work.matrix(table))

    def _opened(self) -> RowByRow:
        assert isinstance(self._ready, RowByRow), "not entered"
        return self._ready

    def _work(self, function: Callable[[Matrix], Any]) -> _Work:
        return _Work(function=function, count=len(self.plan.tallies), weighted=self.plan.weight > 1)


@dataclass(frozen=True, kw_only=True)
class _Work:
    """What an executor does with some of the rows."""

    function: Callable[[Matrix], Any]
    count: int
    weighted: bool

    def __call__(self, table: Any) -> NDArray[np.int64]:
        return np.asarray(self.function(self.matrix(table)), dtype=np.int64).ravel()

    def matrix(self, table: Any) -> Matrix:
        """The rows of an Arrow table."""
        points = _columns([_whole(table.column(f"v{j}")) for j in range(self.count)], table)
        return self._held(points, _whole(table.column("w")) if self.weighted else None)

    @property
    def none(self) -> Matrix:
        return self._held(np.zeros((0, self.count), dtype=np.int64), None)

    def _held(self, points: NDArray[np.int64], weights: NDArray[np.int64] | None) -> Matrix:
        size = len(points)
        return Matrix(
            keys=np.zeros((size, 0), dtype=np.int64),
            points=points,
            weights=np.ones(size, dtype=np.int64) if weights is None else weights,
            people=np.arange(size),
        )


def _matrix(plan: IntegerPlan, table: Any) -> Matrix:
    """The rows as arrays, of one form however many there are; rows in no group are left out."""
    asked = [plan.question.keys[i] for chosen in plan.sets for i in chosen]
    names = [f"k{i}" for chosen in plan.sets for i in chosen]
    keys = _columns([_places(table.column(n), k) for n, k in zip(names, asked, strict=True)], table)
    points = _columns([_whole(table.column(f"v{j}")) for j in range(len(plan.tallies))], table)
    weights, people = np.ones(len(points), dtype=np.int64), np.arange(len(points))
    kept, digests = (keys >= 0).all(axis=1), None
    if plan.weight > 1:
        weights = _whole(table.column("w"))
        hashed = np.array(table.column("p").to_pylist(), dtype=str)
        named, people = np.unique(hashed, return_inverse=True)
        digests = np.array([_number(each) for each in named], dtype=np.int64)[people][kept]
    return Matrix(
        keys=keys[kept],
        points=points[kept],
        weights=weights[kept],
        people=people[kept],
        digests=digests,
    )


def _fixed(kept: Any) -> Any:
    """What is kept for other values: of an array, one that no function of it can write to."""
    if not isinstance(kept, np.ndarray):
        return kept
    seen = kept.view()
    seen.flags.writeable = False
    return seen


def _number(digest: str) -> int:
    """A keyed digest, in whatever letters an engine writes it, as 63 bits."""
    return int.from_bytes(hashlib.blake2b(digest.encode(), digest_size=8).digest()) >> 1


def _columns(columns: list[NDArray[np.int64]], table: Any) -> NDArray[np.int64]:
    return np.array(columns, dtype=np.int64).reshape(len(columns), table.num_rows).T


def _whole(column: Any) -> NDArray[np.int64]:
    if str(column.type) == "int64" and not column.null_count:
        return np.asarray(column.to_numpy())
    return np.array(column.to_pylist(), dtype=np.int64)


def _places(column: Any, key: Key) -> NDArray[np.int64]:
    """Where each key stands in its public list; −1 if it does not."""
    place: dict[object, int] = {value: i for i, value in enumerate(key.values or ())}
    kind = key.expression.kind
    found = [place.get(canonical(value, kind), -1) for value in column.to_pylist()]
    return np.array(found, dtype=np.int64)
