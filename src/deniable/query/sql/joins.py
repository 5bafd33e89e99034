"""JOIN ... ON, JOIN ... USING, and commas in FROM → rows that stand side by side.

`FROM a, b WHERE a.id = b.id AND rest` is `FROM a JOIN b ON a.id = b.id WHERE rest`: equalities of
WHERE that link a table to those before it are its ON. It is the same question, so `bind.joins`
decides about both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from sqlglot import exp

from deniable.errors import UnsupportedQuery
from deniable.fixes import sql_name
from deniable.query.algebra import Expression, JoinKind
from deniable.query.bind.joins import Pair, join, paired
from deniable.query.bind.scope import Binding, Scope

from .lower import SqlLowering, binding_of, flattened
from .text import Asking

Listed = tuple[exp.Expr, Scope]
"""What stands between two commas of FROM, and its rows."""


def is_comma(node: exp.Expr) -> bool:
    """Whether a table stands beside the others without a word about how."""
    return not any(node.args.get(name) for name in ("side", "kind", "on", "using"))


def check_kind(node: exp.Expr) -> None:
    """Refuse joins that put rows of different people side by side."""
    side, kind = node.args.get("side") or "", node.args.get("kind") or ""
    linked = node.args.get("using") or node.args.get("on")
    if side not in ("", "LEFT", "RIGHT") or kind not in ("", "INNER", "OUTER") or not linked:
        raise UnsupportedQuery(
            f"{' '.join(filter(None, (side, kind, 'JOIN')))} without equal columns, or of this "
            "kind, cannot be bounded",
            why="it would combine rows of different people",
            fix="JOIN ... USING (column) or LEFT JOIN ... USING (column)",
        )


def joined(left: Scope, right: Scope, node: exp.Expr, asking: Asking) -> Scope:
    """The rows of two sides that a JOIN puts together."""
    _check_tables(left, right)
    side = node.args.get("side") or ""
    if side == "RIGHT":  # the same as a LEFT JOIN from the other side
        left, right, side = right, left, "LEFT"
    how = JoinKind.LEFT if side == "LEFT" else JoinKind.INNER
    using, on = node.args.get("using") or [], node.args.get("on")
    if using:
        return _using([part.name for part in using], left, right, how, asking)
    assert on is not None
    pairs, rest = _pairs(flattened(on, exp.And), left, right, asking)
    if rest and how is JoinKind.LEFT:
        raise UnsupportedQuery(
            "ON of a LEFT JOIN takes only equalities of columns, joined by AND",
            fix="filter in a subquery: LEFT JOIN (SELECT ... WHERE ...) USING (column)",
            snippet=asking.text.at(rest[0]),
        )
    scope = join(left, right, asking, on=pairs, kind=how)
    for condition in rest:
        scope = scope.where(SqlLowering(asking.text, scope).condition(condition))
    return scope


def listed(
    tables: Sequence[Listed], where: list[exp.Expr], asking: Asking
) -> tuple[Scope, list[exp.Expr]]:
    """Tables with commas between them, and the conditions of WHERE that do not link any.

    A private table comes first, and then each that is linked to those before it, in any order:
    inner joins give the same rows either way. Names keep the order in which they were written.
    """
    start = next((part for part in tables if part[1].relation.private), tables[0])
    rest = [part for part in tables if part is not start]
    scope, conditions = start[1], where
    while rest:
        part, pairs, others = _next(scope, rest, conditions, asking)
        with asking.text.pointing(part[0]):
            scope = join(scope, part[1], asking, on=pairs, kind=JoinKind.INNER)
        rest = [other for other in rest if other is not part]
        conditions = others
    _check_links([part for part in where if part not in conditions], scope, asking)
    order = {b.table.lower(): i for i, (_, there) in enumerate(tables) for b in there.bindings}
    bindings = sorted(scope.bindings, key=lambda b: order[b.table.lower()])
    return dataclasses.replace(scope, bindings=tuple(bindings)), conditions


def _next(
    scope: Scope, rest: Sequence[Listed], conditions: list[exp.Expr], asking: Asking
) -> tuple[Listed, list[Pair], list[exp.Expr]]:
    """The first table that a condition links to those before it."""
    for part in rest:
        with asking.text.pointing(part[0]):
            _check_tables(scope, part[1])
        pairs, others = _pairs(conditions, scope, part[1], asking)
        if pairs:
            return part, pairs, others
    node, right = rest[0]
    _check_names(conditions, [scope, *(there for _, there in rest)], asking)
    raise UnsupportedQuery(
        f"no condition of WHERE links `{_called(right)}` to an earlier table",
        why="it would combine rows of different people",
        fix=f"JOIN {_written(node, right, asking)} ON {_shared(scope, right)}",
        snippet=asking.text.at(node),
    )


def _check_names(conditions: list[exp.Expr], scopes: list[Scope], asking: Asking) -> None:
    """A name that no table has is likely a slip, and why nothing links."""
    for part in conditions:
        for column in part.find_all(exp.Column):
            name, table = column.name, column.text("table") or None
            if not any(scope.has(name, table=table) for scope in scopes):
                with asking.text.pointing(column):
                    own = [s for s in scopes if table in {b.table for b in s.bindings}]
                    (own or scopes)[0].find(name, table=table)


def _check_links(links: list[exp.Expr], scope: Scope, asking: Asking) -> None:
    """A name in WHERE must be one column of all tables, not only of the two that it links."""
    for node in links:
        for column in node.find_all(exp.Column):
            with asking.text.pointing(column):
                scope.find(column.name, table=column.text("table") or None)


def _written(node: exp.Expr, scope: Scope, asking: Asking) -> str:
    table = isinstance(node.this, exp.Table)
    return asking.text.written(node) if table else f"(...) {_called(scope)}"


def _shared(left: Scope, right: Scope) -> str:
    """Equality of a column that both sides have, the person's if it is one of them."""
    shared = [
        (a, b)
        for a in left.bindings
        for b in right.bindings
        if a.name.lower() == b.name.lower() and not a.hidden and not b.hidden
    ]
    shared.sort(key=lambda pair: not (pair[0].person and pair[1].person))
    on = [f"{sql_name(side.table)}.{sql_name(side.name)}" for pair in shared[:1] for side in pair]
    return " = ".join(on or [f"{_called(side)}.column" for side in (left, right)])


