"""Reading a column: from what is stored to what the schema promises, for every possible row."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from deniable.query.algebra import (
    NUMBERS,
    OPERATORS,
    TIMES,
    Column,
    Domain,
    Kind,
    Read,
    Scalar,
    call,
)
from deniable.schema import Column as Facts
from deniable.schema.columns import DROP

from . import nodes as sql
from .arithmetic import without_sign_of_zero
from .dialect import CALENDAR, Dialect, uncollated
from .expressions import compiled
from .nodes import Node, clipped


def reading(read: Read, *, spelling: str, dialect: Dialect) -> Node:
    """The column as the question reads it; `spelling` is the engine's name of its stored type."""
    stored, spelling = dialect.column(read.source, spelling), uncollated(spelling)
    if read.facts is None:
        return _identity(stored, spelling, read.kind, dialect)
    kind = Kind(read.facts.type)
    if kind is dialect.stored(spelling) and kind in NUMBERS and read.facts.low is not None:
        return _bounded(stored, spelling, read.facts, dialect)
    return _kept(_of_kind(stored, spelling, kind, dialect), read.facts, kind, dialect)


def may_leave_out(read: Read) -> bool:
    """Whether a value off the column's list is missing, and counts as nothing else."""
    return read.facts is not None and read.facts.keys is not None and read.facts.missing == DROP


def reading_listed(read: Read, *, spelling: str, dialect: Dialect) -> tuple[Node, Node]:
    """The column as it is, and whether it is on its list: for who leaves out all other rows."""
    assert read.facts is not None
    assert read.facts.keys is not None
    kind = Kind(read.facts.type)
    stored = dialect.column(read.source, spelling)
    value = _of_kind(stored, uncollated(spelling), kind, dialect)
    return value, listed(sql.copy(value), read.facts.keys, kind, dialect=dialect)


def _of_kind(stored: Node, spelling: str, kind: Kind, dialect: Dialect) -> Node:
    raw = _raw(stored, spelling, dialect)
    return _cast(raw, dialect.stored(spelling) or Kind.TEXT, kind, dialect)


def id_type(read: Read, *, spelling: str, dialect: Dialect) -> str:
    """The type of ids as they are read; all that is stored as text is the engine's plain text."""
    spelling = uncollated(spelling)
    if dialect.stored(spelling) is not Kind.TEXT:
        return spelling
    return dialect.types[read.kind or Kind.TEXT]


def _identity(stored: Node, spelling: str, stated: Kind | None, dialect: Dialect) -> Node:
    """A person id as it is: merging two ids would let one person change another's weight.

    The same number written in two ways is one id. A float that other whole numbers are rounded to
    identifies nobody.
    """
    kind = dialect.stored(spelling)
    if kind is Kind.TEXT and stated not in (None, Kind.TEXT):
        value = _of_kind(stored, spelling, stated, dialect)
        return _exact_float(value, dialect) if stated is Kind.FLOAT else value
    if kind is Kind.FLOAT:
        known = dialect.stored_without_nan(stored, spelling)
        if _is_decimal(spelling):
            return dialect.decimal_in_one_way(known)
        return _exact_float(known, dialect)
    if kind in TIMES:  # no engine can write the last of its moments as text
        known = sql.present(_raw(sql.copy(stored), spelling, dialect))
        return sql.case((known, stored))
    if kind in (None, Kind.TEXT):
        return dialect.to(Kind.TEXT, dialect.possible(stored, spelling))
    return stored


def _exact_float(value: Node, dialect: Dialect) -> Node:
    """A float below 2⁵³, to which no other whole number is rounded; others identify nobody."""
    small = sql.lt(sql.function("ABS", sql.copy(value)), dialect.real(2.0**53))
    return sql.case((small, without_sign_of_zero(value, dialect)))


WHOLE_NUMBERS: Final = "whole numbers"
"""The type of ids from columns that store numbers differently: the digits of whole numbers."""


def common_id_type(one: str, other: str, *, dialect: Dialect) -> str | None:
    """The type in which ids of two stored types are equal if and only if they are one person.

    None if there is none. Text and text meet as text, floats as float64. Other numbers meet as
    whole numbers: a fraction has no one spelling that a decimal and a float share.
    """
    kinds = {_id_family(one, dialect), _id_family(other, dialect)}
    if one == other:
        return one
    if kinds == {Kind.TEXT}:
        return dialect.types[Kind.TEXT]
    if kinds == {Kind.FLOAT} and not (_is_decimal(one) or _is_decimal(other)):
        return dialect.types[Kind.FLOAT]
    return WHOLE_NUMBERS if kinds <= {Kind.INT, Kind.FLOAT} else None


def _id_family(spelling: str, dialect: Dialect) -> Kind | None:
    if spelling == WHOLE_NUMBERS:
        return Kind.INT
    known = {name: kind for kind, name in dialect.types.items()}
    return known.get(spelling) or dialect.stored(spelling)


def id_as(wanted: str, node: Node, *, spelling: str, dialect: Dialect) -> Node:
    """An id of one stored type in the common type of two; a fraction among whole numbers is none.

    Floats are below 2⁵³ here; the text of a decimal ends in the zeros of its scale.
    """
    if wanted == spelling:
        return node
    if wanted != WHOLE_NUMBERS:
        return sql.typed(node, wanted)
    words = dialect.to(Kind.TEXT, node)
    if _id_family(spelling, dialect) is Kind.INT:
        return words
    if _is_decimal(spelling):
        whole = dialect.matches(sql.copy(words), "-?[0-9]+([.]0*)?")
        bare = sql.function("REGEXP_REPLACE", words, sql.text("[.]0*$"), sql.text(""))
        return sql.case((whole, bare))
    whole = sql.eq(sql.copy(node), dialect.step("FLOOR", sql.copy(node)))
    return sql.case((whole, dialect.to(Kind.TEXT, dialect.to(Kind.INT, sql.copy(node)))))


