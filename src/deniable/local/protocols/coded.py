"""Protocols whose report is one number: direct, Hadamard and projective."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.local.reports import Rows, Tally, as_bytes, as_numbers, impossible
from deniable.mechanisms.local import SupportResponse
from deniable.sampling import below

from . import fields
from ._protocol import Protocol, Values

_CACHED = 1 << 13  # people whose vectors fit the processor's cache


@dataclass(frozen=True, kw_only=True)
class Coded(Protocol):
    """A design: b reports, s of them support each category, λ of them any two."""

    @property
    @abstractmethod
    def design(self) -> tuple[int, int, int]:
        """The design (b, s, λ): reports, supporters of a category, of two."""

    @abstractmethod
    def codes(self, values: Values) -> NDArray[np.int64]:
        """The number of each person's report."""

    @cached_property
    def randomizer(self) -> SupportResponse:
        """Reports that support the category are e^ε times as likely as others."""
        b, s, _ = self.design
        return SupportResponse(epsilon=self.epsilon, reports=b, support=s)

    @cached_property
    def chances(self) -> tuple[Fraction, Fraction]:
        """p = π; of the s reports inside λ support another category, of the others s − λ."""
        b, s, both = self.design
        inside = self.randomizer.chance
        return inside, inside * Fraction(both, s) + (1 - inside) * Fraction(s - both, b - s)

    @property
    def steps(self) -> int:
        """One: reports are counted by their numbers."""
        return 1

    @property
    def payload(self) -> int:
        """As many bytes as the largest number of a report takes."""
        return max(1, -(-(self.design[0] - 1).bit_length() // 8))

    def draw(self, values: Values) -> Rows:
        """Numbers of reports as bytes."""
        return as_bytes(self.codes(values), self.payload)

    def check_payloads(self, payloads: Rows) -> None:
        """A report is one of b."""
        if len(payloads) and as_numbers(payloads).max() >= self.design[0]:
            raise impossible()

    def tally(self) -> Tally:
        """How often each report came."""
        return (np.zeros(self.design[0], dtype=np.int64),)

    def count(self, tally: Tally, payloads: Rows) -> None:
        """Count each report."""
        tally[0][:] += np.bincount(as_numbers(payloads), minlength=self.design[0])


@parameters.made("local.Direct(categories=16, epsilon=1.0)")
@dataclass(frozen=True, kw_only=True)
class Direct(Coded):
    """Direct: randomized response over all categories. Best for few categories or a large ε.

    p = e^ε/(e^ε + k − 1), q = 1/(e^ε + k − 1)                                     [War65, WBLJ17]

    >>> p = Direct(categories=["no", "yes"], epsilon=1.0)
    >>> p.simulate([700, 300]).counts.sum().round(6)
    np.float64(1000.0)
    """

    name: ClassVar[str] = "direct"

    @property
    def design(self) -> tuple[int, int, int]:
        """Each category is its own report."""
        return self.size, 1, 0

    def codes(self, values: Values) -> NDArray[np.int64]:
        """The category itself, or another one."""
        return (values + self.randomizer.places(values.size)) % self.size


@parameters.made("local.Hadamard(categories=1024, epsilon=1.0)")
@dataclass(frozen=True, kw_only=True)
class Hadamard(Coded):
    """Hadamard: one number y, whose scalar product with the category is even or odd. Fastest.

    Category x is supported by the y with ⟨x + 1, y⟩ even: K/2 of K = 2ᵗ > k reports, K/4 of them
    for any two. p = e^ε/(e^ε + 1), q = ½                                         [ASZ19]
    The server counts reports and transforms the counts once: O(n + K log K).

    >>> Hadamard(categories=65536, epsilon=1.0).length
    8
    """

    name: ClassVar[str] = "hadamard"

    @cached_property
    def design(self) -> tuple[int, int, int]:
        """The rows of a Hadamard matrix but the first, which is constant."""
        b = max(4, 1 << self.size.bit_length())
        return b, b // 2, b // 4

    def codes(self, values: Values) -> NDArray[np.int64]:
        """A uniform y, moved to the right parity by the lowest bit that x + 1 has."""
        rows = values + 1
        drawn = below(self.design[0], values.size)
        odd = (np.bitwise_count(drawn & rows) & 1).astype(np.bool_)
        wrong = odd == self.randomizer.inside(values.size)
        return np.where(wrong, drawn ^ (rows & -rows), drawn)

    def supports(self, tally: Tally, people: int) -> NDArray[np.int64]:
        """Even minus odd is the transform; even plus odd is everyone."""
        return (people + walsh_hadamard(tally[0])[1 : self.size + 1]) // 2


@parameters.made("local.Projective(categories=1024, epsilon=1.0)")
@dataclass(frozen=True, kw_only=True)
class Projective(Coded):
    """Projective: points and hyperplanes of a finite geometry. As precise as is possible, small.

    Categories and reports are points of the projective space of dimension t − 1 over a field of g
    elements, g near e^ε + 1; x is supported by the points v with ⟨x, v⟩ = 0            [FNNT22]
    The variance is that of optimised unary encoding but for 3 % at most (8 % for ε = 5 and more),
    the report is one number, and the server transforms the counts once: O(n + K log K).

    >>> p = Projective(categories=65536, epsilon=1.0)
    >>> p.length, round(p.variance, 2)
    (8, 3.69)
    """

    name: ClassVar[str] = "projective"

    @cached_property
    def geometry(self) -> tuple[int, int]:
        """(g, t): the smallest space whose variance is within 1 % of the best."""
        return fields.geometry(self.size, math.exp(min(self.epsilon, 64.0)))

    @cached_property
    def design(self) -> tuple[int, int, int]:
        """Points, points of a hyperplane, points of two."""
        g, t = self.geometry
        b, s, both = (fields.points(g, t - less) for less in range(3))
        return b, s, both

    def codes(self, values: Values) -> NDArray[np.int64]:
        """A uniform point inside or outside the hyperplane of x.

        All coordinates but the one where x has its leading 1 are drawn, and that one is solved
        for, so that ⟨x, v⟩ is 0 inside and any other element outside. Inside, the others are those
        of one of the s points of a space of one dimension less; outside, they are any. Both are
        drawn for everyone, so neither the number of draws nor the time depends on the coin.
        """
        parts = [self._points(values[i : i + _CACHED]) for i in range(0, values.size, _CACHED)]
        return np.concatenate(parts) if parts else values

    def _points(self, values: Values) -> NDArray[np.int64]:
        g, t = self.geometry
        field, x = fields.Field.of(g), fields.vectors(values, g, t)
        inside = self.randomizer.inside(values.size)
        n, lead = values.size, fields.leading(x)
        product = np.where(inside, 0, 1 + below(g - 1, n))
        points = fields.vectors(below(self.design[1], n), g, t - 1)
        others = np.where(inside, points, fields.digits(below(g ** (t - 1), n), g, t - 1))
        chosen = np.zeros_like(x)
        for place in range(t):
            here = others[np.where(lead > place, min(place, t - 2), place - 1), np.arange(n)]
            chosen[place] = np.where(lead == place, 0, here)
        chosen[lead, np.arange(n)] = field.minus(product, field.inner(x, chosen))
        return fields.numbers(field.normalised(chosen), g)

    def supports(self, tally: Tally, people: int) -> NDArray[np.int64]:
        """Σ over all multiples of v of χ(⟨x, v⟩) is g − 1 where ⟨x, v⟩ = 0, and −1 elsewhere."""
        g, t = self.geometry
        sums = fields.character_sums(tally[0], g, t)[: self.size]
        return np.asarray((sums + people) // g)


def walsh_hadamard(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Σ_y (−1)^⟨x, y⟩·counts[y] for every x, in whole numbers."""
    values = counts.copy()
    step = 1
    while step < values.size:
        pairs = values.reshape(-1, 2, step)
        values = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1)
        values = values.reshape(-1)
        step *= 2
    return values
