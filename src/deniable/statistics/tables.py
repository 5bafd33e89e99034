"""Counts by bins, by pairs of columns, and of the commonest values."""

from __future__ import annotations

from collections.abc import Sequence

from deniable import parameters
from deniable.errors import BadParameter
from deniable.query.algebra import Column, Expression, Key, Kind, Order, Output, call, literal
from deniable.query.bind.bins import bucket, cells_between
from deniable.query.query import Query
from deniable.schema.edges import Bins

from .building import COUNT, About, ask, distinct_columns


def histogram(about: About, column: str, *, bins: Bins | None = None) -> Query:
    """Rows by the value of a column: by its public list, or in bins between its bounds."""
    found = about.column(column)
    text = f"histogram of {column}"
    if found.domain.values is not None or not found.domain.numeric:
        if bins is not None:
            raise BadParameter(f"`{column}` has a list of values: bins= is for numbers")
        return ask(about, COUNT, keys=[about.key(column)], text=text)
    number = about.number(column, what="histogram")
    cells = cells_between(number, bins)
    key = Key(name="bin", expression=bucket(number, cells.edges), values=tuple(range(cells.size)))
    lows, highs = cells.edges[:-1], cells.edges[1:]
    if number.kind is Kind.INT and cells.filled:  # the last whole number of a bin, not the next one
        lows, highs = (ends.tolist() for ends in cells.spans)
    outputs = [
        Output(name="low", expression=_edge(key.column, lows)),
        Output(name="high", expression=_edge(key.column, highs)),
        Output(name="count", expression=COUNT.column),
    ]
    return ask(about, COUNT, keys=[key], outputs=outputs, text=text)


def crosstab(about: About, first: str, second: str) -> Query:
    """Counts for each pair of values of two columns."""
    keys = [about.key(name) for name in distinct_columns(about, "crosstab", [first, second])]
    return ask(about, COUNT, keys=keys, text=f"count by {first} and {second}")


def top_k(about: About, column: str, *, k: int) -> Query:
    """The commonest values of a column with their counts, commonest first.

    All counts are released with noise (together they cost no more than one), so the order is that
    of the noisy counts; which values there are is public or chosen privately.
    """
    k = parameters.whole("k", k)
    orders = [Order(expression=COUNT.column, descending=True)]
    text = f"top {k} of {column}"
    return ask(about, COUNT, keys=[about.key(column)], order_by=orders, limit=k, text=text)


def _edge(key: Column, values: Sequence[float]) -> Expression:
    """The value that belongs to a bin's number."""
    made: Expression = literal(values[-1])
    for place, value in reversed(list(enumerate(values[:-1]))):
        made = call("case", call("eq", key, literal(place)), literal(value), made)
    return made
