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
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from deniable.query.aggregates import Tally
from deniable.query.allocate.basis import Basis
from deniable.query.allocate.part import Part
from deniable.query.allocate.weighing import touched
from deniable.query.integers import Cells, Group, IntegerPlan, within_set
from deniable.sensitive import Sensitive

if TYPE_CHECKING:
    from deniable.query.execute import Execution
    from deniable.session.tables import Table


class Reading:
    """A plan's whole numbers, read from the engine once, when they are first needed.

    Entering it makes the engine ready, before a charge; `found` is for values that a session
    computes, after it. Whoever asks several times enters it first, before the charge, and the
    engine stays ready. Of two threads the second waits while the first reads, and finds what it
    has read; no lock is held any longer, so that an interrupt at any line leaves none behind.
    """

    def __init__(self, plan: IntegerPlan, *, tables: Mapping[str, Table]) -> None:
        self.plan, self._tables = plan, tables
        self._alone = RLock()
        self._ready: Execution | None = None
        self._found: ExactCells | None = None
        self._entered = 0

    def _execution(self) -> Execution:
        from deniable.query.execute import Execution

        return Execution(self.plan, tables=self._tables)

    @property
    def _known(self) -> bool:
        return self._found is not None

    def __enter__(self) -> Self:
        with self._alone:
            if not self._known and self._ready is None:
                self._ready = self._execution().__enter__()
            self._entered += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self._alone:
            self._entered -= 1
            if self._ready is not None and not self._entered:
                left, self._ready = self._ready, None
                left.__exit__()

    def found(self) -> ExactCells:
        """The whole numbers of every group."""
        with self._alone:
            if self._found is None:
                assert self._ready is not None, "not entered"
                self._found = ExactCells(self._ready.run())
            return self._found

    def vector(
        self, part: Part, groups: Sequence[Group], keys: Sequence[object] | None = None
    ) -> Sensitive[NDArray[np.int64]]:
        """What gets noise, for these groups in this order; a group that was not found has 0."""
        return Sensitive(
            lambda: self.found().aligned(part, groups),
            l1=part.vector.l1,
            l2=part.vector.l2,
            linf=part.linf,
            whole=True,
            shape=(len(groups), *part.shape),
            keys=keys,
            unit=self.plan.unit,
            ready=[self],
        )


class ExactCells:
    """What one reading found; algorithms ask it for the same vectors again and again."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self._numbers: list[tuple[Part, NDArray[np.int64]]] = []

    @cached_property
    def _places(self) -> dict[Group, int]:
        return {group: i for i, group in enumerate(self.cells.groups)}

    def aligned(self, part: Part, groups: Sequence[Group]) -> NDArray[np.int64]:
        """What gets noise, for these groups in this order; a group that was not found has 0."""
        found = next((numbers for held, numbers in self._numbers if held is part), None)
        if found is None:
            found = part.numbers(self.cells)
            self._numbers.append((part, found))
        if groups is self.cells.groups or tuple(groups) == self.cells.groups:  # public, as a rule
            return found.copy()
        padded = np.concatenate([found, np.zeros((1, *found.shape[1:]), dtype=np.int64)])
        taken: NDArray[np.int64] = padded[[self._places.get(group, -1) for group in groups]]
        return taken


@dataclass(frozen=True, kw_only=True, eq=False)
class Vector:
    """Exact whole numbers for the groups of one grouping set, as input for any mechanism.

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
    part = Part(basis=Basis.plain(tally), tree=None, weight=1.0, groups=touched(alone))
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
