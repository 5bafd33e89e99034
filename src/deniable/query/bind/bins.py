"""The cell of a number between public edges, for an engine to find as `Intervals` does."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.query.algebra import Expression, Kind, call, literal
from deniable.schema.edges import between


def edges_between(number: Expression, bins: float | Sequence[float] | str | None) -> list[float]:
    """The edges of cells between a number's bounds: 10 of equal width unless `bins` says which."""
    low, high = number.domain.low, number.domain.high
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    return list(between(low, high, type=number.kind.value, bins=10 if bins is None else bins).edges)


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
