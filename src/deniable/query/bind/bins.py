"""Bins of a number between public edges."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from deniable import parameters
from deniable.errors import BadParameter
from deniable.query.algebra import Expression, Kind, call, literal


def edges_between(number: Expression, bins: float | Sequence[float] | None) -> list[float]:
    """The edges of so many bins of equal width between the bounds (10 if None), or those given."""
    low, high = float(number.domain.low), float(number.domain.high)  # type: ignore[arg-type]
    if isinstance(bins, Sequence) and not isinstance(bins, str):
        edges = [parameters.real("bins", edge) for edge in bins]
        if len(edges) < 2 or any(a >= b for a, b in pairwise(edges)):
            raise BadParameter(
                "bins must be edges in increasing order", fix="edges such as 0, 18, 65, 125"
            )
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
