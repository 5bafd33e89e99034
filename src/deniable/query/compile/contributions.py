"""What every row adds to its group: a whole number between public ends, or nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from sqlglot import exp

from deniable.query.aggregates import Measure, Tally
from deniable.query.algebra import (
    Column,
    Expression,
    Filter,
    Join,
    Kind,
    Project,
    Relation,
    Scan,
)
from deniable.query.integers import IntegerPlan
from deniable.schema import Column as Facts
from deniable.schema.binning import Grid

from . import nodes as sql
from .arithmetic import without_sign_of_zero
from .dialect import Dialect
from .nodes import Node, clipped
from .reals import Real
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
        everywhere = set(self.keys).intersection(*self.plan.sets)
        asked = [self.plan.question.keys[i].expression for i in everywhere]
        listed = frozenset(each.name for each in asked if isinstance(each, Column))
        rows = self.relations.rows(self.plan.question.relation, listed=listed)
        alias, source, read = self.relations.named(rows)
        value = self.relations.value
        made = [(f"k{i}", self._key(i, read)) for i in self.keys]
        made += [(called, value(each, read)) for each, called in self.columns.items()]
        if self.plan.weight > 1:
            made.append((PERSON, sql.name(PERSON, table=alias)))
        return selected(made, source)

    def _key(self, position: int, read: Mapping[str, Node]) -> Node:
        expression = self.plan.question.keys[position].expression
        made = self.relations.value(expression, read)
        if expression.kind is Kind.FLOAT:
            return without_sign_of_zero(made, self.relations.dialect)
        return made

    def column(self, expression: Expression) -> Node:
        """Where a value or condition of the question stands."""
        return sql.name(self.columns[expression])

    def holds(self, tally: Tally) -> bool:
        """Whether a row's number is within the tally's ends without being clamped.

        So it is for a column that was moved into its bounds when it was read, if the same
        arithmetic sends both bounds inside: each step of it (of whole numbers, or IEEE's −, ×, +
        and ⌊ ⌋ with a constant) is monotone, and a square is between 0 and those of the bounds.
        """
        if not isinstance(tally.value, Column):
            return False
        facts = _facts(self.plan.question.relation, tally.value.name)
        if facts is None or facts.numeric_bounds is None:
            return False
        squared = tally.measure is Measure.SQUARES
        reached = [_reached(end, tally) for end in facts.numeric_bounds]
        return all(tally.low <= each <= tally.high for each in [*reached, *[0] * squared])


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
                of_floats = tally.value.kind is Kind.FLOAT
                number = without_sign_of_zero(value, dialect) if of_floats else value
            case Measure.HISTOGRAM:
                assert tally.bins is not None
                number = _bin(value, tally.value, tally.bins, dialect)
            case _:
                number = _point(value, tally, dialect, clamp=not base.holds(tally))
    if tally.where is None:
        return number
    inside = dialect.whole(1) if number is None else number
    return sql.case((base.column(tally.where), inside))


def _point(value: Node, tally: Tally, dialect: Dialect, *, clamp: bool) -> Node:
    """⌊(x − centre)/g + ½⌋ or ⌊(x − centre)²/g + ½⌋ in float64, then clamped.

    Only the clamp is relied on, or `Base.holds`. A whole number on its own lattice needs no floats.
    """
    assert tally.value is not None
    nullable = tally.value.domain.nullable
    if _exact(tally):
        centred = sql.subtract(value, dialect.whole(int(tally.centre))) if tally.centre else value
        low, high = dialect.whole(tally.low), dialect.whole(tally.high)
        return clipped(centred, low, high, nullable=nullable) if clamp else centred
    number = Real.of(tally.value, value, dialect=dialect)
    if tally.centre:
        number = number.minus(Real.constant(tally.centre, dialect=dialect))
    if tally.measure is Measure.SQUARES:
        number = number.times(number.copy())
    scaled = number.times(Real.constant(_per_step(tally), dialect=dialect))
    near = scaled.plus(Real.constant(0.5, dialect=dialect)).floor().node
    if clamp:
        low, high = dialect.real(float(tally.low)), dialect.real(float(tally.high))
        near = clipped(near, low, high, nullable=False)
        return _where_known(value, dialect.to(Kind.INT, near), nullable=nullable)
    return dialect.to(Kind.INT, near)


def _exact(tally: Tally) -> bool:
    assert tally.value is not None
    whole = tally.value.kind is Kind.INT and tally.lattice.exponent == 0
    return whole and tally.measure is Measure.SUM


def _per_step(tally: Tally) -> float:
    return 2.0**-tally.lattice.exponent


def _reached(end: float, tally: Tally) -> float:
    """What `_point` makes of a bound, in the same arithmetic."""
    if _exact(tally):
        return int(end) - int(tally.centre)
    number = float(end) - tally.centre
    if tally.measure is Measure.SQUARES:
        number *= number
    scaled = number * _per_step(tally) + 0.5
    return math.floor(scaled) if math.isfinite(scaled) else math.inf


def _facts(relation: Relation, name: str) -> Facts | None:
    """The schema's word about a column that reaches the question as it was read."""
    match relation:
        case Scan():
            return next((read.facts for read in relation.reads if read.name == name), None)
        case Filter():
            return _facts(relation.source, name)
        case Join():
            left = _facts(relation.left, name)
            return _facts(relation.right, name) if left is None else left
        case Project():
            made = dict(relation.named).get(name)
            return _facts(relation.source, made.name) if isinstance(made, Column) else None
    return None


def _bin(value: Node, expression: Expression, bins: Grid, dialect: Dialect) -> Node:
    """The number of the bin a value lies in, clamped to those there are."""
    number = Real.of(expression, value, dialect=dialect)
    above = number.minus(Real.constant(float(bins.low), dialect=dialect))
    scaled = above.times(Real.constant(bins.factor, dialect=dialect))
    last = dialect.real(float(bins.count - 1))
    held = clipped(scaled.floor().node, dialect.real(0.0), last, nullable=False)
    place = dialect.to(Kind.INT, held)
    return _where_known(value, place, nullable=expression.domain.nullable)


def _where_known(value: Node, number: Node, *, nullable: bool) -> Node:
    """LEAST and GREATEST make a bound of what is missing."""
    return sql.case((sql.present(sql.copy(value)), number)) if nullable else number
