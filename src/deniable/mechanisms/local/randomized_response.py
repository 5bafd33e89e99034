"""Randomized response: every person answers for themselves, with a die in hand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.losses.pairs import ApproxPair, Pairs, ResponsePair
from deniable.mechanisms._mechanism import two_or_more
from deniable.sampling import below, bernoulli

from . import reach
from ._local import LocalMechanism, categories_of, grown_by, rounded_down

_LEAST = 2.0**-100  # tells of truth below which no number of people says anything


@parameters.made("dp.RandomizedResponse(epsilon=1.0)")
@dataclass(frozen=True, kw_only=True)
class RandomizedResponse(LocalMechanism):
    """Randomized response: tell the truth with a known probability, else any category at random.

    Releases   the true category with probability λ, else one of all k uniformly
    Privacy    ε-DP for each person, λ = (e^ε − 1)/(e^ε − 1 + k)             [War65; KOV16]
               with `entries` = g, each of a person's g answers is given at ε/g
               (α − 1)·D_α = ln((e^(αε) + e^((1−α)ε) + k − 2)/(e^ε + k − 1)), and ρ = sup D_α/α
    Error      a count estimated from n reports errs by √(n·p(1 − p))/λ or so: see `estimate`
    Assumes    categories are numbered 0 … k − 1 and fixed in advance; units are replaced, as the
               number of answers is public; one unit has at most g of them
    Numerics   λ is rounded down to 50 binary digits and drawn exactly: the true ε is at most ε

    >>> RandomizedResponse.two_coins().truth
    Fraction(1, 2)
    >>> survey = RandomizedResponse(epsilon=2.0, categories=3)
    >>> survey.estimate(survey.release([0] * 900 + [2] * 100)).counts.shape
    (3,)
    """

    name: ClassVar[str] = "randomized_response"
    epsilon: float
    categories: int = 2
    entries: int = 1

    def __post_init__(self) -> None:
        self._canonical(
            epsilon=parameters.positive, categories=two_or_more, entries=parameters.whole
        )

    @classmethod
    def two_coins(cls) -> Self:
        """The first coin says whether to tell the truth; if not, the second answers: ε = ln 3."""
        return cls(epsilon=math.nextafter(math.log(3), math.inf))

    @cached_property
    def truth(self) -> Fraction:
        """λ, the probability of telling the truth on purpose."""
        grown = grown_by(Fraction(self.epsilon) / self.entries)
        return rounded_down((grown - 1) / (grown - 1 + self.categories))

    def pure(self) -> float:
        return self.epsilon

    def zcdp(self) -> float:
        """The least ρ of its own law: below ε·tanh(ε/2) as soon as there is a third category."""
        return super().zcdp() if self.entries > 1 else self._response.concentration()

    def pairs(self) -> Pairs:
        """Its own law: most categories have the same probability either way.

        With two categories it is the worst of all ε-private mechanisms; several entries of one unit
        are priced as that.
        """
        if self.categories == 2 or self.entries > 1:
            return Pairs.symmetric(ApproxPair(epsilon=self.epsilon))
        return Pairs.symmetric(self._response)

    @property
    def _response(self) -> ResponsePair:
        return ResponsePair(epsilon=self.epsilon, categories=self.categories)

    def draw(self, value: object) -> int | NDArray[np.int64]:
        """One report for each true category."""
        true = categories_of(value, self.categories)
        count = max(1, true.size)
        tell = bernoulli(self.truth, count)[: true.size].reshape(true.shape)
        other = below(self.categories, count)[: true.size].reshape(true.shape)
        reports = np.where(tell, true, other)
        return reports if true.ndim else int(reports)

    def estimate(self, reports: ArrayLike, *, confidence: float = 0.95) -> Estimate:
        """How many people are in each category, from their reports: unbiased, with its ±.

        If n people report, y of them category j, E y = λ·c + n(1 − λ)/k: c = (y − n(1 − λ)/k)/λ.
        For two coins the share is 2·(y/n − ¼).
        """
        seen = np.bincount(
            categories_of(reports, self.categories).ravel(), minlength=self.categories
        )
        people, truth = int(seen.sum()), float(self.truth)
        if truth < _LEAST:
            raise BadParameter.of("epsilon", self.epsilon, must="large enough to learn anything")
        false = (1 - self.truth) / self.categories
        chances = self.truth + false, false
        counts = ((seen - people * float(false)) / truth).astype(np.float64)
        z = reach.deviations(parameters.confidence("confidence", confidence))
        terms, off = reach.variance(chances, people), reach.steps(chances, z)
        return Estimate(
            counts=counts,
            errors=reach.widest(counts, people, z=z, off=off, terms=terms),
            people=people,
            confidence=confidence,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """Estimated counts of people by category, with the half-width of each one's interval."""

    counts: NDArray[np.float64]
    errors: NDArray[np.float64]
    people: int
    confidence: float

    @property
    def shares(self) -> NDArray[np.float64]:
        """The counts as shares of all people."""
        return self.counts / max(1, self.people)
