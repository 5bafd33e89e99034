"""Objective and output perturbation: noise in what is minimised, or on the minimum."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Final

import numpy as np

from deniable import parameters
from deniable.calibration import analytic_gaussian_sigma
from deniable.errors import BadParameter
from deniable.forms import Form, needs_shape
from deniable.losses import Approx, Loss, convert
from deniable.mechanisms import Gaussian
from deniable.mechanisms._mechanism import Mechanism, Norm
from deniable.mechanisms.combine import Composed
from deniable.sampling import rounded_gaussian
from deniable.units import Relation

from .budget import Paid, Part, gaussian, listed, needs_delta, plan
from .examples import Examples, Held
from .minima import Penalised
from .spaces import Floats, Space, up

TOLERANCE: Final = 2.0**-12
"""How small a gradient minima are found to, as a share of what one row can change it by."""
_LATTICE: Final = 30
"""The noise in the objective is rounded to 2⁻³⁰ of its scale, or finer: see `_width`."""
_LONGEST: Final = 2.0**44
"""Floats tell no smaller tolerance, as a share of the length of the noise in the objective."""
_HESSIAN: Final = 0.3
"""The share of ε that pays for the change of volume; see `ObjectivePerturbation`."""
_VOLUME: Final = 2.0
"""And at most so much, however large ε is: with too small a penalty floats certify nothing."""
LEAST: Final = 2.0**-10
"""The smallest penalty of output perturbation, for rows of norm 1."""
_OUTPUT: Final = 0.02
"""The share of μ² that hides how far a minimum in floats is from the exact one."""

_PENALTY: Final = 3.0
"""Of output perturbation: the noise of a margin is about 1 over this."""

Solve = Callable[[Floats], Penalised]


@dataclass(frozen=True, kw_only=True)
class Perturbation:
    """Public settings of a logistic regression by one of the two; the residual is clipped."""

    space: Space
    clip: float
    units: int
    """How many rows one unit can add, remove or exchange, by weight."""
    inside: bool
    """Whether the noise is in the objective, or on the minimum."""
    penalty: float | None = None

    @property
    def norm(self) -> float:
        """No row is longer, in units of features: a quotient by a power of 2, so it is exact."""
        return self.space.norm / self.space.unit

    @property
    def sensitivity(self) -> float:
        """No unit changes the gradient by more."""
        return up(self.units * self.clip * self.norm)

    def plan(self, loss: Loss) -> Mechanism:
        """The noise that a loss buys."""
        if not self.inside:
            l2 = output_l2(sensitivity=self.sensitivity, ridge=self.ridge(loss))
            return plan([Part(share=1.0, l2=l2, numbers=self.space.dimension)], mu=gaussian(loss))
        needs_delta(loss, "objective perturbation")
        assert isinstance(loss, Approx)
        made = ObjectivePerturbation.calibrate(
            coordinates=self.space.dimension,
            sensitivity=self.sensitivity,
            smoothness=up(self.norm**2 / 4),
            ridge=self.penalty or 0.0,
            epsilon=loss.epsilon,
            delta=loss.delta,
        )
        return Composed.of((made, 1))

    def ridge(self, loss: Loss) -> float:
        """λ of output perturbation: as stated, or so that noise moves a margin by about ⅓."""
        wanted = _PENALTY * self.norm * self.sensitivity / gaussian(loss)
        return self.penalty or max(wanted, LEAST * self.norm**2)

    def check_penalty(self) -> None:
        """Refuse a penalty with which floats could not certify a minimum."""
        least = LEAST * self.norm**2
        if self.penalty is not None and self.penalty < least:
            raise BadParameter.of("alpha", self.penalty, must=f"at least {least:.3g} here")

    def expected_excess(self, made: Mechanism, loss: Loss, *, size: float) -> float:
        """At most E[F(θ) − min F]/size for so many rows, before anything is spent.

        Noise Z on a point near the minimum raises F by at most ⟨Z, (M/4 + λ)Z⟩/2, and tr M is at
        most size·‖x‖². A term ⟨b, θ⟩ in the objective leaves ∇F = −b at its minimum, and
        λ-strong convexity F − min F ≤ ‖b‖²/2λ. What is left of the gradient is far smaller.
        """
        (noise,) = listed(made)
        d, inside = self.space.dimension, 0.0
        if isinstance(noise, ObjectivePerturbation):
            ridge, spread = noise.ridge, noise.output
            inside = d * noise.sigma**2 / (2 * ridge)
        else:
            assert isinstance(noise, Gaussian)
            ridge, spread = self.ridge(loss), noise.sigma
        trace = size * self.norm**2 / 4 + ridge * d
        return (inside + spread**2 * trace / 2) / max(size, 1.0)

    def learn(self, bought: Paid, held: Held) -> Generator[Any, Any, Floats]:
        """θ, by one question."""
        dimension = self.space.dimension
        if self.inside:
            (made,) = listed(bought.plan)
            assert isinstance(made, ObjectivePerturbation)
            value = held.given(
                partial(self._objective, made.ridge), l2=self.sensitivity, shape=dimension
            )
        else:
            ridge = self.ridge(bought.loss)
            value = held.given(
                partial(self._minimum, ridge),
                l2=output_l2(sensitivity=self.sensitivity, ridge=ridge),
                shape=dimension,
            )
        noisy = yield bought.handle.on(value)
        return np.asarray(noisy, dtype=np.float64)

    def _objective(self, ridge: float, rows: Examples) -> Solve:
        return partial(self._penalised, rows, ridge)

    def _minimum(self, ridge: float, rows: Examples) -> Floats:
        made = self._penalised(rows, ridge, np.zeros(self.space.dimension))
        return made.minimum(TOLERANCE * self.sensitivity)

    def _penalised(self, rows: Examples, ridge: float, slope: Floats) -> Penalised:
        return Penalised(rows=rows, space=self.space, clip=self.clip, ridge=ridge, slope=slope)


@dataclass(frozen=True, kw_only=True)
class ObjectivePerturbation(Mechanism):
    """ObjectivePerturbation: minimise a penalised sum of losses plus a random linear term.

    Releases   θ̂ + N(0, ς²)ᵈ, where θ̂ nearly minimises Σℓ(⟨x, θ⟩, y) + λ‖θ‖²/2 + ⟨b, θ⟩ and
               b ~ N(0, s²)ᵈ
    Privacy    (ε, 2·δ_μ(ε − c))-DP with c = ln(1 + β/λ), μ² = (L/s)² + (2τ/λς)², and δ_μ that of
               the Gaussian mechanism                           [KST12, RKW23; proved below]
    Error      of one parameter: not stated
    Assumes    a unit is one row, added or removed; ‖x‖·|ℓ′| ≤ L, ‖x‖²·ℓ″ ≤ β, ℓ convex;
               ‖∇‖ ≤ τ at θ̂, with the real b
    Numerics   b is rounded exactly to a lattice, which is counted in τ; `minima` certifies the
               gradient in floats; the noise ς is that of `Gaussian`

    Proof. Let D′ be D and a row x; g(θ) = ℓ′(⟨x, θ⟩)·x is its gradient. For exact minima,
    θ ↦ b = −∇F(θ) is a bijection, so θ has density p(θ) = φ(b(θ)/s)·det ∇²F(θ) up to a constant
    (ℓ″ exists almost everywhere, which is enough). b′ = b − g, and the determinants have the ratio
    1 + ℓ″·xᵀ(∇²F)⁻¹x, which lies in [1, 1 + β/λ]. Hence

        ln p′/p ≤ c + (2⟨b′, g⟩ + ‖g‖²)/2s²        ln p/p′ ≤ (−2⟨b, g⟩ + ‖g‖²)/2s²

    As g points along x, whatever θ is, |⟨b′, g⟩| ≤ L·s·|Z| with Z = ⟨b′, x⟩/s‖x‖, which under D′ is
    standard normal (and so is ⟨b, x⟩/s‖x‖ under D). So either privacy loss is at most
    c + ν|Z| + ν²/2, ν = L/s. Now release the noisy θ̂ beside the exact minimum θ. Given θ, θ̂ is a
    function of the data within τ/λ of θ, by strong convexity; so the second release is
    κ-GDP, κ = 2τ/λς, and adds to the loss at most what Gaussian noise does. For an increasing h ≥ 0
    h(|Z|) ≤ h(Z) + h(−Z), so with h the expectation of (1 − e^(ε−loss))₊ over the second noise
    δ(ε) ≤ 2·E(1 − e^(ε − c − νZ − ν²/2 − κZ₂ − κ²/2))₊ = 2·δ_μ(ε − c), μ² = ν² + κ². What is
    released is a function of the pair.

    The value makes an objective of b (`minima.Penalised`): whatever the rows are, it has a minimum.
    """

    name: ClassVar[str] = "objective_perturbation"
    norm: ClassVar[Norm] = "l2"
    relation: ClassVar[Relation | None] = Relation.ADD_REMOVE
    of_samples: ClassVar[bool] = False

    coordinates: int
    sensitivity: float
    smoothness: float
    ridge: float
    sigma: float
    tolerance: float
    output: float
    epsilon: float

    def __post_init__(self) -> None:
        parameters.whole("coordinates", self.coordinates)
        for name in (
            "sensitivity", "smoothness", "ridge", "sigma", "tolerance", "output", "epsilon",
        ):  # fmt: skip
            parameters.positive(name, getattr(self, name))
        if not self.sigma * math.sqrt(self.coordinates) <= _LONGEST * self.tolerance:
            raise BadParameter(
                f"a minimum cannot be certified beside noise of {self.sigma:.3g}, where one unit "
                f"moves the gradient by {self.sensitivity:.3g}",
                why="floating-point numbers would round off the tolerance",
                fix=("a larger epsilon", 'solver="descent"'),
            )

    @classmethod
    def calibrate(
        cls,
        *,
        coordinates: int,
        sensitivity: float,
        smoothness: float,
        epsilon: float,
        delta: float,
        ridge: float = 0.0,
    ) -> ObjectivePerturbation:
        """The one with the least noise that meets (ε, δ), with a penalty of at least `ridge`."""
        least = smoothness / math.expm1(min(_HESSIAN * epsilon, _VOLUME))
        penalty = max(least, ridge)
        rest = epsilon - math.log1p(smoothness / penalty)
        short, tolerance = 1 - 2.0**-40, TOLERANCE * sensitivity
        while True:
            mu = short / analytic_gaussian_sigma(rest, delta=delta / 2)
            found = cls(
                coordinates=coordinates,
                sensitivity=sensitivity,
                smoothness=smoothness,
                ridge=penalty,
                sigma=sensitivity / (mu * math.sqrt(1 - _OUTPUT)),
                tolerance=tolerance,
                output=2 * tolerance / (penalty * mu * math.sqrt(_OUTPUT)),
                epsilon=epsilon,
            )
            if found.approx()[1] <= delta:
                return found
            short -= 1 - short

    # ---- facts

    def approx(self) -> tuple[float, float]:
        """(ε, 2·δ_μ(ε − c))."""
        return self.epsilon, self.delta_at(self.epsilon)

    def delta_at(self, epsilon: float) -> float:
        """2·δ_μ(ε − c); 1 where ε is at most c."""
        epsilon = parameters.non_negative("epsilon", epsilon)
        rest = epsilon - math.log1p(self.smoothness / self.ridge) * (1 + 2.0**-50)
        if rest <= 0:
            return 1.0
        ratios = (self.sensitivity / self.sigma, 2 * self.tolerance / (self.ridge * self.output))
        # δ depends on ε/μ and grows with μ: this covers all roundings, also that of ε − c.
        mu = math.hypot(*ratios) * (1 + 2.0**-48)
        return min(1.0, 2 * convert.gdp_to_delta(mu, rest))

    # ---- use

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """What makes an objective of b, as it is."""
        what, example = "the gradient of a loss", str(self.coordinates)
        needs_shape(type(self).__name__, form, dimensions=1, what=what, example=example)
        return _objective

    @property
    def _width(self) -> float:
        """Of the lattice of b, a power of 2: rounding takes at most 1/16 of the tolerance."""
        fine = self.tolerance / (8 * math.sqrt(self.coordinates))
        return math.ldexp(1.0, min(math.frexp(self.sigma)[1] - _LATTICE, math.frexp(fine)[1] - 1))

    def draw(self, value: Solve) -> Floats:
        width = self._width
        steps = rounded_gaussian(Fraction(self.sigma) / Fraction(width), np.zeros(self.coordinates))
        slope = np.asarray(steps, dtype=np.float64) * width
        rounded = width / 2 * math.sqrt(self.coordinates)  # certificates have 2⁻⁴⁰ to spare
        found = value(slope).minimum(self.tolerance - rounded)
        noisy = Gaussian(sigma=self.output, sensitivity=self.output).draw(found)
        return np.asarray(noisy, dtype=np.float64)


def output_l2(*, sensitivity: float, ridge: float) -> float:
    """How far one unit moves a minimum that is found to `TOLERANCE`                    [CMS11].

    Let F′ = F + f be the objectives of neighbours, θ and θ′ their exact minima. ∇F(θ′) = −∇f(θ′),
    so λ‖θ′ − θ‖ ≤ ‖∇F(θ′) − ∇F(θ)‖ ≤ L, where L bounds ‖∇f‖: how far one unit, with all of its
    rows, and both sides if it is replaced, moves the gradient. Each θ̂ is within τ/λ of its minimum.
    """
    return (sensitivity + 2 * TOLERANCE * sensitivity) / ridge * (1 + 2.0**-45)


def _objective(value: Any) -> Solve:
    if not callable(value):
        raise BadParameter.of("value", type(value), must="a function of the noise")
    made: Solve = value
    return made
