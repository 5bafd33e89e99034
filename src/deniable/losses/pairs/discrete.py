"""Pairs whose loss takes countably many values: randomized response, lattice noise, black boxes."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.losses import convert

from ._pair import ULP, Cells, Complexes, Pair, Reals
from .transform import log_sums, near_and_far


class AtomicPair(Pair):
    """A pair given by its atoms. Masses and losses are rounded up: that can only raise a price."""

    @abstractmethod
    def atoms(self) -> tuple[Reals, Reals]:
        """The finite losses in rising order, and their masses under P, both rounded up."""

    def origin(self) -> float:
        return self.largest_loss()

    def point_masses(self) -> tuple[Reals, Reals]:
        """The atoms, from the largest loss down."""
        losses, masses = self.atoms()
        kept = masses > 0
        return (self.origin() - losses[kept])[::-1], masses[kept][::-1]

    def log_mgf(self, z: Complexes) -> tuple[Complexes, Reals]:
        """ln Σ pⱼ e^(z(lⱼ − origin))."""
        deficits, masses = self.point_masses()
        log_w = np.log(masses) - float(z[0].real) * deficits
        spread = float(np.abs(deficits[log_w > log_w.max() - 60]).max())
        relative = 16 * ULP * (8 + np.abs(z) * spread + np.abs(log_w.max()))

        def evaluate(part: Complexes) -> tuple[Complexes, Reals]:
            return log_sums(-deficits, log_w, part, relative=relative[: len(part)])

        return near_and_far(evaluate, z)

    def rough_log_mgf(self, c: float) -> float:
        """From a few thousand of the atoms."""
        deficits, masses = self.point_masses()
        stride = 1 + len(masses) // 4096
        logs = np.log(masses[::stride]) - c * deficits[::stride]
        top = float(logs.max())
        return top + math.log(float(np.exp(logs - top).sum()) * stride)

    def trimmed(self, mass: float) -> Pair:
        """Without the rarest of the largest losses."""
        losses, masses = self.atoms()
        above = np.cumsum(masses[::-1])[::-1]  # of each atom and those above it
        kept = max(1, int(np.count_nonzero(above > mass)))
        if kept == len(losses):
            return self
        lost = float(above[kept]) * (1 + 1e-9) + self.infinite_mass()
        origin = None if self.origin() else 0.0
        return ComputedAtoms(losses[:kept], masses[:kept], origin, lost=lost)

    def log_moment(self, c: float) -> float:
        """ln Σ pⱼ e^(c lⱼ) on the real line, where it takes no complex exponentials."""
        losses, masses = self.atoms()
        losses, masses = losses[masses > 0], masses[masses > 0]
        exponents = np.log(masses) + c * losses
        top = float(exponents.max())
        reach = c * max(abs(float(losses[0])), float(losses[-1])) + abs(top)
        total = float(np.exp(exponents - top).sum())
        return top + math.log(total) + 8 * ULP * (8 + len(losses) + 2 * reach)

    def masses(self, edges: Reals) -> Cells:
        """Sums over the atoms in each interval."""
        losses, masses = self.atoms()
        cell = np.searchsorted(edges, losses, side="left") - 1
        inside = (cell >= 0) & (cell < len(edges) - 1)
        size = len(edges) - 1
        p: Reals = np.bincount(cell[inside], masses[inside], size).astype(np.float64)
        q: Reals = np.bincount(cell[inside], (masses / np.exp(losses))[inside], size).astype(
            np.float64
        )
        relative = 8 * ULP * (4 + len(losses) + np.abs(losses).max())
        return Cells(p, q, relative * p, relative * q)

    def support(self, mass: float) -> tuple[float, float]:
        """From the least to the largest loss."""
        del mass
        losses, _ = self.atoms()
        return float(losses[0]), float(losses[-1])

    def delta_alone(self, epsilon: float) -> float:
        """Σ p(1 − e^(ε−l))₊."""
        losses, masses = self.atoms()
        parts = masses * -np.expm1(np.minimum(0.0, epsilon - losses))
        return min(1.0, math.fsum(parts) * (1 + 16 * ULP))

    def largest_loss(self) -> float:
        return float(self.atoms()[0][-1])


class ComputedAtoms(AtomicPair):
    """Atoms that follow from another pair's: rising losses and their masses, both rounded up."""

    def __init__(
        self, losses: Reals, masses: Reals, origin: float | None = None, *, lost: float = 0.0
    ) -> None:
        self._atoms, self._lost = (losses, masses), lost
        self._origin = float(losses[-1]) if origin is None else origin

    def origin(self) -> float:
        return self._origin

    def infinite_mass(self) -> float:
        return self._lost

    def atoms(self) -> tuple[Reals, Reals]:
        return self._atoms


