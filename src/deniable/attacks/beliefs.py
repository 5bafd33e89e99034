"""What an answer does to a belief: about someone in the data, and about someone who is not.

A study that finds that smoking harms changes what an insurer believes about every smoker, whether
or not they took part [DN10]. That is what studies are for, and no definition of privacy can prevent
it. What differential privacy limits is the *difference* that taking part makes: odds move by a
factor of at most e^ε more than they would have moved anyway [KS14].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable import parameters
from deniable.plots import Axes, bars, belief
from deniable.release import Release

from .differencing import Difference, differencing
from .telling import Facts, Told, percent


def posterior_bounds(prior: float, *, epsilon: float) -> tuple[float, float]:
    """The least and the most one may believe after an ε-private answer, given the belief before.

    >>> tuple(round(end, 3) for end in posterior_bounds(0.5, epsilon=1.0))
    (0.269, 0.731)
    """
    before = parameters.probability("prior", prior)
    factor = math.exp(-parameters.non_negative("epsilon", epsilon))
    low = before * factor / (before * factor + (1 - before)) if before else 0.0
    high = before / (before + (1 - before) * factor) if before else 0.0
    return low, high


@dataclass(frozen=True, kw_only=True)
class Lesson(Told):
    """A belief about one person: before a study, after it without them, and after it with them."""

    prior: float
    without: float
    """After the study in which they did not take part."""
    with_them: float
    """After the same study, if they did."""
    epsilon: float | None = None

    @property
    def from_the_study(self) -> float:
        """What is learned about people like them."""
        return self.without - self.prior

    @property
    def from_taking_part(self) -> float:
        """What is learned because they took part: the part that privacy is about."""
        return self.with_them - self.without

    def _headline(self) -> str:
        return (
            f"Belief goes from {percent(self.prior)} to {percent(self.without)} by the study, and "
            f"to {percent(self.with_them)} if the person took part."
        )

    def _facts(self) -> Facts:
        facts = [
            ("the study", f"teaches {self.from_the_study:+.3f} about everyone like them"),
            ("taking part", f"adds {self.from_taking_part:+.3f}"),
        ]
        if self.epsilon is not None:
            low, high = posterior_bounds(self.without, epsilon=self.epsilon)
            promise = f"taking part leaves belief from {percent(low)} to {percent(high)}"
            facts.append((f"ε = {self.epsilon:.3g}", promise))
        return facts

    def plot(self, ax: Axes | None = None) -> Axes:
        """Belief before and after."""
        return bars(
            ["before", "after, without them", "after, with them"],
            [self.prior, self.without, self.with_them],
            title="What a study teaches about one person",
            axis_label="belief",
            ax=ax,
        )


def lesson(
    *,
    prior: float,
    likely: tuple[float, float],
    answer: tuple[float, float] = (1.0, 1.0),
    epsilon: float | None = None,
) -> Lesson:
    """Beliefs by Bayes' rule.

    `likely` is how probable the study's *finding* is if the secret holds for people like this
    person and if not: it is what moves belief without them. `answer` is how probable the published
    answer is with this person's secret true and false, given the finding: what their own row adds.
    Under ε the ratio of the latter is at most e^ε.

    >>> told = lesson(prior=0.2, likely=(0.9, 0.3), answer=(1.0, 0.5))
    >>> round(told.without, 3), round(told.with_them, 3)
    (0.429, 0.6)
    """
    before = parameters.probability("prior", prior)
    for name, pair in (("likely", likely), ("answer", answer)):
        for chance in pair:
            parameters.probability(name, chance)
    after = _bayes(before, *likely)
    return Lesson(prior=before, without=after, with_them=_bayes(after, *answer), epsilon=epsilon)


def poll(before: float | Release, after: float | Release) -> Difference:
    """The poll before and after one more person answered: their answer is the difference.

    Numbers are exact counts of "yes"; Releases of a session carry their noise.

    >>> poll(57, 58).value
    1.0
    """
    return differencing(after, before, low=0.0, high=1.0)


def plot_beliefs(epsilons: Sequence[float] = (0.1, 1.0, 3.0), *, ax: Axes | None = None) -> Axes:
    """Belief after against belief before, for each ε: the diagonal is nothing learned."""
    priors = np.linspace(0, 1, 201).tolist()
    bounds = {
        f"ε = {epsilon:g}": [posterior_bounds(prior, epsilon=epsilon) for prior in priors]
        for epsilon in epsilons
    }
    curves = {
        name: ([low for low, _ in pairs], [high for _, high in pairs])
        for name, pairs in bounds.items()
    }
    return belief(priors, curves, unit="one person", ax=ax)


def _bayes(prior: float, if_true: float, if_false: float) -> float:
    both = prior * if_true + (1 - prior) * if_false
    return prior * if_true / both if both > 0 else prior
