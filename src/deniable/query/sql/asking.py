"""What is known while SQL is read: its text, and the parts of WITH, besides tables and unit."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from deniable.errors import UnsupportedQuery
from deniable.query.bind import scope

from .text import Text


@dataclass(frozen=True, kw_only=True)
class Asking(scope.Asking):
    """The surroundings of a SELECT; `named` are the WITH parts it can see, each with its own."""

    text: Text
    named: Mapping[str, tuple[exp.Expr, Asking]] = field(default_factory=dict)

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
