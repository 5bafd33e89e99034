"""SELECT → a question: FROM and WHERE, and subqueries that leave every row somebody's."""

from __future__ import annotations

import dataclasses
from typing import Unpack

from sqlglot import exp

from deniable.errors import DeniableError, UnsupportedQuery
from deniable.fixes import EXAMPLE, for_tables, for_unit
from deniable.query.algebra import Expression, Question
from deniable.query.bind.builder import check_private
from deniable.query.bind.members import members
from deniable.query.bind.scope import Binding, Known, Scope
from deniable.query.bind.spelling import together
from deniable.query.bind.unions import union

from .answers import question
from .check import check
from .groups import Item, items_of
from .joins import Listed, check_kind, is_comma, joined, listed, side_of
from .lower import SqlLowering, binding_of, flattened
from .people import per_person
from .text import Asking, named_twice, parse


def question_from_sql(text: str, **known: Unpack[Known]) -> Question:
    """What a text asks of a session's tables, or an error that says what to write instead.

    Errors depend on the text and on public facts only: no data, no cost.
    """
    try:
        source, tree = parse(text)
        check(source, tree)
        return _asked(tree, Asking(text=source, **known))
    except RecursionError:
        raise UnsupportedQuery("this query is nested too deeply") from None
    except DeniableError as error:
        private = [name for name, table in known["tables"].items() if not table.public]
        error.fixes = for_tables(for_unit(error.fixes, known["unit"].column), private)
        raise


def _asked(tree: exp.Expr, asking: Asking) -> Question:
    while isinstance(tree, exp.Subquery):
        asking, tree = asking.inside(tree), tree.this
    if isinstance(tree, exp.Union):
        raise UnsupportedQuery(
            "these are two queries",
            why="each query has its own price",
            fix="run them one after the other; UNION ALL of rows goes into FROM (...)",
            snippet=asking.text.at(tree),
        )
    if not isinstance(tree, exp.Select):
        raise UnsupportedQuery("this is not a SELECT", fix=EXAMPLE, snippet=asking.text.at(tree))
    asking = asking.inside(tree)
    scope = _rows_of(tree, asking)
    check_private(scope, snippet=asking.text.at(tree.args["from_"]))
    return question(tree, scope, asking)


def _rows_of(select: exp.Expr, asking: Asking) -> Scope:
    """The rows after FROM, JOIN and WHERE."""
    start = select.args.get("from_")
    if start is None:
        raise UnsupportedQuery("this query names no table", fix=EXAMPLE)
    where = select.args.get("where")
    if any(map(is_comma, select.args.get("joins") or [])):
        linking = [] if where is None else flattened(where.this, exp.And)
        scope, conditions = listed(_listed(select, asking), linking, asking)
    else:
        ((_, scope),) = _listed(select, asking)
        conditions = [] if where is None else [where.this]
    found: dict[int, Expression] = {}
    for part in conditions:
        scope, more = _members(part, scope, asking)
        found |= more
    if not conditions:
        return scope
    rows = SqlLowering(asking.text, scope, members=found)
    return scope.where(together("and", *map(rows.condition, conditions)))


def _listed(select: exp.Expr, asking: Asking) -> list[Listed]:
    """What FROM lists, with commas between: each a table and what is joined to it."""
    start = select.args["from_"].this
    found = [(start, _source(start, asking))]
    joins = select.args.get("joins") or []
    for part in joins:
        with asking.text.pointing(part):
            if is_comma(part):
                found.append((part, _source(part.this, asking)))
                continue
            check_kind(part)
            if part.args.get("side") == "RIGHT" and any(map(is_comma, joins)):
                raise UnsupportedQuery(
                    "a RIGHT JOIN cannot follow a comma in FROM",
                    fix="write JOIN ... ON in place of the comma",
                )
            node, left = found[-1]
            found[-1] = node, joined(left, _source(part.this, asking), part, asking)
    return found


