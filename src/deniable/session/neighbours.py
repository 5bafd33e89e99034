"""For which neighbours is a mechanism's price proved? Asked before every charge.

Most proofs need only that neighbours move a value so far, whatever neighbours are. A few lean on
the relation itself: a Poisson sample has one price for a unit that is there or not and another for
one that is replaced; a sample of fixed size and a shuffle need one that is replaced. Scores are
monotonic when a unit is added; when one is replaced, some go up and others down, and the saving is
not proved.
"""

from __future__ import annotations

from typing import Any

from deniable.errors import BadParameter, SensitivityMismatch, UnitMismatch
from deniable.mechanisms import Mechanism, Step
from deniable.units import Relation, Unit


def check_proved(mechanism: Mechanism, unit: Unit) -> None:
    """UnitMismatch if the price of the mechanism, or of a part, is not proved for the unit."""
    for part in mechanism.within():
        stated = getattr(part, "unit", None)
        needed = Relation.ADD_REMOVE if getattr(part, "monotonic", False) else part.priced_for()
        if isinstance(stated, Unit) and stated != unit:
            whom = str(stated)
        elif needed is not None and needed is not unit.relation:
            whom = "units that are " + needed.words
        else:
            continue
        raise UnitMismatch(
            f"{type(part).__name__} is proved private for {whom}, but the session protects {unit}",
            why="its proof covers only those neighbours",
            fix=_fix(part, unit),
        )


def _fix(part: Mechanism, unit: Unit) -> str:
    from deniable.mechanisms import Sampled

    if getattr(part, "monotonic", False):
        return "monotonic=False"
    if isinstance(part, Sampled):
        return f'.sampled(rate={part.rate:g}, relation="{unit.relation.value}")'
    return "another mechanism"


def check_entries(step: Step[Any], unit: Unit) -> None:
    """Refuse a sample drawn row by row where a unit may have several rows, or one not drawn.

    A person may own several rows however few of them count; a row is one unless more is declared.
    """
    sampled = [part for part in step.mechanism.within() if part.draws_units]
    if step.value.form.statistic is not None and not sampled:
        raise BadParameter(
            f"{type(step.mechanism).__name__} draws no sample that the statistic could be asked of",
            fix="dp.Sensitive(lambda: statistic(rows), ...) without statistic=",
        )
    entries = step.value.entries
    if sampled and entries != 1 and (entries or unit.column):
        raise SensitivityMismatch(
            f"{type(sampled[0]).__name__} draws units, and {unit}, may have "
            f"{entries or 'several'} of the rows",
            why="a unit whose rows are drawn by coins of their own is in the sample more often",
            fix="dp.Sensitive(..., entries=1), with one row for each unit: the sum of its rows",
        )
