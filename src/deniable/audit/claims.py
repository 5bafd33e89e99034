"""What a mechanism claims, as a limit on how differently two neighbouring data sets may speak.

Every claim answers one question: an event has probability q on one data set; how probable may it
be on the other? For (ε, δ) that is e^ε·q + δ; for μ-GDP Φ(Φ⁻¹(q) + μ) [DRS22]; for a curve the
least of e^ε·q + δ(ε) over its points. A lower bound on one rate and an upper bound on the other
that break the limit refute the claim, all points of a curve at once: the two bounds hold together,
so that reading many consequences off them costs no further doubt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import special

from deniable import parameters
from deniable.errors import BadParameter
from deniable.losses import Approx, Gdp, Loss, Pure

from .certify import FloatArray


class Claim(Protocol):
    """A limit on how differently two data sets, `group` units apart, may speak."""

    @property
    def limit(self) -> float:
        """The claimed value of what `lower` bounds."""

    @property
    def axis(self) -> str:
        """What `lower` bounds, in words."""

    def most(self, q: FloatArray) -> FloatArray:
        """The largest probability allowed for an event that has probability q on the other side."""

    def lower(self, p: FloatArray, q: FloatArray) -> FloatArray:
        """The least parameter that allows an event p here and q there; −∞ if any will do."""

    def epsilon(self, p: float, q: float) -> tuple[float, float, float]:
        """The same as ε: its lower bound, the claimed ε, and the δ at which both are meant."""

    def rates(self, scale: float) -> tuple[FloatArray, FloatArray]:
        """Probabilities (p, q) of threshold events if the noise is `scale` times the right one."""


def claim_of(
    *, epsilon: float | None, delta: float, mu: float | None, loss: Loss | None, group: int
) -> Claim:
    """The claim that was made: exactly one of ε (with a δ), μ and a loss."""
    if sum(part is not None for part in (epsilon, mu, loss)) != 1:
        raise BadParameter(
            "state one claim: epsilon (with delta), mu or loss",
            why="an audit compares what it measures with what is claimed",
            fix="audit(f, first, second, epsilon=1.0)",
        )
    size = parameters.whole("group", group)
    delta = parameters.fraction_below_one("delta", delta)
    if epsilon is not None:
        return EpsilonDelta(parameters.non_negative("epsilon", epsilon), delta=delta, group=size)
    if delta:
        raise BadParameter.of("delta", delta, must="left out: mu and loss state their own δ")
    if mu is not None:
        return Gaussian(parameters.positive("mu", mu), group=size)
    return _claim_of_loss(loss, size)


@dataclass(frozen=True)
class EpsilonDelta:
    """ε and δ for one unit; a group of k counts on (kε, δ(e^kε − 1)/(e^ε − 1)).

    By induction: what one unit more may add is e^ε times what is there, and δ [Vad17].
    """

    limit: float
    delta: float
    group: int

    axis = "ε is at least"

    def __str__(self) -> str:
        return f"ε = {self.limit:g}" + (f", δ = {self.delta:g}" if self.delta else "")

    def most(self, q: FloatArray) -> FloatArray:
        """e^(kε)·q + δ for the group, at most 1."""
        return _allowed(np.asarray(q), self.limit, self.delta, self.group)

    def lower(self, p: FloatArray, q: FloatArray) -> FloatArray:
        """ln((p − δ)/q) for one unit; for a group the root of the same equality."""
        if self.delta == 0 or self.group == 1:
            with np.errstate(divide="ignore"):
                return np.log(np.maximum(p - self.delta, 0.0) / q) / self.group
        low = np.zeros(np.broadcast(p, q).shape)
        high = np.full_like(low, 800.0 / self.group)
        for _ in range(60):
            middle = (low + high) / 2
            allowed = p <= _allowed(q, middle, self.delta, self.group)
            low, high = np.where(allowed, low, middle), np.where(allowed, middle, high)
        return np.where(low > 0, low, -np.inf)

    def epsilon(self, p: float, q: float) -> tuple[float, float, float]:
        """Its lower bound at the claimed δ."""
        return float(self.lower(np.array(p), np.array(q))), self.limit, self.delta

    def rates(self, scale: float) -> tuple[FloatArray, FloatArray]:
        """Of Laplace noise, whose centres lie kε scales apart."""
        apart = self.group * self.limit / scale
        at = np.linspace(0.0, min(apart, 8.0) / 2, 17)
        return 1 - np.exp(-at) / 2, np.exp(at - apart) / 2


@dataclass(frozen=True)
class Gaussian:
    """μ of Gaussian differential privacy; a group of k counts on kμ [DRS22]."""

    limit: float
    group: int

    axis = "μ is at least"

    def __str__(self) -> str:
        return f"μ = {self.limit:g} (Gaussian)"

    def most(self, q: FloatArray) -> FloatArray:
        """Φ(Φ⁻¹(q) + kμ), the largest chance that the claim allows."""
        return np.asarray(special.ndtr(special.ndtri(q) + self.group * self.limit))

    def lower(self, p: FloatArray, q: FloatArray) -> FloatArray:
        """(Φ⁻¹(p) − Φ⁻¹(q))/k [NHSBTJCT23]."""
        return np.asarray((special.ndtri(p) - special.ndtri(q)) / self.group)

    def epsilon(self, p: float, q: float) -> tuple[float, float, float]:
        """The pure ε that the same rates prove; a Gaussian claims none."""
        return math.log(p / q) / self.group if p > 0 else -math.inf, math.inf, 0.0

    def rates(self, scale: float) -> tuple[FloatArray, FloatArray]:
        """Of Gaussian noise, whose centres lie kμ standard deviations apart."""
        apart = self.group * self.limit / scale
        at = np.linspace(0.0, 3.0, 13)
        return special.ndtr(at + apart / 2), special.ndtr(at - apart / 2)


@dataclass(frozen=True)
class Curve:
    """Many pairs (ε, δ) that are claimed together; `lower` is how far the worst ε is passed."""

    name: str
    epsilons: FloatArray
    deltas: FloatArray

    limit = 0.0
    axis = "ε beyond the claim by at least"

    @staticmethod
    def of(loss: Loss, *, group: int) -> Curve:
        """Points of δ(ε) from ε = 0 to where δ is too small for any count to see."""
        together = loss.group(group)
        highest = 1.0
        while together.delta_at(highest) > 1e-9 and highest < 64:
            highest *= 2
        epsilons = np.linspace(0.0, highest, 49)
        deltas = np.array([together.delta_at(float(epsilon)) for epsilon in epsilons])
        return Curve(name=str(loss), epsilons=epsilons, deltas=deltas)

    def __str__(self) -> str:
        return self.name

    def most(self, q: FloatArray) -> FloatArray:
        """The least of e^ε·q + δ(ε) over the points."""
        points = np.exp(self.epsilons) * np.asarray(q)[..., None] + self.deltas
        return np.asarray(np.minimum(points.min(axis=-1), 1.0))

    def lower(self, p: FloatArray, q: FloatArray) -> FloatArray:
        """The largest ln((p − δ)/q) − ε over the points."""
        return np.asarray(self._passed(p, q).max(axis=-1))

    def epsilon(self, p: float, q: float) -> tuple[float, float, float]:
        """At the point that is passed the furthest."""
        passed = self._passed(np.array(p), np.array(q))
        worst = int(passed.argmax())
        claimed = float(self.epsilons[worst])
        return claimed + float(passed[worst]), claimed, float(self.deltas[worst])

    def _passed(self, p: FloatArray, q: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            room = np.maximum(np.asarray(p)[..., None] - self.deltas, 0.0)
            return np.asarray(np.log(room / np.asarray(q)[..., None]) - self.epsilons)

    def rates(self, scale: float) -> tuple[FloatArray, FloatArray]:
        """Of the loudest Gaussian noise that meets every point."""
        low, high = 0.0, 64.0
        for _ in range(40):
            middle = (low + high) / 2
            meets = bool((_gaussian_delta(middle, self.epsilons) <= self.deltas).all())
            low, high = (middle, high) if meets else (low, middle)
        return Gaussian(max(low, 1e-9), group=1).rates(scale)


def _claim_of_loss(loss: object, group: int) -> Claim:
    match loss:
        case Pure():
            return EpsilonDelta(loss.epsilon, delta=0.0, group=group)
        case Approx():
            return EpsilonDelta(loss.epsilon, delta=loss.delta, group=group)
        case Gdp():
            return Gaussian(loss.mu, group=group)
        case Loss():
            return Curve.of(loss, group=group)
        case _:
            raise BadParameter.of("loss", loss, must="a loss, such as dp.rho(0.5)")


def _allowed(q: FloatArray, epsilon: FloatArray | float, delta: float, group: int) -> FloatArray:
    """e^(kε)·q + δ·Σ_{i<k} e^(iε): the geometric sum is (e^kε − 1)/(e^ε − 1), also at ε = 0."""
    with np.errstate(over="ignore"):
        steps = np.exp(np.asarray(epsilon)[..., None] * np.arange(group)).sum(axis=-1)
        most: FloatArray = np.exp(np.multiply(group, epsilon)) * q + delta * steps
        return np.minimum(most, 1.0)


def _gaussian_delta(mu: float, epsilon: FloatArray) -> FloatArray:
    """δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) [BW18, Thm 8]."""
    return np.asarray(
        special.ndtr(mu / 2 - epsilon / mu)
        - np.exp(epsilon + special.log_ndtr(-mu / 2 - epsilon / mu))
    )
