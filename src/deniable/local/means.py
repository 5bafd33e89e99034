"""Means of numbers: Duchi's one bit, the piecewise mechanism, and their mixture.

Rounding at random comes first and protects nobody: a number between two points of a grid goes to
one of them, so that its mean is the number. What protects is a response over a finite set of
reports, drawn exactly, whose mean is linear in the point: so the estimate is unbiased, and ε does
not depend on floating-point numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.mechanisms.local import SupportResponse, reach
from deniable.release.numbers import percent, shown_error
from deniable.sampling import below, bernoulli

from .reports import Reporter, Rows, Tally, as_bytes, as_numbers, impossible, not_numbers

Floats = NDArray[np.float64]

METHODS = ("hybrid", "duchi", "piecewise")
_OUTPUTS = 1 << 16
_DUCHI, _PIECEWISE = 0, 1


@dataclass(frozen=True, kw_only=True)
class MeanEstimate:
    """The mean of the numbers of those who reported, with its ±."""

    mean: float
    error: float
    people: int
    confidence: float
    epsilon: float

    def interval(self) -> tuple[float, float]:
        """Lower and upper end."""
        return self.mean - self.error, self.mean + self.error

    def __repr__(self) -> str:
        return (
            f"mean {self.mean:z.6g} ± {shown_error(self.error)} "
            f"({percent(self.confidence)} confidence), {self.people:,} reports, "
            f"ε = {self.epsilon:.3g} per person"
        )


@parameters.made("local.Mean(epsilon=1.0, low=0, high=100)")
@dataclass(frozen=True, kw_only=True)
class Mean(Reporter[MeanEstimate]):
    """Mean: the average of numbers between two bounds, one randomized number per person.

    method="duchi" sends one bit                                                  [DJW18]
    "piecewise" sends a number, likely one near the truth: better for ε above 1.3   [WXYZ19]
    "hybrid" mixes both by a coin that does not see the number: the best of both    [WXYZ19]

    Numbers outside the bounds are clipped to them. The ± is that of the worst numbers within the
    bounds, so it is known before anyone reports.

    >>> p = Mean(epsilon=1.0, low=0, high=100)
    >>> p.server().add(p.encode_all([40.0] * 5000)).estimate().people
    5000
    """

    name: ClassVar[str] = "mean"

    low: float
    high: float
    method: str = "hybrid"

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = parameters.bounds(self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        parameters.one_of("method", self.method, METHODS)

    @cached_property
    def randomizer(self) -> SupportResponse:
        """The response of the branch that is used most; both cost ε."""
        return self._window if self.method == "piecewise" else self._bit

    @cached_property
    def share(self) -> float:
        """How often the piecewise branch is used: 1 − e^(−ε/2) from ε = 0.61 on [WXYZ19]."""
        if self.method == "hybrid":
            return -math.expm1(-self.epsilon / 2) if self.epsilon > 0.61 else 0.0
        return float(self.method == "piecewise")

    @property
    def payload(self) -> int:
        """The branch, and a bit or a number of 16 bits."""
        return 3

    def numbered(self, values: object) -> Floats:
        """Numbers clipped to the bounds and scaled to 0 … 1."""
        array = np.asarray(values)
        if array.ndim != 1 or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
            raise not_numbers()
        held = np.clip(array.astype(np.float64), self.low, self.high)
        return np.asarray((held - self.low) / (self.high - self.low))

    def draw(self, values: NDArray[Any]) -> Rows:
        """The branch by a coin, the report by the response of that branch."""
        wide = bernoulli(Fraction(self.share), values.size)
        steps = self._window.reports - self._window.support
        point = _rounded_at_random(values, np.where(wide, steps, 1))
        bit = (point + self._bit.places(values.size)) % 2
        place = self._window.places(values.size)
        # Places inside the window start at the point; those outside go around it.
        support = self._window.support
        rest = place - support
        outside = np.where(rest < point, rest, rest + support)
        number = np.where(place < support, point + place, outside)
        codes = np.where(wide, number, bit)
        return np.concatenate([as_bytes(wide.astype(np.int64), 1), as_bytes(codes, 2)], axis=1)

    def check_payloads(self, payloads: Rows) -> None:
        """Two branches; one bit, or any number."""
        branch, codes = payloads[:, 0], as_numbers(payloads[:, 1:])
        used = {_DUCHI: self.share < 1, _PIECEWISE: self.share > 0}
        known = np.isin(branch, [key for key, is_used in used.items() if is_used])
        if not known.all() or (codes[branch == _DUCHI] > 1).any():
            raise impossible()

    def tally(self) -> Tally:
        """Reports, and the sum of their codes, by branch."""
        return (np.zeros((2, 2), dtype=np.int64),)

    def count(self, tally: Tally, payloads: Rows) -> None:
        """Add up the codes of each branch."""
        codes = as_numbers(payloads[:, 1:])
        for branch in (_DUCHI, _PIECEWISE):
            here = codes[payloads[:, 0] == branch]
            tally[0][branch] += (here.size, here.sum())

    def estimated(self, tally: Tally, people: int, *, confidence: float) -> MeanEstimate:
        """The mean of what each report estimates."""
        (bits, ones), (numbers, total) = tally[0].tolist()
        agree = 2 * float(self._bit.chance) - 1
        middle = (self._window.reports - 1) / 2
        scaled = (2 * ones - bits) / agree + self._scale * (total - numbers * middle)
        centre, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        return MeanEstimate(
            mean=centre + half * scaled / max(1, people),
            error=self.error(reports=max(1, people), confidence=confidence),
            people=people,
            confidence=confidence,
            epsilon=self.epsilon,
        )

    def error(self, *, reports: int, confidence: float = 0.95) -> float:
        """The ± of the mean if so many people report, whatever their numbers are."""
        people = parameters.whole("reports", reports)
        z = reach.deviations(parameters.confidence("confidence", confidence))
        farthest, step = self._farthest
        off = (reach.skewness(z) * farthest + step / 2) / people
        half = (self.high - self.low) / 2
        return half * (z * math.sqrt(self.worst_variance / people) + off)

    @property
    def _farthest(self) -> tuple[float, float]:
        """How far a report's estimate may be from the number, and from the next one.

        |κ₃/κ₂| of a report is at most the first.
        """
        bit, window = self.share < 1, self.share > 0
        end = bit / (2 * float(self._bit.chance) - 1)
        last = window * self._scale * (self._window.reports - 1) / 2
        return 1 + max(end, last), max(2 * end, window * self._scale)

    @cached_property
    def worst_variance(self) -> float:
        """The largest variance of one report's estimate, for numbers scaled to −1 … 1.

        A report's second moment is 1/(2p − 1)² for the bit. For the window, whose centre has mean
        m and E y = κ·m, it is scale²·(κ·E m² + r), where r does not depend on the number: with
        the square of the mean taken off, x² times a constant is left, which is largest at an end.
        """
        b, s = self._window.reports, self._window.support
        inside = float(self._window.chance)
        spread = (s * s - 1) / 12
        r = inside * spread + (1 - inside) * (b * (b * b - 1) / 12 - s * spread) / (b - s)
        kappa, wide = self._slope, self.share
        rounding = self._scale**2 * kappa / 4
        constant = wide * (self._scale**2 * r + rounding)
        if wide < 1:
            constant += (1 - wide) / (2 * float(self._bit.chance) - 1) ** 2
        return max(constant, constant + wide / kappa - 1)

    @cached_property
    def _bit(self) -> SupportResponse:
        return SupportResponse(epsilon=self.epsilon, reports=2, support=1)

    @cached_property
    def _window(self) -> SupportResponse:
        width = round(_OUTPUTS / (math.exp(min(self.epsilon, 20.0) / 2) + 1))
        return SupportResponse(epsilon=self.epsilon, reports=_OUTPUTS, support=max(1, width))

    @cached_property
    def _slope(self) -> float:
        """κ: how far the mean report moves with the window."""
        b, s, inside = self._window.reports, self._window.support, self._window.chance
        return float(inside - (1 - inside) * Fraction(s, b - s))

    @cached_property
    def _scale(self) -> float:
        """From reports to numbers in −1 … 1."""
        return 2 / ((self._window.reports - self._window.support) * self._slope)


def _rounded_at_random(shares: Floats, steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """A point 0 … steps whose mean is share·steps: protects nobody, and need not."""
    exact = shares * steps
    floor = np.floor(exact)
    up = below(1 << 53, shares.size) < (exact - floor) * 2.0**53
    return (floor + up).astype(np.int64)
