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
    capped, real = unit.column is None or unit.groups is not None, expression.kind is Kind.FLOAT
    chosen, plain = capped and asking.private_keys, isinstance(expression, Column)
    if real and (plain or (chosen and _loose(expression, asking.names) is None)):
        raise _real(expression, name, asking.names, snippet)
    if real or not chosen:
        raise _unlisted(expression, name, asking, snippet, capped=capped)
    return None


def _real(
    expression: Expression, name: str, names: Names, snippet: Snippet | None
) -> UnsupportedQuery:
    """A real number has no list of values; what is asked in one line is asked in SQL instead."""
    bins, table = f"bin({fixes.sql_name(name)}, 10)", names.origin.get(name, ("data", ""))[0]
    query = fixes.select([f"{bins} AS bin", "COUNT(*) AS n"], fixes.sql_name(table))
    loose = "" if expression.domain.bounded else "needs bounds for it in the schema"
    return UnsupportedQuery(
        f"`{name}` is a real number, so almost every row would be its own group",
        fix=fixes.sql(
            f"s.sql({fixes.quoted(query + ' GROUP BY 1')})" if snippet is None else bins,
            f"{name} // 10",
            loose,
        ),
        snippet=snippet,
    )


def _unlisted(
    expression: Expression, name: str, asking: Asking, snippet: Snippet | None, *, capped: bool
) -> UnknownKeys:
    """The list of values is private, and groups cannot be chosen privately either."""
    error = UnknownKeys.of(name, snippet=snippet)
    loose, listed = _loose(expression, asking.names), _listing(expression, name, asking.names)
    if loose is not None:
        table, column = asking.names.origin[loose.name]
        kind, several = loose.kind.value, asking.names.several
        lacking = MissingBounds.of(name, column, table=table, type=kind, several=several)
        listed, error.hint = lacking.fixes[0], lacking.hint
        loosely = "it" if column == name else f"`{column}`"
        error.what = f"the values of `{name}` are not public: {loosely} has no bounds"
    elif listed.lead:
        error.hint = ""
    if not capped and isinstance(expression, Column):
        choose = f"to choose groups=, ask s.contributions(by={fixes.quoted(name)}, spend=...)"
        error.hint = "\n".join(filter(None, (error.hint, choose)))
    real = expression.kind is Kind.FLOAT  # then almost every group would be small
    error.fix = (listed,) if real else (listed, _suppressing(asking))
    if asking.asker and not listed.lead:
        error.fix = fixes.for_asker(error.fixes, "state bounds: " if loose else "give the list: ")
    return error


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
    if asking.durable:
        new = "this needs a new ledger, and its losses add to those of this one"
        note = f"{note}; {new}" if note else new
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


def _loose(expression: Expression, names: Names) -> Column | None:
    """The column whose bounds would make the groups public, if there is one."""
    plain = isinstance(expression, Column)
    for column in columns_of(expression).values():
        ranged = column.kind is Kind.DATE or (not plain and column.kind in NUMBERS | TIMES)
        if ranged and not column.domain.bounded and column.name in names.origin:
            return column
    return None


def _listing(expression: Expression, name: str, names: Names) -> Fix:
    """What would make the groups public without bounds: a list, or something coarser."""
    plain = expression if isinstance(expression, Column) else None
    if plain is None:
        return Fix(
            "FLOOR(...), bin(x, width), CASE, month(d)",
            ibis="x // 10, .bucket([0, 10]), .month()",
            lead="group by something with a public list: ",
        )
    if plain.kind is Kind.TIMESTAMP:
        return Fix(
            f"date_trunc('day', {plain.name}), with bounds for it in the schema",
            ibis=f'.truncate("D") of {plain.name}, with bounds for it in the schema',
            lead="group by something with a public list: ",
        )
    numbers = plain.kind in NUMBERS
    if plain.name not in names.origin:
        return fixes.keys(name, numbers=numbers)
    table, called = names.origin[plain.name]
    among = table if names.several else ""
    return fixes.keys(called, numbers=numbers, table=table, among=among)
