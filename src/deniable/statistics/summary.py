"""All columns at a glance: the count, mean, standard deviation and quartiles of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from deniable.errors import BadParameter
from deniable.query.algebra import Aggregate, Function
from deniable.query.query import Query
from deniable.release import Noisy, Release, Tabulated

from .building import About, ask, distinct_columns

_ASKED: Final = {
    "count": (Function.COUNT, None),
    "mean": (Function.AVG, None),
    "std": (Function.STDDEV_SAMP, None),
    "q25": (Function.QUANTILE, 0.25),
    "median": (Function.QUANTILE, 0.5),
    "q75": (Function.QUANTILE, 0.75),
}
_CONFIDENCES: Final = (0.5, 0.8, 0.9, 0.95, 0.99)


def describe(about: About, columns: Sequence[str] | None = None) -> Query:
    """Every column with bounds: count, mean, std and quartiles, as one question."""
    given = [columns] if isinstance(columns, str) else columns
    listed = distinct_columns(about, "describe", given) if given is not None else numeric(about)
    if not listed:
        raise BadParameter(
            "there is no column with bounds to describe",
            fix='dp.Schema(columns={"age": dp.bounds(0, 125)})',
        )
    arguments = {name: about.number(name, what="summary") for name in listed}
    asked = [
        Aggregate(name=f"{name}·{row}", function=function, argument=argument, q=q)
        for name, argument in arguments.items()
        for row, (function, q) in _ASKED.items()
    ]
    return ask(about, *asked, text=f"summary of {', '.join(listed)}")


def numeric(about: About) -> list[str]:
    """The columns that can be described."""
    named = {b.name: b.expression for b in about.scope.bindings if not b.person}
    return [n for n, e in named.items() if e is not None and e.domain.numeric and e.domain.bounded]


def reshaped(release: Release) -> Release:
    """One row per column, instead of one row for all of them."""
    columns = list(dict.fromkeys(name.rpartition("·")[0] for name in release.answers))
    answers = {}
    for row in _ASKED:
        parts = [release.answers[f"{column}·{row}"] for column in columns]
        answers[row] = replace(stacked(parts), estimand=_estimands(columns, parts))
    return replace(release, keys={"column": tuple(columns)}, answers=answers)


def _estimands(columns: Sequence[str], parts: Sequence[Noisy]) -> str:
    """What the cells of several columns estimate: shared limits once, bounds by column."""
    said = (
        clause.replace("values are", f"{column} is")
        for column, part in zip(columns, parts, strict=True)
        for clause in part.estimand.split("; ")
    )
    return "; ".join(filter(None, dict.fromkeys(said)))


def stacked(parts: Sequence[Noisy]) -> Noisy:
    """Cells of several columns below each other, with their intervals."""
    cells = tuple(cell for part in parts for cell in part.cells)
    table = {
        c: [pair or (0.0, 0.0) for part in parts for pair in part.intervals(c)]
        for c in _CONFIDENCES
    }
    notes = dict.fromkeys(note for part in parts if (note := part.estimand))
    return Noisy(cells=cells, spread=Tabulated(intervals=table), estimand="; ".join(notes))
