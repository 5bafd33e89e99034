"""Our relations as SELECTs, whose columns are c0, c1, … and whose person is p."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlglot import exp

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import (
    Expression,
    Filter,
    Join,
    JoinKind,
    Kind,
    PerPerson,
    Project,
    Read,
    Relation,
    Scan,
    Summary,
    Summed,
    Union,
)
from deniable.query.algebra.expressions import in_floats
from deniable.query.integers import KEPT_OF_BOTH, KEPT_OF_ONE
from deniable.session.identity import identifies, refused

from . import nodes as sql
from .dialect import Dialect, uncollated
from .expressions import compiled
from .nodes import Node
from .reading import (
    common_id_type,
    id_as,
    id_type,
    may_leave_out,
    reading,
    reading_listed,
)

PERSON: Final = "p"
_PLACE: Final = "i"
_TOTAL: Final = "n"
_BEYOND: Final = "beyond"
_ROOM: Final = "room"


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A table as the engine holds it: what comes after FROM, and how each column is stored."""

    source: Node
    types: Mapping[str, str]
    replaced: str = ""
    """What the engine's reader puts in place of bytes that are not text."""


@dataclass(frozen=True, kw_only=True)
class Subselect:
    """A SELECT, and under which column of it each of ours stands.

    `person` is the type that ids are stored as; None if there are none.
    """

    select: exp.Select
    columns: Mapping[str, str]
    person: str | None

    def named(self, called: str) -> tuple[Node, dict[str, Node]]:
        """As a subquery, and how its columns are read."""
        alias = exp.TableAlias(this=exp.to_identifier(called, quoted=True))
        read: dict[str, Node] = {
            ours: sql.name(theirs, table=called) for ours, theirs in self.columns.items()
        }
        return exp.Subquery(this=self.select, alias=alias), read


