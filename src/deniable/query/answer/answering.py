"""From the noisy numbers of every step to the columns of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.query.aggregates import Estimator
from deniable.query.algebra import Function
from deniable.query.allocate import Allocation
from deniable.query.allocate.foresight import people_needed
from deniable.query.integers import Group

from .present import Columns, Table


def answer(allocation: Allocation, groups: Sequence[Group], drawn: Sequence[Any]) -> Columns:
    """The keys and columns that were asked for, each with its ± and what it estimates."""
    return tabled(allocation, groups, drawn).present()


def tabled(allocation: Allocation, groups: Sequence[Group], drawn: Sequence[Any]) -> Table:
    """Every aggregate of every group, before anything is made of them."""
    noisy: dict[str, NDArray[np.float64]] = {}
    for part, numbers in zip(allocation.parts, drawn, strict=True):
        noisy |= part.read(numbers)
    plan = allocation.plan
    if allocation.of_many:
        allocation = replace(allocation, among=max(1, len(groups)))
    return Table(
        question=plan.question,
        groups=groups,
        aggregates={name: each.derive(allocation, noisy) for name, each in plan.parts.items()},
        among=allocation.among,
        estimands={name: estimand(allocation, each) for name, each in plan.parts.items()},
    )


def estimand(allocation: Allocation, estimator: Estimator) -> str:
    """What the numbers estimate, where that is not quite what was asked."""
    plan, notes = allocation.plan, []
    if estimator.rows is not None:
        notes.append(f"the number of rows, {estimator.rows:,}, is public: the schema states it")
    if allocation.selection is not None:
        people = people_needed(allocation.selection, 0.5)
        notes.append(f"groups with fewer than about {people:,} people are usually suppressed")
    if (few := plan.groups_of(estimator)) is not None:
        notes.append(f"a person in more than {few} group{'s' * (few > 1)} counts in only {few}")
    if not plan.single and estimator.aggregate.function is not Function.PERSONS:
        most = f"{plan.rows} row{'s' * (plan.rows > 1)}"
        notes.append(f"a person with more than {most} counts as {plan.rows}")
    if estimator.estimand:
        notes.append(estimator.estimand)
    if allocation.among > 1:
        notes.append(
            f"picked by noisy values: the ± holds for all {allocation.among:,} groups at once"
        )
    return "; ".join(notes)
