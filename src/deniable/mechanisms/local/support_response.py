"""Support response: most likely a report that supports the true value, else any other."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.mechanisms._mechanism import two_or_more
from deniable.sampling import below, bernoulli

from ._local import LocalMechanism, categories_of, grown_by, rounded_down


@parameters.made("SupportResponse(epsilon=1.0, reports=16, support=4)")
@dataclass(frozen=True, kw_only=True)
class SupportResponse(LocalMechanism):
    """Support response: every value is supported by s of b reports, which are more likely.

    Releases   one of the s reports x, x + 1, … (modulo b) with probability π, else one of the
               other b − s; uniformly either way
    Privacy    ε-DP for each person, π = s·e^ε/(s·e^ε + b − s): a report that supports x is e^ε
               times as likely as one that does not                          [KOV16, YB18]
    Error      that of the protocol which reads the reports: see `deniable.local`
    Assumes    values are numbered 0 … b − 1; units are replaced, with one answer each
    Numerics   π is rounded down to 50 binary digits and drawn exactly: the true ε is at most ε

    Which reports support which value changes neither π nor ε: the protocols of `deniable.local`
    rename them, by projective geometry, Hadamard matrices, subsets or hash functions.

    >>> SupportResponse(epsilon=1.0, reports=16, support=4).release(15) in range(16)
    True
    """

    name: ClassVar[str] = "support_response"

    epsilon: float
    reports: int
    support: int

    def __post_init__(self) -> None:
        self._canonical(epsilon=parameters.positive, reports=two_or_more, support=parameters.whole)
        if self.support >= self.reports:
            raise BadParameter.of("support", self.support, must="below the number of reports")

    @cached_property
    def chance(self) -> Fraction:
        """π, the probability that the report supports the true value."""
        weight = self.support * grown_by(Fraction(self.epsilon))
        return rounded_down(weight / (weight + self.reports - self.support))

    def pure(self) -> float:
        return self.epsilon

    def inside(self, count: int) -> NDArray[np.bool_]:
        """For each of so many people, whether their report supports their value."""
        return bernoulli(self.chance, count)

    def places(self, count: int) -> NDArray[np.int64]:
        """The place of each person's report: the first s places support their value."""
        inside = self.inside(count)
        outside = self.support + below(self.reports - self.support, count)
        return np.where(inside, below(self.support, count), outside)

    def draw(self, value: object) -> int | NDArray[np.int64]:
        """One report for each true value."""
        true = categories_of(value, self.reports)
        reports = (true + self.places(true.size).reshape(true.shape)) % self.reports
        return reports if true.ndim else int(reports)
