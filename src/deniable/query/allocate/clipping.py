"""Columns that are clipped to their bounds before anything is computed from them.

The schema says which, so this costs nothing. It matters where a sum per person, an expression or a
group is made of such a column: what lies beyond its bounds then counts as one of its ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from deniable.query.aggregates import span_of
from deniable.query.algebra import (
    Aggregate,
    Column,
    Expression,
    Function,
    Key,
    PerPerson,
    Project,
    Question,
    Read,
    Relation,
    Scan,
    columns_of,
)


def clipped_first(question: Question, aggregates: Iterable[Aggregate]) -> list[tuple[str, str]]:
    """Every column that is clipped before groups and aggregates are made of it, and its ends.

    An argument that is such a column itself is left out: its ends are those of the values.
    """
    found = [read for key in question.keys for read in _bounded(question, key.expression)]
    for each in aggregates:
        values = () if each.function is Function.COUNT else (each.shown, each.other)
        for value in (value for value in values if value is not None):
            own = span_of(value.domain) if isinstance(value, Column) else ""
            reads = _bounded(question, value)
            found += [read for read in reads if span_of(read.column.domain) != own]
    return list(dict.fromkeys((read.source, span_of(read.column.domain)) for read in found))


def estimand_of(question: Question, aggregates: Iterable[Aggregate]) -> list[str]:
    """Those columns, as clauses of what an answer estimates."""
    return [f"{name} is clipped to {ends}" for name, ends in clipped_first(question, aggregates)]


def listed(question: Question, key: Key) -> bool:
    """Whether a group is made of a column with a list: other values are then in no group."""
    reads = _reads(question.relation, columns_of(key.expression).keys())
    return any(read.facts is not None and read.facts.keys is not None for read in reads)


def _bounded(question: Question, made: Expression) -> Iterator[Read]:
    reads = _reads(question.relation, columns_of(made).keys())
    return (read for read in reads if read.facts is not None and read.facts.low is not None)


def _reads(relation: Relation, names: AbstractSet[str]) -> Iterator[Read]:
    """The columns of tables that columns are made of, also through a person's own rows."""
    made: list[Expression | None] = []
    match relation:
        case Scan():
            yield from (read for read in relation.reads if read.name in names)
        case Project():
            made = [each for name, each in relation.named if name in names]
        case PerPerson():
            made = [key for name, key in relation.keys if name in names]
            for summed in (s for s in relation.summaries if s.name in names):
                made += [summed.argument, summed.where]
        case _:
            for child in relation.children:
                yield from _reads(child, names)
            return
    below = {name for each in made if each is not None for name in columns_of(each)}
    for child in relation.children:
        yield from _reads(child, below)
