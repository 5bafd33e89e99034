"""Sample and aggregate without a given range: the range is found privately first.

Candidates are ranges up to a power of two, above 0, below 0 or on both sides of it. A good one has
the median of the answers' absolute values in the power's upper half or a quarter of it, and few
answers on its wrong side: see `range_scores`. One unit changes one answer (two, if it is replaced),
and each score by at most 1 per answer. [NRS07]
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.mechanisms import PermuteAndFlip
from deniable.sensitive import Sensitive
from deniable.units import Unit

from .sample_aggregate import (
    _check_rows,
    _found,
    _touched,
    _unit,
    sample_and_aggregate,
)

Row = TypeVar("Row")
_OF_SEARCH: Final = 1 / 4
SMALLEST: Final = -32
LARGEST: Final = 64
_POWERS: Final = LARGEST - SMALLEST + 1
RANGES: Final = 3 * _POWERS
"""So many ranges there are: powers of two from 2⁻³² to 2⁶³ and what is smaller, on either side."""


def sample_and_aggregate_anywhere(
    rows: Sequence[Row],
    function: Callable[[list[Row]], float],
    *,
    parts: int,
    epsilon: float,
    people: Iterable[Hashable] | None = None,
    unit: Unit | None = None,
) -> Generator[Any, Any, float]:
    """The average answer of `function` over disjoint samples, wherever the answers lie: ε in all.

    A quarter of ε finds the order of magnitude, from 2⁻³² to 2⁶⁴. That takes about 100/ε parts:
    with fewer the range may be a wrong one, and the answer is then at its end or lost in noise.
    """
    parts, unit = parameters.whole("parts", parts), _unit(people, unit)
    _check_rows(rows, people)
    epsilon = parameters.positive("epsilon", epsilon)
    if isinstance(people, Iterator):
        raise BadParameter(
            "people must be a list or a column: they are read twice", fix='people=table["id"]'
        )

    def scored() -> NDArray[np.float64]:
        found = _found(rows, function, parts=parts, people=people)
        return range_scores(found, parts=parts)

    moves = _touched(unit)
    search = PermuteAndFlip(epsilon=epsilon * _OF_SEARCH, sensitivity=moves)
    place = yield search.on(Sensitive(scored, linf=moves, shape=RANGES, unit=unit))
    low, high = range_at(place)
    return (
        yield from sample_and_aggregate(
            rows,
            function,
            parts=parts,
            low=low,
            high=high,
            epsilon=epsilon * (1 - _OF_SEARCH),
            people=people,
            unit=unit,
        )
    )


def range_scores(answers: NDArray[np.float64], *, parts: int) -> NDArray[np.float64]:
    """How well each range holds the answers, 0 at best; NaN is not an answer.

    A range reaches to four times a power of two, 2ᵏ. Its score is minus the largest of: how many
    ranks the median of absolute values is away from [2ᵏ, 2ᵏ⁺¹); the answers on the side that the
    range leaves out; and, where it leaves out neither, a quarter of all parts, because it is twice
    as wide. An answer that comes, goes or changes moves each of these by at most 1.
    """
    found = np.clip(answers[~np.isnan(answers)], -(2.0**LARGEST), 2.0**LARGEST)
    powers = np.frexp(np.abs(found))[1] - 1
    places = np.where(found == 0, 0, np.clip(powers - SMALLEST + 1, 0, _POWERS - 1))
    upto = np.cumsum(np.bincount(places, minlength=_POWERS))
    below = np.concatenate([[0], upto[:-1]])
    away = np.maximum(np.maximum(below - len(found) / 2, len(found) / 2 - upto), 0.0)
    left_out = ((found < 0).sum(), (found > 0).sum(), parts / 4)
    return -np.concatenate([np.maximum(away, out) for out in left_out])


def range_at(place: int) -> tuple[float, float]:
    """The range of a score: above 0, below 0 or on both sides."""
    side, power = divmod(int(place), _POWERS)
    high = 2.0 ** (SMALLEST - 1 + power + 2)
    return (0.0 if side == 0 else -high), (0.0 if side == 1 else high)
