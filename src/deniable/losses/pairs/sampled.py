"""Pairs of mechanisms that see a random sample of the units."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter, NoBound
from deniable.units import Relation

from ._pair import ULP, Cells, Complexes, Pair, Pairs, Reals
from .branched import BranchedPair
from .continuous import BoundedRangePair, GaussianPair, LaplacePair
from .discrete import (
    ApproxPair,
    AtomicPair,
    AtomsPair,
    ComputedAtoms,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
)
from .exponential import ExponentialMixture
from .mixture import NormalMixture
from .quadrature import log_mixed
from .replaced import ReplacedExponential, ReplacedMixture, replaced_atoms

Direction = Literal["remove", "add", "replace"]
LogConcave = GaussianPair | LaplacePair | DiscreteGaussianPair | DiscreteLaplacePair
Exact = NormalMixture | ReplacedMixture | ReplacedExponential | ExponentialMixture | ComputedAtoms


def sampled(pairs: Pairs, *, rate: float, relation: str = "add_remove") -> Pairs:
    """What the pairs become when each unit takes part with probability `rate`, independently.

    The pairs are those of a unit that is added or removed. Then so is the result, with
    remove: ((1−q)Q + qP, Q) · add: (P, (1−q)P + qQ).       [ZDW22, Thm 11; LRKS25: both needed]
    For a unit that is replaced: Gaussian, Laplace, discrete Laplace and discrete Gaussian noise as
    they are, and all other mechanisms of pure differential privacy by their ε, see `replaced`.
    """
    rate = parameters.probability("rate", rate)
    parameters.one_of("relation", relation, [each.value for each in Relation])
    if rate == 0:
        return Pairs.symmetric(AtomsPair(losses=(0.0,), probabilities=(1.0,)))
    if Relation(relation).sides == 2:
        return _replaced(pairs, rate)
    if rate == 1:
        return pairs
    return Pairs(remove=_sample(pairs.remove, rate, "remove"), add=_sample(pairs.add, rate, "add"))


@dataclass(frozen=True, kw_only=True)
class SampledPair(Pair):
    """A mechanism on a Poisson sample of the units, with (P, Q) its pair on the whole.

    direction "remove": (1−q)Q + qP against Q; L′ = ln(1 − q + q e^L).
    direction "add":    P against (1−q)P + qQ; L′ = −ln(1 − q + q e^(−L)).
    direction "replace": the mixtures of noise with itself moved to either side (see `replaced`).
    """

    name: ClassVar[str] = "sampled"
    inner: Pair
    rate: float
    direction: Direction = "remove"

    def __post_init__(self) -> None:
        parameters.confidence("rate", self.rate)
        parameters.one_of("direction", self.direction, ("remove", "add", "replace"))
        if self.direction == "replace" and not isinstance(self.inner, LogConcave):
            raise BadParameter.of(
                "inner", self.inner, must="Gaussian or Laplace noise where units are replaced"
            )
        if isinstance(self.inner, SampledPair):
            raise BadParameter.of(
                "inner",
                self.inner,
                must="a dominating pair that is not itself sampled",
                fix="sampled(pairs, rate=...): samples of samples multiply their rates",
            )

    # ---- the contour

    def origin(self) -> float:
        """The largest loss, unless the inner pair is counted from 0."""
        exact = self._exact()
        return self.largest_loss() if isinstance(exact, ExponentialMixture) else exact.origin()

    def point_masses(self) -> tuple[Reals, Reals] | None:
        """The images of the inner atoms."""
        return self._exact().point_masses()

    def log_mgf(self, z: Complexes) -> tuple[Complexes, Reals]:
        """By quadrature over the density, or by atoms."""
        return self._exact().log_mgf(z)

    def rough_log_mgf(self, c: float) -> float:
        """That of the quadrature, or of the atoms."""
        return self._exact().rough_log_mgf(c)

    def decay(self, c: float, t: float) -> float:
        """That of the mixture of two Gaussians; the others are not known to decay."""
        exact = self._exact()
        return exact.decay(c, t) if isinstance(exact, NormalMixture) else 1.0

    def _exact(self) -> Exact:
        added = self.direction == "add"
        match self.inner:
            case GaussianPair(mu=mu) if self.direction == "replace":
                return ReplacedMixture(mu, self.rate)
            case LaplacePair(ratio=a) if self.direction == "replace":
                return ReplacedExponential(a, self.rate)
            case GaussianPair(mu=mu):
                return NormalMixture(mu, self.rate, added)
            case LaplacePair(ratio=a):
                return ExponentialMixture(a, -math.log(4), 0.5, self.rate, added)
            case BoundedRangePair(epsilon=e):
                density = -math.log(2 * -math.expm1(-e))
                return ExponentialMixture(e, density, 0.0, self.rate, added)
        return _sampled_atoms(self)

    # ---- the grid

    def masses(self, edges: Reals) -> Cells:
        """The inner pair's masses between the edges taken back through L ↦ L′."""
        exact = self._exact()
        if isinstance(exact, ComputedAtoms):
            return exact.masses(edges)
        if isinstance(exact, ReplacedMixture | ReplacedExponential):
            return _replaced_cells(exact).masses(edges)
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
        if isinstance(exact, ReplacedMixture | ReplacedExponential):
            losses, masses = _replaced_cells(exact).atoms()
            low, high = np.searchsorted(np.cumsum(masses), [mass, masses.sum() - mass])
            return float(losses[low]), float(losses[min(high, len(losses) - 1)])
        if self.direction == "add":
            low, high = self.inner.support(mass)
        else:  # P′ is mostly Q, whose losses are P's mirrored
            low = -self.inner.support(mass)[1]
            high = self.inner.support(mass)[1]
        return float(self.image(np.array([low]))[0]), float(self.image(np.array([high]))[0])

    # ---- both

    def infinite_mass(self) -> float:
        """q of the inner one when removing; none when adding, as the mixture covers P."""
        if self.direction == "add":
            return 0.0
        share = self.rate if self.direction == "remove" else 1.0
        return share * self.inner.infinite_mass() * (1 + 4 * ULP)

    def largest_loss(self) -> float:
        """The image of the largest inner loss, rounded up."""
        exact = self._exact()
        if isinstance(exact, ComputedAtoms | ReplacedMixture | ReplacedExponential):
            return exact.largest_loss()
        return float(self.image(np.array([self.inner.largest_loss()]))[0]) * (1 + 16 * ULP)

    def delta_alone(self, epsilon: float) -> float | None:
        """q·δ(ε′), or (1 − e^ε(1−q))·δ(ε′) when adding, at the inner ε′ whose image is ε."""
        exact = self._exact()
        if isinstance(exact, ComputedAtoms):
            return exact.delta_alone(epsilon)
        if isinstance(exact, ReplacedMixture | ReplacedExponential):
            return exact.delta(epsilon)
        q = self.rate
        if self.direction == "remove":
            inner = _unsampled(epsilon, q)
            factor, slack = q, 16 * ULP * (1 + inner)
        else:
            # ε′ = −ln((e^(−ε) − (1 − q))/q), and 1 − e^ε(1 − q) = e^ε (e^(−ε) − (1 − q)).
            left = q + math.expm1(-epsilon) if epsilon < 0.5 else math.exp(-epsilon) - (1 - q)
            error = 4 * ULP * (q if epsilon < 0.5 else math.exp(-epsilon))
            if left <= error:
                return min(1.0, math.exp(min(epsilon, 700.0)) * max(0.0, left + error))
            factor = math.exp(epsilon) * (left + error)
            inner = -math.log(left / q)
            slack = 16 * ULP * (1 + inner) + 2 * error / left
        alone = self.inner.delta_alone(max(0.0, inner - slack))
        return None if alone is None else min(1.0, factor * alone * (1 + 8 * ULP))

    def image(self, losses: Reals) -> Reals:
        """The loss of a sampled pair at each loss of the inner one."""
        sign = 1.0 if self.direction == "remove" else -1.0
        return sign * log_mixed(sign * losses, self.rate)

    def trimmed(self, mass: float) -> Pair:
        """Without the far end of a tail."""
        exact = self._exact()
        if isinstance(exact, ComputedAtoms):
            fewer = exact.trimmed(mass)
            return self if fewer is exact else fewer
        if not isinstance(self.inner, GaussianPair) or self.direction == "add":
            return self
        return _trimmed(self, self.inner.mu, mass)

    def above(self, loss: float) -> Pair | None:
        """Where x is large, for Gaussian noise and a unit that is removed."""
        if not isinstance(self.inner, GaussianPair) or self.direction != "remove":
            return None
        start = (_unsampled(loss, self.rate) + self.inner.mu**2 / 2) / self.inner.mu
        cut = self.cut if isinstance(self, TrimmedPair) else math.inf
        start = min(start * (1 - 1e-12), cut - 1e-3)
        return UpperPair(
            inner=self.inner, rate=self.rate, direction="remove", cut=cut, lost=0.0, start=start
        )

    def dominates(self, other: Pair) -> bool:
        """Sampling more, from a pair that dominates."""
        if not isinstance(other, SampledPair) or self.direction != other.direction:
            return self == other
        return self.rate >= other.rate and self.inner.dominates(other.inner)


