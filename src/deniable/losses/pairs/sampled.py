"""Pairs of mechanisms that see a random sample of the units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter, NoBound

from ._pair import ULP, Cells, Complexes, Lattice, Pair, Pairs, Reals
from .branched import BranchedPair
from .continuous import GaussianPair
from .discrete import AtomicPair, AtomsPair, ComputedAtoms
from .mixture import NormalMixture

Direction = Literal["remove", "add"]


def sampled(pairs: Pairs, *, rate: float) -> Pairs:
    """What the pairs become when each unit takes part with probability `rate`, independently.

    remove: ((1−q)Q + qP, Q) · add: (P, (1−q)P + qQ).       [ZDW22, Thm 11; LRKS25: both needed]
    """
    rate = parameters.probability("rate", rate)
    if rate == 0:
        return Pairs.symmetric(AtomsPair(losses=(0.0,), probabilities=(1.0,)))
    if rate == 1:
        return pairs
    return Pairs(remove=_sample(pairs.remove, rate, "remove"), add=_sample(pairs.add, rate, "add"))


@dataclass(frozen=True, kw_only=True)
class SampledPair(Pair):
    """A mechanism on a Poisson sample of the units, with (P, Q) its pair on the whole.

    direction "remove": (1−q)Q + qP against Q; L′ = ln(1 − q + q e^L).
    direction "add":    P against (1−q)P + qQ; L′ = −ln(1 − q + q e^(−L)).
    """

    name: ClassVar[str] = "sampled"
    inner: Pair
    rate: float
    direction: Direction = "remove"

    def __post_init__(self) -> None:
        parameters.confidence("rate", self.rate)
        parameters.one_of("direction", self.direction, ("remove", "add"))
        if self.rate < 2.0**-300:
            raise BadParameter.of("rate", self.rate, must="0, or at least 2⁻³⁰⁰")
        if isinstance(self.inner, SampledPair):
            raise BadParameter.of(
                "inner",
                self.inner,
                must="a dominating pair that is not itself sampled",
                fix="sampled(pairs, rate=...): samples of samples multiply their rates",
            )

    # ---- the contour

    def has_mgf(self) -> bool:
        """For Gaussian and atomic pairs."""
        return self._exact() is not None

    def log_mgf(self, z: Complexes) -> tuple[Complexes, Reals]:
        """By quadrature over the Gaussian, or by atoms."""
        exact = self._exact()
        if exact is None:
            raise NoBound(f"no moment generating function is known for sampled {self.inner.name}")
        return exact.log_mgf(z)

    def decay(self, c: float, t: float) -> float:
        """That of the mixture of two Gaussians; atoms do not decay."""
        exact = self._exact()
        return exact.decay(c, t) if exact else 1.0

    def nodes(self, c: float, t: float) -> int:
        """The points of the quadrature, or the atoms."""
        exact = self._exact()
        return exact.nodes(c, t) if exact else 1

    def log_moment(self, c: float) -> float:
        """ln E e^(cL′); where only the grid knows the law, the trivial c · largest loss."""
        return super().log_moment(c) if self.has_mgf() else c * self.largest_loss()

    def _exact(self) -> NormalMixture | ComputedAtoms | None:
        if isinstance(self.inner, GaussianPair):
            return NormalMixture(self.inner.mu, self.rate, self.direction == "add")
        return _sampled_atoms(self) if isinstance(self.inner, AtomicPair) else None

    # ---- the grid

    def masses(self, edges: Reals) -> Cells:
        """The inner pair's masses between the edges taken back through L ↦ L′."""
        exact = self._exact()
        if isinstance(exact, ComputedAtoms):
            return exact.masses(edges)
        q, sign = self.rate, 1.0 if self.direction == "remove" else -1.0
        with np.errstate(divide="ignore", over="ignore"):
            back = sign * np.log1p(np.maximum(np.expm1(sign * edges) / q, -1.0))
        cells = self.inner.masses(back)
        mixed = (1 - q) * (cells.q if sign > 0 else cells.p)
        mixed += q * (cells.p if sign > 0 else cells.q)
        error = (1 - q) * (cells.q_error if sign > 0 else cells.p_error)
        error += q * (cells.p_error if sign > 0 else cells.q_error) + 8 * ULP * mixed
        if sign > 0:
            return Cells(mixed, cells.q, error, cells.q_error)
        return Cells(cells.p, mixed, cells.p_error, error)

    def support(self, mass: float) -> tuple[float, float]:
        """The inner support taken through L ↦ L′."""
        exact = self._exact()
        if isinstance(exact, ComputedAtoms):
            return exact.support(mass)
        if self.direction == "add":
            low, high = self.inner.support(mass)
        else:  # P′ is mostly Q, whose losses are P's mirrored
            low = -self.inner.support(mass)[1]
            high = self.inner.support(mass)[1]
        return float(self._image(np.array([low]))[0]), float(self._image(np.array([high]))[0])

    def lattice(self) -> Lattice | None:
        """That of the atoms."""
        exact = self._exact()
        return exact.lattice() if isinstance(exact, ComputedAtoms) else None

    # ---- both

    def infinite_mass(self) -> float:
        """q of the inner one when removing; none when adding, as the mixture covers P."""
        if self.direction == "add":
            return 0.0
        return self.rate * self.inner.infinite_mass() * (1 + 4 * ULP)

    def largest_loss(self) -> float:
        """The image of the largest inner loss, rounded up."""
        if self.direction == "add" and self.inner.infinite_mass() > 0:
            return -math.log1p(-self.rate) * (1 + 8 * ULP)
        return float(self._image(np.array([self.inner.largest_loss()]))[0]) * (1 + 16 * ULP)

    def delta_alone(self, epsilon: float) -> float | None:
        """q·δ(ε′), or (1 − e^ε(1−q))·δ(ε′) when adding, at the inner ε′ whose image is ε."""
        exact = self._exact()
        if isinstance(exact, ComputedAtoms):
            return exact.delta_alone(epsilon)
        q = self.rate
        if self.direction == "remove":
            inner = _log_grown(epsilon, q)
            factor, slack = q, 16 * ULP * (1 + inner)
        else:
            factor = (1 - math.exp(epsilon) * (1 - q)) + 8 * ULP * math.exp(epsilon)
            shrunk = math.expm1(-epsilon) / q
            if factor <= 0 or shrunk <= -1:
                return max(0.0, factor)
            inner = -math.log1p(shrunk)
            slack = 16 * ULP * (1 + inner + math.exp(min(inner, 700.0)))
        alone = self.inner.delta_alone(max(0.0, inner - slack))
        return None if alone is None else min(1.0, factor * alone * (1 + 8 * ULP))

    def _image(self, losses: Reals) -> Reals:
        """L′ of L."""
        sign = 1.0 if self.direction == "remove" else -1.0
        inner = sign * losses
        near = np.log1p(self.rate * np.expm1(np.minimum(inner, 700.0)))
        return sign * np.where(inner < 700.0, near, inner + math.log(self.rate))

    def dominates(self, other: Pair) -> bool:
        """Sampling more, from a pair that dominates."""
        if not isinstance(other, SampledPair) or self.direction != other.direction:
            return self == other
        return self.rate >= other.rate and self.inner.dominates(other.inner)


