"""The cell of a value, for an engine to find as `Binning.encode` does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from deniable.query.algebra import Expression, Kind, Scalar, call, literal
from deniable.schema.binning import Intervals, Listed
from deniable.schema.edges import between


def cells_between(number: Expression, bins: object) -> Intervals:
    """The cells between a number's bounds: 10 of equal width unless `bins` says which."""
    return between(*number.domain.bounds, type=number.kind.value, bins=10 if bins is None else bins)


def cell_of(value: Expression, cells: Listed | Intervals) -> Expression:
    """The number of a value's cell; missing where a row is dropped.

    It is a key with the public values 0, …, `cells.count` − 1, whose counts are a marginal.
    """
    missing = None if cells.missing < 0 else cells.missing
    if isinstance(cells, Intervals):
        return bucket(value, cells.cuts, missing=missing)
    places = ((call("eq", value, literal(key)), literal(i)) for i, key in enumerate(cells.keys))
    return call("case", *chain.from_iterable(places), literal(missing, kind=Kind.INT))


def bucket(
    number: Expression, edges: Sequence[Scalar], *, missing: int | None = None
) -> Expression:
    """In which of the intervals between edges a number lies; the last holds its end, too.

    Halves of the list are told apart first, so a row is compared a few times, however many there
    are. A missing value is in none, or in the one given as `missing`.
    """
    gone = literal(missing, kind=Kind.INT)
    return call("case", call("is_null", number), gone, _half(number, edges))


def _half(number: Expression, edges: Sequence[Scalar], start: int = 0) -> Expression:
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
