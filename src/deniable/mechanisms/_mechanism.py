"""What every mechanism is: public parameters, privacy facts, sampler and error in one value.

A mechanism states the facts it can prove (`pure`, `zcdp`, `gdp`, `renyi`, `pairs`, `approx`); what
follows from them by theorem is filled in here and in `losses`. What draws the noise is therefore
what is charged: there is no second description to drift from the first.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, TypeVar

from .. import parameters
from ..errors import BadParameter, NoBound, SensitivityMismatch
from ..losses import Loss, Profile, convert
from ..losses.pairs import ApproxPair, Pairs
from ..sensitive import Sensitive

if TYPE_CHECKING:
    from .combine import Composed, Sampled

L = TypeVar("L", bound=Loss)
T = TypeVar("T")

Norm = Literal["l1", "l2", "linf"]


@dataclasses.dataclass(frozen=True, eq=False)
class Step(Generic[T]):
    """A mechanism and the value it will be applied to: what a session releases and an algorithm yields."""

    mechanism: Mechanism
    value: Sensitive[T]


class Mechanism(ABC):
    """A randomised algorithm with proved privacy. Subclasses are frozen dataclasses of public parameters."""

    name: ClassVar[str]
    """Its name in ledgers, for ever."""
    norm: ClassVar[Norm]
    """In which norm its `sensitivity` is meant."""
    registry: ClassVar[dict[str, type[Mechanism]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in cls.__dict__:
            Mechanism.registry[cls.name] = cls

    # ---- facts: override what is proved; the rest follows

    def pure(self) -> float:
        """ε of pure differential privacy; ∞ if none is proved."""
        return math.inf

    def approx(self) -> tuple[float, float]:
        """One pair (ε, δ) that holds."""
        return self.pure(), 0.0

    def zcdp(self) -> float:
        """ρ of zero-concentrated differential privacy; ∞ if none is proved."""
        return convert.pure_to_zcdp(self.pure())

    def gdp(self) -> float:
        """μ of Gaussian differential privacy; ∞ if none is proved."""
        return math.inf

    def renyi(self, order: float) -> float:
        """Rényi divergence bound at one order α > 1."""
        return min(convert.pure_to_renyi(self.pure(), order), self.zcdp() * order)

    def pairs(self) -> Pairs | None:
        """Dominating pairs of distributions, for tight prices of lists fixed in advance."""
        epsilon, delta = self.approx()
        if math.isinf(epsilon):
            return None
        return Pairs.symmetric(ApproxPair(epsilon=epsilon, delta=delta))

    # ---- prices

    def loss(self, kind: type[L]) -> L:
        """What one release costs, in this definition; NoBound where nothing is proved."""
        return kind.from_facts(self)

    def epsilon_at(self, delta: float = 0.0) -> float:
        """The smallest ε known to hold at this δ."""
        delta = parameters.fraction_below_one("delta", delta)
        if delta == 0:
            return self.pure()
        return min(self.pure(), self.loss(Profile).epsilon_at(delta))

    def delta_at(self, epsilon: float) -> float:
        """The smallest δ known to hold at this ε."""
        epsilon = parameters.non_negative("epsilon", epsilon)
        return 0.0 if epsilon >= self.pure() else self.loss(Profile).delta_at(epsilon)

    def error(self, confidence: float = 0.95) -> float:
        """Half-width of the interval that holds the noise of one number with this probability."""
        raise NoBound(f"{type(self).__name__} has no ±: its answers are not numbers")

    # ---- use

    @abstractmethod
    def draw(self, value: T) -> object:
        """Answer with noise. Called by `release` and by sessions, never by other code."""

    def on(self, value: Sensitive[T]) -> Step[T]:
        """This mechanism applied to a private value, as a step a session can release."""
        if not isinstance(value, Sensitive):
            raise BadParameter(
                f"{type(self).__name__}.on takes a dp.Sensitive; you gave a {type(value).__name__}",
                why="a bare value has no bound on how far one unit can move it",
                fix="mechanism.on(dp.Sensitive(lambda: ..., l1=1))",
            )
        self._check_covers(value)
        return Step(self, value)

    def _check_covers(self, value: Sensitive[T]) -> None:
        bound = value.bound(self.norm)
        covered = float(getattr(self, "sensitivity", math.inf))
        if bound is None or bound > covered:
            has = f"its {self.norm} bound is {bound:g}" if bound is not None else "it has none"
            raise SensitivityMismatch(
                f"{type(self).__name__} covers values that one unit moves by at most {covered:g} "
                f"in {self.norm}, and of this value {has}",
                why="noise smaller than what one unit can change does not hide them",
                fix=f"dp.Sensitive(..., {self.norm}={covered:g})"
                if bound is None
                else f"dp.{type(self).__name__}(..., sensitivity={bound:g})",
            )

    def release(self, value: T) -> object:
        """Answer with noise, outside any session: you keep the books."""
        return self.draw(value)

    # ---- combination

    def __mul__(self, times: int) -> Composed:
        from .combine import Composed

        return Composed.of((self, parameters.whole("times", times)))

    __rmul__ = __mul__

    def __add__(self, other: Mechanism) -> Composed:
        from .combine import Composed

        if not isinstance(other, Mechanism):
            return NotImplemented
        return Composed.of((self, 1), (other, 1))

    def sampled(self, *, rate: float) -> Sampled:
        """Applied to a Poisson sample: each unit is in it with probability `rate`, independently."""
        from .combine import Sampled

        return Sampled(mechanism=self, rate=rate)

    # ---- records

    def to_dict(self) -> dict[str, object]:
        """A flat record of the public parameters, for ledgers and certificates."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]
        return {"mechanism": self.name} | fields

    @classmethod
    def _from_dict(cls, record: Mapping[str, object]) -> Mechanism:
        return cls(**{k: v for k, v in record.items() if k != "mechanism"})

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> Mechanism:
        """The mechanism that `to_dict` wrote."""
        name = record.get("mechanism")
        if name not in Mechanism.registry:
            known = ", ".join(sorted(Mechanism.registry))
            raise BadParameter.of("mechanism", name, must=f"one of {known}")
        return Mechanism.registry[str(name)]._from_dict(record)
