"""The bounded rows of a query, for algorithms that learn from rows: read when needed, once.

    rows = s.sql("SELECT sex, SUM(age), SUM(hours) FROM data GROUP BY sex").rows()
    steps = mechanism.on(rows.then(gradient, l2=1.0, shape=3))

Every value is clipped to its bounds and put on a lattice, every key is one of the public list, and
the rows of one person together weigh at most `rows` of the unit. Only a session opens them, after
a charge; how far one unit moves what an algorithm makes of them is the algorithm's to prove.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.query.bound import IntegerPlan
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
        from deniable.query.execute import RowByRow

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
    count, keys = table.num_rows, plan.question.keys
    places = [_places(table.column(f"k{i}"), keys[i].values) for s in plan.sets for i in s]
    points = [table.column(f"v{j}").to_numpy() for j in range(len(plan.tallies))]
    made = {
        "keys": np.stack(places, axis=-1) if places else np.zeros((count, 0), dtype=np.int64),
        "points": np.stack(points, axis=-1).astype(np.int64),
    }
    if plan.weight == 1:
        return Matrix(**made, weights=np.ones(count, dtype=np.int64), people=np.arange(count))
    people = table.column("p").combine_chunks().dictionary_encode().indices
    return Matrix(
        **made,
        weights=table.column("w").to_numpy().astype(np.int64),
        people=people.to_numpy().astype(np.int64),
    )


def _places(column: Any, values: Any) -> NDArray[np.int64]:
    """Where each key stands in its public list."""
    place: Mapping[object, int] = {value: i for i, value in enumerate(values)}
    return np.array([place[value] for value in column.to_pylist()], dtype=np.int64)
