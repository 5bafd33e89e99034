"""The one builder of questions, for SQL, Ibis and statistics: from keys and aggregates."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import Aggregate, Expression, Key, Order, Output, Question
from deniable.snippets import Snippet

from .keys import check_cells
from .prune import prune
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
        relation=prune(scope.relation, read),
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
