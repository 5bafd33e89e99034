"""The cells themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from deniable.workload.split import Vector

from ._strategy import Strategy
from .exact import HELD, Floats, Integers


@dataclass(frozen=True, kw_only=True)
class Identity(Strategy):
    """Noise on every cell: best where queries cover few cells each."""

    name: ClassVar[str] = "identity"

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The counts as they are."""
        return (Vector(l1=self.bounds.l1, l2=self.bounds.l2),)

    @property
    def lengths(self) -> tuple[int, ...]:
        """One number per cell."""
        return (self.cells,)

    def encode(self, _part: int, counts: Integers) -> Integers:
        """The counts, clipped to ±2⁶²."""
        return np.clip(counts, -HELD, HELD)

    def decode(self, noisy: Sequence[Floats], _deviations: Sequence[float]) -> Floats:
        return noisy[0]

    def variance(self, weights: Floats, deviations: Sequence[float]) -> Floats:
        return np.asarray(np.square(weights).sum(axis=-1) * deviations[0] ** 2)

    def cell_variances(self, deviations: Sequence[float]) -> Floats:
        return np.full(self.cells, deviations[0] ** 2)

    def interval_variances(
        self, first: Integers, last: Integers, deviations: Sequence[float]
    ) -> Floats:
        return np.asarray((last - first + 1.0) * deviations[0] ** 2)

    def prefix_variances(self, deviations: Sequence[float]) -> Floats:
        return np.asarray(np.arange(self.cells + 1.0) * deviations[0] ** 2)