@dataclass(frozen=True, kw_only=True)
class AtomsPair(AtomicPair):
    """Finitely many losses and their probabilities under P; what is missing to 1 is a loss of ∞."""

    name: ClassVar[str] = "atoms"
    losses: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        losses = tuple(parameters.real("losses", loss) for loss in self.losses)
        chances = tuple(parameters.probability("probabilities", p) for p in self.probabilities)
        if not losses or len(losses) != len(chances):
            raise BadParameter.of("losses", losses, must="as many as there are probabilities")
        if math.fsum(chances) > 1 + 2.0**-50:
            raise BadParameter.of("probabilities", chances, must="at most 1 in sum")
        under_q = math.fsum(p * math.exp(-loss) for loss, p in zip(losses, chances, strict=True))
        if under_q > 1 + 1e-9:
            raise BadParameter(
                f"these losses are not those of two distributions: Σ p·e^(−loss) = {under_q:g}",
                why="the second distribution would have more than all of the probability",
            )

    def atoms(self) -> tuple[Reals, Reals]:
        """As given, with equal losses merged."""
        losses, where = np.unique(np.array(self.losses), return_inverse=True)
        masses = np.bincount(where, np.array(self.probabilities), len(losses)).astype(np.float64)
        kept = masses > 0
        return losses[kept], masses[kept] * (1 + len(self.losses) * 4 * ULP)

    def infinite_mass(self) -> float:
        """What is missing to 1, beyond rounding."""
        missing = 1 - math.fsum(self.probabilities)
        return missing if missing > 2.0**-50 else 0.0


@dataclass(frozen=True, kw_only=True)
class ApproxPair(AtomicPair):
    """The worst of all (ε, δ)-private mechanisms: randomized response that sometimes tells all.

    L = ∞ with chance δ; else ε with odds e^ε : 1 against −ε.         [KOV15]
    """

    name: ClassVar[str] = "approx"
    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        parameters.non_negative("epsilon", self.epsilon)
        parameters.probability("delta", self.delta)

    def atoms(self) -> tuple[Reals, Reals]:
        if self.epsilon == 0:
            return np.zeros(1), np.array([up(1 - self.delta)])
        low = up((1 - self.delta) / (1 + math.exp(min(self.epsilon, 700.0))))
        high = up((1 - self.delta) / (1 + math.exp(-self.epsilon)))
        return np.array([-self.epsilon, self.epsilon]), np.array([low, high])

    def rough_log_mgf(self, c: float) -> float:
        """ln[(1 − δ)(1 + e^(−(1+2c)ε))/(1 + e^(−ε))] of a real number."""
        whole = (1 - self.delta) / (1 + math.exp(-self.epsilon))
        return math.log(whole) + math.log1p(math.exp(-(1 + 2 * c) * self.epsilon))

    def largest_loss(self) -> float:
        return self.epsilon

    def infinite_mass(self) -> float:
        return self.delta

    def divergence(self, order: float) -> float:
        """That of randomized response; none is known where δ > 0."""
        return math.inf if self.delta else convert.pure_to_renyi(self.epsilon, order)

    def group(self, size: int) -> ApproxPair:
        """(kε, δ(e^(kε) − 1)/(e^ε − 1)) for k units  [Vad17]."""
        if size == 1:
            return self
        count = float(size) if size < 2**1000 else math.inf
        epsilon = up(count * self.epsilon) if self.epsilon else 0.0
        if self.delta == 0 or self.epsilon == 0:
            return ApproxPair(
                epsilon=epsilon, delta=min(1.0, up(count * self.delta)) if self.delta else 0.0
            )
        # In logarithms, as e^(kε) may be beyond the floats: e^((k−1)ε)·(1 − e^(−kε))/(1 − e^(−ε)).
        ratio = math.expm1(-count * self.epsilon) / math.expm1(-self.epsilon)
        grown = math.log(self.delta) + (count - 1) * self.epsilon + math.log(ratio)
        room = 2.0**-48 * (abs(grown) + (count - 1) * self.epsilon + 800)
        delta = 1.0 if grown + room >= 0 else up(math.exp(grown + room))
        return ApproxPair(epsilon=epsilon, delta=delta)

    def dominates(self, other: Pair) -> bool:
        """A black box contains every mechanism within its bounds."""
        if isinstance(other, ApproxPair):
            return self.epsilon >= other.epsilon and self.delta >= other.delta
        return other.two_sided and other.largest_loss() <= self.epsilon


