"""The integer plan as SQL.

One statement for all sums and counts, one for each histogram, each count of distinct values, and
each count of persons. A statement is a chain of named parts:

    base       the last relation: person p, keys k0 k1 …, and what tallies are about, x0 x1 …
    rows       rows that are in some group, and what each adds: whole numbers v0 v1 …

and then one of five ways to add up:

    plain      every row is a unit: one GROUP BY, as fast as the question itself
    by person  without keys: each person's rows are added up, and the sum is weighted
    weighted   a person's k rows weigh min(2²⁰, ⌊L·2²⁰/k⌋), where k is counted on `rows`
    capped     persons × groups are added up first; each person keeps the `groups` of them that
               come first by a keyed hash; weights are of the rows that are left
    distinct   each person keeps at most `rows` different values, by such a hash; each counts once

The rows that are counted must be the rows that are added up: a view that samples, or a file that
is replaced, shows others when it is read again, and a person would get the weight of few rows for
many. So every part is read once, by a window that counts beside the rows. DuckDB is quicker at a
join, and makes joins of some windows by itself: there, what is read twice is stored first, in the
shortest types that hold it. A row of a person, a key and three numbers takes 15 bytes, and not 48.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlglot import exp

from deniable.errors import UnsupportedQuery
from deniable.query.aggregates import Measure, Tally
from deniable.query.algebra import Kind
from deniable.query.integers import IntegerPlan

from . import nodes as sql
from .contributions import Base, contribution
from .dialect import Dialect
from .nodes import Node
from .reading import listed
from .relations import PERSON, Relations, Stored, selected

BIN: Final = "bin"
# A statement longer than this is refused, before anything is sent.
LONGEST: Final = 4_000_000
# Numbers of 16 bits are added up in 64 bits, longer ones in 128.
SHORT: Final = 2**15


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One SELECT: the columns k0 … of keys, g0 … telling which are left out, bin, and numbers."""

    text: str = field(repr=False)
    keys: tuple[int, ...]
    flagged: bool
    binned: bool
    tallies: tuple[Tally, ...]


def statements(
    plan: IntegerPlan, *, dialect: Dialect, tables: Mapping[str, Stored], secret: str
) -> tuple[Statement, ...]:
    """Everything the engine is asked; `secret` keys the hash by which persons keep groups."""
    try:
        return tuple(
            Writer(plan, tallies, dialect=dialect, tables=tables, secret=secret).statement()
            for tallies in _together(plan)
        )
    except RecursionError:
        raise UnsupportedQuery("this query is nested too deeply to be written as SQL") from None


def _together(plan: IntegerPlan) -> list[tuple[Tally, ...]]:
    """Which tallies can be added up by one statement."""
    apart = {Measure.HISTOGRAM, Measure.DISTINCT}
    if plan.weight > 1 and not plan.private_keys:
        apart.add(Measure.PERSONS)
    shared = tuple(tally for tally in plan.tallies if tally.measure not in apart)
    if plan.hidden is not None:
        shared = (*shared, plan.hidden)
    if plan.selection is not None:
        shared = (plan.selection, *shared)
    alone = [(tally,) for tally in plan.tallies if tally.measure in apart]
    return ([shared] if shared else []) + alone


