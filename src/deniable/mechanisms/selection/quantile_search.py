"""One quantile of counted cells: find the cell first, then count only around it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import BadParameter, NoBound
from deniable.forms import Form, needs_shape
from deniable.losses import convert, rounding
from deniable.mechanisms._mechanism import Mechanism, Norm
from deniable.mechanisms.numbers import Laplace
from deniable.mechanisms.numbers._additive import needs_whole
from deniable.sampling import select

Integers = NDArray[np.int64]

STEPS: Final = 2**20  # q is a whole multiple of 1/STEPS, and so are distances in rank
_FAR: Final = 2.0**43  # beyond so many, distances count as this many: floats tell them apart there
_SLACK: Final = Fraction(1, 2**9)
_SAFE: Final = 2**48
_PICK, _RANK, _BLOCKS = 2 / 5, 1 / 5, 2 / 5


@dataclass(frozen=True, kw_only=True)
class QuantileSearch(Mechanism):
    """QuantileSearch: one quantile of each of many histograms, with what is needed for its ±.

    Releases   for every row of counts, with D(e) = (1 − q)·below(e) − q·above(e) at edge e: a cell
               with probability ∝ exp(ε₁·u/2Δ), u = − the distance of 0 from D over the cell; then
               D at its lower edge, and the counts of blocks of cells beside it that double in size
               with the distance, with Laplace noise
    Privacy    ε-DP: ε₁ = 2ε/5 for cells [MT07], ε/5 and 2ε/5 for the numbers [DMNS06]; the
               cells cost below ε₁²/8 in zCDP, as their privacy losses span ε₁  [DDR20]
    Error      the rank is within (2Δ/ε₁)·ln(m/β) of the best of m cells with probability 1 − β
    Assumes    L1 ≤ sensitivity over neighbours, all rows together; counts are whole numbers ≥ 0
    Numerics   exact: Gumbel-max on distances whose rounding is part of Δ; noise on whole numbers

    All rows together cost what one does: if a unit moves row g by w_g in L1, D moves there by at
    most max(q, 1 − q)·w_g at any edge, the score of a cell by no more, and the blocks, which are
    disjoint, by w_g; the loss of row g is then at most ε·w_g/Σw, and these add up to ε. Squares of
    them add up to no more than ε². Distances are exact to ½·2⁻⁹, which is little beside w_g ≥ 1.

    >>> found = QuantileSearch(epsilon=50.0, share=0.5).release([[0, 10, 80, 10, 0]])
    >>> int(found[0, 0])
    2
    """

    name: ClassVar[str] = "quantile_search"
    norm: ClassVar[Norm] = "l1"

    epsilon: float
    share: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", parameters.positive("epsilon", self.epsilon))
        parameters.positive("sensitivity", self.sensitivity)
        share = parameters.real("share", self.share)
        if not 0 < share < 1:
            raise BadParameter.of("share", self.share, must="between 0 and 1")

    # ---- facts

    def pure(self) -> float:
        """ε₁ and what both noises cost, at most ε."""
        return rounding.up(self._first, self.rank_noise.pure(), self.block_noise.pure())

    def zcdp(self) -> float:
        """Bounded range for the choice, Laplace noise for the rest."""
        chosen = convert.bounded_range_to_zcdp(self._first)
        return rounding.up(chosen, self.rank_noise.zcdp(), self.block_noise.zcdp())

    def renyi(self, order: float) -> float:
        """The sum of all three, which may follow one another's answers."""
        chosen = convert.bounded_range_to_renyi(self._first, order)
        noises = (self.rank_noise.renyi(order), self.block_noise.renyi(order))
        return min(rounding.up(chosen, *noises), super().renyi(order))

    def error(self, confidence: float = 0.95, *, candidates: int | None = None) -> float:
        """How far in rank the cell may be from the best, with this probability, among so many."""
        beta = 1 - parameters.confidence("confidence", confidence)
        return math.log(parameters.whole("candidates", candidates) / beta) / float(self._rate)

    def shown_error(self, confidence: float, *, whole: bool) -> float:
        """None: a line holds a cell and several noisy numbers."""
        del confidence, whole
        raise NoBound("QuantileSearch has no ±: its answers are cells and what lies around them")

    @property
    def numerator(self) -> int:
        """q in steps of 1/STEPS."""
        return min(STEPS - 1, max(1, round(self.share * STEPS)))

    @cached_property
    def rank_noise(self) -> Laplace:
        """On D at the lower edge of the cell, in steps of 1/STEPS."""
        moved = max(self.numerator, STEPS - self.numerator) * self.sensitivity
        return Laplace.calibrate(epsilon=self.epsilon * _RANK, sensitivity=moved)

    @cached_property
    def block_noise(self) -> Laplace:
        """On the counts of blocks."""
        return Laplace.calibrate(epsilon=self.epsilon * _BLOCKS, sensitivity=self.sensitivity)

    @property
    def _first(self) -> float:
        return self.epsilon * _PICK

    @cached_property
    def _rate(self) -> Fraction:
        most = Fraction(max(self.numerator, STEPS - self.numerator), STEPS) + _SLACK
        return Fraction(self._first) / (2 * most * Fraction(self.sensitivity))

    @property
    def moved(self) -> Fraction:
        """Δ: how far distances move at most, all rows together."""
        return Fraction(self._first) / (2 * self._rate)

    # ---- drawing

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """A table of whole numbers; the numbers of histograms and of cells are public."""
        if len(form.shape) != 2 or not form.shape[1]:
            needs_shape(
                "QuantileSearch",
                form,
                dimensions=2,
                what="a row of counts for each histogram",
                example="(1, 100)",
            )
        return super().reading(needs_whole(self, form))

    def draw(self, value: ArrayLike) -> Integers:
        """A line for every row: the cell, STEPS times D at its lower edge, and the blocks."""
        below = _below(_checked(value))
        cells = np.array(
            [select.gumbel_max(-self.distances(row), self._rate) for row in below], dtype=np.int64
        )
        places = np.arange(len(below))
        ranks = [
            int(row[cell]) * STEPS - self.numerator * int(row[-1])
            for row, cell in zip(below, cells, strict=True)
        ]
        held = np.array([min(2**62, max(-(2**62), rank)) for rank in ranks], dtype=np.int64)
        ends = block_edges(cells, below.shape[-1] - 1)
        counts = np.diff(below[places[:, None], ends], axis=-1)
        blocks = np.minimum(counts, 2**62).astype(np.int64)
        ranked = np.asarray(self.rank_noise.draw(held), dtype=np.int64)
        counted = np.asarray(self.block_noise.draw(blocks), dtype=np.int64)
        return np.concatenate([cells[:, None], ranked[:, None], counted], axis=-1)

    def distances(self, below: NDArray[Any]) -> NDArray[np.float64]:
        """How far 0 is from D over each cell, from what lies below the edges of one row."""
        whole, part = divmod(self.numerator * int(below[-1]), STEPS)
        edges = np.clip((below - whole).astype(np.float64) - part / STEPS, -_FAR, _FAR)
        away: NDArray[np.float64] = np.maximum(np.maximum(edges[:-1], -edges[1:]), 0.0)
        return away


