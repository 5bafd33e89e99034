"""What every dominating pair can do, and the two directions in which one is needed."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from deniable.errors import BadParameter, NoBound

Reals = NDArray[np.float64]
Complexes = NDArray[np.complex128]

ULP = 2.0**-53
"""Half the gap between 1 and the next double. NumPy's exp, log, expm1, log1p, sin and cos are
taken to be right within 4 of these, relatively; every bound below counts with 8 an operation."""


class Cells(NamedTuple):
    """Masses of intervals of the loss under P and Q, with bounds on their absolute errors."""

    p: Reals
    q: Reals
    p_error: Reals
    q_error: Reals


class Pair(ABC):
    """Two distributions (P, Q) that are at least as easy to tell apart as a mechanism's outputs.

    L = ln(P/Q) under P is the privacy loss; δ(ε) = E[(1 − e^(ε−L))₊].
    """

    name: ClassVar[str]
    """Its name in ledgers, for ever."""
    registry: ClassVar[dict[str, type[Pair]]] = {}
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[object]]]
    two_sided: ClassVar[bool] = False
    """Is no loss below −`largest_loss`, and none infinite?"""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in cls.__dict__:
            Pair.registry[cls.name] = cls

    # ---- what the contour needs

    def origin(self) -> float:
        """Where losses are counted from in `log_mgf`: the largest one, or 0 if there is none."""
        return 0.0

    def point_masses(self) -> tuple[Reals, Reals] | None:
        """The atoms: how far each lies below the origin, and its mass under P; None without any.

        Both are right within 64 ulp of themselves and of the largest loss.
        """
        return None

    @abstractmethod
    def log_mgf(self, z: Complexes) -> tuple[Complexes, Reals]:
        """ln E_P[e^(z(L − origin)); L < ∞] on one line Re z = c > 0, and a bound on its error.

        The true expectation is e^value · (1 + ρ) with |ρ| ≤ e^bound − 1. Branches of the logarithm
        are free: it is only ever multiplied by whole numbers and exponentiated.
        """

    def rough_log_mgf(self, c: float) -> float:
        """About ln E e^(c(L − origin)): to find out where to look."""
        return float(self.log_mgf(np.array([complex(c)]))[0][0].real)

    def decay(self, c: float, t: float) -> float:
        """A bound on |M(c + is)| / M(c) for every s ≥ t."""
        del c, t
        return 1.0

    # ---- what pictures need

    @abstractmethod
    def masses(self, edges: Reals) -> Cells:
        """The masses under P and Q of eᵢ < L ≤ eᵢ₊₁ (finite losses only)."""

    @abstractmethod
    def support(self, mass: float) -> tuple[float, float]:
        """Losses outside of which P has at most `mass` on each side."""

    # ---- what both need

    def infinite_mass(self) -> float:
        """P where Q is 0: the chance of a loss without bound, rounded up."""
        return 0.0

    @abstractmethod
    def largest_loss(self) -> float:
        """The supremum of the finite losses, rounded up."""

    def trimmed(self, mass: float) -> Pair:
        """The pair with its largest losses, of at most `mass` under P, made infinite.

        That can only raise a price, and by no more than `mass`; but rare losses far out would have
        the contour reach as far.
        """
        del mass
        return self

    def above(self, loss: float) -> Pair | None:
        """The part of the law with losses above some l ≤ `loss`; None where it is not known."""
        del loss
        return None

    def delta_alone(self, epsilon: float) -> float | None:
        """δ(ε) of a single use in closed form, rounded up; None where there is none."""
        del epsilon
        return None

    def log_moment(self, c: float) -> float:
        """A bound on ln E e^(cL) for every mechanism that the pair stands for."""
        value, error = self.log_mgf(np.array([complex(c)]))
        return float(value[0].real + error[0]) + c * self.origin()

    def divergence(self, order: float) -> float:
        """A bound on the Rényi divergence, at one order, of all mechanisms the pair stands for.

        A curve δ(ε) that is nowhere lower, also at ε < 0, makes every divergence at least as large.
        """
        c = order - 1
        if self.infinite_mass() > 0:
            return math.inf
        moment = self.log_moment(c)
        return max(0.0, moment / c * (1 + 8 * ULP)) if math.isfinite(moment) else math.inf

    def group(self, size: int) -> Self:
        """The pair that stands for `size` units at once, where one is proved."""
        raise NoBound(
            f"nothing is proved about groups of {size} for {self.name} loss distributions",
            why="the distance between neighbours enters each distribution in its own way",
            fix="state the larger distance in the mechanism: sensitivity=size*sensitivity",
        )

    def dominates(self, other: Pair) -> bool:
        """Is every test on `other` no better than some test on this pair? False where unknown."""
        return self == other

    # ---- records

    def to_dict(self) -> dict[str, object]:
        """A record for ledgers, with this pair's `name` under "pair"."""
        fields = {f.name: _plain(getattr(self, f.name)) for f in dataclasses.fields(self)}
        return {"pair": self.name} | fields

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> Pair:
        """The pair that `to_dict` wrote."""
        name = record.get("pair")
        if name not in Pair.registry:
            known = ", ".join(sorted(Pair.registry))
            raise BadParameter.of("pair", name, must=f"one of {known}")
        fields = {key: _rebuilt(value) for key, value in record.items() if key != "pair"}
        return Pair.registry[str(name)](**fields)


