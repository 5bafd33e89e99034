"""Several mechanisms, fixed in advance, as one."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from deniable import parameters
from deniable.errors import BadParameter
from deniable.forms import Form
from deniable.losses import Loss, rounding
from deniable.mechanisms._mechanism import Mechanism, Norm
from deniable.mechanisms.interactive import Interaction, Series
from deniable.sensitive import Sensitive

if TYPE_CHECKING:
    from deniable.losses.pairs import Pairs

L = TypeVar("L", bound=Loss)
T = TypeVar("T")


class ForEach(tuple[Any, ...]):
    """One value, as each part of a list of mechanisms reads it."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class Composed(Mechanism):
    """Composed: several mechanisms on one value, each a number of times; also k * m and m1 + m2.

    Releases   the list of all answers, in order
    Privacy    ε, (ε, δ), ρ, μ² and Rényi divergences add; loss distributions convolve, which is
               the tightest for a list fixed in advance          [DMNS06; BS16; DRS22; ZDW22]
    Error      of one answer: the largest of the parts'
    Assumes    what each part assumes; the list does not depend on answers
    Numerics   sums of losses are exact and rounded up once

    Opened by a session, it answers one value after another: a plan, charged in full at the start.

    >>> from deniable.mechanisms.numbers import Laplace
    >>> both = 2 * Laplace(scale=4.0) + Laplace(scale=2.0)
    >>> both.epsilon_at(), len(both.release(100))
    (1.0, 3)
    """

    name: ClassVar[str] = "composed"
    norm: ClassVar[Norm] = "linf"

    parts: tuple[tuple[Mechanism, int], ...]

    def __post_init__(self) -> None:
        parts: object = self.parts
        if not isinstance(parts, tuple) or not parts:
            raise BadParameter.of(
                "parts", self.parts, must="pairs of a mechanism and a number of times"
            )
        for part in parts:
            if not isinstance(part, tuple) or len(part) != 2 or not isinstance(part[0], Mechanism):
                raise BadParameter.of("parts", part, must="a mechanism and a number of times")
            parameters.whole("times", part[1])

    @classmethod
    def of(cls, *parts: tuple[Mechanism, int]) -> Self:
        """The parts in order, inner lists opened up and equal neighbours counted together."""
        flat: list[tuple[Mechanism, int]] = []
        for mechanism, times in parts:
            inner = mechanism.parts if isinstance(mechanism, Composed) else ((mechanism, 1),)
            repeated = [(inner[0][0], inner[0][1] * times)] if len(inner) == 1 else inner * times
            for part, count in repeated:
                before = flat.pop()[1] if flat and flat[-1][0] == part else 0
                flat.append((part, before + count))
        return cls(parts=tuple(flat))

    def _counts(self) -> dict[Mechanism, int]:
        """How often each mechanism is used, wherever in the list."""
        counts: dict[Mechanism, int] = {}
        for part, times in self.parts:
            counts[part] = counts.get(part, 0) + times
        return counts

    def loss(self, kind: type[L]) -> L:
        """The sum of the parts' losses."""
        losses = (times * part.loss(kind) for part, times in self._counts().items())
        return functools.reduce(operator.add, losses)

    def pure(self) -> float:
        return rounding.from_ticks(
            sum(n * rounding.ticks(m.pure()) for m, n in self._counts().items())
        )

    def approx(self) -> tuple[float, float]:
        epsilon = sum(n * rounding.ticks(m.approx()[0]) for m, n in self._counts().items())
        delta = sum(n * rounding.ticks(m.approx()[1]) for m, n in self._counts().items())
        return rounding.from_ticks(epsilon), min(1.0, rounding.from_ticks(delta))

    def zcdp(self) -> float:
        return rounding.from_ticks(
            sum(n * rounding.ticks(m.zcdp()) for m, n in self._counts().items())
        )

    def gdp(self) -> float:
        return rounding.from_square_ticks(
            sum(n * rounding.square_ticks(m.gdp()) for m, n in self._counts().items())
        )

    def renyi(self, order: float) -> float:
        """Σ of the divergences at this order."""
        return rounding.from_ticks(
            sum(n * rounding.ticks(m.renyi(order)) for m, n in self._counts().items())
        )

    def pairs(self) -> Pairs | None:
        """One pair for all: Gaussian if every part is, else that of the worst (Σ ε, Σ δ) mechanism.

        `loss(dp.Profile)` does not need it, and is tighter: it keeps the parts' own pairs.
        """
        from deniable.losses.pairs import GaussianPair, Pairs

        mu = self.gdp()
        return Pairs.symmetric(GaussianPair(mu=mu)) if mu < float("inf") else super().pairs()

    def black_box(self) -> bool:
        """Is the pair of one of its parts only that of the worst mechanism?"""
        return any(part.black_box() for part in self._counts())

    def error(self, confidence: float = 0.95) -> float:
        """The largest half-width of the parts'."""
        return self.shown_error(confidence, whole=False)

    def _check_covers(self, value: Sensitive[T]) -> None:
        for part, _ in self.parts:
            part.check(value)

    def shown_error(self, confidence: float, *, whole: bool) -> float:
        """The largest half-width of the parts'."""
        return max(part.shown_error(confidence, whole=whole) for part in self._counts())

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """The value as each part reads it: one may take whole numbers, another real ones."""
        readers = [part.reading(form) for part, _ in self.parts]
        return lambda value: ForEach(read(value) for read in readers)

    def draw(self, value: Any) -> list[object]:
        """Every part's answers about the same value."""
        values = value if isinstance(value, ForEach) else [value] * len(self.parts)
        pairs = zip(self.parts, values, strict=True)
        return [part.draw(own) for (part, times), own in pairs for _ in range(times)]

    def begin(self) -> Interaction:
        """The parts, one after another, each about a value of its own."""
        return Series(self.parts)
