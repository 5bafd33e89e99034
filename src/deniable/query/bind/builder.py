"""The one builder of questions, for SQL, Ibis and statistics: from keys and aggregates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from deniable.errors import UnknownName, UnsupportedQuery
from deniable.query.algebra import (
    Aggregate,
    Expression,
    Key,
    Literal,
    Order,
    Output,
    Question,
    Span,
)
from deniable.session.tables import Table
from deniable.snippets import Snippet
from deniable.units import Unit

from .keys import check_cells, key_values, refuse_person
from .prune import prune
from .scope import Binding, Names, Scope, scan

Sets = Sequence[tuple[int, ...]]
_MOST_TABLES: Final = 32


@dataclass(frozen=True, kw_only=True)
class Asking:
    """The surroundings of a question.

    `private_keys`: groups whose list is not public may be chosen privately.
    """

    tables: Mapping[str, Table]
    unit: Unit
    private_keys: bool
    names: Names = field(default_factory=Names)
    used: list[str] = field(default_factory=list)

    def table(self, name: str) -> Table:
        """A table of the session: spelled exactly, else ignoring case."""
        if name in self.tables:
            return self.tables[name]
        found = [table for known, table in self.tables.items() if known.lower() == name.lower()]
        if len(found) != 1:
            raise UnknownName.of("table", name, known=self.tables)
        return found[0]

    def count_table(self, name: str) -> None:
        """Stop a nest of joins or WITH parts that would read tables without end."""
        self.used.append(name)
        if len(self.used) > _MOST_TABLES:
            raise UnsupportedQuery(f"a question may read {_MOST_TABLES} tables at most")

    def scan(self, table: Table, *, alias: str = "") -> Scope:
        """The rows of a table."""
        return scan(table, unit=self.unit, names=self.names, alias=alias or table.name)


def key(
    expression: Expression,
    asking: Asking,
    *,
    name: str,
    asked: str,
    binding: Binding | None,
    label: str = "",
    span: Span | None = None,
    snippet: Snippet | None = None,
) -> Key:
    """Something to group by, with its public values, or None if they must be chosen privately.

    `binding` is the column, if it is a plain one. Messages call it `label`, and what was written
    `asked`.
    """
    if binding is not None:
        refuse_person(binding, asked=asked)
    if isinstance(expression, Literal):
        raise UnsupportedQuery("grouping by a constant makes no groups", fix="leave it out")
    values = key_values(
        expression,
        name=label or name,
        unit=asking.unit,
        private_keys=asking.private_keys,
        names=asking.names,
        snippet=snippet,
    )
    return Key(name=name, expression=expression, values=values, span=span)


def question(
    scope: Scope,
    asking: Asking,
    *,
    keys: Sequence[Key],
    aggregates: Sequence[Aggregate],
    outputs: Sequence[Output] | None = None,
    sets: Sets | None = None,
    having: Expression | None = None,
    order_by: Sequence[Order] = (),
    limit: int | None = None,
    offset: int = 0,
    text: str = "",
) -> Question:
    """The question about the rows of a scope, which reads only the columns that it needs.

    Without `outputs` its answer has every key and aggregate, without `sets` one grouping by all
    keys.
    """
    if outputs is None:
        columns = [each.column for each in keys] + [each.column for each in aggregates]
        outputs = [Output(name=column.name, expression=column) for column in columns]
    if sets is None:
        sets = [tuple(range(len(keys)))]
    check_cells(keys, sets)
    read = [key.expression for key in keys]
    read += [e for a in aggregates for e in (a.argument, a.where) if e is not None]
    return Question(
        unit=asking.unit,
        relation=prune(scope.relation, read),
        keys=tuple(keys),
        grouping_sets=tuple(sets),
        aggregates=tuple(aggregates),
        outputs=tuple(outputs),
        having=having,
        order_by=tuple(order_by),
        limit=limit,
        offset=offset,
        text=text,
    )


def check_private(scope: Scope, *, snippet: Snippet | None = None) -> None:
    """Refuse a question that is about nobody."""
    if not scope.relation.private:
        raise UnsupportedQuery(
            "this question is about public tables alone",
            why="no table in it has a privacy unit, so nothing need be spent",
            fix="ask the engine itself",
            snippet=snippet,
        )
