"""Ranges that arrive one at a time, when it is known how many there will be at most.

Few ranges are best answered one by one, each with its part of the loss; many are best read off one
release that serves every range. Which is better is known before the first one arrives.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.losses import Loss
from deniable.losses.filters import Filter
from deniable.mechanisms import Step
from deniable.mechanisms.combine import Composed
from deniable.sensitive import Sensitive
from deniable.workload.intervals import IntervalEstimates, ranges
from deniable.workload.plans import half_width
from deniable.workload.split import Noise, Vector, deviation, noise_under
from deniable.workload.strategies.chosen import bounds_of, size_of
from deniable.workload.strategies.exact import block_sums
from deniable.workload.tails import LAWS, Law


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A range of cells, its noisy sum, and the ± (95 % confidence; None if it is not known)."""

    first: int
    last: int
    value: float
    error: float | None


def arriving(
    counts: Sensitive[Any],
    queries: Iterable[tuple[int, int]],
    *,
    number: int,
    spend: Loss,
    filter: Filter | None = None,
) -> Generator[Any, Any, list[Answer]]:
    """Answers to at most `number` ranges (first, last) of cells, for a session to run.

    If `queries` is a generator it is sent each `Answer`, and may choose the next range by it. All
    of the loss is charged before the first query; a list is checked before that.
    """
    number = parameters.whole("number", number)
    cells = size_of(counts)
    if isinstance(queries, Sequence):
        check_all(queries[:number], cells)
    bounds = bounds_of(counts, cells)
    w = ranges(cells)
    single = _singles(number, bounds.l1, spend, filter)
    chosen = w.chosen(spend=spend, bounds=bounds, filter=filter)
    plan = w.planned(chosen, spend=spend)
    if single is not None and deviation(single[0]) <= plan.rmse:
        noise, law = single
        opened = yield Composed.of((noise, number))
        half = float(half_width(deviation(noise), law, 0.95, step=1.0))
        return (yield from _one_by_one(opened, counts, queries, number, half))
    drawn = yield chosen.steps(counts)
    return _read(w.estimates(plan, chosen.read(drawn)), queries, number)


def check_all(queries: Sequence[object], cells: int) -> None:
    """Refuse before the charge a list in which something is not a range of the cells."""
    for asked in queries:
        checked(asked, cells)


def _singles(
    number: int, l1: float, spend: Loss, filter_: Filter | None
) -> tuple[Noise, Law] | None:
    """The better noise for each of `number` ranges; None where these are not worth considering."""
    found: list[tuple[Noise, Law]] = []
    if number > 1000:  # one release is better by far
        return None
    for law in LAWS:
        noise = noise_under(law, [Vector(l1=l1, l2=l1)] * number, spend=spend, filter=filter_)
        if noise is not None:
            found.append((noise[-1], law))
    return min(found, key=lambda pair: deviation(pair[0]), default=None)


def _one_by_one(
    opened: Any,
    counts: Sensitive[Any],
    queries: Iterable[tuple[int, int]],
    number: int,
    half: float,
) -> Generator[Step[Any], Any, list[Answer]]:
    answers: list[Answer] = []
    for first, last in _asked(queries, number, counts.form.size, answers):
        l1 = counts.bound("l1")
        total = counts.then(partial(_range_sum, first=first, last=last), l1=l1, whole=True)
        noisy = yield opened.on(total)
        answers.append(Answer(first=first, last=last, value=float(noisy), error=half))
    return answers


def _read(
    found: IntervalEstimates, queries: Iterable[tuple[int, int]], number: int
) -> list[Answer]:
    answers: list[Answer] = []
    for first, last in _asked(queries, number, len(found.cells), answers):
        value, error = found.between(first, last)
        answers.append(Answer(first=first, last=last, value=value, error=error))
    return answers


def _asked(
    queries: Iterable[tuple[int, int]], number: int, cells: int, answers: Sequence[Answer]
) -> Iterator[tuple[int, int]]:
    """At most so many ranges; before each, a generator is sent the newest of the answers."""
    asking = iter(queries)
    while len(answers) < number:
        asked = next_of(asking, answers[-1] if answers else None)
        if asked is None:
            return
        yield checked(asked, cells)


def next_of(coming: Iterator[Any], sent: object) -> Any:
    """What comes next, or None; a generator is sent the last answer."""
    try:
        return coming.send(sent) if isinstance(coming, Generator) else next(coming)
    except StopIteration:
        return None


def checked(asked: object, cells: int) -> tuple[int, int]:
    """A range of cells, or an error that names it."""
    if not isinstance(asked, tuple | list) or len(asked) != 2:
        raise BadParameter.of("a query", asked, must="a range of cells, (first, last)")
    first = parameters.whole("first", asked[0], least=0)
    last = parameters.whole("last", asked[1], least=first)
    if last >= cells:
        raise BadParameter.of("last", last, must=f"below {cells}")
    return first, last


def _range_sum(cells: NDArray[np.int64], *, first: int, last: int) -> int:
    return summed(cells[first : last + 1])


def summed(cells: NDArray[np.int64]) -> int:
    """The sum, exact or clipped to ±2⁶²."""
    return int(block_sums(cells, len(cells), 1)[0])