class ThreePoints(AtomicPair):
    """A loss that is ε, 0 or −ε: P(−ε) = e^(−ε)·P(ε), as P and Q are both probabilities."""

    two_sided: ClassVar[bool] = True
    epsilon: float

    @abstractmethod
    def truth(self) -> float:
        """The chance that the loss is ε."""

    @abstractmethod
    def neither(self) -> float:
        """The chance that the loss is 0."""

    def atoms(self) -> tuple[Reals, Reals]:
        """At −ε, 0 and ε, their masses rounded up."""
        high, zero = self.truth(), self.neither()
        masses = [up(high * math.exp(-self.epsilon)), zero * (1 + 64 * ULP), up(high)]
        masses[1] += 64 * ULP * (zero > 0)
        return np.array([-self.epsilon, 0.0, self.epsilon]), np.array(masses)

    def divergence(self, order: float) -> float:
        return convert.response_to_renyi(self.epsilon, order, truth=up(self.truth()))

    def concentration(self) -> float:
        """The least ρ of zero-concentrated differential privacy."""
        return convert.response_to_zcdp(self.epsilon, truth=up(self.truth()))


@dataclass(frozen=True, kw_only=True)
class ResponsePair(ThreePoints):
    """k-ary randomized response: the truth with odds e^ε : 1 against each other answer.

    Under P: ε with chance e^ε/(e^ε+k−1), −ε with 1/(e^ε+k−1), else 0.        [KOV16]
    """

    name: ClassVar[str] = "response"
    epsilon: float
    categories: int = 2

    def __post_init__(self) -> None:
        parameters.positive("epsilon", self.epsilon)
        parameters.whole("categories", self.categories, least=2)

    def truth(self) -> float:
        """1/(1 + (k − 1)·e^(−ε))."""
        return 1 / (1 + (self.categories - 1) * math.exp(-self.epsilon))

    def neither(self) -> float:
        """That of the k − 2 answers that are wrong either way."""
        return self.truth() * math.exp(-self.epsilon) * (self.categories - 2)


@dataclass(frozen=True, kw_only=True)
class StaircasePair(ThreePoints):
    """Staircase noise: steps of width Δ that fall by e^(−ε), each with its top `fraction` γ.

    L is ±ε or 0, by symmetry with P(L = −ε) = e^(−ε)·P(L = ε); the total variation
    P(|X| ≤ Δ/2) = (1 − e^(−ε))·P(L = ε) grows with the shift, so the shift Δ is worst.  [GV16]
    """

    name: ClassVar[str] = "staircase"
    epsilon: float
    fraction: float

    def __post_init__(self) -> None:
        parameters.positive("epsilon", self.epsilon)
        parameters.confidence("fraction", self.fraction)

    def truth(self) -> float:
        """½ + γΔ·f(0), f being the density of the noise."""
        shrink, gamma = math.exp(-self.epsilon), self.fraction
        top = min(gamma, 0.5) + max(0.5 - gamma, 0.0) * shrink
        return top / (gamma + shrink * (1 - gamma))

    def neither(self) -> float:
        """What the other two leave."""
        return max(0.0, 1 - self.truth() * (1 + math.exp(-self.epsilon)))


