"""What every bound on privacy loss can do, whatever definition of privacy it speaks in.

A loss is a value: `+` composes, `*` repeats, `<=` compares. Used as a ceiling it is a budget.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar, Protocol, Self, TypeVar

from deniable import parameters
from deniable.errors import BadParameter, MixedLosses

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
    adaptive: ClassVar[bool]
    """May it enforce a ceiling when later mechanisms are chosen after earlier answers?"""
    kinds: ClassVar[dict[str, type[Loss]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in cls.__dict__:
            Loss.kinds[cls.kind] = cls

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

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """A flat record with this loss's `kind`, for ledgers."""

    @classmethod
    @abstractmethod
    def _from_dict(cls, record: Mapping[str, object]) -> Self: ...

    @abstractmethod
    def _converters(self) -> Mapping[type[Loss], Callable[[], Loss]]:
        """Each kind a theorem leads to from here."""

    # ---- composition

    def __add__(self, other: Self) -> Self:
        return self._plus(self._same_kind(other, "add"))

    def __radd__(self, other: object) -> Self:
        if other == 0 and not isinstance(other, bool):  # the start value of sum()
            return self
        return NotImplemented

    def __mul__(self, times: int) -> Self:
        return self._times(parameters.whole("times", times, least=0))

    __rmul__ = __mul__

    def __le__(self, other: Self) -> bool:
        return self._within(self._same_kind(other, "compare"))

    def __ge__(self, other: Self) -> bool:
        return self._same_kind(other, "compare")._within(self)

    def _same_kind(self, other: object, verb: str) -> Self:
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
            why="a sum is proved only within one definition",
            fix=f"a.to(dp.{theirs}) or b.to(dp.{mine}), where a theorem leads there",
        )

    # ---- prices

    def epsilon_at(self, delta: float = 0.0) -> float:
        """The smallest ε known to hold at this δ: an upper bound, rounded up."""
        return self._epsilon(parameters.fraction_below_one("delta", delta))

    def delta_at(self, epsilon: float) -> float:
        """The smallest δ known to hold at this ε: an upper bound, rounded up."""
        return self._delta(parameters.non_negative("epsilon", epsilon))

    def group(self, size: int) -> Self:
        """What a group of `size` units can count on."""
        return self._group(parameters.whole("size", size))

    def to(self, kind: type[L]) -> L:
        """The same guarantee in another definition, where a theorem leads there."""
        if isinstance(self, kind):
            return self
        converters = self._converters()
        if kind not in converters:
            known = ", ".join(f".to(dp.{k.__name__})" for k in converters)
            raise MixedLosses(
                f"no theorem turns {type(self).__name__} into {getattr(kind, '__name__', kind)}",
                fix=(
                    "dp.epsilon(loss.epsilon_at(delta), delta=delta), at a δ of your choice",
                    known,
                )
                if getattr(kind, "kind", "") == "approx"
                else known,
            )
        converted = converters[kind]()
        assert isinstance(converted, kind)
        return converted

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> Loss:
        """The loss that `to_dict` wrote."""
        kind = record.get("kind")
        if kind not in Loss.kinds:
            raise BadParameter.of("kind", kind, must="one of " + ", ".join(sorted(Loss.kinds)))
        return Loss.kinds[str(kind)]._from_dict(record)  # noqa: SLF001
