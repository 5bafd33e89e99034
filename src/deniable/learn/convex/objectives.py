"""What one row loses at a point: named convex losses of a·x, and functions that users bring.

A named loss is φ(z) with z = a·x (labels ±1 are folded into the row: a = y·row) or z = a·x − y,
where |φ′| ≤ 1. So a row clipped to ‖a‖ ≤ M has an M-Lipschitz loss, whatever the row was.

    logistic    ln(1 + e⁻ᶻ)
    hinge       max(0, 1 − z)
    huber       z²/2 within ±1, |z| − ½ beyond
    absolute    |z|

Samplers need a curvature. They use hinge and absolute loss with the corner rounded over a width
h: max(0, v) becomes v²/2h on [0, h] and v − h/2 beyond, which lies at most h/2 below.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.learn.engine.rowwise import squares
from deniable.sampling.exact import exp_bounds, log_bounds

Array = NDArray[Any]
"""Floats of either width: what decides close calls is computed in the wider one."""
Brought = Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], tuple[Any, Any]]
NAMES = ("logistic", "huber", "hinge", "absolute")


class Link(ABC):
    """A convex function φ of one number, with |φ′| ≤ 1."""

    labels: bool
    """Whether targets are two classes, folded into the rows; else they are subtracted."""
    blur: float = 0.0
    """At most how far φ lies below the loss it is named after."""

    @property
    @abstractmethod
    def sharpest(self) -> float:
        """The largest second derivative φ″."""

    @property
    def bends(self) -> tuple[float, float]:
        """The ends of the z between which φ is not linear."""
        return -math.inf, math.inf

    @abstractmethod
    def value(self, z: Array) -> Array:
        """The loss φ(z) at each margin."""

    @abstractmethod
    def slope(self, z: Array) -> Array:
        """φ′(z), or a subgradient."""

    @abstractmethod
    def curvature(self, z: Array) -> Array:
        """The second derivative φ″(z)."""

    @abstractmethod
    def bounds(self, z: Fraction, bits: int) -> tuple[int, int]:
        """Integers lo ≤ φ(z)·2ᵇⁱᵗˢ ≤ hi, a few units apart."""


class Logistic(Link):
    """The logistic loss ln(1 + e⁻ᶻ)."""

    labels = True
    sharpest = 0.25

    def value(self, z: Array) -> Array:
        """Without overflow on either side."""
        return np.asarray(np.logaddexp(0.0, -z))

    def slope(self, z: Array) -> Array:
        return np.asarray(-1 / (1 + np.exp(np.clip(z, -700.0, 700.0))))

    def curvature(self, z: Array) -> Array:
        s = self.slope(z)
        return np.asarray(-s * (1 + s))

    def bounds(self, z: Fraction, bits: int) -> tuple[int, int]:
        """ln(1 + e⁻ᶻ) rises with e⁻ᶻ, and by no more."""
        low, high = exp_bounds(-z, bits + 4)
        ends = (Fraction(end, 1 << (bits + 4)) + 1 for end in (low, high))
        (least, _), (_, most) = (log_bounds(end, bits) for end in ends)
        return least, most


@dataclass(frozen=True)
class Bent(Link):
    """c·(v − c/2)/h with v = offset + sign·z and c = v clipped to [low, high]; h = high − low or 1.

    Quadratic where v is within the ends and linear outside: Huber's loss, and corners rounded.
    """

    low: float
    high: float
    scale: float
    sign: float = 1.0
    offset: float = 0.0
    labels: bool = False
    blur: float = 0.0

    @property
    def sharpest(self) -> float:
        """The largest second derivative, 1/h."""
        return 1 / self.scale

    @property
    def bends(self) -> tuple[float, float]:
        """Where v is within the ends."""
        low, high = sorted((end - self.offset) * self.sign for end in (self.low, self.high))
        return low, high

    def _v(self, z: Array) -> Array:
        return self.offset + self.sign * z

    def value(self, z: Array) -> Array:
        v = self._v(z)
        c = np.clip(v, self.low, self.high)
        return np.asarray(c * (v - c / 2) / self.scale)

    def slope(self, z: Array) -> Array:
        return np.asarray(self.sign * np.clip(self._v(z), self.low, self.high) / self.scale)

    def curvature(self, z: Array) -> Array:
        """1/h between the ends."""
        v = self._v(z)
        return np.where((v > self.low) & (v < self.high), 1 / self.scale, 0.0)

    def bounds(self, z: Fraction, bits: int) -> tuple[int, int]:
        """Exactly, and then rounded both ways."""
        low, high, scale = map(Fraction, (self.low, self.high, self.scale))
        v = Fraction(self.offset) + Fraction(self.sign) * z
        c = min(max(v, low), high)
        least = math.floor(c * (v - c / 2) / scale * (1 << bits))
        return least, least + 1


def link(name: str, *, blur: float = 0.0) -> Link:
    """The named loss; corners are rounded over a width `blur` (0: subgradients are used)."""
    parameters.one_of("loss", name, NAMES)
    h = max(blur, 2.0**-40)
    if name == "logistic":
        return Logistic()
    if name == "huber":
        return Bent(-1.0, 1.0, 1.0)
    if name == "absolute":
        return Bent(-h, h, h, blur=h / 2)
    return Bent(0.0, h, h, sign=-1.0, offset=1.0, labels=True, blur=h / 2)


STEP = 2.0**-16
"""Rows are whole numbers of these steps of the norm bound."""
_PAD = 64


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Clipped rows and their targets, as private values hold them, in units of the norm bound.

    What one row contributes must not depend on the others, not even in its last digit. So the
    point is rounded until all products with it are exact, in whatever order they are added; and
    functions are computed on whole registers, so that no row is treated as a remainder.

    To whoever compares neighbouring data, a set of rows is the gradient of its risk at `center`, in
    the data's own units: `norm` is the bound.
    """

    points: NDArray[np.float64]
    targets: NDArray[np.float64]
    link: Link = field(default_factory=Logistic)
    center: NDArray[np.float64] | None = None
    norm: float = 1.0

    @cached_property
    def beside(self) -> NDArray[np.float32]:
        """The points once more, row after row, for whoever picks some of them."""
        return np.ascontiguousarray(self.points, dtype=np.float32)

    def arguments(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """a·x − t, padded to a whole number of registers."""
        length = float(np.linalg.norm(point))
        width = 2.0 ** (math.frexp(length)[1] - 35)
        exact = self.points @ np.rint(point / width)
        z = np.zeros(-(-len(exact) // _PAD) * _PAD)
        z[: len(exact)] = exact * (width * STEP) - self.targets
        return z

    def values(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """The loss of each row at a point."""
        found: NDArray[np.float64] = self.link.value(self.arguments(point))[: len(self.points)]
        return found

    def slopes(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """φ′ of each row at a point."""
        found: NDArray[np.float64] = self.link.slope(self.arguments(point))[: len(self.points)]
        return found

    def sums(self, point: NDArray[np.float64]) -> NDArray[np.object_]:
        """The gradient of the risk in steps of 2⁻³⁶, exactly: 2¹⁶ rows at a time are below 2⁵³.

        The totals are whole numbers without a limit: more than 2²⁷ rows could overflow 64 bits.
        """
        rounded = np.trunc(self.slopes(point) * 2.0**20)
        total = np.zeros(self.points.shape[1], dtype=object)
        for start in range(0, len(self.points), 1 << 16):
            part = slice(start, start + (1 << 16))
            total += (rounded[part] @ self.points[part]).astype(np.int64)
        return total

    def __array__(self, dtype: object = None, copy: object = None) -> NDArray[Any]:
        center = np.zeros(self.points.shape[1]) if self.center is None else self.center
        return self.sums(center).astype(np.float64) * (self.norm * 2.0**-36)


def clipped(rows: object, targets: object, *, norm: float, labels: bool) -> tuple[Array, Array]:
    """Rows shortened to the norm, in whole steps of 2⁻¹⁶ of it, and their targets: total.

    A row with a number or a target that is missing or infinite becomes zeros: its loss is the same
    everywhere, so that it has no influence. A label above 0 is the one class, any other the other.
    """
    matrix = np.array(rows, dtype=np.float64)
    values = np.array(targets, dtype=np.float64)
    kept = np.isfinite(matrix).all(axis=1) & np.isfinite(values)
    matrix[~kept], values[~kept] = 0.0, 0.0
    largest = np.abs(matrix).max(axis=1, initial=0.0)
    safe = np.where(largest > 0, largest, 1.0)
    unit = matrix / safe[:, None]  # squares neither overflow nor vanish
    lengths = np.sqrt(squares(unit))
    rounded = (2.0**12 + matrix.shape[1]) * 2.0**-52  # each addition may round by 2⁻⁵³
    factors = np.minimum(safe / norm, 1 / np.maximum(lengths, 2.0**-500)) * (1 - rounded)
    points = np.trunc(unit * factors[:, None] / STEP)
    if labels:
        signs = np.where(values > 0, 1.0, -1.0)
        return points * signs[:, None], np.zeros(len(points))
    return points, values
