"""Mechanisms by name over the results of a query: which group is largest, which counts are large.

    choose   permute_and_flip, exponential or noisy_max: the group with the largest number, by name
    above    sparse vector: which of the numbers are above a threshold, up to so many

What is named is looked up in a fixed table; sensitivities come from the query.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from deniable.curator import Curator
from deniable.errors import BadParameter, UnknownName, UnsupportedQuery
from deniable.ledger import Entry
from deniable.losses import Loss, Pure
from deniable.losses.filters import Price
from deniable.mechanisms import (
    Exponential,
    Mechanism,
    NoisyMax,
    PermuteAndFlip,
    SparseVector,
    Step,
)
from deniable.query.query import Query
from deniable.query.vectors import Vector
from deniable.release import Noisy, Plan, Provenance, Release
from deniable.release.plan import balance
from deniable.session.asked import facts_of
from deniable.session.offers import offering

CHOICES: Final[Mapping[str, Any]] = {
    "permute_and_flip": PermuteAndFlip,
    "exponential": Exponential,
    "noisy_max": NoisyMax,
}

_LARGEST: Final = "the group with the largest number, or one whose number is not much smaller"
_LARGE: Final = "groups in their order whose number is above the threshold, give or take the noise"


def explained(session: Curator, query: Query, task: Mapping[str, Any], spend: Loss | None) -> Plan:
    """The cost, from public facts."""
    vector = _vector(query)
    mechanism = _mechanism(vector, task, spend)
    ledger = session.ledger
    return Plan(
        question=_words(task),
        cost=mechanism.loss(Pure),
        errors={"answer": None},
        steps=[f"compute {vector.measure} for {len(vector.groups)} groups", repr(mechanism)],
        **balance(ledger, ledger.price(mechanism)),
    )


def released(
    session: Curator, query: Query, task: Mapping[str, Any], spend: Loss | None
) -> Release:
    """The group that was chosen, or the groups that are above."""
    vector = _vector(query)
    mechanism = _mechanism(vector, task, spend)
    assert spend is not None
    due = partial(_due, session, vector, task)
    with offering(session, spend, due):
        if isinstance(mechanism, SparseVector):
            return _above(session, vector, mechanism, task)
        return _chosen(session, query, vector, mechanism, task)


def _due(session: Curator, vector: Vector, task: Mapping[str, Any], spend: Loss) -> Price:
    return session.ledger.price(_mechanism(vector, task, spend))


def _chosen(
    session: Curator, query: Query, vector: Vector, mechanism: Mechanism, task: Mapping[str, Any]
) -> Release:
    asked = f"{mechanism.name} of\n{query.asked}"
    title = f"{mechanism.name}: {task['sql']}"
    found = session.release(mechanism.on(vector.value), question=asked, title=title)
    (group,) = (
        vector.groups[int(str(place))] for place in next(iter(found.answers.values())).cells
    )
    return replace(
        found,
        keys={name: (value,) for name, value in zip(vector.keys, group, strict=True)},
        answers={"chosen": Noisy(cells=(_label(vector, group),), estimand=_LARGEST)},
        provenance=replace(found.provenance, question=_words(task)),
    )


def _label(vector: Vector, group: Sequence[object]) -> str:
    """A group by its columns: city = Oslo, smoker = True."""
    return ", ".join(f"{name} = {value}" for name, value in zip(vector.keys, group, strict=True))


def _words(task: Mapping[str, Any]) -> str:
    """The question as answers and certificates state it."""
    if task.get("above") is None:
        return f"the largest group of {task['sql']}"
    above = task["above"]
    return f"the first {above['answers']} groups above {above['threshold']:g} of {task['sql']}"


def _vector(query: Query) -> Vector:
    found = query.vectors()
    if len(found) != 1 or not found[0].keys:
        raise UnsupportedQuery(
            "a choice needs one number per group",
            fix="SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
        )
    return found[0]


def _mechanism(vector: Vector, task: Mapping[str, Any], spend: Loss | None) -> Mechanism:
    if not isinstance(spend, Pure):
        raise BadParameter("a choice is paid for in ε", fix='"spend": {"epsilon": 0.1}')
    step = vector.value.bound("linf")
    assert step is not None
    options: dict[str, Any] = {"epsilon": spend.epsilon, "sensitivity": step}
    if task.get("above") is not None:
        above = task["above"]
        threshold = above["threshold"] / float(vector.worth)
        return SparseVector(answers=above["answers"], threshold=threshold, **options)
    if task["choose"] not in CHOICES:
        raise UnknownName.of("mechanism", task["choose"], known=CHOICES)
    made: Mechanism = CHOICES[task["choose"]](**options)
    return made


def _above(
    session: Curator, vector: Vector, mechanism: SparseVector, task: Mapping[str, Any]
) -> Release:
    """Group after group, until as many as were asked for are above."""

    def steps() -> Generator[Any, Any, list[int]]:
        names = vector.value.form.keys
        assert names is not None, "a vector has a name for each of its groups"
        opened = yield mechanism
        found: list[int] = []
        for place, name in enumerate(names):
            step: Step[Any] = opened.on(vector.value.at(name))
            if (yield step):
                found.append(place)
            if len(found) == mechanism.answers:
                break
        return found

    charges: list[Entry] = []
    title = f"above {task['above']['threshold']}: {task['sql']}"
    above = session.run(steps(), name=title, charges=charges)
    groups = [vector.groups[place] for place in above]
    keys = {name: tuple(each[i] for each in groups) for i, name in enumerate(vector.keys)}
    labels = tuple(_label(vector, each) for each in groups)
    return Release(
        keys=keys,
        answers={"above": Noisy(cells=labels, estimand=_LARGE)},
        loss=mechanism.loss(Pure),
        mechanisms=(mechanism.to_dict(),),
        unit=session.unit,
        provenance=Provenance(
            question=_words(task),
            table=", ".join(session.tables),
            price=charges[-1].record["price"],  # type: ignore[arg-type]
            data_version=session.version,
            **facts_of(session, charges[-1]),
        ),
    )