@dataclass(frozen=True, kw_only=True)
class TrimmedPair(SampledPair):
    """A sampled Gaussian whose losses at x > `cut`, of `lost` under P, are taken to be infinite."""

    cut: float
    lost: float

    def infinite_mass(self) -> float:
        return self.lost

    def largest_loss(self) -> float:
        """The loss at the cut, rounded up."""
        loss = -float(self._exact().deficits(np.array([self.cut]))[0])
        return loss * (1 + 64 * ULP) + 64 * ULP

    def _exact(self) -> NormalMixture | ReplacedMixture:
        exact = super()._exact()
        assert isinstance(exact, NormalMixture | ReplacedMixture)
        return dataclasses.replace(exact, cut=self.cut)


@dataclass(frozen=True, kw_only=True)
class UpperPair(TrimmedPair):
    """The part of it where x > `start`: a measure, of less than 1."""

    start: float

    def _exact(self) -> NormalMixture:
        exact = super()._exact()
        assert isinstance(exact, NormalMixture)  # `above` is for units that are removed
        return dataclasses.replace(exact, start=self.start)


def _trimmed(pair: SampledPair, mu: float, mass: float) -> Pair:
    """P(x > cut) = (1 − q)Φ(−cut) + qΦ(μ − cut): half of `mass` for each."""
    from scipy.special import ndtr, ndtri

    q, half = pair.rate, max(mass / 2, 1e-290)
    cut = max(-float(ndtri(half)), mu - float(ndtri(half / q)) if half < q / 2 else mu)
    lost = (1 - q) * float(ndtr(-cut)) + q * float(ndtr(mu - cut))
    return TrimmedPair(
        inner=pair.inner,
        rate=q,
        direction=pair.direction,
        cut=cut,
        lost=lost * (1 + 1e-9),
    )


