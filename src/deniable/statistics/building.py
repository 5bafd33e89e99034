"""From names of columns to questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from deniable.errors import BadParameter, DeniableError, UnknownName, UnsupportedQuery
from deniable.query.algebra import Aggregate, Expression, Function, Key, Order, Output
from deniable.query.bind.aggregates import summable
from deniable.query.bind.builder import question
from deniable.query.bind.keys import group_key
from deniable.query.bind.scope import Asking, Scope, surroundings
from deniable.query.query import Query
from deniable.schema import Column as Facts
from deniable.session import Session, Table

By = str | Sequence[str]


@dataclass(frozen=True, kw_only=True)
class About:
    """The rows of one table of a session; `known` are facts found privately, by column.

    `asked` are the columns that the question is about, alone or in lists, as they were given.
    """

    session: Session = field(repr=False)
    table: str | None = None
    asked: tuple[object, ...] = ()
    known: Mapping[str, Facts] = field(default_factory=dict)

    @cached_property
    def source(self) -> Table:
        """The table that is meant: the one named, or the only private one with these columns."""
        tables = self.session.tables
        if self.table is not None:
            if self.table not in tables:
                raise UnknownName.of("table", self.table, known=tables)
            found = tables[self.table]
        else:
            private = [t for t in tables.values() if not t.public]
            able = private if len(private) == 1 else [t for t in private if self._fits(t)]
            if len(able) != 1:
                raise self._unclear(private, able)
            found = able[0]
        for name in self.known:
            found.column(name)
        return dataclasses.replace(found, columns={**found.columns, **self.known})

    @property
    def _names(self) -> list[str]:
        """The names among the columns that were given; others are refused when they are read."""
        lists = ([each] if isinstance(each, str) else each for each in self.asked)
        several = chain.from_iterable(each for each in lists if isinstance(each, Sequence))
        return [name for name in several if isinstance(name, str)]

    def _fits(self, table: Table) -> bool:
        names = {name.lower() for name in (*table.columns, *table.unread)}
        return all(name.lower() in names for name in self._names)

    def _unclear(self, private: Sequence[Table], able: Sequence[Table]) -> DeniableError:
        """No table has all the columns, or several have."""
        known = dict.fromkeys(name for t in private for name in (*t.columns, *t.unread))
        names = {name.lower() for name in known}
        unknown = next((name for name in self._names if name.lower() not in names), None)
        if unknown is not None:
            return UnknownName.of("column", unknown, known=known)
        if not able and private:
            columns = ", ".join(f"`{name}`" for name in dict.fromkeys(self._names))
            return UnsupportedQuery(
                f"no table has all of these columns: {columns}", fix="join the tables in SQL: s.sql"
            )
        return BadParameter(
            "this session has several tables; name one with table=",
            fix=f"table={next((t.name for t in able), 'people')!r}",
        )

    @cached_property
    def asking(self) -> Asking:
        """What is known of the session, and where each name comes from."""
        return Asking(**surroundings(self.session))

    @cached_property
    def scope(self) -> Scope:
        """The rows, and what their columns are called."""
        return self.asking.scan(self.source)

    def column(self, name: object) -> Expression:
        """A column by name; if there is none, the error suggests the nearest name."""
        if not isinstance(name, str):
            raise BadParameter.of("column", name, must="the name of a column", fix='"age"')
        return self.scope.find(name).value()

    def number(self, name: object, *, what: str) -> Expression:
        """A column with bounds, and a rule for what is missing."""
        what = f"{what} of `{name}`"
        return summable(self.column(name), what=what, names=self.asking.names, snippet=None)

    def key(self, name: str) -> Key:
        """A column to group by: its public values, or None if they must be chosen privately."""
        found, binding = self.column(name), self.scope.find(name)
        return group_key(
            found, self.asking, name=name, asked=f"grouping by `{name}`", binding=binding
        )


def ask(
    about: About,
    *aggregates: Aggregate,
    keys: Sequence[Key] = (),
    outputs: Sequence[Output] | None = None,
    sets: Sequence[tuple[int, ...]] | None = None,
    order_by: Sequence[Order] = (),
    limit: int | None = None,
    text: str,
) -> Query:
    """The question for these aggregates, one row for each combination of keys, or of `sets`."""
    asked = question(
        about.scope,
        about.asking,
        keys=keys,
        aggregates=aggregates,
        outputs=outputs,
        sets=sets,
        order_by=order_by,
        limit=limit,
        text=text,
    )
    return Query(session=about.session, question=asked)


def keys_by(about: About, by: By | None) -> list[Key]:
    """The keys of `by=`."""
    names = [] if by is None else [by] if isinstance(by, str) else by
    return [about.key(name) for name in distinct_columns(about, "by", names)]


def distinct_columns(about: About, what: str, names: Sequence[str]) -> list[str]:
    """The names of columns, refused if one is unknown or two are of one column."""
    if isinstance(names, str):
        raise BadParameter.of("columns", names, must="a list of columns", fix=f'["{names}"]')
    if not isinstance(names, Sequence):
        raise BadParameter.of(what, names, must="names of columns", fix=f'{what}=["age"]')
    listed = list(names)
    columns = [about.column(name) for name in listed]
    if any(column in columns[:place] for place, column in enumerate(columns)):
        raise BadParameter(f"{what} names a column twice")
    return listed


def titled(what: str, by: By | None) -> str:
    """What is asked, in a line."""
    return what if by is None else f"{what} by {by if isinstance(by, str) else ', '.join(by)}"


COUNT = Aggregate(name="count", function=Function.COUNT)
