"""Private multiplicative weights: any number of ranges, paid for only where the model is wrong.

A public model of the cells answers every query [HR10]. A sparse vector tests whether the model's
answer is off by more than a threshold, upwards or downwards; only then is something released: the
noisy difference, by which the model is corrected. The loss is fixed in advance: so many corrections
at most, and a noisy total to begin with. Queries that the model answers well cost nothing, however
many there are.

Where there are at most 2²⁰ cells, one release of all ranges (`workload.ranges`) errs less for most
data; this is for models that are nearly right to begin with, and for a loss that is to last.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.mechanisms import Laplace, SparseVector
from deniable.sensitive import Sensitive
from deniable.workload.strategies.chosen import bounds_of, size_of
from deniable.workload.strategies.exact import HELD

from .known import Answer, check_all, checked, next_of, summed

_OF_TOTAL: Final = 1 / 16
_LEAST: Final = 1e-9  # of the total: what a range, or all cells at their least, still hold


def multiplicative_weights(
    counts: Sensitive[Any],
    queries: Iterable[tuple[int, int]],
    *,
    epsilon: float,
    updates: int,
    threshold: float,
) -> Generator[Any, Any, list[Answer]]:
    """Answers to any number of ranges (first, last) of cells, for a session to run: ε in all.

    After `updates` corrections the model answers untested, and `error` is None from then on. Until
    then an answer is off by at most the threshold, the noise of its test, which grows with the
    logarithm of the number of queries, and ½, because the model's answer is tested to the nearest
    whole number: `error` is the sum of these (95 % confidence, all answers so far). An answer that
    was corrected has the noise of its own release instead (95 % confidence, for each of them).
    If `queries` is a generator it is sent each `Answer`.
    """
    epsilon = parameters.positive("epsilon", epsilon)
    threshold = parameters.positive("threshold", threshold)
    cells = size_of(counts)
    if isinstance(queries, Sequence):
        check_all(queries, cells)
    l1 = bounds_of(counts, cells).l1
    counting = Laplace.calibrate(epsilon=epsilon * _OF_TOTAL, sensitivity=l1)
    testing = SparseVector(
        epsilon=epsilon * (1 - _OF_TOTAL),
        answers=parameters.whole("updates", updates),
        sensitivity=l1,
        values=True,
        threshold=threshold,
    )
    noisy = yield counting.on(counts.then(summed, l1=l1, whole=True))
    opened = yield testing
    model = np.full(cells, max(float(noisy), 1.0) / cells)
    answers: list[Answer] = []
    asking, sent, left = iter(queries), None, testing.answers
    while (asked := next_of(asking, sent)) is not None:
        first, last = checked(asked, cells)
        value, error = float(model[first : last + 1].sum()), None
        if left:
            guess = round(value)  # what is tested: whole numbers differ by whole numbers
            off = yield from _tested(opened, counts, first, last, guess)
            error = threshold + testing.error(0.95, queries=2 * (len(answers) + 1)) + 0.5
            if off is not None:
                left -= 1
                model = corrected(model, first, last, guess + off)
                value, error = guess + off, testing.noise.error(0.95)
        sent = Answer(first=first, last=last, value=value, error=error)
        answers.append(sent)
    return answers


def _tested(
    opened: Any, counts: Sensitive[Any], first: int, last: int, guess: int
) -> Generator[Any, Any, float | None]:
    """The noisy difference of the truth from the model's answer, if a test says it is large."""
    for sign in (1, -1):
        read = partial(_gap, first=first, last=last, guess=guess, sign=sign)
        gap = counts.then(read, l1=counts.bound("l1"), whole=True)
        found = yield opened.on(gap)
        if found is not None:
            return sign * float(found)
    return None


def _gap(cells: NDArray[np.int64], *, first: int, last: int, guess: int, sign: int) -> int:
    return max(-HELD, min(sign * (summed(cells[first : last + 1]) - guess), HELD))


def corrected(
    model: NDArray[np.float64], first: int, last: int, count: float
) -> NDArray[np.float64]:
    """The model with this range scaled towards its noisy count, and the total as it was.

    No cell falls below a small part of the total, so that each can grow again.
    """
    inside = float(model[first : last + 1].sum())
    rest = float(model[:first].sum()) + float(model[last + 1 :].sum())
    total = inside + rest
    if rest == 0:  # the range is all there is
        return model * (max(count, 1.0) / total)
    wanted = min(max(count, _LEAST * total), (1 - _LEAST) * total)
    # The point nearest in relative entropy that has the wanted count: a multiplicative step.
    scaled = model.copy()
    scaled[first : last + 1] *= (wanted / inside) / ((total - wanted) / rest)
    scaled = np.maximum(scaled / scaled.sum(), _LEAST / len(model))
    return np.asarray(scaled * (total / scaled.sum()))