def _called(scope: Scope) -> str:
    return scope.bindings[0].table if scope.bindings else "table"


def _using(columns: list[str], left: Scope, right: Scope, how: JoinKind, asking: Asking) -> Scope:
    """Equal columns are one column afterwards: that of the left."""
    pairs: list[Pair] = [(left.find(name), right.find(name)) for name in columns]
    scope = join(left, right, asking, on=pairs, kind=how)
    merged = {(b.table, b.name) for _, b in pairs if isinstance(b, Binding)}
    bindings = tuple(
        dataclasses.replace(b, hidden=True) if (b.table, b.name) in merged else b
        for b in scope.bindings
    )
    return dataclasses.replace(scope, bindings=bindings)


def _pairs(
    conditions: Sequence[exp.Expr], left: Scope, right: Scope, asking: Asking
) -> tuple[list[Pair], list[exp.Expr]]:
    """Equalities between the two sides, and all other conditions."""
    scopes = {"left": left, "right": right}
    return paired(
        conditions,
        ends=_ends,
        where=lambda end: _belongs(end, left, right),
        side=lambda end, where: side_of(end, scopes[where], asking),
    )


def _ends(condition: exp.Expr) -> list[exp.Expr]:
    bare = condition.unnest()
    return [bare.this, bare.expression] if isinstance(bare, exp.EQ) else []


def _belongs(node: exp.Expr, left: Scope, right: Scope) -> str:
    columns = [(c.name, c.text("table") or None) for c in node.find_all(exp.Column)]
    in_left = all(left.has(name, table=table) for name, table in columns)
    in_right = all(right.has(name, table=table) for name, table in columns)
    if not columns or in_left == in_right:
        return ""
    return "left" if in_left else "right"


def side_of(node: exp.Expr, scope: Scope, asking: Asking) -> Binding | Expression:
    """One side of an equality: a column as it is, or what is computed."""
    return binding_of(node, scope) or SqlLowering(asking.text, scope).lower(node)


def _check_tables(left: Scope, right: Scope) -> None:
    taken = {b.table.lower() for b in left.bindings}
    for binding in right.bindings:
        if binding.table.lower() in taken:
            raise UnsupportedQuery(
                f"two tables are named `{binding.table}`", fix=f"{binding.table} AS another_name"
            )
