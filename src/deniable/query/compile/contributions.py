"""What every row adds to its group: a whole number between public ends, or nothing."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from deniable.query.algebra import Expression, Kind
from deniable.query.bound import Bins, IntegerPlan, Measure, Tally

from . import nodes as sql
from .arithmetic import clipped
from .dialect import Dialect
from .nodes import Node
from .relations import PERSON, Relations, selected


class Base:
    """The last relation with what is asked about it: keys, values and conditions, each once."""

    def __init__(
        self,
        relations: Relations,
        plan: IntegerPlan,
        tallies: Sequence[Tally],
        keys: Sequence[int],
    ) -> None:
        self.relations, self.plan, self.keys = relations, plan, keys
        wanted = [e for t in tallies for e in (t.value, t.where) if e is not None]
        self.columns = {each: f"x{i}" for i, each in enumerate(dict.fromkeys(wanted))}

    def select(self) -> exp.Select:
        """SELECT p, k0 …, x0 … FROM the relation."""
        rows = self.relations.rows(self.plan.question.relation)
        alias = self.relations.alias()
        source, read = rows.named(alias)
        value = self.relations.value
        made = [(f"k{i}", value(self.plan.question.keys[i].expression, read)) for i in self.keys]
        made += [(called, value(each, read)) for each, called in self.columns.items()]
        if self.plan.weight > 1:
            made.append((PERSON, sql.name(PERSON, table=alias)))
        return selected(made, source)

    def column(self, expression: Expression) -> Node:
        """Where a value or condition of the question stands."""
        return sql.name(self.columns[expression])


def contribution(tally: Tally, *, base: Base, dialect: Dialect) -> Node | None:
    """The number a row adds; missing where it does not count. None: 1 for every row.

    For DISTINCT it is the value itself, for HISTOGRAM the number of the bin.
    """
    number: Node | None = None
    if tally.value is not None:
        value = base.column(tally.value)
        match tally.measure:
            case Measure.COUNT:
                number = sql.case((sql.present(value), dialect.whole(1)))
            case Measure.DISTINCT:
                number = value
            case Measure.HISTOGRAM:
                assert tally.bins is not None
                number = _bin(value, tally.value, tally.bins, dialect)
            case _:
                number = _point(value, tally, dialect)
    if tally.where is None:
        return number
    inside = dialect.whole(1) if number is None else number
    return sql.case((base.column(tally.where), inside))


def _point(value: Node, tally: Tally, dialect: Dialect) -> Node:
    """⌊(x − centre)/g + ½⌋ or ⌊(x − centre)²/g + ½⌋ in float64, then clamped.

    Only the clamp is relied on. A whole number on its own lattice needs no floats.
    """
    assert tally.value is not None
    nullable = tally.value.domain.nullable
    exact = tally.value.kind is Kind.INT and tally.lattice.exponent == 0
    if exact and tally.measure is Measure.SUM:
        centred = sql.subtract(value, dialect.whole(int(tally.centre))) if tally.centre else value
        low, high = dialect.whole(tally.low), dialect.whole(tally.high)
        return clipped(centred, low, high, nullable=nullable)
    number = value if tally.value.kind is Kind.FLOAT else dialect.to(Kind.FLOAT, value)
    if tally.centre:
        number = sql.subtract(number, dialect.real(tally.centre))
    if tally.measure is Measure.SQUARES:
        factor = dialect.calm(number, tally.value.domain)
        number = sql.times(factor, sql.copy(factor))
    per_step = 2.0**-tally.lattice.exponent
    scaled = sql.times(dialect.calm(number, tally.value.domain), dialect.real(per_step))
    near = dialect.step("FLOOR", sql.add(scaled, dialect.real(0.5)))
    low, high = dialect.real(float(tally.low)), dialect.real(float(tally.high))
    held = clipped(near, low, high, nullable=False)
    point = dialect.to(Kind.INT, held)
    return sql.case((sql.present(sql.copy(value)), point)) if nullable else point


def _bin(value: Node, expression: Expression, bins: Bins, dialect: Dialect) -> Node:
    """The number of the bin a value lies in, clamped to those there are."""
    number = value if expression.kind is Kind.FLOAT else dialect.to(Kind.FLOAT, value)
    above = sql.subtract(number, dialect.real(bins.low))
    scaled = sql.times(dialect.calm(above, expression.domain), dialect.real(bins.factor))
    last = dialect.real(float(bins.count - 1))
    held = clipped(dialect.step("FLOOR", scaled), dialect.real(0.0), last, nullable=False)
    place = dialect.to(Kind.INT, held)
    if not expression.domain.nullable:
        return place
    return sql.case((sql.present(sql.copy(value)), place))
