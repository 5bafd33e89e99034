"""What the schema shows of an answer before it is asked: it costs nothing to say.

Columns are clipped to their bounds before anything is computed from them. That matters where a sum
per person, an expression or a group is made of such a column: what lies beyond its bounds then
counts as one of its ends. And no row can meet some conditions: a misspelt value, a late date.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any, Final

from deniable.query.aggregates import span_of
from deniable.query.algebra import (
    NUMBERS,
    TIMES,
    Aggregate,
    Call,
    Column,
    Expression,
    Filter,
    Function,
    Key,
    Literal,
    PerPerson,
    Project,
    Question,
    Read,
    Relation,
    Scan,
    columns_of,
    conjuncts,
    walk,
)
from deniable.query.algebra.show import plain

_TURNED: Final = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_ALIKE: Final = ("eq", "ne", "in")
_ABOVE: Final = {"gt": operator.ge, "ge": operator.gt, "eq": operator.gt, "in": operator.gt}
_BELOW: Final = {"lt": operator.le, "le": operator.lt, "eq": operator.lt, "in": operator.lt}


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


# ---- conditions that no row can meet


def unmet(question: Question) -> tuple[str, ...]:
    """A note for each constant that a column cannot be: never of data, so it is free."""
    conditions = [e for each in question.aggregates for e in each.expressions]
    filters: list[Expression] = []
    for relation in walk(question.relation):
        if isinstance(relation, Filter):
            filters.append(relation.where)
        elif isinstance(relation, PerPerson):
            conditions += [s.where for s in relation.summaries if s.where is not None]
    calls = (e for each in (*filters, *conditions) for e in walk(each) if isinstance(e, Call))
    needed = (e for each in filters for e in conjuncts(each) if isinstance(e, Call))
    notes = [note for each in calls for note in _unlisted(each)]
    notes += [note for each in needed for note in _beyond(each)]
    return tuple(dict.fromkeys(notes))


def _unlisted(condition: Call) -> Iterator[str]:
    """Constants that are not on the list of what they are compared with."""
    value, constants = _sides(condition)
    if condition.op not in _ALIKE or value is None or value.domain.values is None:
        return
    import difflib

    listed = value.domain.values
    for each in constants:
        if each.value is not None and each.value not in listed:
            folded = {str(key).casefold(): key for key in listed if isinstance(key, str)}
            near = difflib.get_close_matches(str(each.value).casefold(), folded, n=1)
            guess = f" (did you mean {folded[near[0]]!r}?)" if near else ""
            keys = f"one of the keys of `{value!r}`" if isinstance(value, Column) else None
            yield f"{each!r} is not {keys or f'a value of {plain(value)}'}{guess}"


def _beyond(condition: Call) -> Iterator[str]:
    """What a comparison is about, if its constants all lie outside the range."""
    value, constants = _sides(condition)
    limits: list[Any] = [each.value for each in constants]
    if value is None or value.kind not in NUMBERS | TIMES or None in limits:
        return
    known = value.domain
    if known.values is not None and condition.op in _ALIKE:  # the list says more
        return
    listed: Any = known.values or ()
    low, high = min(listed, default=known.low), max(listed, default=known.high)
    op = condition.op if condition.args[0] is value else _TURNED.get(condition.op, condition.op)
    above, below = _ABOVE.get(op), _BELOW.get(op)
    over = [high is not None and above is not None and above(each, high) for each in limits]
    under = [low is not None and below is not None and below(each, low) for each in limits]
    if all(map(operator.or_, over, under)):
        yield f"no row can pass: {plain(value)} " + (
            f"ends at {_end(high)}" if over[0] else f"starts at {_end(low)}"
        )


def _sides(condition: Call) -> tuple[Expression | None, list[Literal]]:
    """What is compared, and the constants that it is compared with."""
    constants = [each for each in condition.args if isinstance(each, Literal)]
    others = [each for each in condition.args if not isinstance(each, Literal)]
    return (others[0] if len(others) == 1 and constants else None), constants


def _end(end: object) -> str:
    if isinstance(end, int | float):
        return f"{end:.15g}"
    return str(end).removesuffix(" 00:00:00")
