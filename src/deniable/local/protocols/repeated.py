"""Repeated: permanent randomization once, instantaneous randomization for every report.

If a client randomizes its value afresh each day, the mean of its reports is its value. So it draws
a *permanent* report once, at ε, and remembers it; every report that it sends is a fresh
randomization of that one. However many are sent, they say nothing beyond the permanent report: the
loss over a lifetime is ε (post-processing) [EPK14]. One report alone costs less, `first`. Reports
of one person can be linked: with many categories two equal ones usually come from the same person.
ε bounds what they say about the value, not about who sent them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.local.reports import LEAST, Rows, Tally, as_bytes, as_numbers
from deniable.mechanisms.local._local import grown_by, rounded_down
from deniable.sampling import below, bernoulli

from ._protocol import Values
from .coded import Coded, Direct, Hadamard, Projective

KINDS: dict[str, type[Coded]] = {
    "projective": Projective,
    "hadamard": Hadamard,
    "direct": Direct,
}


@parameters.made("local.Repeated(categories=16, epsilon=2.0, first=1.0)")
@dataclass(frozen=True, kw_only=True)
class Repeated(Coded):
    """Repeated: reports that may be asked for again and again, at ε over a lifetime.

    The permanent report is that of `kind`; a sent report is the permanent one with probability λ,
    else any report at random. A single one costs `first`, below ε. `local.Client` remembers the
    permanent report; without a client each call is a new person.

    p = λ·p₀ + (1 − λ)·s/b and q = λ·q₀ + (1 − λ)·s/b, with p₀, q₀ of the permanent report

    >>> p = Repeated(categories=16, epsilon=2.0, first=1.0)
    >>> float(p.kept) < 0.7
    True
    """

    name: ClassVar[str] = "repeated"

    first: float
    kind: str = "projective"

    def __post_init__(self) -> None:
        super().__post_init__()
        parameters.one_of("kind", self.kind, tuple(KINDS))
        first = parameters.positive("first", self.first)
        if first >= self.epsilon:
            raise BadParameter.of(
                "first", self.first, must=f"below epsilon={self.epsilon:g}, the loss of a lifetime"
            )
        if first < LEAST:
            raise BadParameter.of("first", self.first, must=f"at least {LEAST:g}")
        object.__setattr__(self, "first", first)

    @cached_property
    def permanent(self) -> Coded:
        """The protocol of the permanent report."""
        return KINDS[self.kind](categories=self.categories, epsilon=self.epsilon)

    @property
    def design(self) -> tuple[int, int, int]:
        """That of the permanent report."""
        return self.permanent.design

    @cached_property
    def kept(self) -> Fraction:
        """λ: (λA + (1 − λ)/b)/(λB + (1 − λ)/b) = e^first, rounded down.

        A and B are the probabilities of a permanent report that supports the value or does not.
        """
        b, s, _ = self.design
        inside = self.permanent.randomizer.chance
        grown = grown_by(Fraction(self.first))
        gap = b * (inside / s - grown * (1 - inside) / (b - s))
        if gap <= 0:
            return Fraction(1) - Fraction(1, 1 << 50)
        ratio = (grown - 1) / gap
        return rounded_down(ratio / (1 + ratio))

    @cached_property
    def chances(self) -> tuple[Fraction, Fraction]:
        """Those of the permanent report, mixed with those of a uniform one."""
        b, s, _ = self.design
        p, q = self.permanent.chances
        blind = (1 - self.kept) * Fraction(s, b)
        return self.kept * p + blind, self.kept * q + blind

    def codes(self, values: Values) -> NDArray[np.int64]:
        """The first report of a person, who has no permanent one yet."""
        return self._again(self.permanent.codes(values))

    def again(self, payloads: Rows) -> Rows:
        """A fresh randomization of permanent reports."""
        return as_bytes(self._again(as_numbers(payloads)), self.payload)

    def _again(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        keep = bernoulli(self.kept, codes.size)
        return np.where(keep, codes, below(self.design[0], codes.size))

    def supports(self, tally: Tally, people: int) -> NDArray[np.int64]:
        """As of the permanent report."""
        return self.permanent.supports(tally, people)