@dataclass(frozen=True, kw_only=True)
class DiscreteLaplacePair(AtomicPair):
    """Noise on the integers with mass ∝ e^(−|x|/scale), against itself moved by `shift`.

    L = (|x − Δ| − |x|)/scale takes the Δ + 1 values (Δ − 2j)/scale; at Δ = 1 it is randomized
    response of ε = 1/scale.                                                       [GRS12]
    """

    name: ClassVar[str] = "discrete_laplace"
    two_sided: ClassVar[bool] = True
    scale: float
    shift: int = 1

    def __post_init__(self) -> None:
        parameters.positive("scale", self.scale)
        parameters.whole("shift", self.shift)

    def atoms(self) -> tuple[Reals, Reals]:
        """From −Δ/scale to Δ/scale in steps of 2/scale."""
        jumps = np.arange(self.shift, -1, -1)
        ratio = math.exp(-1 / self.scale)
        inner = -math.expm1(-1 / self.scale)
        weights = np.where((jumps == 0) | (jumps == self.shift), 1.0, inner) / (1 + ratio)
        masses = weights * np.exp(-jumps / self.scale)
        losses = np.nextafter((self.shift - 2 * jumps) / self.scale, np.inf)
        kept = masses > 0
        return losses[kept], masses[kept] * (1 + 16 * ULP * (1 + self.shift / self.scale))

    def group(self, size: int) -> DiscreteLaplacePair:
        """Neighbours `size` steps apart are `size` times as far from each other."""
        return DiscreteLaplacePair(scale=self.scale, shift=self.shift * size)


@dataclass(frozen=True, kw_only=True)
class DiscreteGaussianPair(AtomicPair):
    """Noise on the integers with mass ∝ e^(−x²/2σ²), against itself moved by `shift`.

    L = (Δ² − 2Δx)/2σ². Beyond 38σ lies a mass below 2e^(−722): it is counted as a loss of ∞.
                                                                                   [CKS20]
    """

    name: ClassVar[str] = "discrete_gaussian"
    sigma: float
    shift: int = 1

    def __post_init__(self) -> None:
        parameters.positive("sigma", self.sigma)
        parameters.whole("shift", self.shift)
        if self.sigma > 2.0**14:
            raise BadParameter.of(
                "sigma",
                self.sigma,
                must="at most 2¹⁴ steps of the lattice",
                fix="a coarser lattice, or dp.Gaussian: real noise rounded to the lattice",
            )

    def atoms(self) -> tuple[Reals, Reals]:
        """From x = 38σ down to −38σ: rising losses."""
        return _discrete_gaussian(self.sigma, self.shift)

    def origin(self) -> float:
        """0: the largest loss is too unlikely to count from."""
        return 0.0

    def infinite_mass(self) -> float:
        """Both tails beyond 38σ, by Chernoff: P(|X| > x) ≤ 2e^(−x²/2σ²); rounded up to 2⁻¹⁰²²."""
        return 2.0**-1022

    def group(self, size: int) -> DiscreteGaussianPair:
        """Neighbours `size` steps apart are `size` times as far from each other."""
        return DiscreteGaussianPair(sigma=self.sigma, shift=self.shift * size)


def up(value: float) -> float:
    """A little more than a formula of a few operations gave."""
    return value * (1 + 16 * ULP) if value > 0 else value * (1 - 16 * ULP)


@lru_cache(maxsize=8)
def _discrete_gaussian(sigma: float, shift: int) -> tuple[Reals, Reals]:
    reach = math.ceil(38 * sigma)
    x = np.arange(reach, -reach - 1, -1.0)
    weights = np.exp(-(x**2) / (2 * sigma**2))
    losses = (shift**2 - 2 * shift * x) / (2 * sigma**2)
    masses = weights / math.fsum(weights) * (1 + 8 * ULP * (8 + x**2 / sigma**2))
    kept = masses > 0
    return (losses + 4 * ULP * np.abs(losses))[kept], masses[kept]