def _sample(pair: Pair, rate: float, direction: Direction) -> Pair:
    """Sampling what was sampled in the same direction multiplies the rates."""
    if isinstance(pair, BranchedPair):
        return _sample_branches(pair, rate, direction)
    if isinstance(pair, SampledPair) and pair.direction == direction:
        rate, pair = rate * pair.rate * (1 + 2 * ULP), pair.inner
    return SampledPair(inner=pair, rate=rate, direction=direction)


def _sample_branches(pair: BranchedPair, rate: float, direction: Direction) -> BranchedPair:
    """The coin is thrown whoever is in the sample: each branch is sampled by itself.

    What tells all, tells that the unit is there with chance q: ∞ under P, and ln(1 − q), rounded up
    to 0, otherwise; or when adding −ln(1 − q), as the mixture covers it.
    """
    parts = [_sample(part, rate, direction) for part in pair.parts]
    weights, told, reveals = list(pair.weights), pair.reveals, 0.0
    loss = -math.log1p(-rate)
    if direction == "remove":
        told, reveals, loss = told * (1 - rate), told * rate * (1 + 2 * ULP), 0.0
    if told:
        parts.append(AtomsPair(losses=(loss,), probabilities=(1.0,)))
        weights.append(told)
    return BranchedPair(parts=tuple(parts), weights=tuple(weights), reveals=reveals)


def _log_grown(epsilon: float, rate: float) -> float:
    """ln(1 + (e^ε − 1)/q), also where e^ε overflows."""
    if epsilon > 700:
        return epsilon - math.log(rate)
    return math.log1p(math.expm1(epsilon) / rate)


@lru_cache(maxsize=64)
def _sampled_atoms(pair: SampledPair) -> ComputedAtoms:
    """The atoms of L′, those of an infinite inner loss in either direction included."""
    assert isinstance(pair.inner, AtomicPair)
    inner, masses = pair.inner.atoms()
    q = pair.rate
    losses = pair._image(inner)  # noqa: SLF001
    with np.errstate(over="ignore"):
        under_q = masses * np.exp(-inner)
    if pair.direction == "add":
        extra, at = pair.inner.infinite_mass(), -math.log1p(-q)
    else:
        masses = (q * masses + (1 - q) * under_q) * (1 + 32 * ULP * (1 + np.abs(inner)))
        extra, at = (1 - q) * max(0.0, 1 - math.fsum(under_q)), math.log1p(-q)
    if extra > 2.0**-46:
        losses, masses = np.append(losses, at), np.append(masses, extra)
        order = np.argsort(losses)
        losses, masses = losses[order], masses[order]
    elif pair.direction == "remove":
        masses[0] += 2.0**-46  # what rounding may hide, counted as the least loss there is
    elif extra:
        masses[-1] += extra
        losses[-1] = max(losses[-1], at)
    return ComputedAtoms(losses + 16 * ULP * np.abs(losses) / (1 - q), masses)
