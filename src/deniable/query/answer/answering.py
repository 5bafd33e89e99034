"""From the noisy numbers of every step to the columns of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from deniable.query.algebra import Function
from deniable.query.allocate import Allocation
from deniable.query.allocate.foresight import people_needed
from deniable.query.bound import Group, Parts
from deniable.release import Additive, Spread

from .derived import derived
from .present import Columns, Table

# With noise this wide the rounding of whole answers no longer shows in how often a ± holds.
_WIDE: Final = 40.0


def answer(allocation: Allocation, groups: Sequence[Group], drawn: Sequence[Any]) -> Columns:
    """The keys and columns that were asked for, each with its ± and what it estimates."""
    return tabled(allocation, groups, drawn).present()


def tabled(allocation: Allocation, groups: Sequence[Group], drawn: Sequence[Any]) -> Table:
    """Every aggregate of every group, before anything is made of them."""
    noisy = {
        part.tally.name: np.asarray(numbers, dtype=np.float64)
        for part, numbers in zip(allocation.parts, drawn, strict=True)
    }
    plan = allocation.plan
    return Table(
        question=plan.question,
        groups=groups,
        aggregates=derived(allocation, noisy),
        spreads=_spreads(allocation),
        estimands={name: estimand(allocation, parts) for name, parts in plan.parts.items()},
    )


def _spreads(allocation: Allocation) -> Mapping[str, Spread]:
    """Where noise is added as it is and wide, the mechanism itself tells every interval."""
    found: dict[str, Spread] = {}
    for name, parts in allocation.plan.parts.items():
        tally = parts.sum if parts.aggregate.function is Function.SUM else parts.count
        alone = parts.aggregate.function in _PLAIN and (parts.count is None or parts.sum is None)
        if tally is None or not alone:
            continue
        noise = allocation.of(tally)
        if allocation.scale(tally) >= _WIDE:
            found[name] = Additive(mechanism=noise, factor=allocation.unit(tally))
    return found


_PLAIN: Final = (Function.COUNT, Function.PERSONS, Function.DISTINCT, Function.SUM)


def estimand(allocation: Allocation, parts: Parts) -> str:
    """What the numbers estimate, where that is not quite what was asked."""
    plan, notes = allocation.plan, []
    if allocation.selection is not None:
        people = people_needed(allocation.selection, 0.5)
        notes.append(f"of groups with about {people:,} people or more: others are mostly hidden")
    if plan.weight != 1 and parts.aggregate.function is not Function.PERSONS:
        notes.append(f"a person with more than {plan.rows} rows counts as {plan.rows}")
    if parts.aggregate.function in (Function.MIN, Function.MAX):
        notes.append("the outermost value that enough rows share to be told from noise")
    elif parts.aggregate.argument is not None and parts.aggregate.function not in _COUNTED:
        low, high = parts.aggregate.low, parts.aggregate.high
        notes.append(f"values are held within {low:g} and {high:g}")
    return "; ".join(notes)


_COUNTED: Final = (Function.COUNT, Function.PERSONS, Function.DISTINCT)