def _plain(value: object) -> object:
    """A parameter in JSON types: pairs become records, tuples become lists."""
    if isinstance(value, Pair):
        return value.to_dict()
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def _rebuilt(value: object) -> object:
    """What `_plain` was given."""
    if isinstance(value, Mapping):
        return Pair.from_dict(value)
    return tuple(_rebuilt(part) for part in value) if isinstance(value, list) else value


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """One pair for when a unit is taken away and one for when it is added.

    A bound must hold in both directions; each is composed by itself and the larger price counts.
    """

    remove: Pair
    add: Pair

    @classmethod
    def symmetric(cls, pair: Pair) -> Self:
        """The same pair in both directions."""
        return cls(remove=pair, add=pair)

    def group(self, size: int) -> Pairs:
        """The pairs that stand for `size` units at once, where they are proved."""
        if size == 1:
            return self
        return Pairs(remove=self.remove.group(size), add=self.add.group(size))

    def divergence(self, order: float) -> float:
        """The Rényi divergence at one order, in whichever direction it is larger."""
        if self.remove == self.add:
            return self.remove.divergence(order)
        return max(self.remove.divergence(order), self.add.divergence(order))

    def dominates(self, other: Pairs) -> bool:
        """Is each direction of `other` no easier to tell than this one's?"""
        return self.remove.dominates(other.remove) and self.add.dominates(other.add)

    def to_dict(self) -> dict[str, object]:
        """A record for ledgers."""
        if self.remove == self.add:
            return {"both": self.remove.to_dict()}
        return {"remove": self.remove.to_dict(), "add": self.add.to_dict()}

    @classmethod
    def from_dict(cls, record: Mapping[str, object]) -> Self:
        """The pairs that `to_dict` wrote."""
        both = record.get("both")
        if isinstance(both, Mapping):
            return cls.symmetric(Pair.from_dict(both))
        remove, add = record.get("remove"), record.get("add")
        if not isinstance(remove, Mapping) or not isinstance(add, Mapping):
            raise BadParameter.of("pairs", record, must="a record written by Pairs.to_dict")
        return cls(remove=Pair.from_dict(remove), add=Pair.from_dict(add))


def log_of_sum(total: Complexes, size: Reals, relative: Reals) -> tuple[Complexes, Reals]:
    """ln of a sum whose terms add up to `size` in modulus, each right within `relative`.

    Where the terms nearly cancel (below 2⁻⁴⁰ of their size) the modulus is put to 2⁻⁴⁰ · size:
    the truth is then within 2.1 times that, and the bound says so.
    """
    modulus = np.abs(total)
    error = relative * size
    floor = 2.0**-40 * size + 2 * error
    lost = modulus < floor
    modulus = np.where(lost, floor, modulus)
    value = np.log(modulus) + 1j * np.angle(total)
    bound = np.where(lost, math.log(3.5), -np.log1p(-error / modulus) + 8 * ULP)
    return value, bound + 8 * ULP * np.abs(value)


def log_of_parts(
    parts: Sequence[tuple[Complexes, Reals]], weights: Sequence[float]
) -> tuple[Complexes, Reals]:
    """ln Σ weightᵢ·e^valueᵢ with a bound on its error, from values with bounds on theirs."""
    top = max(float(log.real.max()) for log, _ in parts)
    shape = parts[0][0].shape
    total, size, error = np.zeros(shape, complex), np.zeros(shape), np.zeros(shape)
    for (log, slip), weight in zip(parts, weights, strict=True):
        term = weight * np.exp(log - top)
        total, size = total + term, size + np.abs(term)
        error = np.maximum(error, np.expm1(slip + 8 * ULP * (4 + np.abs(log))))
    value, bound = log_of_sum(total, size, error + 8 * ULP * len(parts))
    return value + top, bound + 8 * ULP * abs(top)
