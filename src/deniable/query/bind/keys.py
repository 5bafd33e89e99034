"""What can be grouped by: expressions with public values, or private keys where those can be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from deniable import fixes
from deniable.errors import MissingBounds, UnknownKeys, UnsupportedQuery
from deniable.fixes import Fix
from deniable.query.algebra import (
    NUMBERS,
    TIMES,
    Column,
    Expression,
    Key,
    Kind,
    Literal,
    Scalar,
    Span,
    columns_of,
    possible_values,
)
from deniable.snippets import Snippet

from .scope import Asking, Binding, Names

# More could not even be written; how many can be collected, a query says when it is released.
MOST_CELLS: Final = 2**40
MOST_SETS: Final = 64
_FEW: Final = 3  # groups per person, as an example: how to choose them stands beside it


def group_key(
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
    if binding is not None and binding.person:
        raise UnsupportedQuery(
            f"{asked} would make one group per person",
            why="each group would describe a single person",
            fix="group by a column whose values many people share",
        )
    if isinstance(expression, Literal):
        raise UnsupportedQuery("grouping by a constant makes no groups", fix="leave it out")
    values = _values(expression, asking, name=label or name, snippet=snippet)
    return Key(name=name, expression=expression, values=values, span=span)


def _values(
    expression: Expression, asking: Asking, *, name: str, snippet: Snippet | None
) -> tuple[Scalar, ...] | None:
    """All groups there can be, or None where they will be chosen privately."""
    unit = asking.unit
    values = possible_values(expression)
    if values is not None and not values:
        raise UnsupportedQuery(
            f"`{name}` is always missing, so there are no groups", snippet=snippet
        )
    if values is not None:
        return values
    capped = unit.column is None or unit.groups is not None
    if not (capped and asking.private_keys):
        error = UnknownKeys.of(name, snippet=snippet)
        listed, *typed = _listing(expression, name, asking.names)
        error.fix = listed, _suppressing(asking), *typed
        if not capped and isinstance(expression, Column):
            error.hint = (
                f"to choose groups=, ask s.contributions(by={fixes.quoted(name)}, spend=...)"
            )
        raise error
    if expression.kind is Kind.FLOAT:
        raise UnsupportedQuery(
            f"`{name}` is a real number, so almost every row would be its own group",
            fix=fixes.sql(
                f"bin({name}, 10), with bounds for it in the schema",
                f"{name} // 10, with bounds for it in the schema",
            ),
            snippet=snippet,
        )
    return None


def _suppressing(asking: Asking) -> Fix:
    """What is lacking for groups that are chosen privately: a δ, a limit per person, or both."""
    unit, lacking, typed = asking.unit, [], []
    if not asking.private_keys:
        epsilon = asking.epsilon or 1.0
        lacking = [fixes.amount("budget", "epsilon", epsilon, delta="1e-7").python]
        typed = [f"create the ledger with --budget {asking.epsilon or 3:.15g},1e-7"]
    note = ""
    if unit.column is not None and unit.groups is None:
        lacking.append(f"unit=dp.{replace(unit, groups=_FEW)!r}")
        typed.append(f"groups = {_FEW} in the schema's unit")
        note = f"a person in more than {_FEW} groups counts in only {_FEW}"
    lead = "or suppress small groups: "
    return Fix(", ".join(lacking), command=" and ".join(typed), lead=lead, note=note)


def check_cells(keys: Sequence[Key], sets: Sequence[tuple[int, ...]]) -> None:
    """Refuse answers too large to be meant, and private keys in several groupings."""
    private = any(key.values is None for key in keys)
    if len(sets) > 1 and private:
        raise UnsupportedQuery(
            "ROLLUP, CUBE and GROUPING SETS need public keys",
            why="each grouping would select its own private keys",
            fix="give the lists of keys in the schema, or ask for one grouping at a time",
        )
    if len(sets) > MOST_SETS:
        raise UnsupportedQuery(f"a query can have at most {MOST_SETS} groupings")
    cells = sum(math.prod(len(keys[i].values or (0,)) for i in chosen) for chosen in sets)
    if cells > MOST_CELLS:
        raise UnsupportedQuery(
            f"this makes {cells:,} groups; the limit is {MOST_CELLS:,}",
            why="every possible group gets an answer, with or without rows",
            fix="coarser groups: fewer keys, wider bins, months instead of days",
        )


def _listing(expression: Expression, name: str, names: Names) -> list[Fix]:
    """What would make the groups public: bounds where they are enough, else a list."""
    plain = expression if isinstance(expression, Column) else None
    for column in columns_of(expression).values():
        ranged = column.kind is Kind.DATE or (plain is None and column.kind in NUMBERS | TIMES)
        if ranged and not column.domain.bounded and column.name in names.origin:
            table, called = names.origin[column.name]
            kind = column.kind.value
            lacking = MissingBounds.of(repr(expression), called, table=table, type=kind)
            return [fix for fix in lacking.fixes if "spend" not in fix.python]
    if plain is None:
        return [
            Fix(
                "FLOOR(...), bin(x, width), CASE, month(d)",
                ibis="x // 10, .bucket([0, 10]), .month()",
                lead="group by something with a public list: ",
            )
        ]
    if plain.kind is Kind.TIMESTAMP:
        return [
            Fix(
                f"date_trunc('day', {plain.name}), with bounds for it in the schema",
                ibis=f'.truncate("D") of {plain.name}, with bounds for it in the schema',
                lead="group by something with a public list: ",
            )
        ]
    numbers = plain.kind in NUMBERS
    if plain.name not in names.origin:
        return [fixes.keys(name, numbers=numbers)]
    table, called = names.origin[plain.name]
    import shlex

    target, values = shlex.quote(f"{table}.{called}"), "1,2,3" if numbers else "A,B,C"
    given = replace(fixes.keys(called, numbers=numbers), command="")
    return [given, Fix(f"deniable set {target} --keys {values}")]
