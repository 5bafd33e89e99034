"""Exact vectors of whole numbers from the engine, for mechanisms and algorithms: read when needed.

    counts, = s.sql("SELECT COUNT(*) AS n FROM data GROUP BY sex, race").vectors()
    s.release(dp.NoisyMax(epsilon=0.1).on(counts.value))

All vectors of a question come from one reading of the rows, when the first of them is computed; a
question with several GROUPING SETS counts them all in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from threading import RLock
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from deniable.query.allocate.basis import Basis
from deniable.query.allocate.released import Released
from deniable.query.allocate.weighing import touched
from deniable.query.bound import Cells, Group, IntegerPlan, Tally, within_set
from deniable.sensitive import Sensitive

if TYPE_CHECKING:
    from deniable.query.execute import Execution
    from deniable.session.tables import Table


class Reading:
    """A plan's whole numbers, read from the engine once, when they are first needed.

    Entering it makes the engine ready, before a charge; `cells` is for values that a session
    computes, after it. Of two threads the second waits, and finds what the first has read.
    """

    def __init__(self, plan: IntegerPlan, *, tables: Mapping[str, Table]) -> None:
        self.plan, self._tables = plan, tables
        self._alone = RLock()
        self._ready: Execution | None = None
        self._found: Cells | None = None

    def _execution(self) -> Execution:
        from deniable.query.execute import Execution

        return Execution(self.plan, tables=self._tables)

    @property
    def _known(self) -> bool:
        return self._found is not None

    def __enter__(self) -> Self:
        self._alone.acquire()
        try:
            if not self._known:
                self._ready = self._execution()
                self._ready.__enter__()
        except BaseException:
            self._alone.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._ready is not None:
                self._ready.__exit__()
        finally:
            self._ready = None
            self._alone.release()

    def cells(self) -> Cells:
        """The whole numbers of every group."""
        if self._found is None:
            assert self._ready is not None, "not entered"
            self._found = self._ready.run()
        return self._found

    def vector(
        self, part: Released, groups: Sequence[Group], keys: Sequence[object] | None = None
    ) -> Sensitive[NDArray[np.int64]]:
        """What gets noise, for these groups in this order; a group that was not found has 0."""
        return Sensitive(
            lambda: aligned(self.cells(), part, groups),
            l1=part.vector.l1,
            l2=part.vector.l2,
            linf=part.linf,
            whole=True,
            shape=(len(groups), *part.shape),
            keys=keys,
            unit=self.plan.unit,
            ready=[self],
        )


def aligned(cells: Cells, part: Released, groups: Sequence[Group]) -> NDArray[np.int64]:
    """What gets noise, for these groups in this order; a group that was not found has 0."""
    found = part.numbers(cells)
    if groups is cells.groups or tuple(groups) == cells.groups:  # public, as a rule
        return found
    place = {group: i for i, group in enumerate(cells.groups)}
    padded = np.concatenate([found, np.zeros((1, *found.shape[1:]), dtype=np.int64)])
    taken: NDArray[np.int64] = padded[[place.get(group, -1) for group in groups]]
    return taken


@dataclass(frozen=True, kw_only=True, eq=False)
class Vector:
    """Exact whole numbers for the groups of one grouping set, of which any mechanism may be asked.

    `value` hides them. 1 in it is worth `worth` rows, units of the column or their squares; sums
    and squares are around `centre`. `of` is what is counted or added up, `keys` the names of
    what it is grouped by, and `groups` all groups, in its order.
    """

    measure: str
    of: str
    keys: tuple[str, ...]
    groups: tuple[Group, ...]
    worth: Fraction
    centre: float
    value: Sensitive[NDArray[np.int64]]

    def read(self, noisy: object) -> NDArray[np.float64]:
        """Noisy numbers in rows, or units of the column."""
        return np.asarray(noisy, dtype=np.float64) * float(self.worth)


def vectors(reading: Reading) -> list[Vector]:
    """Every tally of every grouping set as a vector; all are read together, once."""
    alone = [within_set(reading.plan, chosen) for chosen in reading.plan.sets]
    return [_vector(reading, plan, tally) for plan in alone for tally in plan.tallies]


def _vector(reading: Reading, alone: IntegerPlan, tally: Tally) -> Vector:
    (chosen,) = alone.sets
    part = Released(basis=Basis.plain(tally), tree=None, weight=1.0, groups=touched(alone))
    keys, found = alone.question.keys, tuple(alone.public_groups())
    groups = tuple(tuple(group[i] for i in chosen) for group in found)
    shown = [group[0] for group in groups] if len(chosen) == 1 else list(groups)
    return Vector(
        measure=tally.measure.value,
        of="" if tally.value is None else repr(tally.value),
        keys=tuple(keys[i].name for i in chosen),
        groups=groups,
        worth=tally.unit * Fraction(2) ** part.shift,
        centre=tally.centre,
        value=reading.vector(part, found, keys=None if part.shape else shown),
    )
