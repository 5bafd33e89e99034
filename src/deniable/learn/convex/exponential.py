"""The exponential mechanism on a convex set, with or without regularisation, by certified draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from deniable import parameters
from deniable.calibration import analytic_gaussian_sigma
from deniable.errors import BadParameter
from deniable.forms import Form, needs_shape
from deniable.losses import convert, rounding
from deniable.mechanisms._mechanism import Mechanism, Norm

from .domains import Domain
from .lattice import Lattice
from .objectives import NAMES, Rows, link
from .proximal import Chain, Target
from .restricted import Floats

MIXING, ARITHMETIC = 8e-10, 1e-10
"""At most what is missed by ending the chain and by rounding: together below 1e-9."""
_PAIR, _PRODUCT = 5e-4, 1.5e-9  # CPU seconds: of a pair of draws, and of a number in a row
_MIXING_SHARE, _ARITHMETIC_SHARE = 0.01, 0.002  # of δ, at most, for what the sampler misses


@dataclass(frozen=True, kw_only=True)
class ConvexExponential(Mechanism):
    """ConvexExponential: draw a point of a convex set K where the summed loss of the rows is low.

    Releases   x with density ∝ exp(−b·ΣF(x; rowᵢ) − m‖x − o‖²/2) on K, o its center
    Privacy    the ideal law is ε₀-DP, ε₀ = bΔD                        [MT07; proved below]
               and μ-GDP, μ = bΔ/√m                                    [GLL22]
               what is drawn is within t of it in total variation, for every data set, and then
               rounded by a public rule: so (ε, δ)-DP with δ = δ₀(ε) + (1 + e^ε)·t, δ₀ the less of
               the two ideal ones
    Error      E[ΣF(x)] − min ΣF ≤ (d + m·r²/2)/b, r the distance of the farthest point from o
    Assumes    one unit changes ∇ΣF by at most Δ in L2, everywhere on K: rows are clipped to the
               Lipschitz bound M, and Δ is M if a unit comes or goes and 2M if it is replaced
    Numerics   see `proximal`: the number of steps is fixed by a theorem, rejections have no limit,
               `mixing` bounds the distance after that many steps and `arithmetic` what rounding
               to a lattice adds, in the worst case: t, their sum, is below 1e-9 by default.
               Coins are exact, provided that NumPy's exp and logaddexp are right to 2⁻⁴⁶: that is
               assumed.
               The running time depends on the data (steps and rejections), and so does the number
               of rows: do not show it to whoever must not learn them.

    Pure: for neighbours the exponents differ by b·h(x), and h varies on K by at most ΔD. So does
    ln of the ratio of densities, whose mean under either law is of either sign: it is within ±bΔD.
    (The ridge is the same on both sides, and plays no part.) Gaussian: both exponents are
    m-strongly convex and differ by a bΔ-Lipschitz function; the theorem says that telling the two
    laws apart is no easier than telling N(0, 1) from N(bΔ/√m, 1).
    Variation: P′(S) ≤ P(S) + t ≤ e^ε·Q(S) + δ₀ + t ≤ e^ε·(Q′(S) + t) + δ₀ + t. Here P′ and Q′ are
    the laws before rounding: as the rule is the same for all rows, it cannot make more of them.
    Error: for a convex U on a convex set of dimension d, E[U] − min U ≤ d under the density ∝ e⁻ᵁ
    [KL18]; and the ridge adds at most m·r²/2 at the minimum.

    The value is the rows (`objectives.Rows`). One draw is one release: each costs this again.
    """

    name: ClassVar[str] = "convex_exponential"
    norm: ClassVar[Norm] = "l2"
    of_samples: ClassVar[bool] = False

    loss_name: str
    domain: tuple[Any, ...]
    coordinates: int
    lipschitz: float
    sensitivity: float
    weight: float
    ridge: float
    epsilon: float
    blur: float = 0.01
    mixing: float = MIXING
    arithmetic: float = ARITHMETIC

    def __post_init__(self) -> None:
        parameters.one_of("loss", self.loss_name, NAMES)
        parameters.whole("coordinates", self.coordinates)
        for name in ("lipschitz", "sensitivity", "weight", "ridge", "epsilon", "blur"):
            parameters.positive(name, getattr(self, name))
        for name in ("mixing", "arithmetic"):
            parameters.confidence(name, getattr(self, name))
        Domain.of(self.domain).dimension(self.coordinates)

    @classmethod
    def calibrate(
        cls,
        *,
        loss: str,
        domain: Domain,
        coordinates: int,
        lipschitz: float,
        sides: int,
        epsilon: float,
        delta: float,
        regularised: bool,
        blur: float,
    ) -> ConvexExponential:
        """The one with the least bound on its error that meets (ε, δ).

        Regularised, b = μ√m/Δ and (d + m·r²/2)/b is least at m = 2d/r². Not regularised, b is
        ε/(ΔD), and the ridge only serves the sampler: m = d/2r² adds a quarter to the bound.
        """
        missed = delta / (1 + math.exp(epsilon))
        mixing = min(MIXING, _MIXING_SHARE * missed)
        arithmetic = min(ARITHMETIC, _ARITHMETIC_SHARE * missed)
        made = partial(
            cls,
            loss_name=loss,
            domain=domain.record(),
            coordinates=coordinates,
            lipschitz=lipschitz,
            sensitivity=sides * lipschitz,
            epsilon=epsilon,
            blur=blur,
            mixing=mixing,
            arithmetic=arithmetic,
        )
        square, d = domain.reach(coordinates) ** 2, domain.dimension(coordinates)
        if regularised:
            ridge = 2 * d / square
            lost = (1 + math.exp(epsilon)) * (mixing + arithmetic)
            mu = 1 / analytic_gaussian_sigma(epsilon, delta=delta - lost)
            weight = mu * math.sqrt(ridge) / (sides * lipschitz)
        else:
            ridge = d / (2 * square)
            weight = epsilon / (sides * domain.scaled(lipschitz).diameter(coordinates))
        short = 1 - 2.0**-42
        while True:
            found = made(weight=weight * short, ridge=ridge)
            if found.approx()[1] <= delta:
                return found
            short -= 1 - short

    # ---- facts

    @property
    def distance(self) -> float:
        """t: at most how far the law drawn is from the ideal one, in total variation."""
        return rounding.up(self.mixing, self.arithmetic)

    def ideal(self) -> tuple[float, float]:
        """ε₀ and μ of the ideal law, rounded up: on the set as `chain` scales and rounds it."""
        moved = self.weight * self.sensitivity * (1 + 2.0**-44)
        far = self._scaled().diameter(self.coordinates) / self.lipschitz
        return moved * far, moved / math.sqrt(self.ridge)

    def _scaled(self) -> Domain:
        """The set in units in which the Lipschitz bound is 1: the one on which points are drawn."""
        return Domain.of(self.domain).scaled(self.lipschitz)

    def approx(self) -> tuple[float, float]:
        """(ε, δ₀(ε) + (1 + e^ε)·t)."""
        return self.epsilon, self.delta_at(self.epsilon)

    def delta_at(self, epsilon: float) -> float:
        """The least δ that follows from either fact about the ideal law."""
        epsilon = parameters.non_negative("epsilon", epsilon)
        pure, mu = self.ideal()
        exact = 0.0 if pure <= epsilon else convert.gdp_to_delta(mu, epsilon)
        missed = (1 + math.exp(min(epsilon, 700.0))) * self.distance
        return min(1.0, rounding.up(exact, missed))

    def excess(self, size: float, confidence: float | None = None) -> float:
        """A bound on the mean loss above the least, for so many rows: expected, or at most with p.

        E exp(s(U − min U)) ≤ (1 − s)⁻ᵈ, which follows from E[βU] − min βU ≤ d for all β, so that
        U − min U > q has probability at most (q/d)ᵈ·exp(d − q).
        """
        domain = Domain.of(self.domain)
        d, reach = domain.dimension(self.coordinates), domain.reach(self.coordinates)
        most = self.lipschitz * domain.diameter(self.coordinates)
        if size <= 0:
            return most
        bound = (_rise(d, confidence) + self.ridge * reach**2 / 2) / (self.weight * size)
        blurred = link(self.loss_name, blur=self.blur).blur
        return min(most, bound + 2 * blurred + self.distance * most)

    def pace(self, size: float) -> Lattice:
        """How the sampler would step for so many rows, whatever is in them."""
        named, unit = link(self.loss_name, blur=self.blur), self.lipschitz
        return Lattice(
            domain=self._scaled(),
            coordinates=self.coordinates,
            size=size,
            mass=size,
            weight=self.weight,
            ridge=self.ridge / unit**2,
            link=named,
            mixing=self.mixing,
            arithmetic=self.arithmetic,
        )

    def seconds(self, size: float) -> float:
        """About how much CPU a draw takes for so many rows, if all of them are long and bend."""
        return self.pace(size).steps * (_PAIR + _PRODUCT * size * self.coordinates)

    # ---- use

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """The rows as they are: they were clipped when the value was made."""
        what, example = "the gradient of a risk", str(self.coordinates)
        needs_shape(type(self).__name__, form, dimensions=1, what=what, example=example)
        return _rows

    def chain(self, rows: Rows) -> Chain:
        """The sampler of these rows, in units in which the Lipschitz bound is 1."""
        named = link(self.loss_name, blur=self.blur)
        points, targets = np.asfortranarray(rows.points), rows.targets
        if not len(points):  # a row of zeros has no influence
            points, targets = np.zeros((1, self.coordinates)), np.zeros(1)
        target = Target(
            rows=Rows(points=points, targets=targets, link=named),
            domain=self._scaled(),
            weight=self.weight,
            ridge=self.ridge / self.lipschitz**2,
        )
        return Chain(target=target, mixing=self.mixing, arithmetic=self.arithmetic)

    def draw(self, value: Rows) -> Floats:
        drawn = self.chain(value).draw() / self.lipschitz
        return Domain.of(self.domain).project(drawn)


def _rise(d: int, confidence: float | None) -> float:
    """d; or the q with (q/d)ᵈ·exp(d − q) ≤ 1 − confidence."""
    if confidence is None:
        return float(d)
    wanted, high = math.log(1 - confidence), 2.0 * d
    while d * math.log(high / d) + d - high > wanted:
        high *= 1.05
    return high


def _rows(value: Any) -> Rows:
    if not isinstance(value, Rows):
        raise BadParameter.of("value", type(value), must="rows")
    return value