class Relations:
    """Compiles relations for one engine and its tables."""

    def __init__(
        self,
        dialect: Dialect,
        tables: Mapping[str, Stored],
        *,
        joined: tuple[int, int] = (KEPT_OF_ONE, KEPT_OF_BOTH),
    ) -> None:
        self.dialect, self.tables, self._joined = dialect, tables, joined
        self._count = 0

    def rows(self, relation: Relation, *, listed: frozenset[str] = frozenset()) -> Subselect:
        """The rows of a relation.

        Of the columns `listed` only values on their lists matter to who asks: other rows may be
        left out, as long as no other row depends on them.
        """
        match relation:
            case Scan():
                return self._scan(relation, listed)
            case Filter():
                return self._filter(relation, listed)
            case Project():
                return self._project(relation)
            case Join():
                return self._join(relation)
            case Union():
                return self._union(relation)
            case PerPerson():
                return self._per_person(relation)
        raise AssertionError(type(relation))

    def value(self, expression: Expression, read: Mapping[str, Node]) -> Node:
        """An expression about columns that are read so."""
        return compiled(expression, dialect=self.dialect, columns=read)

    def alias(self) -> str:
        """A name for a subquery that no other has."""
        self._count += 1
        return f"r{self._count}"

    def named(self, rows: Subselect) -> tuple[str, Node, dict[str, Node]]:
        """A fresh alias for rows, their subquery under it, and how its columns are read."""
        alias = self.alias()
        return alias, *rows.named(alias)

    def _scan(self, scan: Scan, listed: frozenset[str]) -> Subselect:
        table = self.tables[scan.table]
        made: list[tuple[str, Node]] = []
        conditions = []
        for i, read in enumerate(scan.reads):
            stored = table.types[read.source]
            value = reading(read, spelling=stored, dialect=self.dialect)
            if read.name in listed and may_leave_out(read):
                value, on_list = reading_listed(read, spelling=stored, dialect=self.dialect)
                conditions.append(on_list)
            made.append((f"c{i}", value))
        person = None
        if scan.id is not None:
            made.append((PERSON, self._read_id(scan.id, table)))
            person = id_type(scan.id, spelling=table.types[scan.id.source], dialect=self.dialect)
        select = selected(made, sql.copy(table.source))
        return Subselect(
            select=select.where(sql.both(conditions), copy=False) if conditions else select,
            columns={read.name: f"c{i}" for i, read in enumerate(scan.reads)},
            person=person,
        )

    def _read_id(self, read: Read, table: Stored) -> Node:
        """Ids in which bytes were replaced would be one to us and different to others: missing."""
        spelling = table.types[read.source]
        if not identifies(spelling):
            raise refused(read.source, spelling, table="the table")
        person = reading(read, spelling=spelling, dialect=self.dialect)
        held_as_text = self.dialect.stored(uncollated(spelling)) is Kind.TEXT
        if not (table.replaced and held_as_text and read.kind in (None, Kind.TEXT)):
            return person
        doubtful = self.dialect.contains(sql.copy(person), sql.text(table.replaced))
        return sql.case((sql.negated(doubtful), person))

    def _filter(self, relation: Filter, listed: frozenset[str]) -> Subselect:
        below = self.rows(relation.source, listed=listed)
        alias, source, read = self.named(below)
        select = selected(_through(below, alias), source).where(
            self.value(relation.where, read), copy=False
        )
        return replace(below, select=select)

    def _project(self, relation: Project) -> Subselect:
        below = self.rows(relation.source)
        alias, source, read = self.named(below)
        made = [(f"c{i}", self.value(e, read)) for i, (_, e) in enumerate(relation.named)]
        columns = {called: f"c{i}" for i, (called, _) in enumerate(relation.named)}
        select = selected(made + _person(below, alias), source)
        return Subselect(select=select, columns=columns, person=below.person)

    def _join(self, relation: Join) -> Subselect:
        left, right = self.rows(relation.left), self.rows(relation.right)
        pairs = [in_floats(a, b) for a, b in relation.on]
        if relation.unique:
            right = self._first(right, [b for _, b in pairs])
        if relation.multiplies:
            left = self._few(left, [a for a, _ in pairs])
            right = self._few(right, [b for _, b in pairs])
        (near, source, reads), (far, other, others) = self.named(left), self.named(right)
        equal = [sql.eq(self.value(a, reads), self.value(b, others)) for a, b in pairs]
        if relation.same_person:
            own, theirs = sql.name(PERSON, table=near), sql.name(PERSON, table=far)
            met = self._met(left, right)
            equal.append(sql.eq(self._id_as(met, own, left), self._id_as(met, theirs, right)))
        if relation.multiplies:
            equal.append(sql.le(sql.name(_BEYOND, table=far), sql.name(_ROOM, table=near)))
        names = [*left.columns, *right.columns]
        made = [(f"c{i}", (reads | others)[called]) for i, called in enumerate(names)]
        select = selected(made + _person(left, near), source)
        kind = "LEFT" if relation.kind is JoinKind.LEFT else "INNER"
        select = select.join(other, on=sql.both(equal), join_type=kind, copy=False)
        if relation.multiplies:  # after the join, or rows of the left would seem to have no match
            room = sql.name(_ROOM, table=far)
            meets = sql.le(sql.name(_BEYOND, table=near), room)
            select = select.where(sql.either([sql.missing(sql.copy(room)), meets]), copy=False)
        columns = {called: f"c{i}" for i, called in enumerate(names)}
        return Subselect(select=select, columns=columns, person=left.person)

    def _first(self, rows: Subselect, on: Sequence[Expression]) -> Subselect:
        """Of rows with equal `on` the first in the order of all columns."""
        alias, source, read = self.named(rows)
        window = exp.Window(
            this=sql.function("ROW_NUMBER"),
            partition_by=[self.value(each, read) for each in on],
            order=exp.Order(expressions=self._ordered(rows, read)),
        )
        numbered = selected([*_through(rows, alias), ("n", window)], source)
        held = replace(rows, select=numbered)
        outer, below, _ = self.named(held)
        first = sql.eq(sql.name("n", table=outer), sql.plain(1))
        select = selected(_through(held, outer), below).where(first, copy=False)
        return replace(rows, select=select)

    def _few(self, rows: Subselect, on: Sequence[Expression]) -> Subselect:
        """Of each person's rows with equal `on` at most `joined`, evenly spaced in their order.

        Which are kept depends on nobody else's rows; rows that tie are the same in all columns.
        `beyond` is 1 for rows that only meet rows with `room`: 1 where the person has few.
        """
        alias, source, read = self.named(rows)
        by = [sql.name(PERSON, table=alias), *(self.value(each, read) for each in on)]
        # Spark wants an order, also where all of a person's rows are the same.
        ordered = self._ordered(rows, read) or [exp.Ordered(this=sql.copy(by[0]))]
        order = exp.Order(expressions=ordered)
        ranked = exp.Window(this=sql.function("ROW_NUMBER"), partition_by=by, order=order)
        every = [sql.copy(each) for each in by]
        counted = exp.Window(this=sql.function("COUNT", exp.Star()), partition_by=every)
        whole = [
            (called, self.dialect.to(Kind.INT, window))
            for called, window in ((_PLACE, ranked), (_TOTAL, counted))
        ]
        numbered = selected([*_through(rows, alias), *whole], source)
        held = replace(rows, select=numbered)
        outer, below, _ = self.named(held)
        of_one, of_both = self._joined
        one, zero = sql.plain(1), sql.plain(0)
        few = sql.le(sql.name(_TOTAL, table=outer), self.dialect.whole(of_both))
        flags = [
            (_BEYOND, sql.case((self._spaced(of_both, outer), zero), default=one)),
            (_ROOM, sql.case((few, sql.copy(one)), default=sql.copy(zero))),
        ]
        kept = sql.either([self._spaced(of_one, outer), self._spaced(of_both, outer)])
        select = selected([*_through(held, outer), *flags], below).where(kept, copy=False)
        return replace(rows, select=select)

    def _spaced(self, most: int, alias: str) -> Node:
        """Whether row i of n is kept: n ≤ c, or ⌊(ic + ⌊n/2⌋)/n⌋ grows at i, which it does c times.

        With c ≤ 2²⁰ and n ≤ 2⁴² nothing overflows.
        """
        whole, quotient = self.dialect.whole, self.dialect.quotient
        total = sql.name(_TOTAL, table=alias)

        def reached(place: Node) -> Node:
            half = quotient(sql.copy(total), whole(2))
            return quotient(sql.add(sql.times(place, whole(most)), half), sql.copy(total))

        place = sql.name(_PLACE, table=alias)
        grows = sql.gt(reached(sql.copy(place)), reached(sql.subtract(place, whole(1))))
        return sql.either([sql.le(total, whole(most)), grows])

    def _ordered(self, rows: Subselect, read: Mapping[str, Node]) -> list[Node]:
        """Missing values last, on every engine."""
        return [exp.Ordered(this=read[called], nulls_first=False) for called in rows.columns]

    def _union(self, relation: Union) -> Subselect:
        """Both sides' columns, which have the same names, in the order of the left's."""
        sides = [self.rows(relation.left), self.rows(relation.right)]
        names = {column.name: f"c{i}" for i, column in enumerate(relation.columns)}
        selects = []
        person = self._met(*sides)
        for side in sides:
            alias, source, read = self.named(side)
            made: list[tuple[str, Node]] = [(names[ours], read[ours]) for ours in names]
            if side.person is not None:
                own = sql.name(PERSON, table=alias)
                made.append((PERSON, self._id_as(person, own, side)))
            selects.append(selected(made, source))
        both = exp.Union(this=selects[0], expression=selects[1], distinct=False)
        together = exp.TableAlias(this=exp.to_identifier(self.alias(), quoted=True))
        listed = [*names.values(), *([] if person is None else [PERSON])]
        select = selected(
            [(called, sql.name(called)) for called in listed],
            exp.Subquery(this=both, alias=together),
        )
        return Subselect(select=select, columns=names, person=person)

    def _met(self, left: Subselect, right: Subselect) -> str | None:
        """The type in which the ids of both are compared.

        An engine would make them alike by a cast that can fail on a row, or merge two ids.
        """
        if left.person is None or right.person is None:
            return left.person
        met = common_id_type(left.person, right.person, dialect=self.dialect)
        if met is None:
            raise UnsupportedQuery(
                f"the column that identifies people is {left.person} in one table and "
                f"{right.person} in another",
                why="ids of different types can be equal and yet differ, so that one person could "
                "count as two",
                fix="a view of one of the tables, with the id CAST to the other's type",
            )
        return met

    def _id_as(self, wanted: str | None, node: Node, rows: Subselect) -> Node:
        assert wanted is not None
        assert rows.person is not None
        return id_as(wanted, node, spelling=rows.person, dialect=self.dialect)

    def _per_person(self, relation: PerPerson) -> Subselect:
        below = self.rows(relation.source)
        alias, source, read = self.named(below)
        person = sql.name(PERSON, table=alias)
        keys = [(f"c{i}", self.value(key, read)) for i, (_, key) in enumerate(relation.keys)]
        sums = [
            (f"c{len(keys) + i}", self._summed(each, read))
            for i, each in enumerate(relation.summaries)
        ]
        select = selected([*keys, *sums, (PERSON, person)], source)
        select = select.where(sql.present(sql.copy(person)), copy=False)
        groups = [sql.copy(person), *(sql.copy(node) for _, node in keys)]
        select = select.group_by(*groups, copy=False)
        names = [called for called, _ in relation.keys] + [s.name for s in relation.summaries]
        columns = {called: f"c{i}" for i, called in enumerate(names)}
        return Subselect(select=select, columns=columns, person=below.person)

    def _summed(self, each: Summed, read: Mapping[str, Node]) -> Node:
        value = None if each.argument is None else self.value(each.argument, read)
        if each.where is not None:
            inside = sql.plain(1) if value is None else value
            value = sql.case((self.value(each.where, read), inside))
        if value is None:
            return self.dialect.to(Kind.INT, sql.function("COUNT", exp.Star()))
        match each.summary:
            case Summary.COUNT:
                return self.dialect.to(Kind.INT, sql.function("COUNT", value))
            case Summary.COUNT_DISTINCT:
                return self.dialect.to(Kind.INT, sql.distinct(value))
            case Summary.SUM:
                total = sql.function("SUM", self.dialect.widened(value))
                return self.dialect.to(Kind.FLOAT, total)
        assert each.argument is not None
        return _extreme(each, value, self.dialect)


def _extreme(each: Summed, value: Node, dialect: Dialect) -> Node:
    assert each.argument is not None
    kind = each.argument.kind
    if kind is Kind.BOOL:
        number = dialect.to(Kind.INT, sql.typed(value, "INT"))
        return sql.eq(sql.function(each.summary.value.upper(), number), dialect.whole(1))
    ordered = dialect.ordered(value) if kind is Kind.TEXT else value
    return sql.function(each.summary.value.upper(), ordered)


def selected(made: Sequence[tuple[str, Node]], source: Node) -> exp.Select:
    """SELECT … FROM …; at least one column, as SQL wants."""
    listed = [sql.aliased(node, called) for called, node in made] or [sql.plain(1)]
    return exp.Select().select(*listed, copy=False).from_(source, copy=False)


def _through(rows: Subselect, alias: str) -> list[tuple[str, Node]]:
    same: list[tuple[str, Node]] = [
        (theirs, sql.name(theirs, table=alias)) for theirs in rows.columns.values()
    ]
    return same + _person(rows, alias)


def _person(rows: Subselect, alias: str) -> list[tuple[str, Node]]:
    return [(PERSON, sql.name(PERSON, table=alias))] if rows.person is not None else []
