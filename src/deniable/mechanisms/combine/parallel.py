"""Mechanisms on disjoint parts of the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from deniable.errors import BadParameter, NoBound
from deniable.forms import Form
from deniable.losses import Approx, Gdp, Loss, Pure, Renyi, Zcdp, parallel
from deniable.mechanisms._mechanism import Mechanism, Norm
from deniable.sensitive import Sensitive
from deniable.units import Unit

L = TypeVar("L", bound=Loss)
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Parallel(Mechanism):
    """Parallel: one mechanism on each part of a public, disjoint partition of the data.

    Releases   the list of answers, one a part
    Privacy    a unit in at most g parts loses the sum of the g largest losses (2g under replace),
               figure by figure                                             [McS09]
    Error      of one answer: the largest of the parts'
    Assumes    the parts are public and fixed in advance, and the unit's limits are enforced
    Numerics   sums of losses are exact and rounded up once

    The value is a list, one for each part; what is declared of it (bounds, whole or real, shape) is
    declared of each part's own value.

    >>> from deniable.mechanisms.numbers import Laplace
    >>> from deniable.units import rows
    >>> Parallel(parts=(Laplace(scale=1.0), Laplace(scale=2.0)), unit=rows()).epsilon_at()
    1.0
    """

    name: ClassVar[str] = "parallel"
    norm: ClassVar[Norm] = "linf"
    of_samples: ClassVar[bool] = False

    parts: tuple[Mechanism, ...]
    unit: Unit = field(default_factory=Unit)

    def __post_init__(self) -> None:
        parts: object = self.parts
        if (
            not isinstance(parts, tuple)
            or not all(isinstance(m, Mechanism) for m in parts)
            or not parts
        ):
            raise BadParameter.of("parts", self.parts, must="a tuple of mechanisms, one a part")
        if not isinstance(self.unit, Unit):
            raise BadParameter.of("unit", self.unit, must="a unit: dp.rows() or dp.person(...)")

    def loss(self, kind: type[L]) -> L:
        """The g largest losses; where these are not known, what follows from (ε, δ)."""
        try:
            return parallel([part.loss(kind) for part in self.parts], unit=self.unit)
        except NoBound:
            return super().loss(kind)

    def pure(self) -> float:
        """The sum of the g largest ε."""
        return parallel([Pure(part.pure()) for part in self.parts], unit=self.unit).epsilon

    def approx(self) -> tuple[float, float]:
        """The sums of the g largest ε and of the g largest δ."""
        losses = [Approx(e, delta=d) for e, d in (part.approx() for part in self.parts)]
        worst = parallel(losses, unit=self.unit)
        return worst.epsilon, worst.delta

    def zcdp(self) -> float:
        """The sum of the g largest ρ."""
        return parallel([Zcdp(part.zcdp()) for part in self.parts], unit=self.unit).rho

    def gdp(self) -> float:
        """The root of the sum of the g largest μ²."""
        return parallel([Gdp(part.gdp()) for part in self.parts], unit=self.unit).mu

    def renyi(self, order: float) -> float:
        """The sum of the g largest divergences at this order."""
        curves = [Renyi(orders=(order,), values=(part.renyi(order),)) for part in self.parts]
        return parallel(curves, unit=self.unit).values[0]

    def error(self, confidence: float = 0.95) -> float:
        """The largest half-width of the parts'."""
        return self.shown_error(confidence, whole=False)

    def _check_covers(self, value: Sensitive[T]) -> None:
        for part in self.parts:
            part.check(value)

    def shown_error(self, confidence: float, *, whole: bool) -> float:
        """The largest half-width of the parts'."""
        return max(part.shown_error(confidence, whole=whole) for part in self.parts)

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """Each part's own value, in the form declared for all."""
        readers = [part.reading(form) for part in self.parts]
        return lambda value: [read(own) for read, own in zip(readers, value, strict=True)]

    def draw(self, value: object) -> list[object]:
        """Every part's answer about its own value."""
        if not isinstance(value, Sequence) or len(value) != len(self.parts):
            raise BadParameter(f"there must be {len(self.parts)} values, one for each part")
        return [part.draw(own) for part, own in zip(self.parts, value, strict=True)]
