"""Pairs of mechanisms that throw a coin in public first, and then are one of several."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter

from ._pair import ULP, Cells, Complexes, Pair, Reals, log_of_parts


@dataclass(frozen=True, kw_only=True)
class BranchedPair(Pair):
    """A coin that everyone sees picks one of `parts`, with chances `weights`, or reveals all.

    The answers of different branches are told apart, so δ(ε) = reveals + Σ weightᵢ·δᵢ(ε) exactly,
    and the law of the loss is the mixture of the parts' laws.
    """

    name: ClassVar[str] = "branched"
    parts: tuple[Pair, ...]
    weights: tuple[float, ...]
    reveals: float = 0.0

    def __post_init__(self) -> None:
        chances = [parameters.probability("weights", weight) for weight in self.weights]
        revealed = parameters.probability("reveals", self.reveals)
        if not self.parts or len(self.parts) != len(chances) or not all(chances):
            raise BadParameter.of("weights", self.weights, must="a chance above 0 for each part")
        if abs(math.fsum([*chances, revealed]) - 1) > 1e-9:
            raise BadParameter.of("weights", self.weights, must="1 in sum, with `reveals`")

    def origin(self) -> float:
        """The parts' highest: those of the others are moved to it."""
        return max(part.origin() for part in self.parts)

    def point_masses(self) -> tuple[Reals, Reals] | None:
        """The atoms of all parts, from the largest loss down."""
        deficits, masses = [], []
        for part, weight in zip(self.parts, self._raised, strict=True):
            points = part.point_masses()
            if points is not None:
                deficits.append(points[0] + (self.origin() - part.origin()))
                masses.append(weight * points[1])
        if not deficits:
            return None
        joined = np.concatenate(deficits)
        order = np.argsort(joined, kind="stable")
        return joined[order], np.concatenate(masses)[order]

    def log_mgf(self, z: Complexes) -> tuple[Complexes, Reals]:
        """ln Σ weightᵢ·Mᵢ(z), each counted from the same origin."""
        parts = []
        for part in self.parts:
            log, slip = part.log_mgf(z)
            shift = z * (part.origin() - self.origin())
            parts.append((log + shift, slip + 8 * ULP * (np.abs(log) + np.abs(shift))))
        return log_of_parts(parts, self._raised)

    def decay(self, c: float, t: float) -> float:
        """That of the slowest part: a mixture's is an average."""
        return max(part.decay(c, t) for part in self.parts)

    def masses(self, edges: Reals) -> Cells:
        """The weighted sum of the parts'."""
        cells = [part.masses(edges) for part in self.parts]
        p, q, p_error, q_error = (
            sum(weight * each for weight, each in zip(self._raised, column, strict=True))
            for column in zip(*cells, strict=True)
        )
        return Cells(p, q, p_error + 16 * ULP * p, q_error + 16 * ULP * q)

    def support(self, mass: float) -> tuple[float, float]:
        """From the least to the largest end of the parts'."""
        ends = [part.support(mass) for part in self.parts]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def infinite_mass(self) -> float:
        """What is revealed at once, and what the parts reveal."""
        inner = (w * p.infinite_mass() for w, p in zip(self._raised, self.parts, strict=True))
        return min(1.0, math.fsum([self.reveals, *inner]) * (1 + 8 * ULP))

    def largest_loss(self) -> float:
        """The largest of the parts'."""
        return max(part.largest_loss() for part in self.parts)

    def delta_alone(self, epsilon: float) -> float | None:
        """Σ weightᵢ·δᵢ(ε); what is revealed comes on top."""
        alone = [part.delta_alone(epsilon) for part in self.parts]
        known = [w * d for w, d in zip(self._raised, alone, strict=True) if d is not None]
        return math.fsum(known) * (1 + 8 * ULP) if len(known) == len(alone) else None

    def group(self, size: int) -> BranchedPair:
        """The same coin, and each part for `size` units."""
        parts = tuple(part.group(size) for part in self.parts)
        return BranchedPair(parts=parts, weights=self.weights, reveals=self.reveals)

    def dominates(self, other: Pair) -> bool:
        """The same coin, or one that reveals more, over parts that dominate one by one."""
        return self == other or (
            isinstance(other, BranchedPair)
            and len(self.parts) == len(other.parts)
            and (self.weights == other.weights or len(self.parts) == 1)
            and self.reveals >= other.reveals
            and all(a.dominates(b) for a, b in zip(self.parts, other.parts, strict=True))
        )

    @property
    def _raised(self) -> list[float]:
        """The weights, each a little more than its decimal rounding may have left."""
        return [weight * (1 + 4 * ULP) for weight in self.weights]
