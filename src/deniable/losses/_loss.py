"""What every bound on privacy loss can do, whatever definition of privacy it speaks in.

A loss is a value: `+` composes, `*` repeats, `<=` compares. Used as a ceiling it is a budget.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from typing import ClassVar, Protocol, Self, TypeVar

from deniable import cards, parameters
from deniable.errors import BadParameter, MixedLosses, NoBound

from . import rounding

L = TypeVar("L", bound="Loss")


class Facts(Protocol):
    """What is proved about a mechanism: a method for each definition, ∞ or None if nothing is.

    A mechanism states what it can prove; every kind of loss reads from here what it needs
    (`Loss.from_facts`), so that no place in the code lists all mechanisms or all kinds.
    """

    def pure(self) -> float:
        """ε of pure differential privacy."""

    def approx(self) -> tuple[float, float]:
        """One pair (ε, δ) that holds."""

    def zcdp(self) -> float:
        """ρ of zero-concentrated differential privacy."""

    def gdp(self) -> float:
        """μ of Gaussian differential privacy."""

    def renyi(self, order: float) -> float:
        """Rényi divergence bound at one order α > 1."""

    def pairs(self) -> object:
        """Dominating pairs of distributions (losses.pairs.Pairs), or None."""


class Loss(ABC):
    """A bound on how much one unit's data can change what anyone sees."""

    kind: ClassVar[str]
    """Its name in ledgers and messages."""
    definition: ClassVar[str]
    """The definition of privacy it speaks in, as the literature calls it."""
    symbols: ClassVar[Mapping[str, str]] = {}
    """Its figures with their symbols, first the one it is counted in; none for a curve."""
    symbol: ClassVar[str]
    """The symbol it is counted in; for a curve, its name."""
    figure: ClassVar[str]
    """The name of the field that holds what it is counted in; empty for a curve."""
    adaptive: ClassVar[bool]
    """May it enforce a ceiling when later mechanisms are chosen after earlier answers?"""
    kinds: ClassVar[dict[str, type[Loss]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.figure, cls.symbol = next(iter(cls.symbols.items()), ("", cls.__name__))
        if "kind" in cls.__dict__:
            Loss.kinds[cls.kind] = cls

    def as_left(self) -> Self:
        """The same amount, printed rounded down: what is left of a budget.

        >>> from deniable.losses import Pure
        >>> left = Pure(0.45678)
        >>> print(left, left.as_left(), left == left.as_left(), sep="; ")
        ε = 0.457; ε = 0.456; True
        """
        same = copy.copy(self)
        object.__setattr__(same, "_shown", rounding.shown_down)
        return same

    _shown = staticmethod(rounding.shown_up)

    def _repr_html_(self) -> str:
        return cards.card(str(self), cards.facts({"definition": self.definition}))

    @classmethod
    @abstractmethod
    def from_facts(cls, facts: Facts) -> Self:
        """The tightest loss of this kind that the facts prove; NoBound if there is none."""

    @abstractmethod
    def _plus(self, other: Self) -> Self: ...

    @abstractmethod
    def _times(self, times: int) -> Self: ...

    @abstractmethod
    def _within(self, other: Self) -> bool: ...

    @abstractmethod
    def _epsilon(self, delta: float) -> float: ...

    @abstractmethod
    def _delta(self, epsilon: float) -> float: ...

    @abstractmethod
    def _group(self, size: int) -> Self: ...

    @classmethod
    @abstractmethod
    def sum_of_largest(cls, parts: Sequence[Self], count: int) -> Self:
        """A bound on the sum of any `count` of them."""

    def _split(self, fraction: Fraction) -> tuple[Loss, Loss]:
        del fraction
        raise NoBound(
            f"nothing is known to be a part of a {type(self).__name__}",
            why="a loss distribution is not a multiple of another",
            fix="share a loss that is a figure or a curve of them: dp.epsilon, dp.rho, dp.Renyi",
        )

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """A flat record with this loss's `kind`, for ledgers."""

    @classmethod
    @abstractmethod
    def from_record(cls, record: Mapping[str, object]) -> Self:
        """The loss of this kind that `to_dict` wrote."""

    @abstractmethod
    def _converters(self) -> Mapping[type[Loss], Callable[[], Loss]]:
        """Each kind a theorem leads to from here."""

    # ---- composition

    def __add__(self, other: Self) -> Self:
        return self._plus(self.same_kind(other, "add"))

    def __radd__(self, other: object) -> Self:
        if other == 0 and not isinstance(other, bool):  # the start value of sum()
            return self
        return NotImplemented

    def __mul__(self, times: int) -> Self:
        return self._times(parameters.whole("times", times, least=0))

    __rmul__ = __mul__

    def __le__(self, other: Self) -> bool:
        return self._within(self.same_kind(other, "compare"))

    def __ge__(self, other: Self) -> bool:
        return self.same_kind(other, "compare")._within(self)

    def same_kind(self, other: object, verb: str) -> Self:
        """The other, or an error where it is not a loss of this kind."""
        if type(other) is type(self):
            return other
        mine = type(self).__name__
        if not isinstance(other, Loss):
            raise MixedLosses(
                f"cannot {verb} {mine} and {type(other).__name__}: only losses compose",
                fix=f"dp.{mine}(...)",
            )
        theirs = type(other).__name__
        raise MixedLosses(
            f"cannot {verb} {mine} and {theirs}: they are different definitions of privacy",
            why="losses add up and compare only within one definition",
            fix=[f"a.to(dp.{theirs})"] * self.leads_to(type(other))
            + [f"b.to(dp.{mine})"] * other.leads_to(type(self))
            or [_at_a_delta(name, each) for name, each in (("a", self), ("b", other))],
        )

    def leads_to(self, kind: type[Loss]) -> bool:
        """Whether a theorem turns this very loss into that kind."""
        try:
            return isinstance(self._converters()[kind](), kind)
        except (KeyError, NoBound):
            return False

    def figures(self) -> dict[str, float]:
        """The numbers it is made of, by the literature's names; none for a curve."""
        return {name: getattr(self, name) for name in self.symbols}

    @parameters.called("dp.mu(0.5).split(0.25)")
    def split(self, fraction: float) -> tuple[Loss, Loss]:
        """A part and the rest, which together compose to no more than the whole.

        A quarter of ε or ρ is a quarter; a quarter of μ is half of it, as squares add up. A δ is
        not divided: it stays with the rest.
        """
        return self._split(Fraction(parameters.probability("fraction", fraction)))

    @parameters.called("dp.mu(0.5).share(0.25)")
    def share(self, fraction: float) -> Loss:
        """A part, so that 1/fraction of them compose to no more than the whole: see `split`."""
        return self.split(fraction)[0]

    # ---- prices

    @parameters.called("dp.mu(0.5).epsilon_at(delta=1e-6)")
    def epsilon_at(self, delta: float = 0.0) -> float:
        """The smallest ε known to hold at this δ: an upper bound, rounded up."""
        return self._epsilon(parameters.fraction_below_one("delta", delta))

    @parameters.called("dp.mu(0.5).delta_at(epsilon=1.0)")
    def delta_at(self, epsilon: float) -> float:
        """The smallest δ known to hold at this ε: an upper bound, rounded up."""
        return self._delta(parameters.non_negative("epsilon", epsilon))

    @parameters.called("dp.epsilon(0.1).group(3)")
    def group(self, size: int) -> Self:
        """What a group of `size` units can count on."""
        return self._group(parameters.whole("size", size))

    @parameters.called("dp.epsilon(0.1).to(dp.Zcdp)")
    def to(self, kind: type[L]) -> L:
        """The same guarantee in another definition, where a theorem leads there."""
        if not isinstance(kind, type):
            raise BadParameter.of("kind", kind, must="a kind of loss", fix=".to(dp.Zcdp)")
        if isinstance(self, kind):
            return self
        converters = self._converters()
        if kind not in converters:
            known = ", ".join(f".to(dp.{k.__name__})" for k in converters if self.leads_to(k))
            raise MixedLosses(
                f"no theorem turns {type(self).__name__} into {getattr(kind, '__name__', kind)}",
                fix=[_at_a_delta("loss", self)] * (getattr(kind, "kind", "") == "approx") + [known],
            )
        converted = converters[kind]()
        assert isinstance(converted, kind)
        return converted

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> Loss:
        """The loss that `to_dict` wrote."""
        kind = record.get("kind")
        found = Loss.named(kind)
        if found is None:
            raise BadParameter.of("kind", kind, must="one of " + ", ".join(sorted(Loss.kinds)))
        return found.from_record(record)

    @staticmethod
    def named(kind: object) -> type[Loss] | None:
        """The kind of that name in ledgers, or None."""
        if kind not in Loss.kinds:
            import_module("deniable.losses.profile")  # the one kind not imported from the start
        return Loss.kinds.get(str(kind))


class OneFigure(Loss):
    """A loss that is one figure, and whose sums are sums of that figure: Pure, Zcdp and Gdp.

    The figure is kept exactly, as a whole number of ticks (see `rounding`), and rounded up when
    read. So k·a equals a + … + a to the last bit, in any order, and a million additions lose
    nothing.

    ∞ may be held (a ledger must be able to say that nothing bounds what was released) and is
    contagious in sums; `0 * loss` is 0 whatever the loss. A budget may not be ∞: `epsilon`, `rho`
    and `mu` refuse it.
    """

    adaptive = True

    ticks: int

    def __post_init__(self) -> None:
        number = figure_or_infinite(self.figure, getattr(self, self.figure))
        object.__setattr__(self, self.figure, number)
        object.__setattr__(self, "ticks", self._exact(number))

    def __str__(self) -> str:
        return f"{self.symbol} = {self._shown(getattr(self, self.figure))}"

    @staticmethod
    def _exact(number: float) -> int:
        return rounding.ticks(number)

    @staticmethod
    def _read(count: int) -> float:
        return rounding.from_ticks(count)

    @classmethod
    def _of(cls, count: int) -> Self:
        loss = cls.__new__(cls)
        object.__setattr__(loss, cls.figure, cls._read(count))
        object.__setattr__(loss, "ticks", count)
        return loss

    @classmethod
    def _proved(cls, *figures: float) -> Self:
        """The least of several figures that all hold; NoBound if none is finite."""
        least = min(figures)
        if math.isinf(least):
            raise no_bound(cls)
        return cls._of(cls._exact(parameters.non_negative(cls.figure, least)))

    def _plus(self, other: Self) -> Self:
        return self._of(self.ticks + other.ticks)

    def _times(self, times: int) -> Self:
        return self._of(times * self.ticks)

    def _split(self, fraction: Fraction) -> tuple[Loss, Loss]:
        part = math.floor(self.ticks * fraction)
        return self._of(part), self._of(self.ticks - part)

    def _within(self, other: Self) -> bool:
        return rounding.within(getattr(self, self.figure), getattr(other, self.figure))

    @classmethod
    def sum_of_largest(cls, parts: Sequence[Self], count: int) -> Self:
        return cls._of(sum(sorted(part.ticks for part in parts)[-count:]))

    def to_dict(self) -> dict[str, object]:
        """The kind and the figure, rounded up."""
        return {"kind": self.kind, self.figure: rounding.to_json(getattr(self, self.figure))}

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> Self:
        return cls._of(cls._exact(rounding.from_json(cls.figure, record.get(cls.figure))))


def figure_or_infinite(name: str, value: object) -> float:
    """A number of at least 0, or ∞."""
    if isinstance(value, float) and value == math.inf:
        return math.inf
    return parameters.non_negative(name, value)


def conversions(facts: Facts, *kinds: str) -> Mapping[type[Loss], Callable[[], Loss]]:
    """What each of these kinds makes of the facts."""
    chosen = [found for found in map(Loss.named, kinds) if found is not None]
    return {kind: functools.partial(kind.from_facts, facts) for kind in chosen}


def _at_a_delta(name: str, loss: Loss) -> str:
    """A loss that has no δ of its own, at one that is chosen."""
    return f"dp.epsilon({name}.epsilon_at(1e-6), delta=1e-6)" if loss.kind != "approx" else ""


def no_bound(kind: type[Loss]) -> NoBound:
    """Nothing is proved in this definition."""
    return NoBound(
        f"no theorem prices this as dp.{kind.__name__}, {kind.definition}",
        why="a price without a theorem would be a guess",
        fix=(
            "use another mechanism, or price this one as m.loss(dp.Profile) or m.loss(dp.Renyi)",
            "a session can price more if its budget has a δ: budget=dp.epsilon(1.0, delta=1e-7)",
        ),
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stated:
    """What a loss says of any mechanism that has it, in the form mechanisms state their facts."""

    epsilon: float = math.inf
    delta: float = 0.0
    rho: float = math.inf
    mu: float = math.inf
    curve: Callable[[float], float] | None = None

    def pure(self) -> float:
        """ε, where no δ is needed."""
        return math.inf if self.delta else self.epsilon

    def approx(self) -> tuple[float, float]:
        """The stated ε and δ."""
        return self.epsilon, self.delta

    def zcdp(self) -> float:
        """The stated ρ of zCDP."""
        return self.rho

    def gdp(self) -> float:
        """The stated μ of Gaussian privacy."""
        return self.mu

    def renyi(self, order: float) -> float:
        """The curve, or α·ρ."""
        return self.curve(order) if self.curve else rounding.product(self.rho, order)

    def pairs(self) -> object:
        """Randomized response for (ε, δ), two Gaussians for μ, None for the others."""
        from .pairs import ApproxPair, GaussianPair, Pairs

        if math.isfinite(self.mu):
            return Pairs.symmetric(GaussianPair(mu=self.mu))
        if math.isfinite(self.epsilon):
            return Pairs.symmetric(ApproxPair(epsilon=self.epsilon, delta=self.delta))
        return None
