"""Counting over time when nobody knows for how long."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.mechanisms.numbers.gaussian import Gaussian

from ._epochs import Epochs
from ._stream import Floats, Integers
from .toeplitz import LARGEST_SIGMA, ToeplitzCounter


@dataclass(frozen=True, kw_only=True)
class OpenEndedCounter(Epochs):
    """Open-ended counter: running totals of a stream whose length is not known.

    Releases   in epochs of f, 2f, 4f, … steps, the totals of a Toeplitz counter for that epoch,
               added to the last totals of the epochs before
    Privacy    μ-GDP, μ = Δ₁/σ, however long it runs: every epoch's counter is μ-GDP for a unit that
               moves its epoch by Δ₁; one that moves epochs by Δ₁ together costs Σ (μ·aₑ)² ≤ μ² with
               shares Σ aₑ ≤ 1. The matrix of all epochs is lower triangular, so values may follow
               answers                                                      [DMRST22, Thm 2.1]
    Error      normal; after s of the T steps of an epoch the variance is at most
               σ²·(1.07 + ln(T)/π)·(1.07 + ln(s)/π), and those of the epochs add up
    Assumes    one unit moves the whole stream by at most Δ₁ in all
    Numerics   that of the Toeplitz counter

    >>> counter = OpenEndedCounter(sigma=2.0)
    >>> counter.gdp(), [round(counter.error(step=t), 1) for t in (10, 1000, 100_000)]
    (0.5, [8.1, 23.9, 46.2])
    """

    name: ClassVar[str] = "open_ended_counter"

    sigma: float
    sensitivity: float = 1.0
    first: int = 64
    steps: int = 2**40

    def __post_init__(self) -> None:
        super().__post_init__()
        self._canonical(sigma=parameters.positive, sensitivity=parameters.positive)
        parameters.whole("first", self.first)
        self._epoch(0)  # refuses noise that is too small
        most = LARGEST_SIGMA / math.sqrt(1.08 + math.log(self._longest) / math.pi)
        if self.sigma > most:
            raise BadParameter.of(
                "sigma",
                self.sigma,
                must=f"at most {most:.3g}, so that the noise of the last epoch can be drawn",
            )

    @property
    def priced_as(self) -> Gaussian:
        """Gaussian noise on a number that one unit moves by Δ₁."""
        return Gaussian(sigma=self.sigma, sensitivity=self.sensitivity)

    def _epoch(self, number: int) -> ToeplitzCounter:
        """The counter of one epoch, at the price of all."""
        return ToeplitzCounter.calibrate(
            steps=self.first << number, mu=self.priced_as.gdp(), sensitivity=self.sensitivity
        )

    def _variances(self, number: int, steps: Integers) -> Floats:
        """‖c‖² of the whole epoch, for the noise, times ‖b‖² of its steps so far."""
        whole = 1.07 + math.log(self.first << number) / math.pi
        return self.sigma**2 * whole * (1.07 + np.log(steps) / math.pi)

    def error(self, confidence: float = 0.95, *, step: int | None = None) -> float:
        """Half-width of the interval around the total after a step; by default after the last."""
        tail = 1 - parameters.confidence("confidence", confidence)
        at = self.steps if step is None else step
        return Gaussian(sigma=self.deviation(at)).quantile(tail) + 1e-3 * self.sigma
