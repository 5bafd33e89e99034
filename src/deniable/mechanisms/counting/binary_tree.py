"""Counting over time by noisy partial sums in a binary tree."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.mechanisms.combine.composed import Composed
from deniable.mechanisms.numbers.gaussian import Gaussian
from deniable.mechanisms.numbers.laplace import Laplace

from ._stream import Counter, Floats


@dataclass(frozen=True, kw_only=True)
class BinaryTreeCounter(Counter):
    """Binary tree counter: running totals from noisy sums over stretches of 1, 2, 4, … steps.

    Releases   after step t, the sum of the noisy stretches that make up 1 … t, at most ⌊log₂ T⌋ + 1
    Privacy    h = ⌊log₂ T⌋ + 1 times `noise`: a value is in one stretch of each length
                                                                            [CSS11; DNPR10]
    Error      that of a sum of as many independent noises as t has ones in binary; given for the
               worst step: the normal quantile, or Chernoff's bound for Laplace
    Assumes    one unit moves the whole stream by at most Δ₁ = `noise.sensitivity` in all
    Numerics   whole numbers throughout, with the noise's own rounding to whole numbers

    >>> tree = BinaryTreeCounter(steps=1024, noise=Gaussian(sigma=math.sqrt(11)))
    >>> tree.levels, round(tree.gdp(), 6), round(tree.variance)
    (11, 1.0, 110)
    """

    name: ClassVar[str] = "binary_tree_counter"

    steps: int
    noise: Gaussian | Laplace

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.noise, Gaussian | Laplace):
            raise BadParameter.of("noise", self.noise, must="a dp.Gaussian or a dp.Laplace")

    @property
    def sensitivity(self) -> float:
        """How far one unit may move the whole stream, in L1."""
        return self.noise.sensitivity

    @property
    def levels(self) -> int:
        """The height of the tree, ⌊log₂ T⌋ + 1."""
        return self.steps.bit_length()

    @property
    def priced_as(self) -> Composed:
        """One use of the noise for each length of stretch."""
        return Composed.of((self.noise, self.levels))

    @property
    def most_terms(self) -> int:
        """The largest number of ones in binary of any t up to T: 2^(h−1) − 1 has h − 1 of them."""
        return max(self.steps.bit_count(), self.levels - 1)

    @property
    def variance(self) -> float:
        """Of the noise in the worst total, but for the rounding."""
        return self.most_terms * self._one

    @property
    def _one(self) -> float:
        noise = self.noise
        return noise.sigma**2 if isinstance(noise, Gaussian) else 2 * noise.scale**2

    def deviations(self, steps: int) -> Floats:
        """As many noises as a step has ones in binary, each with its rounding."""
        ones = np.bitwise_count(np.arange(1, steps + 1))
        return np.sqrt(ones * self.noise.rounded_variance)

    def error(self, confidence: float = 0.95) -> float:
        """Half-width of the interval around the worst total; each term's rounding is included."""
        tail = 1 - parameters.confidence("confidence", confidence)
        terms = self.most_terms
        if isinstance(self.noise, Gaussian):
            return math.sqrt(terms) * self.noise.quantile(tail) + terms / 2
        return laplace_reach([(self.noise.scale, terms)], tail) + terms / 2

    def totals(self) -> Callable[[int], float]:
        """The stretches that are open, and the noisy ones that are not."""
        exact = [0] * self.levels  # the open stretch of each length: private
        noisy = [0.0] * self.levels
        step = 0

        def total(number: int) -> float:
            nonlocal step
            step += 1
            level = (step & -step).bit_length() - 1  # this step closes the stretch of 2^level steps
            exact[level] = sum(exact[:level]) + number
            noise = self.noise.draw(0)
            assert isinstance(noise, int)
            noisy[level] = float(exact[level] + noise)
            for lower in range(level):
                exact[lower], noisy[lower] = 0, 0.0
            return math.fsum(noisy)

        return total


def laplace_reach(terms: Sequence[tuple[float, int]], tail: float) -> float:
    """What a sum of Laplace noises, so many of each scale, exceeds with at most this probability.

    P(|Σ Lap(bᵢ)| > t) ≤ 2·e^(−st)·Π (1 − s²bᵢ²)⁻¹ for 0 < s < 1/max bᵢ: at the best of many s.
    """
    largest = max(scale for scale, _ in terms)

    def reach(s: float) -> float:
        grown = sum(n * math.log1p(-((s * scale / largest) ** 2)) for scale, n in terms)
        return (math.log(2 / tail) - grown) / s

    return largest * min(reach(j / 256) for j in range(1, 256))
