"""Unary response: one bit per category, each flipped by its own coin."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.mechanisms._mechanism import two_or_more
from deniable.sampling import bernoulli, bernoulli_bits

from ._local import LocalMechanism, categories_of, grown_by, rounded_down, rounded_up

KINDS = ("optimised", "symmetric")


@parameters.made("UnaryResponse(epsilon=1.0, categories=16)")
@dataclass(frozen=True, kw_only=True)
class UnaryResponse(LocalMechanism):
    """Unary response: the bit of the true category is 1 with chance p, the others with chance q.

    Releases   k independent bits
    Privacy    ε-DP for each person, e^ε = p(1 − q)/((1 − p)q): two bits differ between two values
               symmetric: p = 1 − q = e^(ε/2)/(e^(ε/2) + 1)                          [EPK14]
               optimised: p = ½, q = 1/(e^ε + 1), which has the least variance       [WBLJ17]
    Error      that of the protocol which reads the reports: see `deniable.local`
    Assumes    categories are numbered 0 … k − 1; units are replaced, with one answer each
    Numerics   p is rounded down and q up to 50 binary digits and drawn exactly: the true ε is at
               most ε

    >>> UnaryResponse(epsilon=1.0, categories=16).release(3).shape
    (16,)
    """

    name: ClassVar[str] = "unary_response"

    epsilon: float
    categories: int
    kind: str = "optimised"

    def __post_init__(self) -> None:
        self._canonical(epsilon=parameters.positive, categories=two_or_more)
        parameters.one_of("kind", self.kind, KINDS)

    @cached_property
    def true_bit(self) -> Fraction:
        """p, the probability that the bit of the true category is 1."""
        if self.kind == "optimised":
            return Fraction(1, 2)
        grown = grown_by(Fraction(self.epsilon) / 2)
        return rounded_down(grown / (grown + 1))

    @cached_property
    def other_bit(self) -> Fraction:
        """q, the probability that the bit of another category is 1."""
        if self.kind == "symmetric":
            return 1 - self.true_bit
        return rounded_up(1 / (grown_by(Fraction(self.epsilon)) + 1))

    def pure(self) -> float:
        return self.epsilon

    def words(self, values: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The bits of each report as 64-bit words, category 0 in the lowest bit of the first.

        Bits beyond the last category are 0.
        """
        people, each = values.size, -(-self.categories // 64)
        drawn = bernoulli_bits(self.other_bit, people * each).reshape(people, each)
        rows, places = np.arange(people), values // 64
        bit = np.uint64(1) << (values % 64).astype(np.uint64)
        own = np.where(bernoulli(self.true_bit, people), bit, np.uint64(0))
        drawn[rows, places] = (drawn[rows, places] & ~bit) | own
        drawn[:, -1] &= np.uint64((1 << (self.categories - 64 * (each - 1))) - 1)
        return drawn

    def draw(self, value: object) -> NDArray[np.uint8]:
        """The bits of one report for each true value, along the last axis."""
        true = categories_of(value, self.categories)
        octets = self.words(true.ravel()).astype("<u8").view(np.uint8)
        bits = np.unpackbits(octets, axis=1, bitorder="little", count=self.categories)
        return bits.reshape(*true.shape, self.categories)
