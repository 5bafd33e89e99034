"""One quantile of a column: its cell is found first, and only what lies around it is counted.

A tree of counts answers every quantile at once; for a single one most of its counts are of no use.
Here two fifths of the loss find the cell, and the rest tells how much lies below it and in blocks
beside it (`mechanisms.QuantileSearch`). As in `trees`, D at the edges of blocks is then known up to
noise, and a block stays possible while D at its lower edge is not clearly above 0 and D at its
upper edge not clearly below: the truth lies in one block, whose two edges each mislead with half of
what the confidence leaves. Blocks are chosen before that noise is drawn: the confidence holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms import QuantileSearch
from deniable.mechanisms.selection.quantile_search import STEPS, block_edges, reaches

from .tails import factor

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# With fewer cells a tree is as good; with more groups, finding cells one by one takes a while.
FEWEST_CELLS: Final = 129
MOST_GROUPS: Final = 2**12
_BESIDE: Final = 2  # how many blocks away from the cell the truth usually is at most


@dataclass(frozen=True, kw_only=True)
class Search:
    """The shape of what is released: the cells themselves, searched for one quantile."""

    cells: int
    q: float

    levels = 1  # every row is in one count

    @property
    def nodes(self) -> int:
        """How many numbers are released for a group."""
        return 2 * len(reaches(self.cells)) + 1

    def sums(self, cells: Integers) -> Integers:
        """The counts that are searched are those of the cells."""
        return cells


def reach_of(noise: QuantileSearch, blocks: Floats | float, *, confidence: float) -> Floats:
    """How far D may be off so many blocks away from the cell, in the counts' own units."""
    rank, block = noise.rank_noise.scale / STEPS, noise.block_noise.scale
    deviations = np.sqrt(2 * rank**2 + 2 * block**2 * np.asarray(blocks))
    return np.asarray(factor("laplace", confidence) * deviations)


def usual_reach(noise: QuantileSearch, *, confidence: float = 0.95) -> float:
    """How far D may be off near the cell."""
    return float(reach_of(noise, float(_BESIDE), confidence=confidence))


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """What was released (groups × numbers), and the noise that is on it."""

    search: Search
    numbers: Floats
    noise: QuantileSearch

    @property
    def cell(self) -> Integers:
        """The cell that was found, for each group."""
        return self.numbers[:, 0].astype(np.int64)

    def possible(self, confidence: float) -> tuple[Integers, Integers]:
        """The first and last cell that may hold the quantile; the one that was found is one."""
        edges = block_edges(self.cell, self.search.cells)
        here = len(reaches(self.search.cells)) - 1  # the lower edge of the cell
        below = np.cumsum(self.numbers[:, 2:], axis=-1)
        below = np.concatenate([np.zeros((len(below), 1)), below], axis=-1)
        balance = self.numbers[:, 1:2] / STEPS + below - below[:, here : here + 1]
        away = np.abs(np.arange(edges.shape[-1]) - here).astype(np.float64)
        reach = reach_of(self.noise, away, confidence=confidence)
        open_ = (balance[:, :-1] <= reach[:-1]) & (balance[:, 1:] >= -reach[1:])
        open_ &= np.diff(edges, axis=-1) > 0
        open_[:, here] = True
        first = open_.argmax(axis=-1)
        last = open_.shape[-1] - open_[:, ::-1].argmax(axis=-1)
        places = np.arange(len(edges))
        return edges[places, first], edges[places, last] - 1
