"""Reading a column: from what is stored to what the schema promises, for every possible row."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence

from sqlglot import exp

from deniable.query.algebra import Call, Column, Domain, Kind, Read, Scalar, call
from deniable.schema import Column as Facts
from deniable.schema.columns import DROP

from . import nodes as sql
from .arithmetic import clipped
from .dialect import Dialect
from .expressions import compiled
from .nodes import Node

_FIRST, _LAST = dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001


def reading(read: Read, *, spelling: str, dialect: Dialect) -> Node:
    """The column as the question reads it; `spelling` is the engine's name of its stored type."""
    stored = sql.name(read.source)
    if read.facts is None:
        return _identity(stored, spelling, dialect)
    kind = Kind(read.facts.type)
    if kind is dialect.stored(spelling) is Kind.FLOAT and read.facts.low is not None:
        return _imputed(_bounded(stored, spelling, read.facts, dialect), read.facts, kind, dialect)
    raw = _raw(stored, spelling, dialect)
    value = _cast(raw, dialect.stored(spelling) or Kind.TEXT, kind, dialect)
    return _kept(value, read.facts, kind, dialect)


def _identity(stored: Node, spelling: str, dialect: Dialect) -> Node:
    """A person id as it is: merging two ids would let one person change another's weight."""
    kind = dialect.stored(spelling)
    if kind is Kind.FLOAT:
        return exp.Nullif(this=stored, expression=sql.typed(sql.text("NaN"), spelling))
    return stored if kind is not None else dialect.to(Kind.TEXT, stored)


def _raw(stored: Node, spelling: str, dialect: Dialect) -> Node:
    """One of our kinds: 64-bit numbers without NaN, moments within the calendar, text."""
    match dialect.stored(spelling):
        case Kind.INT:
            return dialect.narrowed(stored, spelling)
        case Kind.FLOAT:
            return dialect.without_nan(dialect.as_float(stored, spelling))
        case Kind.BOOL:
            return stored
        case Kind.DATE:
            ends = [dialect.constant(end.date(), Kind.DATE) for end in (_FIRST, _LAST)]
            return _between(stored, ends)
        case Kind.TIMESTAMP:
            ends = [dialect.constant(end, Kind.TIMESTAMP) for end in (_FIRST, _LAST)]
            return _between(dialect.as_moment(stored, spelling), ends)
    return dialect.to(Kind.TEXT, stored)


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
        return dialect.to(Kind.TEXT, raw)
    if stored is Kind.FLOAT and wanted is Kind.BOOL:
        return _cast(_whole(raw, dialect), Kind.INT, Kind.BOOL, dialect)
    column = Column(name="raw", domain=Domain(kind=stored))
    operator = f"to_{wanted.value}"
    if stored not in _accepted(operator):
        return dialect.constant(None, wanted)
    return compiled(call(operator, column), dialect=dialect, columns={"raw": raw})


def _accepted(operator: str) -> frozenset[Kind]:
    from deniable.query.algebra import OPERATORS

    return OPERATORS[operator].kinds_of(0)


def _whole(raw: Node, dialect: Dialect) -> Node:
    """A stored float is a whole number if it is one; a fraction is not of the column's type."""
    exact = sql.eq(sql.copy(raw), dialect.step("FLOOR", sql.copy(raw)))
    column = Column(name="raw", domain=Domain(kind=Kind.FLOAT))
    rounded: Call = call("to_int", column)
    return sql.case((exact, compiled(rounded, dialect=dialect, columns={"raw": raw})))


def _bounded(stored: Node, spelling: str, facts: Facts, dialect: Dialect) -> Node:
    """The commonest column, in one step: neither missing nor NaN are at most infinite."""
    number = dialect.as_float(stored, spelling)
    low, high = (dialect.constant(end, Kind.FLOAT) for end in (facts.low, facts.high))
    known = sql.le(sql.copy(number), dialect.real(math.inf))
    return sql.case((known, clipped(number, low, high, nullable=False)))


def _kept(value: Node, facts: Facts, kind: Kind, dialect: Dialect) -> Node:
    """The schema's word: into the bounds, off the list is missing, what missing counts as."""
    if facts.low is not None:
        low, high = (dialect.constant(end, kind) for end in (facts.low, facts.high))
        value = clipped(value, low, high, nullable=True)
    if facts.keys is not None:
        value = sql.case((listed(sql.copy(value), facts.keys, kind, dialect=dialect), value))
    return _imputed(value, facts, kind, dialect)


def _imputed(value: Node, facts: Facts, kind: Kind, dialect: Dialect) -> Node:
    if facts.missing is None or facts.missing == DROP:
        return value
    return exp.Coalesce(this=value, expressions=[dialect.constant(facts.missing, kind)])


def listed(value: Node, values: Sequence[Scalar], kind: Kind, *, dialect: Dialect) -> Node:
    """Whether a value is on a list; whole numbers in a row are a range."""
    if kind is Kind.INT:
        numbers = sorted(int(v) for v in values)  # type: ignore[arg-type]
        if numbers[-1] - numbers[0] == len(set(numbers)) - 1:
            ends = (dialect.whole(numbers[0]), dialect.whole(numbers[-1]))
            return exp.Paren(this=exp.Between(this=value, low=ends[0], high=ends[1]))
    return sql.among(value, [dialect.constant(each, kind) for each in values])
