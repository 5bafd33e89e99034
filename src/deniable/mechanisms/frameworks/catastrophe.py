"""A specimen: what a δ may hide."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from deniable import parameters
from deniable.errors import BadParameter
from deniable.forms import Form
from deniable.losses import rounding
from deniable.losses.pairs import BranchedPair, Pair, Pairs
from deniable.mechanisms._mechanism import Mechanism, Norm
from deniable.mechanisms.interactive import Interaction
from deniable.sampling import bernoulli
from deniable.sensitive import Sensitive


@dataclass(frozen=True, kw_only=True)
class Catastrophe(Mechanism):
    """Catastrophe: publish the data as they are, with probability δ; else what a mechanism says.

    Releases   x with probability δ; otherwise M(x), or None if no mechanism is given
    Privacy    δ(ε) = δ + (1 − δ)·δ_M(ε), and (0, δ)-DP without M: the definition allows it
               [DR14]
    Error      none, when disaster strikes; else that of M
    Assumes    what M assumes
    Numerics   the coin is exact

    It exists to be looked at: a δ near 1/n lets someone's row out with the blessing of the
    definition. Choose δ so that even this would not happen in the lifetime of the data. The price
    is that of answers which show whether they are the truth; no other price could be lower for
    every value.

    >>> Catastrophe(delta=1e-12).release("everybody's rows") is None
    True
    >>> from deniable.mechanisms.numbers import Laplace
    >>> Catastrophe(delta=1e-6, of=Laplace(scale=2.0)).approx()
    (0.5, 1e-06)
    """

    name: ClassVar[str] = "catastrophe"
    norm: ClassVar[Norm] = "linf"

    delta: float
    of: Mechanism | None = None

    def __post_init__(self) -> None:
        if not parameters.fraction_below_one("delta", self.delta) > 0:
            raise BadParameter.of("delta", self.delta, must="a number between 0 and 1")
        if self.of is not None and not isinstance(self.of, Mechanism):
            raise BadParameter.of("of", self.of, must="a dp.Mechanism, or None")

    # ---- facts: no other definition bounds what is published whole

    def approx(self) -> tuple[float, float]:
        """(ε, δ + (1 − δ)·δ_M) where M is (ε, δ_M)-private."""
        if self.of is None:
            return 0.0, self.delta
        epsilon, delta = self.of.approx()
        return epsilon, self._mixed(delta)

    def pairs(self) -> Pairs | None:
        """M's pairs behind a coin that reveals everything with probability δ."""
        if self.of is None:
            return super().pairs()
        inner = self.of.pairs()
        if inner is None:
            return None
        return Pairs(remove=self._behind(inner.remove), add=self._behind(inner.add))

    def _behind(self, pair: Pair) -> BranchedPair:
        return BranchedPair(parts=(pair,), weights=(1 - self.delta,), reveals=self.delta)

    def epsilon_at(self, delta: float = 0.0) -> float:
        """M's ε at (δ − δ₀)/(1 − δ₀), δ₀ being the chance of disaster."""
        delta = parameters.fraction_below_one("delta", delta)
        if self.of is None:
            return super().epsilon_at(delta)
        if delta < self.delta:
            return math.inf
        left = max(0.0, rounding.down(delta, -self.delta)) * (1 - 2.0**-50)
        return self.of.epsilon_at(left / (1 - self.delta))

    def delta_at(self, epsilon: float) -> float:
        """δ₀ + (1 − δ₀)·δ_M(ε)."""
        epsilon = parameters.non_negative("epsilon", epsilon)
        return self._mixed(self.of.delta_at(epsilon)) if self.of is not None else self.delta

    def _mixed(self, delta: float) -> float:
        return min(1.0, rounding.up(self.delta, (1 - self.delta) * delta)) if delta else self.delta

    def error(self, confidence: float = 0.95, **among: int) -> float:
        """That of M at (confidence − δ)/(1 − δ): the truth does not err."""
        if self.of is None:
            return super().error(confidence)
        needed = self._needed(confidence)
        return self.of.error(needed, **among) if needed > 0 else 0.0

    def shown_error(self, confidence: float, *, whole: bool) -> float:
        if self.of is None:
            return super().shown_error(confidence, whole=whole)
        needed = self._needed(confidence)
        return self.of.shown_error(needed, whole=whole) if needed > 0 else 0.0

    def _needed(self, confidence: float) -> float:
        """The confidence that M must have, since the truth does not err."""
        confidence = parameters.confidence("confidence", confidence)
        return min(confidence, (confidence - self.delta) / (1 - self.delta) * (1 + 2.0**-50))

    # ---- use

    def _check_covers(self, value: Sensitive[Any]) -> None:
        """What M covers; without M any value will do, as it is published whole."""
        if self.of is not None:
            self.of.check(value)

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """As M reads it; without M the value as it is."""
        return self.of.reading(form) if self.of is not None else lambda value: value

    def draw(self, value: object) -> object:
        """Everything, or what M says."""
        if self._strikes():
            return value
        return self.of.draw(value) if self.of is not None else None

    def begin(self) -> Interaction:
        """M's interaction; with probability δ each value instead, one after another."""
        if self.of is None:
            return super().begin()
        interaction = self.of.begin()
        return _Told(interaction) if self._strikes() else interaction

    def _strikes(self) -> bool:
        return bool(bernoulli(Fraction(self.delta), 1)[0])


class _Told(Interaction):
    """Answers with the values themselves, as long as the mechanism would answer."""

    def __init__(self, instead_of: Interaction) -> None:
        self._instead_of = instead_of

    def answering(self) -> Mechanism | None:
        """The mechanism that the value should have met."""
        return self._instead_of.answering()

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """As the mechanism reads it."""
        return self._instead_of.reading(form)

    def admit(self, value: Sensitive[Any]) -> None:
        """As the mechanism does."""
        self._instead_of.admit(value)

    def ask(self, value: object) -> object:
        self._instead_of.ask(value)
        return value
