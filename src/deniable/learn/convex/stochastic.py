"""Noisy stochastic gradient descent: a fresh Poisson sample of the rows for every step.

Privacy    Each row's gradient is clipped to norm M and rounded towards 0 on a lattice, as in
           `descent`. A step sees each row with probability q, by its own coin, and adds normal
           noise to the sum over those drawn. T steps are (ε, δ)-DP together, by their privacy loss
           distribution [ZDW22, Thm 11]; the noise is calibrated to it, and the list is paid for
           before the first step.
Error      Divided by q, a step's sum is an unbiased ΣF′ with E‖·‖² ≤ G² = n²M² + nM²(1 − q)/q +
           dσ²/q². From the center with step length r/(G√T), the average of the points has
           E[ΣF] − min ΣF ≤ r·G/√T                                                [BST14].
Time       q·T passes over the rows in expectation, whatever is in them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from deniable.errors import BadParameter
from deniable.learn.engine.budget import sampled
from deniable.losses import Approx
from deniable.mechanisms import Gaussian
from deniable.mechanisms.combine import Composed, Sampled
from deniable.mechanisms.interactive import Block
from deniable.sensitive import Sensitive
from deniable.units import Unit

from .descent import FEWEST, LATTICE, Totals
from .domains import Domain
from .restricted import Floats

Places = NDArray[np.int64]
SumsAt = Callable[[Floats, Places], Totals]
_MOST: Final = 1024
_PASSES: Final = 16
"""So many passes over the rows are made at most, in expectation."""


@dataclass(frozen=True, kw_only=True)
class Stochastic:
    """T noisy steps on samples; everything here is public."""

    domain: Domain
    coordinates: int
    lipschitz: float
    loss: Approx
    size: float
    unit: Unit

    def __post_init__(self) -> None:
        if self.unit.sides != 1:
            raise BadParameter(
                "samples of rows need the unit dp.rows(), with rows added or removed",
                fix='method="descent", which sees all rows in every step',
            )

    @property
    def turns(self) -> int:
        """T: as many as are of use without samples, within limits."""
        useful = (self.loss.epsilon * self.size) ** 2 / self.coordinates
        return int(min(max(useful, FEWEST), _MOST))

    @property
    def rate(self) -> float:
        """The chance q that a row is in a sample."""
        return min(1.0, _PASSES / self.turns)

    @cached_property
    def mechanism(self) -> Composed:
        """All steps, in steps of the lattice."""
        return sampled(l2=LATTICE, rate=self.rate, times=self.turns, to=self.loss)

    @property
    def _sigma(self) -> float:
        """The noise of one coordinate of a sum over a sample."""
        ((step, _),) = self.mechanism.parts
        assert isinstance(step, Sampled)
        assert isinstance(step.of, Gaussian)
        return step.of.sigma / LATTICE * self.lipschitz

    def _square(self, most: float) -> float:
        """G², for so many rows."""
        rate, long = self.rate, self.lipschitz
        drawn = most * long**2 * (1 - rate) / rate
        return (most * long) ** 2 + drawn + self.coordinates * (self._sigma / rate) ** 2

    @cached_property
    def _length(self) -> float:
        """The step length, for a gradient sum over all rows."""
        return self.domain.reach(self.coordinates) / math.sqrt(self.turns * self._square(self.size))

    def excess(self, *, least: float, most: float, confidence: float | None = None) -> float:
        """A bound on the mean loss above the least: expected, or by Markov's inequality with p."""
        whole = self.lipschitz * self.domain.diameter(self.coordinates)
        if least <= 0:
            return whole
        reach = self.domain.reach(self.coordinates)
        climbed = self._length * self._square(most) / 2
        mean = (reach**2 / (2 * self._length * self.turns) + climbed) / least
        return min(whole, mean if confidence is None else mean / (1 - confidence))

    def steps(self, sums: SumsAt, count: Callable[[], int]) -> Generator[Any, Any, Floats]:
        """Opens the list, asks once per step, and returns the average of the points."""
        handle = yield Block(mechanism=self.mechanism, delta=self.loss.delta, unit=self.unit)
        point = self.domain.center(self.coordinates)
        total = np.zeros(self.coordinates)
        for _ in range(self.turns):
            total += point
            value = Sensitive(
                lambda: np.arange(count()),
                statistic=_OfSample(sums=sums, point=point.copy()),
                l2=LATTICE,
                unit=self.unit,
                whole=True,
                shape=self.coordinates,
                entries=1,
            )
            noisy = yield handle.on(value)
            slope = np.asarray(noisy, dtype=np.float64) * (self.lipschitz / LATTICE / self.rate)
            point = self.domain.project(point - self._length * slope)
        return self.domain.project(total / self.turns)


@dataclass(frozen=True, kw_only=True)
class _OfSample:
    """The sum over the rows at some places. What is declared of it is the same for all rows."""

    sums: SumsAt = field(compare=False)
    point: Floats = field(compare=False)

    def __call__(self, places: Places) -> Any:
        return self.sums(self.point, places)
