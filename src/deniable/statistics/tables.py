"""Counts by bins, by pairs of columns, and of the commonest values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from deniable import parameters
from deniable.errors import BadParameter
from deniable.query.algebra import Column, Expression, Key, Kind, Order, Output, call, literal
from deniable.query.query import Query

from .building import COUNT, About, ask, once


def histogram(about: About, column: str, *, bins: int | Sequence[float] | None = None) -> Query:
    """Rows by the value of a column: by its public list, or in bins between its bounds."""
    found = about.column(column)
    text = f"histogram of {column}"
    if found.domain.values is not None or not found.domain.numeric:
        if bins is not None:
            raise BadParameter(f"`{column}` has a list of values: bins= is for numbers")
        return ask(about, COUNT, keys=[about.key(column)], text=text)
    number = about.number(column, what="histogram")
    edges = _edges(number, bins)
    key = Key(name="bin", expression=bucket(number, edges), values=tuple(range(len(edges) - 1)))
    outputs = [
        Output(name="low", expression=_edge(key.column, edges[:-1])),
        Output(name="high", expression=_edge(key.column, edges[1:])),
        Output(name="count", expression=COUNT.column),
    ]
    return ask(about, COUNT, keys=[key], outputs=outputs, text=text)


def crosstab(about: About, first: str, second: str) -> Query:
    """Rows by two columns."""
    keys = [about.key(name) for name in once(about, "crosstab", [first, second])]
    return ask(about, COUNT, keys=keys, text=f"{first} by {second}")


def top_k(about: About, column: str, *, k: int) -> Query:
    """The commonest values of a column with their counts, commonest first.

    All counts are released with noise (together they cost no more than one), so the order is that
    of the noisy counts; which values there are is public or chosen privately.
    """
    k = parameters.whole("k", k)
    orders = [Order(expression=COUNT.column, descending=True)]
    text = f"top {k} of {column}"
    return ask(about, COUNT, keys=[about.key(column)], order_by=orders, limit=k, text=text)


def bucket(number: Expression, edges: Sequence[float]) -> Expression:
    """In which of the intervals between edges a number lies; the last holds its end, too.

    Halves of the list are told apart first, so a row is compared a few times, however many there
    are. What is missing is in none.
    """
    return call("case", call("is_null", number), literal(None, kind=Kind.INT), _half(number, edges))


def _half(number: Expression, edges: Sequence[float], start: int = 0) -> Expression:
    pieces = len(edges) - 1
    if pieces == 1:
        return literal(start)
    middle = pieces // 2
    below = call("lt", number, literal(edges[middle]))
    low, high = (
        _half(number, edges[: middle + 1], start),
        _half(number, edges[middle:], start + middle),
    )
    return call("case", below, low, high)


def _edge(key: Column, values: Sequence[float]) -> Expression:
    """The value that belongs to a bin's number."""
    made: Expression = literal(values[-1])
    for place, value in reversed(list(enumerate(values[:-1]))):
        made = call("case", call("eq", key, literal(place)), literal(value), made)
    return made


def _edges(number: Expression, bins: int | Sequence[float] | None) -> list[float]:
    low, high = float(number.domain.low), float(number.domain.high)  # type: ignore[arg-type]
    if isinstance(bins, Sequence) and not isinstance(bins, str):
        edges = [parameters.real("bins", edge) for edge in bins]
        if len(edges) < 2 or any(a >= b for a, b in pairwise(edges)):
            raise BadParameter("bins must be edges in increasing order", fix="[0, 18, 65, 125]")
        if edges[0] > low or edges[-1] < high:
            raise BadParameter(
                f"bins must cover the bounds, {low:g} to {high:g}",
                why="what lies outside would be counted in the outermost bins",
            )
        return edges
    count = parameters.whole("bins", 10 if bins is None else bins)
    if count > 1_000:
        raise BadParameter.of("bins", bins, must="at most 1000")
    if number.kind is Kind.INT:  # whole edges: every bin holds as many numbers, or one more
        span = int(high) - int(low) + 1
        count = min(count, span)
        return [int(low) - (-span * i // count) for i in range(count + 1)]
    return [low + (high - low) * i / count for i in range(count)] + [high]
