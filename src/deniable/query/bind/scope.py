"""What a name means at some place of a question: tables, columns, and whose rows they are."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Required, TypedDict

from deniable.errors import UnknownName, UnsupportedQuery
from deniable.fixes import sql_name
from deniable.ledger import Ledger
from deniable.losses import Approx
from deniable.query.algebra import (
    Expression,
    Filter,
    Kind,
    Read,
    Relation,
    Scan,
    Span,
    both,
)
from deniable.session import Session, Table
from deniable.units import Unit

_MOST_TABLES: Final = 32


@dataclass(frozen=True, kw_only=True)
class Binding:
    """One name: which expression about the relation it stands for.

    `person` marks the column that identifies people; `expression` is None for one whose type
    nobody stated; `hidden` ones are found only with their table's name before them.
    """

    table: str
    name: str
    expression: Expression | None
    person: bool = False
    hidden: bool = False
    unread: Table | None = field(default=None, repr=False, compare=False)

    def value(self, span: Span | None = None) -> Expression:
        """The expression; an error with a fix where its type is not known."""
        if self.expression is None:
            assert self.unread is not None
            self.unread.column(self.name)  # raises
            raise AssertionError(self.name)
        return self.expression.at(span)


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Rows, and the names there are for their columns."""

    relation: Relation
    bindings: tuple[Binding, ...]

    def find(self, name: str, *, table: str | None = None) -> Binding:
        """The one column a name stands for: spelled exactly, else ignoring case."""
        here = self.bindings if table is None else self._of_table(table)
        shown = [b for b in here if not b.hidden] if table is None else here
        found = [b for b in shown if b.name == name]
        found = found or [b for b in shown if b.name.lower() == name.lower()]
        if not found:
            known, owners = {b.name for b in here}, {b.table for b in here}
            only = owners.pop() if len(owners) == 1 else None
            raise UnknownName.of("column", name, known=known, table=only, typed=sql_name)
        if len(found) > 1:
            tables = " and ".join(f"`{b.table}`" for b in found)
            raise UnsupportedQuery(
                f"`{name}` is a column of {tables}",
                fix=f"{sql_name(found[0].table)}.{sql_name(found[0].name)}",
            )
        return found[0]

    def has(self, name: str, *, table: str | None = None) -> bool:
        """Whether a name stands for exactly one column."""
        try:
            self.find(name, table=table)
        except (UnknownName, UnsupportedQuery):
            return False
        return True

    def where(self, condition: Expression) -> Scope:
        """The rows for which a condition is true; conditions of one place are one filter."""
        source = self.relation
        if isinstance(source, Filter):
            condition = both(source.where, condition)
            source = source.source
        return dataclasses.replace(self, relation=Filter(source=source, where=condition))

    def called(self, table: str) -> Scope:
        """The same columns under another table's name."""
        renamed = (dataclasses.replace(b, table=table, hidden=False) for b in self.bindings)
        return dataclasses.replace(self, bindings=tuple(renamed))

    def _of_table(self, table: str) -> Sequence[Binding]:
        for same in (str, str.lower):
            found = [b for b in self.bindings if same(b.table) == same(table)]
            if found:
                return found
        raise UnknownName.of("table", table, known={b.table for b in self.bindings}, typed=sql_name)


@dataclass
class Names:
    """Names of columns that are unique in a whole question, and where each comes from."""

    origin: dict[str, tuple[str, str]] = field(default_factory=dict)
    persons: set[str] = field(default_factory=set)
    """The names of columns that identify people."""
    taken: set[str] = field(default_factory=set)
    several: bool = False
    """Whether the session has several tables, so that facts about columns name theirs."""
    asker: bool = False
    """Whether an asker asks, who cannot change the schema or the unit."""

    def fresh(self, *wishes: str) -> str:
        """The first wish that nobody has, engines' disregard of case included; else numbered."""
        numbered = (f"{wishes[-1]}_{i}" for i in itertools.count(2))
        free = (n for n in itertools.chain(wishes, numbered) if n.lower() not in self.taken)
        name = next(free)
        self.taken.add(name.lower())
        return name


class Known(TypedDict, total=False):
    """What a session lets a front end know, for messages too.

    `private_keys`: groups whose list is not public may be chosen privately, which takes a budget
    with a δ. `epsilon` is that of the budget, if it has one. `durable`: the ledger outlasts the
    session. `asker`: the session is an asker's.
    """

    tables: Required[Mapping[str, Table]]
    unit: Required[Unit]
    private_keys: bool
    epsilon: float | None
    durable: bool
    asker: bool


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What is known while a question is read: see `Known`; and the names taken."""

    tables: Mapping[str, Table]
    unit: Unit
    private_keys: bool = False
    epsilon: float | None = None
    durable: bool = False
    asker: bool = False
    names: Names = field(default_factory=Names)
    used: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names.several, self.names.asker = len(self.tables) > 1, self.asker

    def table(self, name: str) -> Table:
        """A table of the session: spelled exactly, else ignoring case."""
        if name in self.tables:
            return self.tables[name]
        found = [table for known, table in self.tables.items() if known.lower() == name.lower()]
        if len(found) != 1:
            raise UnknownName.of("table", name, known=self.tables, typed=sql_name)
        return found[0]

    def count_table(self, name: str) -> None:
        """Stop a nest of joins or WITH parts that would read tables without end."""
        self.used.append(name)
        if len(self.used) > _MOST_TABLES:
            raise UnsupportedQuery(f"a query can read at most {_MOST_TABLES} tables")

    def scan(self, table: Table, *, alias: str = "") -> Scope:
        """A table with all its columns; those that nobody uses are left out at the end."""
        unit, alias = self.unit, alias or table.name
        reads, bindings = [], []
        identity = None
        if not table.public and unit.column is not None:
            stated = table.columns.get(unit.column)
            kind = None if stated is None else Kind(stated.type)
            identity = Read(name=self.names.fresh("person"), source=unit.column, kind=kind)
        for column, facts in table.columns.items():
            name = self.names.fresh(column, f"{alias}.{column}")
            self.names.origin[name] = (table.name, column)
            read = Read(name=name, source=column, facts=facts, zoned=column in table.zoned)
            reads.append(read)
            person = identity is not None and column == unit.column
            self.names.persons |= {name} if person else set()
            bindings.append(
                Binding(table=alias, name=column, expression=read.column, person=person)
            )
        for column in table.unread:
            person = identity is not None and column == unit.column
            bindings.append(
                Binding(table=alias, name=column, expression=None, person=person, unread=table)
            )
        relation = Scan(
            table=table.name,
            reads=tuple(reads),
            id=identity,
            public=table.public,
            complete=table.source.complete,
            size=_exact_size(table, unit),
        )
        scope = Scope(relation=relation, bindings=tuple(bindings))
        agreed = [read.column for read in reads if read.source == table.consent]
        return scope.where(agreed[0]) if agreed else scope


def surroundings(session: Session) -> Known:
    """What an `Asking` takes from a session, whichever front end reads the question."""
    return {
        "tables": session.tables,
        "unit": session.unit,
        "private_keys": isinstance(session.budget, Approx),
        "epsilon": getattr(session.budget, "epsilon", None),
        "durable": isinstance(session.ledger, Ledger) and session.ledger.durable,
        "asker": session.asker is not None,
    }


def _exact_size(table: Table, unit: Unit) -> int | None:
    """The number of rows where the stated size is exactly that: rows are units, and replaced."""
    fixed = unit.column is None and unit.sides == 2
    return table.size if fixed and not table.public else None
