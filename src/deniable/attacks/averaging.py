"""Averaging: fresh noise on the same answer, again and again, averages out.

This is why every noisy answer is charged to a budget, and why a session gives the stored answer
when the same question is asked again. Defended twin: `defended.averaging`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deniable import parameters
from deniable.errors import BadParameter
from deniable.plots import Axes, curves
from deniable.release.numbers import shown_error

from .tables import Floats
from .telling import Facts, Told


@dataclass(frozen=True, kw_only=True, eq=False)
class Average(Told):
    """The running mean of repeated answers, and how near it is to the truth."""

    answers: Floats
    estimate: float
    error: float
    """95 % of such means are no further off; ∞ where the answers do not vary or are too few."""

    @property
    def fresh(self) -> int:
        """Different answers: one means that nothing new was ever said."""
        return int(np.unique(self.answers).size)

    def _headline(self) -> str:
        if self.answers.size == 1:
            return f"There is one answer, {self.estimate:.6g}, and nothing to average."
        if self.fresh == 1:
            return f"{self.answers.size:,} answers are one answer: averaging teaches nothing."
        return (
            f"The mean of {self.answers.size:,} noisy answers is {self.estimate:.6g} ± "
            f"{shown_error(self.error)} (95 % confidence)."
        )

    def _facts(self) -> Facts:
        if self.answers.size == 1:
            why = "the budget was spent; a new wording is a new question, and is charged"
            return [("why", why)]
        if self.fresh == 1:
            return [("why", "the stored answer is repeated, with the same noise")]
        return [
            ("one answer", f"± {shown_error(self.error * math.sqrt(self.answers.size))}"),
            ("why", "the ± of a mean shrinks as 1/√(number of answers)"),
            ("who pays", "ε adds up: n answers at ε cost n·ε, unless the answer is stored"),
        ]

    def plot(self, ax: Axes | None = None) -> Axes:
        """The running mean of the answers, drawn against the truth."""
        times = np.arange(1, self.answers.size + 1)
        mean = np.cumsum(self.answers) / times
        return curves(
            times.tolist(),
            {"mean of the answers so far": mean.tolist()},
            x="answers",
            y="estimate",
            title="Noise averages out",
            logarithmic=self.answers.size > 20,
            ax=ax,
        )


@parameters.called("attacks.averaging([103.2, 98.7, 101.1])")
def averaging(answers: ArrayLike) -> Average:
    """Average repeated noisy answers to one question.

    >>> averaging([9.0, 11.0, 10.0, 10.0]).estimate
    10.0
    """
    values = np.asarray(answers, dtype=np.float64).reshape(-1)
    if not values.size or not np.all(np.isfinite(values)):
        raise BadParameter("averaging needs at least one answer, and finite ones")
    spread = float(np.std(values, ddof=1)) if values.size > 1 else 0.0
    error = math.inf
    if spread > 0:
        from scipy.special import stdtrit

        error = float(stdtrit(values.size - 1, 0.975)) * spread / math.sqrt(values.size)
    return Average(answers=values, estimate=float(np.mean(values)), error=error)
