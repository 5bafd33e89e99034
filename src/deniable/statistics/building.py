"""From names of columns to questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from deniable.errors import BadParameter, UnknownName
from deniable.losses import Approx
from deniable.query.algebra import Aggregate, Expression, Function, Key, Order, Output, Question
from deniable.query.bind.arguments import summable
from deniable.query.bind.keys import check_cells, key_values, refuse_person
from deniable.query.bind.prune import prune
from deniable.query.bind.scope import Names, Scope, scan
from deniable.query.query import Query
from deniable.schema import Column as Facts
from deniable.session import Session, Table

By = str | Sequence[str]


@dataclass(frozen=True, kw_only=True)
class About:
    """The rows of one table of a session; `known` are facts found since, by column."""

    session: Session = field(repr=False)
    table: str | None = None
    known: Mapping[str, Facts] = field(default_factory=dict)

    @cached_property
    def source(self) -> Table:
        """The table that is meant: the one named, or the only private one."""
        tables = self.session.tables
        if self.table is not None:
            if self.table not in tables:
                raise UnknownName.of("table", self.table, known=tables)
            found = tables[self.table]
        else:
            private = [t for t in tables.values() if not t.public]
            if len(private) != 1:
                raise BadParameter(
                    "this session has several tables: say which",
                    fix=f"table={next(iter(tables), 'people')!r}",
                )
            found = private[0]
        for name in self.known:
            found.column(name)
        return dataclasses.replace(found, columns={**found.columns, **self.known})

    @cached_property
    def names(self) -> Names:
        """Where each name comes from, for messages."""
        return Names()

    @cached_property
    def scope(self) -> Scope:
        """The rows, and what their columns are called."""
        table = self.source
        return scan(table, unit=self.session.unit, names=self.names, alias=table.name)

    def column(self, name: object) -> Expression:
        """A column by name; an error that tells the nearest one if there is none."""
        if not isinstance(name, str):
            raise BadParameter.of("column", name, must="the name of a column", fix='"age"')
        return self.scope.find(name).value()

    def number(self, name: object, *, what: str) -> Expression:
        """A column with bounds, and a rule for what is missing."""
        return summable(
            self.column(name), what=f"{what} of `{name}`", names=self.names, snippet=None
        )

    def key(self, name: str) -> Key:
        """A column to group by: its public values, or None if they must be chosen privately."""
        found = self.column(name)
        refuse_person(self.scope.find(name), asked=f"grouping by `{name}`")
        values = key_values(
            found,
            name=name,
            unit=self.session.unit,
            private_keys=isinstance(self.session.budget, Approx),
            names=self.names,
            snippet=None,
        )
        return Key(name=name, expression=found, values=values)


def ask(
    about: About,
    *aggregates: Aggregate,
    keys: Sequence[Key] = (),
    outputs: Sequence[Output] | None = None,
    order_by: Sequence[Order] = (),
    limit: int | None = None,
    text: str,
) -> Query:
    """The question for these aggregates, one row for each combination of keys."""
    named = [Output(name=k.name, expression=k.column) for k in keys] if outputs is None else []
    if outputs is None:
        outputs = [*named, *(Output(name=a.name, expression=a.column) for a in aggregates)]
    sets = (tuple(range(len(keys))),)
    check_cells(keys, sets)
    used = [key.expression for key in keys]
    used += [e for a in aggregates for e in a.expressions]
    question = Question(
        unit=about.session.unit,
        relation=prune(about.scope.relation, used),
        keys=tuple(keys),
        grouping_sets=sets,
        aggregates=tuple(aggregates),
        outputs=tuple(outputs),
        order_by=tuple(order_by),
        limit=limit,
        text=text,
    )
    return Query(session=about.session, question=question)


def keys_by(about: About, by: By | None) -> list[Key]:
    """The keys of `by=`."""
    if by is None:
        return []
    return [about.key(name) for name in once(about, "by", [by] if isinstance(by, str) else by)]


def once(about: About, what: str, names: Sequence[str]) -> list[str]:
    """The names, if no two are of one column."""
    if not isinstance(names, Sequence):
        raise BadParameter.of(what, names, must="names of columns", fix=f'{what}=["age"]')
    listed = list(names)
    columns = [about.column(name) for name in listed]
    if any(column in columns[:place] for place, column in enumerate(columns)):
        raise BadParameter(f"{what} names a column twice")
    return listed


def titled(what: str, by: By | None) -> str:
    """What is asked, in a line."""
    if by is None:
        return what
    return f"{what} by {by if isinstance(by, str) else ', '.join(by)}"


COUNT = Aggregate(name="count", function=Function.COUNT)
