"""The rows of a plan one by one: what each adds, and for persons its weight and whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from deniable.errors import UnsupportedQuery
from deniable.query.aggregates import Measure
from deniable.query.algebra import Kind
from deniable.query.integers import IntegerPlan

from .compile import Dialect, Statement, Stored
from .compile import nodes as sql
from .compile.nodes import Node
from .compile.relations import PERSON, selected
from .compile.statements import Writer, count

_ADDED: Final = {Measure.COUNT, Measure.SUM, Measure.SQUARES}


def each_row(
    plan: IntegerPlan, *, dialect: Dialect, tables: Mapping[str, Stored], secret: str
) -> Statement:
    """One statement without adding up: k0 …, v0 …, and for persons w and a keyed digest p."""
    added = plan.tallies and all(tally.measure in _ADDED for tally in plan.tallies)
    if len(plan.sets) > 1 or not added:
        raise UnsupportedQuery(
            "q.rows() works only for counts, sums, averages and variances with a single grouping"
        )
    return _EachRow(plan, plan.tallies, dialect=dialect, tables=tables, secret=secret).statement()


class _EachRow(Writer):
    def statement(self) -> Statement:
        """Every row of `rows`, weighed where persons are protected."""
        self.parts = [("base", self.base.select()), ("rows", self._rows())]
        held = [f"v{j}" for j in range(len(self.tallies)) if self._has_value(j)]
        names, source = [*self._key_names(), *held], "rows"
        more: list[tuple[str, Node]] = []
        if self.person:
            self._weigh(source, [*names, PERSON], total=count())
            source, more = "weighed", [("w", sql.name("w")), (PERSON, self._hash("person"))]
        columns = [(f"v{j}", self._added(j)) for j in range(len(self.tallies))]
        keys = [(name, sql.name(name)) for name in self._key_names()]
        final = selected([*keys, *columns, *more], sql.table(source))
        return Statement(
            text=self._text(final),
            keys=self.keys,
            flagged=False,
            binned=False,
            tallies=self.tallies,
        )

    def _added(self, position: int) -> Node:
        """What a row adds, 0 where it does not count."""
        if not self._has_value(position):
            return self.dialect.whole(1)
        value = self.dialect.to(Kind.INT, sql.name(f"v{position}"))
        return exp.Coalesce(this=value, expressions=[self.dialect.whole(0)])
