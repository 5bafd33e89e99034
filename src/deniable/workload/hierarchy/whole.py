"""Non-negative whole numbers that add up, as near to noisy estimates as the sums above allow.

From the top down: the total is rounded; then each parent's whole number is divided among its
children, at the point of {x ≥ 0, Σx = parent} nearest to their estimates, and rounded by largest
remainders. Whatever level they are taken from, sums are exact. Estimates are no longer unbiased:
zeros replace negative numbers, and something else must give. The ± is that of the estimates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .nesting import Chain, Floats, Integers


def whole(chain: Chain, values: Sequence[Floats]) -> list[Integers]:
    """Whole numbers for every level of a chain; each node is the sum of its children."""
    # All tops together stay below 2⁶², whatever the noise was.
    most = float(2**62 // len(values[-1]))
    top = np.clip(np.rint(values[-1]), 0.0, most).astype(np.int64)
    found = [top]
    for level in range(len(chain.sizes) - 2, -1, -1):
        found.append(divided(found[-1], chain.parents[level], values[level]))
    return found[::-1]


def divided(totals: Integers, parent: Integers, wanted: Floats) -> Integers:
    """Each total divided among the children of its node."""
    real = _projected(totals.astype(np.float64), parent, wanted)
    whole_part = np.floor(real)
    # Children by remainder, largest first, within each family.
    order = np.lexsort((whole_part - real, parent))
    family = parent[order]
    floor = _held(whole_part[order].astype(np.int64), family, totals)
    over = totals.copy()
    np.subtract.at(over, family, floor)
    # The first `over` of a family get one more; each gets more only where numbers are so large that
    # floats do not tell them apart.
    size = np.bincount(parent, minlength=len(totals))[family]
    each, rest = np.divmod(over[family], size)
    found = np.empty(len(parent), dtype=np.int64)
    found[order] = floor + each + (_ranks(family, len(totals)) < rest)
    return found


def _held(numbers: Integers, family: Integers, totals: Integers) -> Integers:
    """Whole numbers whose sum in a family is at most its total: the last ones give way."""
    rank = _ranks(family, len(totals))
    running = np.cumsum(numbers)
    before = np.zeros(len(totals), dtype=np.int64)
    first = np.flatnonzero(rank == 0)
    before[family[first]] = running[first] - numbers[first]
    held = np.minimum(running - before[family], totals[family])
    return np.asarray(np.diff(held, prepend=0) * (rank > 0) + held * (rank == 0), dtype=np.int64)


def _projected(totals: Floats, parent: Integers, wanted: Floats) -> Floats:
    """The nearest points of simplices, one per family: max(x − τ, 0) with the τ that adds up."""
    count = len(totals)
    order = np.lexsort((-wanted, parent))
    family, sorted_ = parent[order], wanted[order]
    rank = _ranks(family, count)
    running = np.cumsum(sorted_)
    first = np.flatnonzero(rank == 0)
    before = np.zeros(count)
    before[family[first]] = running[first] - sorted_[first]
    tau = (running - before[family] - totals[family]) / (rank + 1)
    inside = sorted_ > tau  # true for a first stretch of every family
    last = np.zeros(count)
    chosen = np.flatnonzero(inside)
    last[family[chosen]] = tau[chosen]  # the last one written is that of the largest rank
    held = np.maximum(wanted - last[parent], 0.0)
    # Rounding errors of the running sums are taken out again.
    sums = np.bincount(parent, weights=held, minlength=count)
    scale = np.where(sums > 0, totals / np.where(sums > 0, sums, 1.0), 0.0)
    return np.asarray(held * scale[parent])


def _ranks(family: Integers, count: int) -> Integers:
    """Places within families, of a list in which families come one after the other."""
    sizes = np.bincount(family, minlength=count)
    starts = np.cumsum(sizes) - sizes
    return np.asarray(np.arange(len(family)) - starts[family], dtype=np.int64)
