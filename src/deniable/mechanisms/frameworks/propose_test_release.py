"""Propose a bound on local sensitivity, test privately that it holds far around, then release."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from deniable import parameters
from deniable.errors import BadParameter
from deniable.forms import Form, read_pair
from deniable.losses import rounding
from deniable.mechanisms._mechanism import Mechanism, Norm
from deniable.mechanisms.numbers import Laplace
from deniable.sampling import lazy


@dataclass(frozen=True, kw_only=True)
class ProposeTestRelease(Mechanism):
    """ProposeTestRelease: answer with noise for a proposed local sensitivity, if that is safe.

    Releases   f(x) + Lap(b/ε₂) if D(x) + Lap(1/ε₁) > ln(1/2δ)/ε₁, else None
    Privacy    (ε₁ + ε₂, δ)-DP, also when it refuses                          [DL09]
    Error      as Laplace of scale b/ε₂, when it answers; it answers with probability ½ or more
               if D ≥ ln(1/2δ)/ε₁
    Assumes    D(x) is at most the number of units by which x differs from the nearest data whose
               local sensitivity exceeds b: 0 if that of x does, and moved by at most 1 by one unit
    Numerics   exact: the test compares real noise lazily, its threshold is rounded up

    The value is (f(x), D(x)). The threshold ln(2/δ)/2ε that is sometimes printed passes by accident
    far more often than δ.
    """

    name: ClassVar[str] = "propose_test_release"
    norm: ClassVar[Norm] = "linf"
    of_samples: ClassVar[bool] = False
    sensitivity: ClassVar[float] = 1.0  # of the distance D

    bound: float
    epsilon_test: float
    epsilon_release: float
    delta: float

    def __post_init__(self) -> None:
        for field in ("bound", "epsilon_test", "epsilon_release"):
            parameters.positive(field, getattr(self, field))
        if not 0 < parameters.fraction_below_one("delta", self.delta) < 0.5:
            raise BadParameter.of("delta", self.delta, must="a number between 0 and 0.5")

    def approx(self) -> tuple[float, float]:
        return rounding.add_up(self.epsilon_test, self.epsilon_release), self.delta

    @property
    def threshold(self) -> float:
        """ln(1/2δ)/ε₁, rounded up: noise at distance 0 passes it with probability at most δ."""
        return math.log(1 / (2 * self.delta)) / self.epsilon_test * (1 + 2**-48)

    @property
    def noise(self) -> Laplace:
        """What is added to an answer that is given."""
        return Laplace.calibrate(epsilon=self.epsilon_release, sensitivity=self.bound)

    def error(self, confidence: float = 0.95) -> float:
        """Half-width of the interval around an answer that is given."""
        return self.noise.error(confidence)

    def reading(self, _form: Form) -> Callable[[Any], Any]:
        """Two real numbers: the answer and its distance."""
        _ = self.noise.lattice  # raises if the noise is too small or too large for one
        return read_pair

    def draw(self, value: tuple[float, float]) -> float | None:
        """The noisy answer, or None if the proposal did not pass."""
        answer, distance = value
        if not (math.isfinite(answer) and 0 <= distance < math.inf):
            raise BadParameter(
                "the value must be (a finite number, a finite distance of at least 0)"
            )
        reach = Fraction(distance) - Fraction(self.threshold)
        if lazy.sign(reach, (1 / Fraction(self.epsilon_test), lazy.Laplace())) <= 0:
            return None
        drawn = self.noise.draw(float(answer))
        assert isinstance(drawn, float)
        return drawn
