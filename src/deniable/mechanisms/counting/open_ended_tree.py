"""Counting over time with pure ε when nobody knows for how long."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from deniable import parameters
from deniable.mechanisms.numbers.discrete_laplace import DiscreteLaplace
from deniable.mechanisms.numbers.laplace import Laplace

from ._epochs import Epochs
from ._stream import Floats, Integers
from .binary_tree import BinaryTreeCounter, laplace_reach


@dataclass(frozen=True, kw_only=True)
class OpenEndedTreeCounter(Epochs):
    """Open-ended tree counter: running totals with pure ε of a stream whose length is not known.

    Releases   in epochs of f, 2f, 4f, … steps, the totals of a binary tree counter for that epoch,
               added to the last totals of the epochs before                [CSS11]
    Privacy    ε-DP, ε = Δ₁/b, however long it runs: every epoch's counter is ε-DP for a unit that
               moves its epoch by Δ₁, and aₑ·ε-DP for a share aₑ of that; Σ aₑ ≤ 1. Priced as
               randomized response, the worst of all ε-DP mechanisms        [KOV15]
    Error      Chernoff's bound for the sum of as many Laplace noises as the steps of the epochs
               have ones in binary
    Assumes    one unit moves the whole stream by at most Δ₁ in all
    Numerics   whole numbers, with the noise's own rounding to whole numbers

    >>> counter = OpenEndedTreeCounter(scale=1.0)
    >>> counter.epsilon_at(), [round(counter.error(step=t)) for t in (10, 1000, 100_000)]
    (1.0, [51, 104, 237])
    """

    name: ClassVar[str] = "open_ended_tree_counter"

    scale: float
    sensitivity: float = 1.0
    first: int = 64
    steps: int = 2**40

    def __post_init__(self) -> None:
        super().__post_init__()
        self._canonical(scale=parameters.positive, sensitivity=parameters.positive)
        parameters.whole("first", self.first)
        self._epoch(self._longest.bit_length())  # refuses noise that cannot be drawn

    @property
    def priced_as(self) -> DiscreteLaplace:
        """Discrete Laplace noise on a count that one unit moves by 1: randomized response."""
        scale, exact = self.scale / self.sensitivity, Fraction(self.scale)
        if Fraction(scale) > exact / Fraction(self.sensitivity):
            scale = math.nextafter(scale, 0.0)
        return DiscreteLaplace(scale=scale, sensitivity=1)

    def _epoch(self, number: int) -> BinaryTreeCounter:
        levels = (self.first << number).bit_length()
        scale = math.nextafter(self.scale * levels, math.inf)  # never below the product
        noise = Laplace(scale=scale, sensitivity=self.sensitivity)
        return BinaryTreeCounter(steps=self.first << number, noise=noise)

    def _variances(self, number: int, steps: Integers) -> Floats:
        """One noise per one in binary, each with its rounding."""
        return np.bitwise_count(steps) * self._epoch(number).noise.rounded_variance

    @property
    def noise(self) -> Laplace:
        """That of the first epoch, the least."""
        least = self._epoch(0).noise
        assert isinstance(least, Laplace)
        return least

    def error(self, confidence: float = 0.95, *, step: int | None = None) -> float:
        """Half-width of the interval around the total after a step; by default after the last."""
        tail = 1 - parameters.confidence("confidence", confidence)
        left, epoch, terms = self.steps if step is None else parameters.whole("step", step), 0, []
        while left > 0:
            length = self.first << epoch
            terms.append((self.scale * length.bit_length(), min(left, length).bit_count()))
            left, epoch = left - length, epoch + 1
        return laplace_reach(terms, tail) + sum(ones for _, ones in terms) / 2
