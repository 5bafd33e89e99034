"""The steps that a session is asked to release: checked by public facts, priced together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deniable.errors import BadParameter, UnitMismatch
from deniable.mechanisms import Mechanism, Step
from deniable.mechanisms.combine import Composed
from deniable.release import Noisy, answer_of, spread_of
from deniable.sensitive import Sensitive
from deniable.units import Unit

from .neighbours import check_entries

Columns = tuple[Mapping[str, tuple[object, ...]], Mapping[str, Noisy]]
"""The keys and the noisy columns of a release."""


def checked(wanted: object, *, unit: Unit) -> list[Step[Any]]:
    """The steps that were asked for, if a session may release them; public facts decide."""
    parts = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
    if not parts:
        raise BadParameter("there is nothing to release in an empty list of steps")
    steps: list[Step[Any]] = []
    for step in parts:
        if not isinstance(step, Step):
            raise BadParameter.of(
                "what is released", step, must="a step", fix="mechanism.on(dp.Sensitive(...))"
            )
        if step.handle is not None and len(parts) > 1:
            raise BadParameter("an opened mechanism is asked one question at a time")
        if step.handle is None or not isinstance(step.value, Sensitive):
            step.mechanism.on(step.value)  # a step made by hand is checked like any other
        check_entries(step, unit)
        if step.value.unit is not None and step.value.unit != unit:
            raise UnitMismatch(
                f"the value is bounded for {step.value.unit}; the session protects {unit}",
                why="how far one unit moves a value holds for that unit and relation only",
                fix=f"dp.Sensitive(..., unit={unit!r}) with bounds for that unit",
            )
        steps.append(step)
    return steps


def together(steps: Sequence[Step[Any]]) -> Mechanism:
    """What is charged for the steps: one mechanism."""
    if len(steps) == 1:
        return steps[0].mechanism
    return Composed.of(*((step.mechanism, 1) for step in steps))


def like(wanted: object, drawn: list[object]) -> object:
    """The answers in the kind of sequence that the steps came in."""
    return tuple(drawn) if isinstance(wanted, tuple) else drawn


def columns_of(steps: Sequence[Step[Any]]) -> Callable[[list[Any]], Columns]:
    """The rows of one step's answer; for several steps one row, with a column for each."""

    def present(drawn: list[Any]) -> Columns:
        if len(steps) == 1:
            keys, answer = answer_of(steps[0].mechanism, steps[0].value.form, drawn[0])
            return keys, {"value": answer}
        spreads = [spread_of(step.mechanism, step.value.form) for step in steps]
        pairs = enumerate(zip(drawn, spreads, strict=True), 1)
        return {}, {f"value_{n}": Noisy(cells=(one,), spread=spread) for n, (one, spread) in pairs}

    return present
