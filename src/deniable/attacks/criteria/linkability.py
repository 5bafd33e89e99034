"""Linkability: does a release tie together two halves of a record that are known apart [GBWT23]?

The attacker has two files about the same people without a common key: one with age and sex, one
with occupation and hours. For each person both halves are looked up in the release. If their
closest records meet, the attacker concludes that the two halves belong together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable import parameters
from deniable.attacks.members.synthetic import Scale, distances
from deniable.attacks.tables import Integers, columns_of, row_count
from deniable.errors import BadParameter
from deniable.sampling.public import PublicRandom

from ._risk import Rate, Risk


@parameters.called(
    'attacks.linkability(released, members=inside, controls=outside, columns=(["age"], ["zip"]))'
)
def linkability(
    released: object,
    *,
    members: object,
    controls: object,
    columns: tuple[Sequence[str], Sequence[str]],
    closest: int = 1,
    attacks: int = 500,
    seed: int = 0,
) -> Risk:
    """How often both halves of a person's record have one of their closest records in common.

    `columns` are the two sets of columns that are known apart; `closest` is how many records of the
    release each half may point to (ties by their order in the release). `members` are the people
    the release was made from, `controls` others like them.

    >>> table = {"age": [20, 35, 50, 65], "pay": [1, 5, 2, 9]}
    >>> others = {"age": [20, 35, 50, 65], "pay": [9, 2, 5, 1]}
    >>> risk = linkability(table, members=table, controls=others, columns=(["age"], ["pay"]))
    >>> risk.members, risk.controls
    (Rate(hits=4, trials=4), Rate(hits=0, trials=4))
    """
    wanted = parameters.whole("attacks", attacks)
    first, second = (list(names) for names in columns)
    if not first or not second or set(first) & set(second):
        raise BadParameter(
            "columns are two lists that have no column in common",
            fix='columns=(["age", "sex"], ["occupation", "hours_per_week"])',
        )
    size = row_count(columns_of(released, [*first, *second]))
    near = min(parameters.whole("closest", closest), size)
    random = PublicRandom(seed).generator
    rates = []
    for people in (members, controls):
        rows = columns_of(people, [*first, *second])
        count = row_count(rows)
        chosen = random.permutation(count)[:wanted]
        targets = {name: values[chosen] for name, values in rows.items()}
        halves = [_closest(released, targets, names, near) for names in (first, second)]
        rates.append(Rate(_shared(*halves), len(chosen)))
    trials = rates[0].trials
    guessed = [
        np.array([random.choice(size, near, replace=False) for _ in range(trials)])
        for _ in range(2)
    ]
    return Risk(
        criterion="linkability",
        attack=f"{', '.join(first)} joined with {', '.join(second)} through the release",
        members=rates[0],
        controls=rates[1],
        baseline=Rate(_shared(*guessed), trials),
        wanted=min(wanted, trials),
    )


def _closest(released: object, targets: object, names: list[str], near: int) -> Integers:
    """For each target the records of the release that are nearest in these columns."""
    scale = Scale.of(released, names)
    parts = distances(scale.places(targets), scale.places(released))
    if near == 1:
        return np.concatenate([np.argmin(part, axis=1)[:, None] for part in parts])
    found = [np.argsort(part, axis=1, kind="stable")[:, :near] for part in parts]
    return np.concatenate(found).astype(np.int64)


def _shared(first: Integers, second: Integers) -> int:
    """How many rows of the two have an entry in common."""
    return int(np.sum((first[:, :, None] == second[:, None, :]).any(axis=(1, 2))))