def _replaced(pairs: Pairs, rate: float) -> Pairs:
    noise = pairs.remove
    if not isinstance(noise, LogConcave) or pairs.add != noise:
        noise = _response(pairs)
    if rate == 1:
        return Pairs.symmetric(noise.group(2))
    return Pairs.symmetric(SampledPair(inner=noise, rate=rate, direction="replace"))


def _response(pairs: Pairs) -> DiscreteLaplacePair:
    """Randomized response, which dominates every mechanism of the same ε."""
    both = (pairs.remove, pairs.add)
    if not all(map(_is_pure, both)):
        raise NoBound(
            f"no pair is known for {pairs.remove.name} losses on a sample of replaced units",
            why="the worst neighbours are known for log-concave noise and for pure ε only",
            fix="Gaussian or Laplace noise, or units that are added or removed",
        )
    epsilon = max(pair.largest_loss() for pair in both)
    return DiscreteLaplacePair(scale=math.nextafter(1 / max(epsilon, 1e-250), 0.0))


def _is_pure(pair: Pair) -> bool:
    return pair.two_sided or (isinstance(pair, ApproxPair) and not pair.delta)


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


def _unsampled(epsilon: float, rate: float) -> float:
    """ln(1 + (e^ε − 1)/q), also where e^ε overflows."""
    if epsilon < 1 and rate > 1e-290:
        return math.log1p(math.expm1(epsilon) / rate)
    near = math.expm1(-epsilon)
    return epsilon + math.log(rate * (1 + near) - near) - math.log(rate)


def _replaced_cells(exact: ReplacedMixture | ReplacedExponential) -> ComputedAtoms:
    """The loss at many x: good enough for pictures, which is all that needs it."""
    x = np.linspace(-40.0 - exact.shift, 40.0 + exact.shift, 2**16)
    without, moved = np.diff(exact.cdf(x)), np.diff(exact.cdf(x - exact.shift))
    losses = exact.origin() - exact.deficits((x[1:] + x[:-1]) / 2)
    return ComputedAtoms(losses, (1 - exact.rate) * without + exact.rate * moved)


@lru_cache(maxsize=64)
def _sampled_atoms(pair: SampledPair) -> ComputedAtoms:
    """The atoms of L′, those of an infinite inner loss in either direction included."""
    if pair.direction == "replace":
        assert isinstance(pair.inner, DiscreteLaplacePair | DiscreteGaussianPair)
        return replaced_atoms(pair.inner, pair.rate)
    assert isinstance(pair.inner, AtomicPair)
    inner, masses = pair.inner.atoms()
    q = pair.rate
    losses = pair.image(inner)
    with np.errstate(over="ignore"):
        under_q = masses * np.exp(-inner)
    if pair.direction == "add":
        extra, at = pair.inner.infinite_mass(), -math.log1p(-q)
    else:
        masses = (q * masses + (1 - q) * under_q) * (1 + 32 * ULP * (1 + np.abs(inner)))
        extra, at = (1 - q) * max(0.0, 1 - math.fsum(under_q)), math.log1p(-q)
    if extra > (2.0**-46 if pair.direction == "remove" else 0.0):
        losses, masses = np.append(losses, at), np.append(masses, extra)
        order = np.argsort(losses)
        losses, masses = losses[order], masses[order]
    elif pair.direction == "remove":
        masses[0] += 2.0**-46  # what rounding may hide, counted as the least loss there is
    origin = None if pair.inner.origin() else 0.0
    infinite = pair.infinite_mass()
    return ComputedAtoms(losses + 16 * ULP * np.abs(losses), masses, origin, lost=infinite)
