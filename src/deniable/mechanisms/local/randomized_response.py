"""Randomized response: every person answers for themselves, with a die in hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import BadParameter, SensitivityMismatch
from deniable.forms import Form
from deniable.losses.pairs import ApproxPair, Pairs, ResponsePair
from deniable.mechanisms._mechanism import Mechanism, Norm
from deniable.mechanisms.numbers._additive import needs_whole
from deniable.sampling import below, bernoulli
from deniable.sampling.exact import exp_bounds
from deniable.sensitive import Sensitive
from deniable.units import Relation

_DIGITS = 50
_LARGEST = 64.0  # beyond this ε a lie is rarer than 2⁻⁹⁰: the truth is told as if ε were 64


@parameters.made("dp.RandomizedResponse(epsilon=1.0)")
@dataclass(frozen=True, kw_only=True)
class RandomizedResponse(Mechanism):
    """Randomized response: tell the truth with a known probability, else any category at random.

    Releases   the true category with probability λ, else one of all k uniformly
    Privacy    ε-DP for each person, λ = (e^ε − 1)/(e^ε − 1 + k)             [War65; KOV16, Eq 3]
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
    norm: ClassVar[Norm] = "linf"
    of_samples: ClassVar[bool] = False
    relation: ClassVar[Relation | None] = Relation.REPLACE

    epsilon: float
    categories: int = 2
    entries: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", parameters.positive("epsilon", self.epsilon))
        categories = parameters.whole("categories", self.categories, least=2)
        object.__setattr__(self, "categories", categories)
        object.__setattr__(self, "entries", parameters.whole("entries", self.entries))

    @classmethod
    def two_coins(cls) -> Self:
        """The first coin says whether to tell the truth; if not, the second answers: ε = ln 3."""
        return cls(epsilon=math.nextafter(math.log(3), math.inf))

    @cached_property
    def truth(self) -> Fraction:
        """λ, the probability of telling the truth on purpose."""
        one = 1 << 128
        low, _ = exp_bounds(min(Fraction(self.epsilon) / self.entries, Fraction(_LARGEST)), 128)
        share = Fraction(low - one, low - one + self.categories * one)
        if share <= 0:
            return Fraction(0)
        # Relative to the rarer of truth and lie, so that neither loses its digits.
        rarer = min(share, 1 - share)
        places = rarer.numerator.bit_length() - rarer.denominator.bit_length() - _DIGITS
        return Fraction(2) ** places * math.floor(share / Fraction(2) ** places)

    def pure(self) -> float:
        """ε."""
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

    def _check_covers(self, value: Sensitive[Any]) -> None:
        """How many answers one unit has is declared, or follows from L1: a change moves by 1."""
        stated, moved = value.entries, value.bound("l1")
        if stated is None and not value.form.shape:
            stated = 1
        if stated is None and moved is not None:
            stated = math.floor(moved)
        if stated is None or stated > self.entries:
            has = f"has {stated}" if stated is not None else "does not say how many it has"
            raise SensitivityMismatch(
                f"RandomizedResponse covers {self.entries} answers per unit, and the value {has}",
                why="each answer is randomized by itself, so the loss of a unit adds up over them",
                fix=f"dp.Sensitive(..., entries={self.entries})"
                if stated is None
                else f"dp.RandomizedResponse(..., entries={stated})",
            )

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """Numbers of categories, as many as declared."""
        return super().reading(needs_whole(self, form))

    def draw(self, value: object) -> int | NDArray[np.int64]:
        """One report for each true category."""
        true = _categories(value, self.categories)
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
        seen = np.bincount(_categories(reports, self.categories).ravel(), minlength=self.categories)
        people = int(seen.sum())
        truth = float(self.truth)
        if truth == 0:
            raise BadParameter.of("epsilon", self.epsilon, must="large enough to learn anything")
        false = (1 - truth) / self.categories
        right = truth + false
        counts = ((seen - people * false) / truth).astype(np.float64)
        inside = np.clip(counts, 0, people)
        variance = inside * right * (1 - right) + (people - inside) * false * (1 - false)
        reach = NormalDist().inv_cdf((1 + parameters.confidence("confidence", confidence)) / 2)
        return Estimate(
            counts=counts,
            errors=(reach * np.sqrt(variance) + 0.5) / truth,
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


def _categories(value: object, categories: int) -> NDArray[np.int64]:
    array = np.asarray(value)
    inside = array.dtype.kind in "iu" and ((array >= 0) & (array < categories)).all()
    if not inside and array.size:
        raise BadParameter(f"categories must be whole numbers from 0 to {categories - 1}")
    return array.astype(np.int64)