@lru_cache(maxsize=256)
def reaches(cells: int) -> tuple[int, ...]:
    """How far blocks reach from a cell on either side: 0, 1, 2, 4, … until there are no more.

    >>> reaches(5)
    (0, 1, 2, 4, 8)
    """
    found = [0, 1]
    while found[-1] < cells:
        found.append(2 * found[-1])
    return tuple(found)


def block_edges(cells: Integers, count: int) -> Integers:
    """The edges of the blocks around each cell, of `count` cells; some blocks may be empty.

    >>> block_edges(np.array([1]), 4).tolist()
    [[0, 0, 0, 1, 2, 3, 4, 4]]
    """
    far = np.array(reaches(count))
    down = np.maximum(cells[:, None] - far[::-1], 0)
    up = np.minimum(cells[:, None] + 1 + far, count)
    return np.concatenate([down, up], axis=-1)


def _below(counts: NDArray[Any]) -> NDArray[Any]:
    """How much lies below every edge; in wider numbers where 64 bits may not do."""
    wide = int(counts.max(initial=0)) >= _SAFE
    total = np.cumsum(counts.astype(object) if wide else counts, axis=-1)
    return np.concatenate([np.zeros((len(counts), 1), dtype=total.dtype), total], axis=-1)


def _checked(value: ArrayLike) -> NDArray[Any]:
    counts = np.asarray(value)
    if counts.ndim != 2 or counts.shape[1] == 0 or counts.dtype.kind not in "iu":
        raise BadParameter("counts must be a table of whole numbers, a row for each histogram")
    if counts.size and counts.min() < 0:
        raise BadParameter("counts cannot be negative")
    return counts.astype(np.int64)
