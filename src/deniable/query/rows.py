"""The bounded rows of a query, for algorithms that learn from rows: read when needed, once.

    rows = s.sql("SELECT sex, SUM(age), SUM(hours) FROM data GROUP BY sex").rows()
    steps = mechanism.on(rows.then(gradient, l2=1.0, shape=3))

Every value is clipped to its bounds and put on a lattice, every key is one of the public list, and
the rows of one person together weigh at most `rows` of the unit. Only a session opens them, after
a charge; how far one unit moves what an algorithm makes of them is the algorithm's to prove.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.query.algebra import Key
from deniable.query.bound import IntegerPlan
from deniable.query.execute import RowByRow, canonical
from deniable.query.vectors import Reading
from deniable.sensitive import Sensitive
from deniable.units import Unit

if TYPE_CHECKING:
    from deniable.query.execute import Execution


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Bounded rows as arrays: what a function of them is given, inside a session.

    `points` has a line for each row and a column for each number of the query, in steps of its
    lattice; `keys` are places in the public lists. `weights` are in units of 1/`weight`, and
    `people` tells which rows are one person's; where rows are units, each is its own and weighs 1.
    """

    keys: NDArray[np.int64]
    points: NDArray[np.int64]
    weights: NDArray[np.int64]
    people: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Number:
    """What one column of `points` holds: `centre` + point · `worth`, point within [low, high]."""

    measure: str
    of: str
    worth: Fraction
    centre: float
    low: int
    high: int


class Rows:
    """Rows that hide themselves: what they are is public, what they hold is not."""

    def __init__(self, reading: RowReading) -> None:
        plan = reading.plan
        self._reading = reading
        self.unit: Unit = plan.unit
        self.weight, self.most = plan.weight, plan.rows * plan.weight
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

        What is declared is as for `dp.Sensitive`.
        """
        reading = self._reading
        return Sensitive(
            lambda: function(reading.matrix()), unit=self.unit, ready=[reading], **declared
        )

    def __repr__(self) -> str:
        of = ", ".join([*self.keys, *(n.of or n.measure for n in self.numbers)])
        return f"Rows(hidden, {of}, unit={self.unit!r})"


class RowReading(Reading):
    """The rows of a plan, read from the engine once, when they are first needed."""

    _matrix: Matrix | None = None

    def _execution(self) -> Execution:
        return RowByRow(self.plan, tables=self._tables)

    @property
    def _known(self) -> bool:
        return self._matrix is not None

    def matrix(self) -> Matrix:
        """The rows, as arrays."""
        if self._matrix is None:
            self._matrix = _matrix(self.plan, self._ready.rows())  # type: ignore[union-attr]
        return self._matrix


def _matrix(plan: IntegerPlan, table: Any) -> Matrix:
    """The rows as arrays, of one form however many there are; one in no group is left out."""
    asked = [plan.question.keys[i] for chosen in plan.sets for i in chosen]
    names = [f"k{i}" for chosen in plan.sets for i in chosen]
    keys = _columns([_places(table.column(n), k) for n, k in zip(names, asked, strict=True)], table)
    points = _columns([_whole(table.column(f"v{j}")) for j in range(len(plan.tallies))], table)
    weights, people = np.ones(len(points), dtype=np.int64), np.arange(len(points))
    if plan.weight > 1:
        weights = _whole(table.column("w"))
        people = np.unique(np.array(table.column("p").to_pylist(), dtype=str), return_inverse=True)[
            1
        ]
    kept = (keys >= 0).all(axis=1)
    return Matrix(keys=keys[kept], points=points[kept], weights=weights[kept], people=people[kept])


def _columns(columns: list[NDArray[np.int64]], table: Any) -> NDArray[np.int64]:
    return np.array(columns, dtype=np.int64).reshape(len(columns), table.num_rows).T


def _whole(column: Any) -> NDArray[np.int64]:
    return np.array(column.to_pylist(), dtype=np.int64)


def _places(column: Any, key: Key) -> NDArray[np.int64]:
    """Where each key stands in its public list; −1 if it does not."""
    place: dict[object, int] = {value: i for i, value in enumerate(key.values or ())}
    kind = key.expression.kind
    found = [place.get(canonical(value, kind), -1) for value in column.to_pylist()]
    return np.array(found, dtype=np.int64)
