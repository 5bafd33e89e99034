"""Exact vectors of whole numbers from the engine, for mechanisms and algorithms: read when needed.

    counts, = s.sql("SELECT COUNT(*) AS n FROM data GROUP BY sex, race").vectors()
    s.release(dp.NoisyMax(epsilon=0.1).on(counts.value))

All vectors of a question come from one reading of the rows, when the first of them is computed; a
question with several GROUPING SETS counts them all in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable.query.aggregates import Tally
from deniable.query.allocate.allocation import touched
from deniable.query.allocate.basis import Basis
from deniable.query.allocate.part import Part
from deniable.query.integers import Group, IntegerPlan, within_set
from deniable.sensitive import Sensitive

if TYPE_CHECKING:
    from deniable.query.execute import Reading


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
