"""What is known while a question is read: its text, the tables, the unit, the names taken."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from deniable.errors import UnknownName, UnsupportedQuery
from deniable.query.bind.scope import Names
from deniable.session.tables import Table
from deniable.units import Unit

from .text import Text

_MOST_TABLES = 32


@dataclass(frozen=True, kw_only=True)
class Asking:
    """The surroundings of a SELECT; `named` are the WITH parts it can see, each with its own."""

    text: Text
    tables: Mapping[str, Table]
    unit: Unit
    private_keys: bool
    names: Names = field(default_factory=Names)
    named: Mapping[str, tuple[exp.Expr, Asking]] = field(default_factory=dict)
    used: list[str] = field(default_factory=list)

    def inside(self, node: exp.Expr) -> Asking:
        """The surroundings with what a WITH clause of this node adds."""
        clause = node.args.get("with_")
        here, added = self, set()
        for part in [] if clause is None else clause.expressions:
            name = part.alias.lower()
            if name in added:
                raise UnsupportedQuery(
                    f"two parts of WITH are called `{part.alias}`",
                    snippet=self.text.snippet(self.text.span_of(part.args["alias"])),
                )
            added.add(name)
            here = dataclasses.replace(here, named={**here.named, name: (part.this, here)})
        return here

    def table(self, name: str) -> Table:
        """A table of the session: spelled exactly, else ignoring case."""
        if name in self.tables:
            return self.tables[name]
        found = [table for known, table in self.tables.items() if known.lower() == name.lower()]
        if len(found) != 1:
            raise UnknownName.of("table", name, known=self.tables)
        return found[0]

    def count_table(self, name: str) -> None:
        """Stop a nest of WITH parts that would read tables without end."""
        self.used.append(name)
        if len(self.used) > _MOST_TABLES:
            raise UnsupportedQuery(f"a question may read {_MOST_TABLES} tables at most")
