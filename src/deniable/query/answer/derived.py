"""From noisy whole numbers to answers: counts, sums, averages, variances, quantiles, and their ±.

Everything here is a function of noisy numbers and public facts: it costs nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms import QuantileSearch
from deniable.query.algebra import Function
from deniable.query.allocate import Allocation
from deniable.query.allocate.foresight import (
    half_width,
    is_whole,
    known_part,
    linear_terms,
    q_of,
    summed,
)
from deniable.query.bound import Parts
from deniable.release import Summed
from deniable.schema.binning import Grid
from deniable.workload.search import Found, Search
from deniable.workload.split import deviation
from deniable.workload.trees import Ranks

from .intervals import Confidence, Sums

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Ends = tuple[Floats, Floats]

_SAMPLE: Final = (Function.VAR_SAMP, Function.STDDEV_SAMP)
# An average that may be anything within its bounds, with this confidence, is told as their middle.
_DROWNED: Final = 0.95
_ROOT: Final = (Function.STDDEV_SAMP, Function.STDDEV_POP)


@dataclass(frozen=True, kw_only=True)
class Derived:
    """One aggregate of every group: the values, and where the noiseless one of each may be."""

    values: Floats
    whole: bool
    interval: Callable[[float], Ends]
    flat: Summed | None = None
    """The noise that is the same for every group, where it is; its ± may be for all at once."""
    table: Callable[[Floats], Ends] | None = None
    """The interval for a column of several confidences, where asking once is quicker."""

    def intervals(self, confidences: Sequence[float]) -> list[Ends]:
        """The interval at each of several confidences."""
        if self.table is None:
            return [self.interval(confidence) for confidence in confidences]
        low, high = self.table(np.array(confidences)[:, None])
        return list(zip(low, high, strict=True))

    def cells(self) -> list[int | float]:
        """The values as plain numbers."""
        if self.whole:
            return [int(v) for v in np.floor(self.values + 0.5)]
        return [float(v) for v in self.values]


def derived(allocation: Allocation, noisy: Mapping[str, Floats]) -> dict[str, Derived]:
    """Every aggregate from the noisy tallies, by name."""
    return {
        name: _derive(allocation, parts, noisy) for name, parts in allocation.plan.parts.items()
    }


def _derive(allocation: Allocation, parts: Parts, noisy: Mapping[str, Floats]) -> Derived:
    match parts.aggregate.function:
        case Function.COUNT | Function.PERSONS | Function.DISTINCT | Function.SUM:
            return _linear(allocation, parts, noisy)
        case Function.AVG:
            return _average(_sums(allocation, parts, noisy), parts, allocation.of_each(_DROWNED))
        case Function.QUANTILE | Function.MIN | Function.MAX:
            return _quantile(allocation, parts, noisy)
    return _spread(_sums(allocation, parts, noisy), parts)


# ---- sums of noises


def _linear(allocation: Allocation, parts: Parts, noisy: Mapping[str, Floats]) -> Derived:
    """Noise alone, the same for every group."""
    known = [noisy[t.name] * factor for t, factor in linear_terms(parts) if t is not None]
    values = functools.reduce(np.add, known or [np.zeros(1)]) + known_part(parts)
    spread = summed(allocation, parts)

    def interval(confidence: float) -> Ends:
        shown = np.floor(values + 0.5) if spread.rounded else values
        half = replace(spread, among=1).half(confidence)
        return shown - half, shown + half

    return Derived(values=values, whole=spread.rounded, interval=interval, flat=spread)


# ---- averages and variances


def _sums(allocation: Allocation, parts: Parts, noisy: Mapping[str, Floats]) -> Sums:
    """What is noisy of them; a number of rows that is public has no noise in it."""
    assert parts.sum is not None
    total = noisy[parts.sum.name]
    tallies = [t for t in (parts.count, parts.sum, parts.squares) if t is not None]
    mixture = np.array(
        [allocation.errors(*((t, float(t is one)) for t in tallies)) for one in tallies]
    )
    if parts.count is None:
        assert parts.rows is not None
        count, mixture = np.full_like(total, parts.rows), np.pad(mixture, ((1, 0), (0, 0)))
    else:
        count = noisy[parts.count.name]
    return Sums(
        law=allocation.law,
        count=count,
        total=total,
        squares=None if parts.squares is None else noisy[parts.squares.name],
        mixture=mixture[:, mixture.any(axis=0)],
        reach=half_width(parts),
    )


def _average(sums: Sums, parts: Parts, drowned: float) -> Derived:
    """centre + sum/count, within the bounds; their middle where noise drowns a group."""
    assert parts.sum is not None
    low, high = float(parts.aggregate.low), float(parts.aggregate.high)
    centre, step = parts.sum.centre, parts.sum.lattice.width / 2
    if parts.sum.lattice.exponent == 0 and is_whole(parts):
        step = 0.0

    def interval(confidence: Confidence) -> Ends:
        first, last = sums.mean_interval(confidence)
        return np.clip(centre + first - step, low, high), np.clip(centre + last + step, low, high)

    told = np.clip(centre + sums.mean(), low, high)
    values = np.where(sums.drowned(drowned), low / 2 + high / 2, told)
    return Derived(values=values, whole=False, interval=interval, table=interval)


def _spread(sums: Sums, parts: Parts) -> Derived:
    """The variance or its root; samples are corrected by n/(n − 1), n the count, noisy or not."""
    function = parts.aggregate.function
    less = int(function in _SAMPLE)
    many = np.maximum(sums.count, 1.0 + less)
    root = np.sqrt if function in _ROOT else _same

    def interval(confidence: Confidence) -> Ends:
        low, high = sums.variance_interval(confidence, less=less)
        return root(low), root(high)

    values = root(sums.variance() * many / (many - less))
    return Derived(values=values, whole=False, interval=interval, table=interval)


def _same(values: Floats) -> Floats:
    return values


# ---- quantiles


def _quantile(allocation: Allocation, parts: Parts, noisy: Mapping[str, Floats]) -> Derived:
    tally, q = parts.histogram, q_of(parts)
    assert tally is not None
    assert tally.bins is not None
    tree, bins, noise = allocation.released(tally).tree, tally.bins, allocation.of(tally)
    if isinstance(tree, Search):
        assert isinstance(noise, QuantileSearch)
        found = Found(search=tree, numbers=noisy[tally.name], noise=noise)
        return _ranked(parts, bins, found.cell, found.possible)
    assert tree is not None
    ranks = Ranks(
        tree=tree,
        cells=tree.agreed(noisy[tally.name]),
        law=allocation.law,
        deviation=deviation(noise),
    )
    # The lowest and highest value are where counts begin to rise above the noise.
    sign = {0.0: 1.0, 1.0: -1.0}.get(q, 0.0)
    guess = ranks.cell(q, margin=sign * ranks.reach(q, 0.95))
    return _ranked(parts, bins, guess, lambda level: ranks.possible(q, level, guess=guess))


def _ranked(
    parts: Parts,
    bins: Grid,
    guess: Integers,
    possible: Callable[[float], tuple[Integers, Integers]],
) -> Derived:
    """The values of cells: their own of whole numbers, else the middle."""
    edges, rounded = bins.edges, is_whole(parts)

    def interval(confidence: float) -> Ends:
        first, last = possible(confidence)
        return (edges[first], edges[last]) if bins.whole else (edges[first], edges[last + 1])

    values = edges[guess] if bins.whole else (edges[guess] + edges[guess + 1]) / 2
    return Derived(values=values, whole=rounded, interval=interval)