def _members(where: exp.Expr, scope: Scope, asking: Asking) -> tuple[Scope, dict[int, Expression]]:
    """The rows with a mark for every x IN (SELECT ...), and what each of these came to."""
    found: dict[int, Expression] = {}
    inner = (exp.Select, exp.Union)
    for node in where.walk(prune=lambda part: isinstance(part, inner)):
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            with asking.text.pointing(node):
                scope, found[id(node)] = members(
                    scope,
                    side_of(node.this, scope, asking),
                    _subquery(node.args["query"], asking),
                    names=asking.names,
                    negated=_negated(node, where),
                )
    return scope, found


def _negated(node: exp.Expr, where: exp.Expr) -> bool:
    """Whether it matters that a condition is missing and not false: not below AND and OR alone."""
    while node is not where:
        assert node.parent is not None
        node = node.parent
        if not isinstance(node, exp.And | exp.Or | exp.Paren):
            return True
    return False


def _source(node: exp.Expr, asking: Asking) -> Scope:
    """A table, a part of WITH, or a subquery."""
    if isinstance(node, exp.Subquery):
        return _subquery(node.this, asking.inside(node)).called(node.alias or "subquery")
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        raise UnsupportedQuery(
            "FROM takes a table of the session, or a subquery", snippet=asking.text.at(node)
        )
    named = asking.named.get(node.name.lower())
    with asking.text.pointing(node):
        asking.count_table(node.name)
        if named is not None:
            part, there = named
            return _subquery(part, there).called(node.alias or node.name)
        return asking.scan(asking.table(node.name), alias=node.alias)


def _subquery(node: exp.Expr, asking: Asking) -> Scope:
    """The rows of an inner SELECT; each must stay somebody's, whatever others do."""
    while isinstance(node, exp.Subquery):
        asking, node = asking.inside(node), node.this
    if isinstance(node, exp.Union):
        return _union(node, asking.inside(node))
    if not isinstance(node, exp.Select):
        raise UnsupportedQuery("a subquery is a SELECT", snippet=asking.text.at(node))
    asking = asking.inside(node)
    for clause in ("limit", "offset"):
        part = node.args.get(clause)
        if part is not None:
            raise UnsupportedQuery(
                f"{clause.upper()} inside a subquery cannot be bounded",
                why="which rows are kept depends on other people's rows",
                fix=f"leave out {clause.upper()}: the privacy unit limits the rows per person",
                snippet=asking.text.at(part),
            )
    scope = _rows_of(node, asking)
    items = items_of(node, asking.text)
    grouped = node.args.get("group") is not None or node.args.get("having") is not None
    if grouped or node.args.get("distinct") or any(item.has_aggregate for item in items):
        return per_person(node, items, scope, asking)
    bindings = [b for item in items for b in _bindings(item, scope, asking)]
    _check_names(bindings, asking, node)
    return Scope(relation=scope.relation, bindings=tuple(bindings))


def _union(node: exp.Expr, asking: Asking) -> Scope:
    """The rows of both sides of UNION ALL."""
    with asking.text.pointing(node):
        if node.args.get("distinct"):
            raise UnsupportedQuery(
                "UNION drops equal rows, whoever they belong to",
                why="one person's row would decide whether another's counts",
                fix="UNION ALL",
            )
        return union(_subquery(node.this, asking), _subquery(node.expression, asking), asking)


def _bindings(item: Item, scope: Scope, asking: Asking) -> list[Binding]:
    node = item.node
    if isinstance(node, exp.Star):
        return [b for b in scope.bindings if not b.hidden]
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
        table = node.text("table").lower()
        return [b for b in scope.bindings if b.table.lower() == table]
    known = binding_of(node, scope)
    if known is not None:
        return [dataclasses.replace(known, name=item.name)]
    made = SqlLowering(asking.text, scope).lower(node)
    return [Binding(table="", name=item.name, expression=made)]


def _check_names(bindings: list[Binding], asking: Asking, node: exp.Expr) -> None:
    names = [b.name.lower() for b in bindings]
    twice = next((b for b in bindings if names.count(b.name.lower()) > 1), None)
    if twice is not None:
        raise named_twice(twice.name, "subquery", at=asking.text.at(node.expressions[0]))