def _is_decimal(spelling: str) -> bool:
    return re.match("decimal|numeric", spelling, re.IGNORECASE) is not None


def _raw(stored: Node, spelling: str, dialect: Dialect) -> Node:
    """One of our kinds: 64-bit numbers without NaN, moments within the calendar, text."""
    match dialect.stored(spelling):
        case Kind.INT:
            return dialect.narrowed(stored, spelling)
        case Kind.FLOAT:
            number = dialect.as_float(stored, spelling)
            return dialect.stored_without_nan(number, dialect.types[Kind.FLOAT])
        case Kind.BOOL:
            return stored
        case Kind.DATE:
            ends = [dialect.constant(end.date(), Kind.DATE) for end in CALENDAR]
            return _between(stored, ends)
        case Kind.TIMESTAMP:
            ends = [dialect.constant(end, Kind.TIMESTAMP) for end in CALENDAR]
            return _between(dialect.as_moment(stored, spelling), ends)
    return dialect.as_text(dialect.possible(stored, spelling))


def _between(node: Node, ends: list[Node]) -> Node:
    """The calendars of engines are longer than ours, and some have an infinite day."""
    return sql.case((exp.Between(this=node, low=ends[0], high=ends[1]), sql.copy(node)))


def _cast(raw: Node, stored: Kind, wanted: Kind, dialect: Dialect) -> Node:
    """By the algebra's own cast; a kind that cannot become the other is missing."""
    if stored is wanted:
        return raw
    if stored is Kind.FLOAT and wanted is Kind.INT:
        return _whole(raw, dialect)
    if stored is Kind.FLOAT and wanted is Kind.TEXT:
        return dialect.to(Kind.TEXT, raw)
    if stored is Kind.TIMESTAMP and wanted is Kind.TEXT:
        return dialect.moment_text(raw)
    if stored is Kind.FLOAT and wanted is Kind.BOOL:
        return _cast(_whole(raw, dialect), Kind.INT, Kind.BOOL, dialect)
    column = Column(name="raw", domain=Domain(kind=stored))
    operator = f"to_{wanted.value}"
    if stored not in OPERATORS[operator].kinds_of(0):
        return dialect.constant(None, wanted)
    return compiled(call(operator, column), dialect=dialect, columns={"raw": raw})


def _whole(raw: Node, dialect: Dialect) -> Node:
    """A stored float is a whole number if it is one; a fraction is not of the column's type."""
    exact = sql.eq(sql.copy(raw), dialect.step("FLOOR", sql.copy(raw)))
    column = Column(name="raw", domain=Domain(kind=Kind.FLOAT))
    whole = compiled(call("to_int", column), dialect=dialect, columns={"raw": raw})
    return sql.case((exact, whole))


def _bounded(stored: Node, spelling: str, facts: Facts, dialect: Dialect) -> Node:
    """The commonest column, in one step: missing and NaN are neither low nor at most infinite.

    A chain of comparisons takes engines half the time of LEAST and GREATEST, if what is compared
    costs nothing to repeat.
    """
    kind = Kind(facts.type)
    real = kind is Kind.FLOAT
    number = dialect.as_float(stored, spelling) if real else dialect.narrowed(stored, spelling)
    low, high = (dialect.constant(end, kind) for end in (facts.low, facts.high))
    above = dialect.real(math.inf) if real else dialect.whole(2**63 - 1)
    missing = dialect.constant(None if facts.missing == DROP else facts.missing, kind)
    nan = dialect.stored_nan(number) if real else None
    return sql.case(
        *([] if nan is None else [(nan, missing)]),
        (sql.le(sql.copy(number), low), sql.copy(low)),
        (sql.lt(sql.copy(number), high), sql.copy(number)),
        (sql.le(sql.copy(number), above), sql.copy(high)),
        default=sql.copy(missing),
    )


def _kept(value: Node, facts: Facts, kind: Kind, dialect: Dialect) -> Node:
    """The schema's word: into the bounds, off the list is missing, what missing counts as."""
    if facts.low is not None:
        low, high = (dialect.constant(end, kind) for end in (facts.low, facts.high))
        value = clipped(value, low, high, nullable=True)
    if facts.keys is not None:
        value = sql.case((listed(sql.copy(value), facts.keys, kind, dialect=dialect), value))
    if facts.missing is None or facts.missing == DROP:
        return value
    return exp.Coalesce(this=value, expressions=[dialect.constant(facts.missing, kind)])


def listed(value: Node, values: Sequence[Scalar], kind: Kind, *, dialect: Dialect) -> Node:
    """Whether a value is on a list; whole numbers in a row are a range."""
    run = in_a_row(values, kind)
    if run is not None:
        low, high = dialect.whole(run[0]), dialect.whole(run[-1])
        return exp.Paren(this=exp.Between(this=value, low=low, high=high))
    return sql.among(value, [dialect.constant(each, kind) for each in values])


def in_a_row(values: Sequence[Scalar], kind: Kind) -> range | None:
    """The range that whole numbers make which follow one another, listed in any order."""
    if kind is not Kind.INT:
        return None
    numbers = {value for value in values if isinstance(value, int)}
    run = range(min(numbers), max(numbers) + 1)  # its len may be more than Python can tell
    return run if run.stop - run.start == len(numbers) == len(values) else None
