"""Execute: the one module that sends anything to an engine.

    plan → SQL of the engine that holds the tables → rows → whole numbers for every group

Groups with public keys all come back, in the order of their lists, with 0 where nothing was found:
what came from the engine can add no group and leave none out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from deniable.sampling import Source
from deniable.sampling.source import chosen
from deniable.session.tables import Table

from .algebra import Join, Kind, Relation, Scalar, Scan
from .backends import Engine, engine_for
from .backends.engine import Found
from .bound import Cells, Group, IntegerPlan, Measure
from .compile import Statement, statements

_SECRET_BITS: Final = 128
_LIMIT: Final = 2**63 - 1


def execute(
    plan: IntegerPlan, *, tables: Mapping[str, Table], source: Source | None = None
) -> Cells:
    """Ask the engine; to be called by a session, after the charge, and by nobody else.

    The hash by which persons keep some of their groups is keyed anew every time.
    """
    needed = [tables[name] for name in table_names(plan.question.relation)]
    secret = f"{chosen(source).integer(_SECRET_BITS):032x}"
    with engine_for(needed)(needed) as engine:
        asked = compiled_for(plan, engine, secret=secret)
        found = engine.run([each.text for each in asked])
    return _cells(plan, list(zip(asked, found, strict=True)))


def compiled_for(plan: IntegerPlan, engine: Engine, *, secret: str) -> tuple[Statement, ...]:
    """The statements for an engine that is connected."""
    return statements(plan, dialect=engine.dialect, tables=engine.stored(), secret=secret)


def table_names(relation: Relation) -> list[str]:
    """The tables a relation reads, each once."""
    if isinstance(relation, Scan):
        return [relation.table]
    below = (
        [relation.left, relation.right] if isinstance(relation, Join) else [relation.source]  # type: ignore[attr-defined]
    )
    return list(dict.fromkeys(name for each in below for name in table_names(each)))


# ---- rows → cells


def _cells(plan: IntegerPlan, answers: Sequence[tuple[Statement, Found]]) -> Cells:
    read = [(asked, list(_read(plan, asked, rows))) for asked, rows in answers]
    if plan.private_keys:
        there = {group for _, rows in read for group, _, _ in rows}
        groups = tuple(sorted(there, key=_sortable))
    else:
        groups = tuple(plan.public_groups())
    place = {group: i for i, group in enumerate(groups)}
    numbers: dict[str, Any] = {}
    histograms: dict[str, Any] = {}
    for asked, rows in read:
        for j, tally in enumerate(asked.tallies):
            if tally.measure is Measure.HISTOGRAM:
                assert tally.bins is not None
                table = np.zeros((len(groups), tally.bins.count), dtype=np.int64)
                for group, bin_, found in rows:
                    if bin_ is not None and group in place:
                        table[place[group], bin_] = min(found[j], _LIMIT)
                histograms[tally.name] = table
                continue
            column = np.zeros(len(groups), dtype=object)
            for group, _, found in rows:
                if group in place:
                    column[place[group]] = found[j]
            numbers[tally.name] = column
    return Cells(groups=groups, numbers=numbers, histograms=histograms)


def _read(
    plan: IntegerPlan, asked: Statement, rows: Found
) -> Iterable[tuple[Group, int | None, list[int]]]:
    """Each row as its group, its bin and its numbers; rows that are in no group are left out."""
    keys, count = plan.question.keys, len(asked.keys)
    for row in rows:
        values = dict(zip(asked.keys, row[:count], strict=True))
        rest = list(row[count:])
        bin_ = rest.pop(0) if asked.binned else None
        left_out = set()
        if asked.flagged:
            left_out = {i for i, flag in zip(asked.keys, rest, strict=False) if flag}
            rest = rest[count:]
        group: list[Scalar | None] = [None] * len(keys)
        for i, value in values.items():
            if i not in left_out:
                group[i] = canonical(value, keys[i].expression.kind)
        if all(group[i] is not None for i in values if i not in left_out):
            place = None if bin_ is None else int(bin_)
            yield tuple(group), place, [0 if n is None else int(n) for n in rest]


def canonical(value: Any, kind: Kind) -> Scalar | None:
    """A key in the Python type of its kind, so that equal keys are equal whatever the engine."""
    if value is None:
        return None
    match kind:
        case Kind.FLOAT:
            return float(value) + 0.0
        case Kind.INT:
            return int(value)
        case Kind.BOOL:
            return bool(value)
    return value  # type: ignore[no-any-return]


def _sortable(group: Group) -> tuple[tuple[bool, Any], ...]:
    """Keys left out come last."""
    return tuple((value is None, 0 if value is None else value) for value in group)
