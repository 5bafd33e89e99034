"""What a strategy is: the whole-number questions that get noise, and answers computed from them.

A strategy multiplies the counts of cells by a matrix of whole numbers, exactly. Noise is added to
those products; everything after that is post-processing, and floats do no harm. One unit moves
counts d by ‖d‖₁ ≤ l1, so it moves A·d by at most l1 times the longest column of A, in every norm:
that holds for rows, for people whose rows are weighted, and for units that are replaced.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from deniable.mechanisms.counting._places import after_each
from deniable.workload.split import Vector

from .exact import Floats, Integers

IntervalQueries = Literal["ranges", "prefixes"]


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How far one unit can move the counts of cells, in L1 and in L2."""

    l1: float = 1.0
    l2: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Strategy(ABC):
    """Questions about `cells` counts, which one unit moves by at most `bounds`."""

    name: ClassVar[str]

    cells: int
    bounds: Bounds

    @property
    @abstractmethod
    def vectors(self) -> tuple[Vector, ...]:
        """What gets noise: how far one unit moves each vector, and its share of the loss."""

    @property
    @abstractmethod
    def lengths(self) -> tuple[int, ...]:
        """How many numbers each vector has."""

    @abstractmethod
    def encode(self, part: int, counts: Integers, /) -> Integers:
        """One of the vectors, exactly."""

    @abstractmethod
    def decode(self, noisy: Sequence[Floats], deviations: Sequence[float], /) -> Floats:
        """The counts of cells that fit the noisy vectors best (least squares)."""

    @abstractmethod
    def variance(self, weights: Floats, deviations: Sequence[float]) -> Floats:
        """The variance of Σ weight·cell for each row of weights, exactly."""

    @abstractmethod
    def cell_variances(self, deviations: Sequence[float]) -> Floats:
        """The variance of every cell."""

    def interval_variances(
        self, first: Integers, last: Integers, deviations: Sequence[float]
    ) -> Floats:
        """The variances of the sums of cells first … last (inclusive), exactly."""
        places = np.arange(self.cells)
        step = 2**22 // self.cells  # at most 2²⁰ cells have intervals
        found = [
            self.variance(
                ((places >= f[:, None]) & (places <= t[:, None])).astype(np.float64), deviations
            )
            for f, t in (
                (first[at : at + step], last[at : at + step]) for at in range(0, len(first), step)
            )
        ]
        return np.concatenate(found) if found else np.zeros(0)

    def prefix_variances(self, deviations: Sequence[float]) -> Floats:
        """The variance of the sum of the first b cells, for b = 0, …, n.

        Of more than 1,500 cells some are interpolated.
        """
        return after_each(
            self.cells,
            lambda places: self.interval_variances(np.zeros_like(places), places - 1, deviations),
        )

    def mean_variance(self, queries: IntervalQueries, deviations: Sequence[float]) -> float:
        """The mean variance over all ranges, or over all prefixes."""
        prefixes, n = self.prefix_variances(deviations), self.cells
        if queries == "prefixes":
            return float(prefixes[1:].mean())
        # Σ over pairs of Var(P_b − P_a) = (n + 1)·Σ Var(P_b) − Var(Σ P_b).
        joint = float(self.variance(np.arange(n, 0, -1.0)[None, :], deviations)[0])
        return ((n + 1) * float(prefixes.sum()) - joint) / (n * (n + 1) / 2)
