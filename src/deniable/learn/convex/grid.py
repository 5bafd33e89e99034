"""The exponential mechanism over a public grid of points: exact, and of pure ε.

Privacy    The candidates are public, and a candidate's score is −Σ(F(x; rowᵢ) − F(o; rowᵢ)), each
           term clipped to ±M·r and rounded towards 0 on a lattice, r the distance of the farthest
           point from the center o. So one row moves a score by at most M·r, in whole numbers, and
           `Exponential` is ε-DP, drawn exactly                                    [MT07].
Error      E[ΣF] − min over the grid ≤ ln(candidates)·2Δ/ε, as an entropy is at most the logarithm
           of their number. Every point x of the set has a candidate within `cover`: the nearest
           point q of the grid is that near, and projecting q onto the set moves it no further
           from x, as projections onto convex sets are contractions. So F rises by at most
           M·cover, and rounding scores costs at most two steps of the lattice per row.
           This concerns the stated error alone: privacy holds for any public candidates.
Time       one pass over the rows per candidate, whatever is in them. A grid grows like kᵈ: at most
           three coordinates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deniable.errors import BadParameter
from deniable.mechanisms import Exponential
from deniable.units import Unit

from .domains import Domain, Simplex
from .restricted import Floats

LATTICE = 2.0**20
_PER_AXIS = {1: 4096, 2: 64, 3: 16}


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The candidates in a set, and the mechanism that picks one of them."""

    domain: Domain
    coordinates: int
    lipschitz: float
    epsilon: float
    unit: Unit

    def __post_init__(self) -> None:
        if self.domain.dimension(self.coordinates) > max(_PER_AXIS):
            raise BadParameter(
                "the exponential mechanism of pure ε needs a grid, and has one in up to three "
                "dimensions",
                why="a point drawn with any error, however small, has a δ",
                fix='spend=dp.epsilon(1.0, delta=1e-6), or method="regularised" with it',
            )

    @property
    def mechanism(self) -> Exponential:
        """Scores in steps of the lattice."""
        return Exponential(epsilon=self.epsilon, sensitivity=LATTICE * self.unit.sides)

    def points(self) -> Floats:
        """The candidates, one per row."""
        d = self.domain.dimension(self.coordinates)
        middle, half = self._frame(d)
        ends = zip(middle - half, middle + half, strict=True)
        axes = [np.linspace(low, high, _PER_AXIS[d]) for low, high in ends]
        every = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, d)
        if isinstance(self.domain, Simplex):  # the last coordinate is what the sum leaves
            every = np.hstack([every, self.domain.total - every.sum(axis=1, keepdims=True)])
        moved = np.array([self.domain.project(point) for point in every])
        far = np.linalg.norm(every - moved, axis=1)
        found: Floats = np.unique(moved[far <= self.cover], axis=0)
        return found

    @property
    def cover(self) -> float:
        """At most how far a point of the set is from its nearest candidate.

        In each of the d coordinates of the grid, at most half its spacing. On a simplex the last
        coordinate makes up for all others, so it is off by at most the sum of theirs.
        """
        d = self.domain.dimension(self.coordinates)
        apart = self._frame(d)[1] / (_PER_AXIS[d] - 1)
        rest = apart.sum() if isinstance(self.domain, Simplex) else 0.0
        return float(math.hypot(np.linalg.norm(apart), rest)) * (1 + 2.0**-20)

    def _frame(self, d: int) -> tuple[Floats, Floats]:
        """The middle and the half sides of the smallest box around the set, in d coordinates."""
        eye = np.eye(self.coordinates)[:d]
        high = np.array([self.domain.farthest(e)[i] for i, e in enumerate(eye)])
        low = np.array([self.domain.farthest(-e)[i] for i, e in enumerate(eye)])
        return (low + high) / 2, (high - low) / 2

    def scores(self, losses: Floats, base: Floats, *, spare: float = 0.0) -> int:
        """The score of one candidate, given the rows' losses there and at the center."""
        far = self.lipschitz * self.domain.reach(self.coordinates)
        with np.errstate(all="ignore"):
            moved = np.nan_to_num((losses - base) / far, nan=0.0, posinf=1.0, neginf=-1.0)
        steps = np.trunc(np.clip(moved, spare - 1, 1 - spare) * LATTICE)
        return -int(steps.sum())

    def excess(self, size: float, confidence: float | None = None) -> float:
        """A bound on the mean loss above the least, for so many rows: expected, or with p."""
        whole = self.lipschitz * self.domain.diameter(self.coordinates)
        if size <= 0:
            return whole
        candidates = len(self.points())
        scale = float(self.mechanism.scale) / LATTICE
        far = self.lipschitz * self.domain.reach(self.coordinates)
        rare = 0.0 if confidence is None else -math.log(1 - confidence)
        chosen = (math.log(candidates) + rare) * scale * far / size
        return min(whole, chosen + self.lipschitz * self.cover + 2 * far / LATTICE)
