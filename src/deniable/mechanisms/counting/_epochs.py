"""What counters without a last step share: epochs that double in length."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from deniable import parameters

from ._stream import Counter, Floats, Integers


class Epochs(Counter):
    """A new counter for each of the epochs of f, 2f, 4f, … steps, at the price of one.

    A unit that moves the stream by Δ₁ moves epoch e by a share aₑ·Δ₁ with Σ aₑ ≤ 1. If an epoch's
    counter is ε-DP or μ-GDP for Δ₁ it is aₑ·ε-DP or aₑ·μ-GDP for the share, and Σ aₑ·ε ≤ ε,
    Σ (aₑ·μ)² ≤ μ².
    """

    first: int

    @abstractmethod
    def _epoch(self, number: int) -> Counter:
        """The counter of one epoch, at the price of all."""

    @abstractmethod
    def _variances(self, number: int, steps: Integers) -> Floats:
        """At least the variance of the totals after so many steps of an epoch."""

    @property
    def _longest(self) -> int:
        """The steps of the epoch that the last step falls into."""
        epochs = (-(-self.steps // self.first)).bit_length()
        return self.first << (epochs - 1)

    def deviations(self, steps: int) -> Floats:
        """At least the standard deviation of the noise in each of the first totals."""
        left = np.arange(1, steps + 1)
        return np.sqrt(self._summed(left))

    def deviation(self, step: int) -> float:
        """At least the standard deviation of the noise in the total after so many steps."""
        return math.sqrt(self._summed(np.array([parameters.whole("step", step)]))[0])

    def _summed(self, left: Integers) -> Floats:
        variances, epoch = np.zeros(len(left)), 0
        while (at := left > 0).any():
            length = self.first << epoch
            variances[at] += self._variances(epoch, np.minimum(left[at], length))
            left, epoch = left - length, epoch + 1
        return variances

    def totals(self) -> Callable[[int], float]:
        """A counter per epoch, added to the last total of the epoch before."""
        before, epoch, steps = 0.0, 0, 0
        total = self._epoch(0).totals()

        def next_total(number: int) -> float:
            nonlocal before, epoch, steps, total
            if steps == self.first << epoch:
                epoch, steps, before = epoch + 1, 0, last[0]
                total = self._epoch(epoch).totals()
            steps += 1
            last[0] = before + total(number)
            return last[0]

        last = [0.0]
        return next_total
