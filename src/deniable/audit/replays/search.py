"""Try every pair of neighbours; if one fails, find a smaller one that fails alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.units import Unit

from ._replay import Replay, compared, released_nothing
from .neighbours import Pair, Where, neighbours

_MOST_TRIES = 400
"""Shrinking stops after this many replays: what it has found by then is small enough."""


def search(
    program: Callable[[Any], object],
    data: object,
    unit: Unit | None = None,
    *,
    where: Where = "anywhere",
    most: int = 10_000,
) -> Replay:
    """Replay `program` on all neighbours of `data`, and report the smallest pair that fails.

    The pairs are those of `neighbours`, at most `most` of them. A failing pair loses rows and its
    values become simple for as long as it fails in the same way. If none fails, the report is of
    the pair on which a value came nearest to its declared limit.
    """
    nearest, tried = None, 0
    for tried, pair in enumerate(neighbours(data, unit, where=where), 1):
        found = compared(program, pair.first, pair.second)
        if not found.ok:
            smallest, shrunk = _shrunk(program, pair, found)
            return replace(shrunk, pair=smallest, tried=tried)
        if nearest is None or (found.steps, _used(found)) > (nearest.steps, _used(nearest)):
            nearest = found
        if tried >= parameters.whole("most", most):
            break
    if nearest is None:
        raise BadParameter("these data have no rows, so no row can be replaced")
    if not nearest.steps:
        raise released_nothing(nearest)
    return replace(nearest, tried=tried)


def _used(found: Replay) -> float:
    return found.moved / found.declared if found.declared else 0.0


def _shrunk(program: Callable[[Any], object], pair: Pair, found: Replay) -> tuple[Pair, Replay]:
    """Take the first smaller pair that fails alike, and start again; until there is none."""
    candidates = _smaller(pair)
    for _ in range(_MOST_TRIES):
        smaller = next(candidates, None)
        if smaller is None:
            break
        again = compared(program, smaller.first, smaller.second)
        if not again.ok and again.faults[0].kind == found.faults[0].kind:
            pair, found, candidates = smaller, again, _smaller(smaller)
    return pair, found


def _smaller(pair: Pair) -> Iterator[Pair]:
    """Fewer shared rows: halves, then one by one; then fewer rows of the unit; simpler values."""
    count = len(pair.shared)
    size = count
    while size:
        for start in range(0, count, size):
            kept = pair.shared[:start] + pair.shared[start + size :]
            before = max(0, min(pair.at, start + size) - start)
            yield replace(pair, shared=kept, at=pair.at - before)
        size //= 2
    for side in ("here", "there"):
        own = getattr(pair, side)
        if len(own) > 1:
            yield _with(pair, side, own[: len(own) // 2])
            yield _with(pair, side, own[1:])
    for side in ("shared", "here", "there"):
        rows = getattr(pair, side)
        for i, row in enumerate(rows[:8]):
            for simple in _simpler(row):
                yield _with(pair, side, (*rows[:i], simple, *rows[i + 1 :]))


def _with(pair: Pair, side: str, rows: tuple[Any, ...]) -> Pair:
    changed: dict[str, Any] = {side: rows}
    return replace(pair, **changed)


def _simpler(value: Any) -> Iterator[Any]:
    """Values that are easier to read than this one."""
    match value:
        case bool():
            return
        case int() | float():
            simple = (0, 1, -1, 2, 10, 100, 1000)
            yield from (type(value)(s) for s in simple if _plainer(s, value))
        case str() if value:
            yield ""
        case dict():
            for key, part in value.items():
                yield from ({**value, key: simple} for simple in _simpler(part))
        case np.ndarray():
            if value.any():
                yield np.zeros_like(value)


def _plainer(simple: int, value: float) -> bool:
    """By the number of characters, then by size: a strict order, so that shrinking ends."""
    own = float(value)
    return (len(str(simple)), abs(simple), simple) < (
        len(repr(own).removesuffix(".0")),
        abs(own),
        own,
    )
