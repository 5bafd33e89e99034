"""Protocols whose report is one bit per category: unary encoding and subset selection."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.local.estimate import Estimate
from deniable.local.reports import Rows, Tally, impossible
from deniable.mechanisms.local import SupportResponse, UnaryResponse
from deniable.mechanisms.local.unary_response import KINDS
from deniable.sampling import below
from deniable.sampling.public import PublicRandom

from ._protocol import Protocol, Values

CELLS = 1 << 24  # bits that are unpacked or drawn together
JOINTLY = 1 << 28  # people × categories up to which a simulation runs every client: seconds


@dataclass(frozen=True, kw_only=True)
class Bitmap(Protocol):
    """The set bits of a report are the categories that it supports."""

    @property
    def payload(self) -> int:
        """One bit per category."""
        return -(-self.size // 8)

    def check_payloads(self, payloads: Rows) -> None:
        """No bit beyond the last category is set."""
        unused = 8 * self.payload - self.size
        if unused and (payloads[:, -1] >> (8 - unused)).any():
            raise impossible()

    def tally(self) -> Tally:
        """How many reports have each bit."""
        return (np.zeros(self.size, dtype=np.int64),)

    def count(self, tally: Tally, payloads: Rows) -> None:
        """Add up the bits, column by column."""
        tally[0][:] += column_sums(payloads, self.size)

    def simulate(self, true_counts: ArrayLike, *, confidence: float = 0.95) -> Estimate:
        """What a server would estimate if so many people of each category took part.

        c of the n people support a category with probability p each, the others with q: two
        binomial numbers per category, however many people there are.

        >>> Unary(categories=3, epsilon=1.0).simulate([10**9, 10**8, 0]).people
        1100000000
        """
        counts = self._made_up(true_counts)
        supports = simulated_supports(counts, self.chances)
        return self.estimate(supports, int(counts.sum()), confidence=confidence)


@parameters.made("local.Unary(categories=64, epsilon=1.0)")
@dataclass(frozen=True, kw_only=True)
class Unary(Bitmap):
    """Unary: one bit per category, each flipped by its own coin. Precise, and large.

    kind="optimised" has the least variance, 4e^ε/(e^ε − 1)² per report for rare categories;
    "symmetric" flips all bits alike, as RAPPOR does                          [WBLJ17, EPK14]

    >>> Unary(categories=1024, epsilon=1.0).length
    133
    """

    name: ClassVar[str] = "unary"

    kind: str = "optimised"

    def __post_init__(self) -> None:
        super().__post_init__()
        parameters.one_of("kind", self.kind, KINDS)

    @cached_property
    def randomizer(self) -> UnaryResponse:
        return UnaryResponse(epsilon=self.epsilon, categories=self.size, kind=self.kind)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """A bit supports its category."""
        return self.randomizer.true_bit, self.randomizer.other_bit

    def draw(self, values: Values) -> Rows:
        """The bits of each report, packed."""
        each = max(1, CELLS // self.size)
        parts = [
            self.randomizer.words(values[i : i + each]).astype("<u8").view(np.uint8)
            for i in range(0, values.size, each)
        ]
        return np.concatenate(parts)[:, : self.payload]


@parameters.made("local.Subset(categories=16, epsilon=1.0)")
@dataclass(frozen=True, kw_only=True)
class Subset(Bitmap):
    """Subset: a random set of d categories, likely with the true one. Best for a few dozen.

    d ≈ k/(e^ε + 1) categories; sets with the true one are e^ε times as likely as others [YB18]

    >>> Subset(categories=15, epsilon=1.0).chosen
    4
    """

    name: ClassVar[str] = "subset"

    @cached_property
    def chosen(self) -> int:
        """d, the size of the sets: of the two whole numbers around k/(e^ε + 1), the better."""
        exact = self.size / (math.exp(min(self.epsilon, 64.0)) + 1)
        around = {max(1, math.floor(exact)), math.ceil(exact)}  # below k: ε is above 0
        return min(around, key=self._variance_with)

    def _variance_with(self, d: int) -> float:
        p, q = self._chances_with(d)
        return float(q * (1 - q) / (p - q) ** 2)

    def _chances_with(self, d: int) -> tuple[Fraction, Fraction]:
        """Of the other k − 1 categories d − 1 are in the set with the true one, else d."""
        others = self.size - 1
        p = SupportResponse(epsilon=self.epsilon, reports=self.size, support=d).chance
        return p, (p * (d - 1) + (1 - p) * d) / others

    @cached_property
    def randomizer(self) -> SupportResponse:
        """Of all sets, d in k have the true category: the coin is that of d reports in k."""
        return SupportResponse(epsilon=self.epsilon, reports=self.size, support=self.chosen)

    @cached_property
    def chances(self) -> tuple[Fraction, Fraction]:
        """A set supports its members."""
        return self._chances_with(self.chosen)

    def simulate(self, true_counts: ArrayLike, *, confidence: float = 0.95) -> Estimate:
        """What a server would estimate if so many people of each category took part.

        Everyone's client code runs if people × categories is at most 2²⁸. Beyond that, each count
        has its exact law, but their joint law is not that of sets of one size: `projected`, which
        depends on it, is off by about one part in as many as there are categories.
        """
        counts = self._made_up(true_counts)
        if self.size * int(counts.sum()) <= JOINTLY:
            return Protocol.simulate(self, counts, confidence=confidence)
        return super().simulate(counts, confidence=confidence)

    def check_payloads(self, payloads: Rows) -> None:
        """Every set has d members."""
        super().check_payloads(payloads)
        if (np.bitwise_count(payloads).sum(axis=1, dtype=np.int64) != self.chosen).any():
            raise impossible()

    def draw(self, values: Values) -> Rows:
        """The true category or not, by a coin; the others uniformly."""
        each = max(1, CELLS // self.size)
        parts = [self._draw(values[i : i + each]) for i in range(0, values.size, each)]
        return np.concatenate(parts)

    def _draw(self, values: Values) -> Rows:
        inside = self.randomizer.inside(values.size)
        members = np.zeros((values.size, self.size), dtype=np.bool_)
        for flag, others in ((True, self.chosen - 1), (False, self.chosen)):
            rows = np.flatnonzero(inside == flag)
            # Places among the other categories: those from the true one on move up by one.
            at = _subsets(rows.size, self.size - 1, others)
            at += at >= values[rows, None]
            members[rows[:, None], at] = True
        members[np.flatnonzero(inside), values[inside]] = True
        return np.packbits(members, axis=1, bitorder="little")


def _subsets(rows: int, among: int, size: int) -> NDArray[np.int64]:
    """Uniform sets of so many members, one per row, by Floyd's method [BF87].

    For j = among − size … among − 1: add a uniform member of 0 … j, or j if that is in already.
    """
    chosen = np.empty((rows, size), dtype=np.int64)
    taken = np.zeros((rows, among), dtype=np.bool_)
    every = np.arange(rows)
    for step, j in enumerate(range(among - size, among)):
        new = below(j + 1, rows)
        new = np.where(taken[every, new], j, new)
        taken[every, new] = True
        chosen[:, step] = new
    return chosen


def column_sums(payloads: Rows, columns: int) -> NDArray[np.int64]:
    """How many rows have each bit."""
    total = np.zeros(columns, dtype=np.int64)
    each = max(1, CELLS // columns)
    for i in range(0, len(payloads), each):
        bits = np.unpackbits(payloads[i : i + each], axis=1, bitorder="little", count=columns)
        total += bits.sum(axis=0, dtype=np.int64)
    return total


def simulated_supports(
    counts: NDArray[np.int64], chances: tuple[Fraction, Fraction]
) -> NDArray[np.int64]:
    """Bin(c, p) + Bin(n − c, q) for each count c, from randomness that protects nobody."""
    draw = PublicRandom(int(below(1 << 62)[0])).generator
    p, q = map(float, chances)
    drawn = draw.binomial(counts, p) + draw.binomial(int(counts.sum()) - counts, q)
    return np.asarray(drawn, dtype=np.int64)
