"""In each executor: choose the groups that are shown, add noise, make the columns.

Why noise that is drawn batch by batch is the mechanism that was paid for. Laplace and Gaussian
noise is independent from one number of a vector to the next (`mechanisms.numbers`: every cell has
draws of its own), so a vector that is cut into pieces gets the same law as the whole; and each
group is in one piece, since rows are dealt by their keys. Partition selection tosses a coin of its
own for every key, by that key's count alone (`mechanisms.keys`). Numbers are drawn for groups that
were chosen only: as if noise had been added to every group, and that of hidden ones not shown.

Words come from the source of each worker process, the operating system's (`sampling.source`), which
is safe where Spark's daemon forks its workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable.query.algebra import Question, Scan, substitute
from deniable.query.allocate import Allocation
from deniable.query.allocate.part import Part
from deniable.session.elsewhere import Commission

from .columns import Field, fields, written
from .integers import KEY, coordinate
from .limbs import rounded

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class Draw:
    """Noise for batches of groups; travels to the executors by pickle."""

    commission: Commission
    allocation: Allocation
    columns: tuple[Field, ...]

    @classmethod
    def of(cls, commission: Commission, allocation: Allocation) -> Draw:
        """Without what executors do not need."""
        plan = replace(allocation.plan, question=_slim(allocation.plan.question))
        slim = replace(allocation, plan=plan)
        return cls(commission=commission, allocation=slim, columns=fields(allocation))

    def over(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The noisy columns of every batch."""
        self.commission.check()
        for batch in batches:
            yield self._noisy(batch)

    def _noisy(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        import pyarrow as pa

        plan, place = self.allocation.plan, 0
        if self.allocation.selection is not None:
            assert plan.selection is not None
            counts = rounded(batch.column(plan.selection.name), shift=0)
            kept = self.commission.perform(0, (np.arange(len(counts)), counts))
            batch, place = batch.take(pa.array(kept, type=pa.int64())), 1
        drawn = [
            self.commission.perform(place + i, _numbers(batch, i, part))
            for i, part in enumerate(self.allocation.parts)
        ]
        keys = {key.name: batch.column(f"{KEY}{i}") for i, key in enumerate(plan.question.keys)}
        return written(self.allocation, self.columns, keys, drawn)


def _numbers(batch: pa.RecordBatch, place: int, part: Part) -> NDArray[np.int64]:
    columns = [
        rounded(batch.column(coordinate(place, j)), shift=part.shift)
        for j in range(len(part.basis.forth))
    ]
    return columns[0] if len(columns) == 1 else np.stack(columns, axis=-1)


def _slim(question: Question) -> Question:
    """What is answered, without whence, and without lists of keys, which may be long."""
    columns = [key.column for key in question.keys]
    bare = {each.name: replace(each, domain=each.domain.but(values=None)) for each in columns}
    return replace(
        question,
        relation=Scan(table=""),
        keys=tuple(replace(k, expression=bare[k.name], values=None) for k in question.keys),
        outputs=tuple(
            replace(each, expression=substitute(each.expression, bare)) for each in question.outputs
        ),
        having=None if question.having is None else substitute(question.having, bare),
        text="",
    )
