"""The one builder of questions, for SQL, Ibis and statistics: from keys and aggregates."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import (
    Aggregate,
    Expression,
    Filter,
    Join,
    Key,
    Order,
    Output,
    PerPerson,
    Project,
    Question,
    Relation,
    Scan,
    Union,
    columns_of,
)
from deniable.snippets import Snippet

from .keys import check_cells
from .scope import Asking, Scope

Sets = Sequence[tuple[int, ...]]


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
    read += [each for aggregate in aggregates for each in aggregate.expressions]
    return Question(
        unit=asking.unit,
        relation=_pruned(scope.relation, _names(read)),
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
            "this query reads public tables only",
            why="none of its tables has a privacy unit, so there is nothing to protect",
            fix="query the engine directly",
            snippet=snippet,
        )


def _pruned(relation: Relation, wanted: frozenset[str]) -> Relation:
    """The relation with only the columns that are wanted, or that its own steps read.

    What is not read can neither fail nor cost time.
    """
    match relation:
        case Scan():
            reads = tuple(read for read in relation.reads if read.name in wanted)
            return dataclasses.replace(relation, reads=reads)
        case Filter():
            source = _pruned(relation.source, wanted | _names([relation.where]))
            return dataclasses.replace(relation, source=source)
        case Project():
            named = tuple((name, made) for name, made in relation.named if name in wanted)
            source = _pruned(relation.source, _names(made for _, made in named))
            return Project(source=source, named=named)
        case Join():
            left = _pruned(relation.left, wanted | _names(a for a, _ in relation.on))
            right = _pruned(relation.right, wanted | _names(b for _, b in relation.on))
            return dataclasses.replace(relation, left=left, right=right)
        case Union():
            return Union(left=_pruned(relation.left, wanted), right=_pruned(relation.right, wanted))
        case PerPerson():
            sums = tuple(s for s in relation.summaries if s.name in wanted)
            parts = [*(k for _, k in relation.keys), *(s.argument for s in sums)]
            inner = _names([*parts, *(s.where for s in sums)])
            return dataclasses.replace(
                relation, source=_pruned(relation.source, inner), summaries=sums
            )
    raise AssertionError(type(relation))


def _names(used: Iterable[Expression | None]) -> frozenset[str]:
    return frozenset(name for e in used if e is not None for name in columns_of(e))
