"""Randomized reports whose senders are forgotten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.forms import Form
from deniable.losses import amplify
from deniable.mechanisms._mechanism import Mechanism, Norm
from deniable.mechanisms.local.randomized_response import RandomizedResponse
from deniable.sampling import permutation
from deniable.sensitive import Sensitive
from deniable.units import Relation


@dataclass(frozen=True, kw_only=True)
class Shuffled(Mechanism):
    """Shuffled: everyone randomizes their own answer, and a shuffler forgets who sent what.

    Releases   the reports of n people in a random order
    Privacy    ε₀-DP, as the reports are; and (ε, δ)-DP with a far smaller ε: the others' reports
               hide each one's                                              [FMT23]
    Error      that of `of.estimate` on the reports
    Assumes    everyone sends one report by the same randomizer; units are replaced and n is public;
               the shuffler is trusted to shuffle and to look away
    Numerics   reports and order are drawn exactly

    A ledger of (ε, δ) charges it at `delta`.

    >>> survey = Shuffled(of=RandomizedResponse(epsilon=1.0), people=10_000, delta=1e-6)
    >>> survey.epsilon_at(0.0), survey.epsilon_at(1e-6) < 0.1
    (1.0, True)
    """

    name: ClassVar[str] = "shuffled"
    norm: ClassVar[Norm] = "linf"
    of_samples: ClassVar[bool] = False
    relation: ClassVar[Relation | None] = Relation.REPLACE

    of: RandomizedResponse
    people: int
    delta: float

    def __post_init__(self) -> None:
        if not isinstance(self.of, RandomizedResponse):
            raise BadParameter.of("of", self.of, must="a dp.RandomizedResponse")
        if self.of.entries != 1:
            raise BadParameter.of("entries", self.of.entries, must="1: everyone sends one report")
        parameters.whole("people", self.people)
        parameters.confidence("delta", self.delta)

    def pure(self) -> float:
        return self.of.pure()

    def approx(self) -> tuple[float, float]:
        """(ε, δ) at the δ that was named."""
        return self.epsilon_at(self.delta), self.delta

    def epsilon_at(self, delta: float = 0.0) -> float:
        """From the law of the others' reports; ε₀ at δ = 0."""
        delta = parameters.fraction_below_one("delta", delta)
        if delta == 0:
            return self.pure()
        return amplify.shuffled(self.pure(), delta=delta, population=self.people)

    def delta_at(self, epsilon: float) -> float:
        """From the law of the others' reports."""
        epsilon = parameters.non_negative("epsilon", epsilon)
        if epsilon >= self.pure():
            return 0.0
        return amplify.shuffled_delta(self.pure(), at=epsilon, population=self.people)

    def _check_covers(self, value: Sensitive[Any]) -> None:
        self.of.check(value)

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """One category for each of the people."""
        if form.shape != (self.people,):
            raise BadParameter(
                f"Shuffled takes the answers of {self.people} people, and the value is declared "
                "to have another shape",
                fix=f"dp.Sensitive(..., shape={self.people}, entries=1)",
            )
        return self.of.reading(form)

    def draw(self, value: object) -> NDArray[np.int64]:
        """Everyone's report, in a random order."""
        if np.asarray(value).shape != (self.people,):
            raise BadParameter(f"there must be {self.people} answers, one a person")
        reports = np.asarray(self.of.draw(value))
        return reports[permutation(self.people)]
