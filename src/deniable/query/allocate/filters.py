"""Conditions that the schema shows no row can meet: a misspelt value, a date that is too late."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, Final

from deniable.query.algebra import (
    NUMBERS,
    TIMES,
    Call,
    Column,
    Expression,
    Filter,
    Literal,
    PerPerson,
    Question,
    conjuncts,
    walk,
)
from deniable.query.algebra.show import plain

_TURNED: Final = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_ALIKE: Final = ("eq", "ne", "in")
_ABOVE: Final = {"gt": operator.ge, "ge": operator.gt, "eq": operator.gt, "in": operator.gt}
_BELOW: Final = {"lt": operator.le, "le": operator.lt, "eq": operator.lt, "in": operator.lt}


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
