"""The ± of every answer before anything is spent: from the noise, and public facts alone.

An average errs by noise over the group's size, which is private unless rows are replaced. Where a
size is known (the schema states it, or the analyst offers a guess) the ± is that of a group so
large; otherwise it is not stated.
"""

from __future__ import annotations

import bisect

from deniable.mechanisms.keys import PartitionSelection
from deniable.query.algebra import Column, columns_of

from .allocation import Allocation


def errors(
    allocation: Allocation, *, size: float | None, confidence: float = 0.95
) -> dict[str, float | None]:
    """The ± of every column of the answer; None where it depends on what nobody knows."""
    question = allocation.plan.question
    by_name = {
        name: None
        if allocation.of_many
        else each.error(allocation, size=size, confidence=confidence)
        for name, each in allocation.plan.parts.items()
    }
    told: dict[str, float | None] = {}
    for output in question.outputs:
        made = output.expression
        if isinstance(made, Column) and made.name in by_name:
            told[output.name] = by_name[made.name]
        elif by_name.keys() & columns_of(made).keys():
            told[output.name] = None
    return told


def people_needed(selection: PartitionSelection, probability: float) -> int:
    """How many people a private group needs to be shown with this probability."""
    return bisect.bisect_left(range(2**21), probability, lo=1, key=selection.probability)