class Writer:
    """Writes one statement."""

    def __init__(
        self,
        plan: IntegerPlan,
        tallies: Sequence[Tally],
        *,
        dialect: Dialect,
        tables: Mapping[str, Stored],
        secret: str,
    ) -> None:
        self.plan, self.tallies, self.dialect, self.secret = plan, tuple(tallies), dialect, secret
        self.sets = plan.sets
        self.keys = tuple(sorted({i for chosen in self.sets for i in chosen}))
        self.binned = tallies[0].measure is Measure.HISTOGRAM
        self.person = plan.weight > 1
        relations = Relations(dialect, tables, joined=plan.joined)
        self.base = Base(relations, plan, self.tallies, self.keys)
        self.parts: list[tuple[str, exp.Select]] = []
        self.read_twice: set[str] = set()
        self.stores_rows = False

    def statement(self) -> Statement:
        """The finished SQL statement and how to read its result."""
        add_up = self._way()
        self.stores_rows = add_up == self._joined_weights
        self.parts = [("base", self.base.select()), ("rows", self._rows())]
        final = add_up()
        return Statement(
            text=self._text(final),
            keys=self.keys,
            flagged=len(self.sets) > 1,
            binned=self.binned,
            tallies=self.tallies,
        )

    def _way(self) -> Callable[[], exp.Select]:
        """How the rows are added up."""
        measure = self.tallies[0].measure
        if not self.person:
            return self._plain
        if measure is Measure.DISTINCT:
            return self._distinct
        if self.plan.private_keys or (measure is Measure.PERSONS and self.keys):
            return self._capped
        if measure is Measure.PERSONS:
            return lambda: self._final([sql.distinct(sql.name(PERSON))], "rows")
        if not self._key_names():
            return self._by_person
        return self._joined_weights if self.dialect.joins_weights else self._weighted

    def _text(self, final: exp.Select) -> str:
        stored = self.read_twice if self.dialect.joins_weights else set()
        for called, part in self.parts:
            final = final.with_(
                exp.to_identifier(called, quoted=True),
                as_=part,
                materialized=(called in stored) if self.dialect.says_materialized else None,
                copy=False,
            )
        text = self.dialect.write(final)
        if len(text) > LONGEST:
            raise UnsupportedQuery("this question is too long when it is written out as SQL")
        return text

    # ---- parts

    def _rows(self) -> exp.Select:
        """Rows that are in some group of some set, with what they add."""
        made: list[tuple[str, Node]] = [(f"k{i}", self._key(i)) for i in self.keys]
        for j, tally in enumerate(self.tallies):
            node = contribution(tally, base=self.base, dialect=self.dialect)
            if node is not None:
                node = self._narrow(node, tally) if self.person else node
                made.append((BIN if self.binned else f"v{j}", node))
        if self.person:
            made.append((PERSON, sql.name(PERSON)))
        select = selected(made, sql.table("base"))
        doubted = [[c for i in chosen if (c := self._valid(i)) is not None] for chosen in self.sets]
        conditions = [] if [] in doubted else [sql.either([sql.both(each) for each in doubted])]
        if self.person:
            conditions.append(sql.present(sql.name(PERSON)))
        first = self.tallies[0]
        if len(self.tallies) == 1 and first.measure is Measure.PERSONS and first.where is not None:
            conditions.append(self.base.column(first.where))
        return select.where(sql.both(conditions), copy=False) if conditions else select

    def _key(self, position: int) -> Node:
        """A key; one from a public list in few bytes where rows are stored."""
        values, column = self.plan.question.keys[position].values, sql.name(f"k{position}")
        return self.dialect.coded(column, values) if self.stores_rows and values else column

    def _narrow(self, node: Node, tally: Tally) -> Node:
        """What a row adds in few bytes: where rows are stored, or where sums get shorter by it."""
        low, high = tally.low, tally.high
        if tally.bins is not None:
            low, high = 0, tally.bins.count - 1
        elif tally.measure not in (Measure.SUM, Measure.SQUARES):
            low, high = 0, 1
        short = tally.measure is Measure.SUM and low >= -SHORT and high < SHORT
        return self.dialect.narrow(node, low, high) if self.stores_rows or short else node

    def _valid(self, position: int) -> Node | None:
        """The key is one of the list, or at least not missing; None where it always is."""
        key, column = self.plan.question.keys[position], sql.name(f"k{position}")
        values, known = key.values, key.expression.domain.values
        if values is None or (known is not None and set(known) <= set(values)):
            return sql.present(column) if key.expression.domain.nullable else None
        return listed(column, values, key.expression.kind, dialect=self.dialect)

    def _key_names(self) -> list[str]:
        return [f"k{i}" for i in self.keys] + [BIN] * self.binned

    def _has_value(self, position: int) -> bool:
        """Whether `rows` has a number for this tally: else every row adds 1."""
        tally = self.tallies[position]
        return not self.binned and (tally.value is not None or tally.where is not None)

    # ---- ways to add up

    def _plain(self) -> exp.Select:
        columns: list[Node] = []
        for j, tally in enumerate(self.tallies):
            value = sql.name(f"v{j}") if self._has_value(j) else exp.Star()
            if tally.measure is Measure.DISTINCT:
                columns.append(sql.distinct(value))
            elif tally.measure in (Measure.SUM, Measure.SQUARES):
                columns.append(self.dialect.summed(value))
            else:
                columns.append(sql.function("COUNT", value))
        return self._final(columns, "rows")

    def _weighted(self) -> exp.Select:
        held = [j for j in range(len(self.tallies)) if self._has_value(j)]
        names = [*self._key_names(), *(f"v{j}" for j in held)]
        self._weigh("rows", names, total=count())
        columns = []
        for j in range(len(self.tallies)):
            w = sql.name("w")
            columns.append(self.dialect.summed(sql.times(sql.name(f"v{j}"), w) if j in held else w))
        return self._final(columns, "weighed")

    def _joined_weights(self) -> exp.Select:
        self.read_twice.add("rows")
        counted = _picked([PERSON], "rows", ("n", count()))
        self.parts.append(("persons", counted.group_by(sql.name(PERSON), copy=False)))
        weight = self._weight(sql.name("n"))
        self.parts.append(("weights", _picked([PERSON], "persons", ("w", weight))))
        columns = []
        for j, tally in enumerate(self.tallies):
            term: Node = sql.name("w", table="weights")
            if self._has_value(j):
                value = sql.name(f"v{j}", table="rows")
                if tally.measure is Measure.COUNT:
                    term = sql.case((sql.present(value), term))
                else:
                    term = sql.times(self.dialect.to(Kind.INT, value), term)
            columns.append(self.dialect.summed(term))
        final = self._final(columns, "rows")
        same = sql.eq(sql.name(PERSON, table="rows"), sql.name(PERSON, table="weights"))
        return final.join(sql.table("weights"), on=same, join_type="INNER", copy=False)

    def _weigh(self, source: str, names: Sequence[str], *, total: Node) -> None:
        """The part `weighed`: these columns and the weight w, where a person has `total` rows."""
        self.read_twice.add(source)
        counted = self.dialect.to(Kind.INT, sql.over(total, PERSON))
        self.parts.append(("totals", _picked(names, source, ("total", counted))))
        weight = self._weight(sql.name("total"))
        self.parts.append(("weighed", _picked(names, "totals", ("w", weight))))

    def _weight(self, rows: Node) -> Node:
        """min(2²⁰, ⌊L·2²⁰/k⌋) in whole numbers."""
        most, limit = self.plan.weight, self.plan.rows
        few = sql.le(rows, self.dialect.whole(limit))
        share = self.dialect.quotient(self.dialect.whole(limit * most), sql.copy(rows))
        return sql.case((few, self.dialect.whole(most)), default=share)

    def _by_person(self) -> exp.Select:
        """All of a person's rows are in one cell: added up first, then weighted."""
        names = self._added_up([PERSON], called="persons")
        weight = self._weight(sql.name("n"))
        self.parts.append(("weighed", _picked(names, "persons", ("w", weight))))
        return self._final([self._sum_of_weighed(j) for j in range(len(self.tallies))], "weighed")

    def _capped(self) -> exp.Select:
        names = self._added_up([PERSON, *self._key_names()], called="pairs")
        self._keep_groups(names)
        if self.tallies[0].measure is Measure.PERSONS and len(self.tallies) == 1:
            return self._final([self._presence(0)], "kept")
        self._weigh("kept", names, total=sql.function("SUM", sql.name("n")))
        columns = [
            self._presence(j) if tally.measure is Measure.PERSONS else self._sum_of_weighed(j)
            for j, tally in enumerate(self.tallies)
        ]
        return self._final(columns, "weighed")

    def _added_up(self, keys: Sequence[str], *, called: str) -> list[str]:
        """A part with a row for each combination of keys: how many rows, and their sums."""
        made = [(k, sql.name(k)) for k in keys] + [("n", count())]
        made += [
            (f"v{j}", self._partial(j)) for j in range(len(self.tallies)) if self._has_value(j)
        ]
        part = selected(made, sql.table("rows"))
        self.parts.append((called, part.group_by(*map(sql.name, keys), copy=False)))
        return [name for name, _ in made]

    def _sum_of_weighed(self, position: int) -> Node:
        value = sql.name(f"v{position}" if self._has_value(position) else "n")
        return self.dialect.summed(sql.times(value, sql.name("w")))

    def _partial(self, position: int) -> Node:
        """What a person adds to one group, before the weight."""
        value = sql.name(f"v{position}")
        if self.tallies[position].measure is Measure.COUNT:
            return sql.function("COUNT", value)
        return self.dialect.summed(value)

    def _presence(self, position: int) -> Node:
        """Persons: one row each where there is one grouping set, else counted apart."""
        there = sql.gt(sql.name(f"v{position}"), sql.plain(0))
        if len(self.sets) == 1:
            held = sql.case((there, sql.plain(1))) if self._has_value(position) else exp.Star()
            return sql.function("COUNT", held)
        person = sql.name(PERSON)
        held = sql.case((there, person)) if self._has_value(position) else person
        return sql.distinct(held)

    def _keep_groups(self, names: Sequence[str]) -> None:
        """At most `groups` different keys a person: the first by a keyed hash."""
        keys = [sql.name(f"k{i}") for i in self.keys]
        place = sql.over(
            sql.function("DENSE_RANK"), PERSON, order=[self._hash("groups", *keys), *keys]
        )
        self.parts.append(("ranked", _picked(names, "pairs", ("place", place))))
        few = sql.le(sql.name("place"), sql.plain(self.plan.groups))
        self.parts.append(("kept", _picked(names, "ranked").where(few, copy=False)))

    def _hash(self, purpose: str, *columns: Node) -> Node:
        """A digest of a person's own keys that nobody without the secret can foresee."""
        parts = [sql.text(f"{self.secret}/{purpose}")]
        for column in (sql.name(PERSON), *columns):
            plain = self.dialect.to(Kind.TEXT, sql.copy(column))
            parts += [sql.text("/"), exp.Coalesce(this=plain, expressions=[sql.text("")])]
        return self.dialect.hashed(sql.concat(*parts))

    def _distinct(self) -> exp.Select:
        """At most `rows` different pairs of keys and value a person."""
        names = [PERSON, *self._key_names(), "v0"]
        self.parts.append(("pairs", _picked(names, "rows").distinct(copy=False)))
        if self.plan.private_keys:
            self._keep_groups(names)
        source = "kept" if self.plan.private_keys else "pairs"
        order = [sql.name(n) for n in names[1:]]
        place = sql.over(
            sql.function("ROW_NUMBER"), PERSON, order=[self._hash("values", *order), *order]
        )
        spots = _picked(names, source, ("spot", place))
        self.parts.append(("spots", spots.where(sql.present(sql.name("v0")), copy=False)))
        few = sql.le(sql.name("spot"), sql.plain(self.plan.rows))
        self.parts.append(("few", _picked(names, "spots").where(few, copy=False)))
        return self._final([sql.distinct(sql.name("v0"))], "few")

    def _final(self, columns: Sequence[Node], source: str) -> exp.Select:
        """Grouped by keys, or by each grouping set in turn."""
        keys: list[Node] = [sql.name(k, table=source) for k in self._key_names()]
        made: list[tuple[str, Node]] = list(zip(self._key_names(), keys, strict=True))
        if len(self.sets) > 1:
            made += [
                (f"g{i}", sql.function("GROUPING", sql.name(f"k{i}", table=source)))
                for i in self.keys
            ]
        made += [(f"n{j}", node) for j, node in enumerate(columns)]
        final = selected([(n, sql.copy(node)) for n, node in made], sql.table(source))
        if len(self.sets) > 1:
            final.set("group", self._grouping_sets(source))
            return final
        return final.group_by(*keys, copy=False)

    def _grouping_sets(self, source: str) -> exp.Group:
        extra = [BIN] * self.binned
        tuples: list[Node] = [
            exp.Tuple(
                expressions=[
                    sql.name(k, table=source) for k in [*(f"k{i}" for i in chosen), *extra]
                ]
            )
            for chosen in self.sets
        ]
        return exp.Group(grouping_sets=[exp.GroupingSets(expressions=tuples)])


def _picked(names: Sequence[str], source: str, *more: tuple[str, Node]) -> exp.Select:
    """These columns of a part as they are, and some that are computed."""
    same: list[tuple[str, Node]] = [(called, sql.name(called)) for called in names]
    return selected([*same, *more], sql.table(source))


def count() -> Node:
    """How many rows there are."""
    return sql.function("COUNT", exp.Star())
