"""Where minima are looked for: a ball, a box or the simplex of probabilities.

Each knows its public geometry, and how to draw from a normal law that is restricted to it. The
density of such a draw is exact however little of the normal law lies inside: see `restricted`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deniable import parameters
from deniable.errors import BadParameter
from deniable.sampling import bernoulli_exp

from .restricted import (
    Blocks,
    Floats,
    Integers,
    is_above,
    means_above,
    means_within,
    shift,
    whole,
)


class Domain(ABC):
    """A convex, bounded, public set of points in which a minimum is looked for."""

    @abstractmethod
    def dimension(self, coordinates: int) -> int:
        """How many directions there are within the set; refuses coordinates that do not fit."""

    @abstractmethod
    def center(self, coordinates: int) -> Floats:
        """The point from which the farthest point is nearest."""

    @abstractmethod
    def reach(self, coordinates: int) -> float:
        """How far the farthest point is from the center."""

    @abstractmethod
    def diameter(self, coordinates: int) -> float:
        """How far two points are apart at most."""

    @abstractmethod
    def inner(self, coordinates: int) -> float:
        """The radius of the largest ball, or half the shortest side."""

    @abstractmethod
    def scaled(self, factor: float) -> Domain:
        """The set of the same shape, so many times as large."""

    @abstractmethod
    def project(self, point: Floats) -> Floats:
        """The nearest point of the set."""

    @abstractmethod
    def farthest(self, direction: Floats) -> Floats:
        """The point of the set that lies farthest in a direction."""

    @abstractmethod
    def ends(self, rows: Floats) -> tuple[Floats, Floats]:
        """About the least and the largest a·x on the set, for each row a."""

    @abstractmethod
    def normal(self, center: Integers, sigma: float, width: float) -> Integers:
        """A normal draw around a center, restricted to the set, in steps of `width`."""

    @abstractmethod
    def record(self) -> tuple[Any, ...]:
        """The set in plain numbers, for ledgers."""

    def mean(self, center: Floats, _sigma: float) -> Floats:
        """About the mean of a normal law around a center that is restricted to the set."""
        return self.project(center)

    def completed(self, point: Floats) -> Floats:
        """A point whose free coordinates are these."""
        return point

    def norm(self, coordinates: int) -> float:
        """How far the farthest point is from 0."""
        return float(np.linalg.norm(self.center(coordinates))) + self.reach(coordinates)

    @staticmethod
    def of(record: tuple[Any, ...]) -> Domain:
        """The set that `record` wrote."""
        kind = record[0] if record else None
        if kind == "ball":
            return Ball(record[1])
        if kind == "box":
            return Box(record[1], record[2])
        if kind == "simplex":
            return Simplex(*record[1:])
        raise BadParameter.of("domain", record, must=_DOMAINS, fix="domain=Ball(1.0)")


@dataclass(frozen=True)
class Ball(Domain):
    """All points with ‖x‖₂ ≤ radius.

    >>> Ball(2.0).diameter(5)
    4.0
    """

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", extent("radius", self.radius))

    def dimension(self, coordinates: int) -> int:
        """All coordinates are free."""
        return coordinates

    def center(self, coordinates: int) -> Floats:
        return np.zeros(coordinates)

    def reach(self, _coordinates: int) -> float:
        return self.radius

    def diameter(self, _coordinates: int) -> float:
        return 2 * self.radius

    def inner(self, _coordinates: int) -> float:
        return self.radius

    def scaled(self, factor: float) -> Ball:
        """A ball of another radius."""
        return Ball(self.radius * factor)

    def project(self, point: Floats) -> Floats:
        """Shortened to the radius."""
        length = float(np.linalg.norm(point))
        if length <= self.radius:
            return point
        return point * (self.radius / length * (1 - 2.0**-50))

    def farthest(self, direction: Floats) -> Floats:
        length = float(np.linalg.norm(direction))
        return direction * (self.radius / length) if length else np.zeros_like(direction)

    def ends(self, rows: Floats) -> tuple[Floats, Floats]:
        """By the row's length."""
        far = self.radius * np.linalg.norm(rows, axis=1)
        return -far, far

    def normal(self, center: Integers, sigma: float, width: float) -> Integers:
        """One block of all coordinates."""
        blocks = Blocks(
            center=center[None, :],
            middle=np.zeros((1, center.size), dtype=center.dtype),
            radius=np.array([self.radius / width]),
            sigma=sigma,
        )
        drawn: Integers = blocks.draw()[0]
        return drawn

    def record(self) -> tuple[Any, ...]:
        return ("ball", self.radius)


@dataclass(frozen=True)
class Box(Domain):
    """All points with low ≤ x ≤ high: two numbers, or one of each per coordinate.

    >>> Box(-1.0, 1.0).diameter(4)
    4.0
    """

    low: float | tuple[float, ...]
    high: float | tuple[float, ...]

    def __post_init__(self) -> None:
        low, high = _ends("low", self.low), _ends("high", self.high)
        sizes = {len(end) for end in (low, high) if isinstance(end, tuple)}
        if len(sizes) > 1 or not (np.asarray(low) < np.asarray(high)).all():
            raise BadParameter.of("high", self.high, must="above low in every coordinate")
        for length in np.ravel(np.subtract(high, low)):
            extent("high - low", float(length))
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if float(np.min(np.subtract(high, low))) < 2**10 * self._step:
            raise BadParameter.of(
                "high", self.high, must="above low by at least 2⁻³⁵ of the farthest end"
            )

    def dimension(self, coordinates: int) -> int:
        """All coordinates are free; ends that were listed must be as many as coordinates."""
        for end in (self.low, self.high):
            if isinstance(end, tuple) and len(end) != coordinates:
                raise BadParameter(
                    f"the box has {len(end)} coordinates and the data have {coordinates}",
                    fix="Box(low, high) with one number each, or one per column",
                )
        return coordinates

    def _sides(self, coordinates: int) -> tuple[Floats, Floats]:
        """Middles and half sides, in whole steps that every lattice of a sampler divides."""
        low, high = (np.broadcast_to(np.asarray(e), (coordinates,)) for e in (self.low, self.high))
        step = self._step
        middle: Floats = np.rint((low + high) / 2 / step) * step
        half: Floats = np.floor(np.minimum(high - middle, middle - low) / step) * step
        return middle, half

    @property
    def _step(self) -> float:
        """A power of two, about 2⁻⁴⁵ of the farthest end."""
        farthest = max(float(np.abs(end).max()) for end in map(np.asarray, (self.low, self.high)))
        return float(2.0 ** (math.frexp(farthest)[1] - 45))

    def center(self, coordinates: int) -> Floats:
        return self._sides(coordinates)[0]

    def reach(self, coordinates: int) -> float:
        return math.hypot(*self._sides(coordinates)[1].tolist())  # right however many there are

    def diameter(self, coordinates: int) -> float:
        """From corner to corner."""
        return 2 * self.reach(coordinates)

    def inner(self, coordinates: int) -> float:
        """Half the shortest side."""
        return float(self._sides(coordinates)[1].min())

    def scaled(self, factor: float) -> Box:
        return Box(_times(self.low, factor), _times(self.high, factor))

    def project(self, point: Floats) -> Floats:
        """Each coordinate clipped."""
        return np.clip(point, self.low, self.high)

    def farthest(self, direction: Floats) -> Floats:
        return np.where(direction > 0, self.high, self.low)

    def ends(self, rows: Floats) -> tuple[Floats, Floats]:
        """At two opposite corners."""
        middle, half = self._sides(rows.shape[1])
        return rows @ middle - np.abs(rows) @ half, rows @ middle + np.abs(rows) @ half

    def normal(self, center: Integers, sigma: float, width: float) -> Integers:
        """One block per coordinate."""
        middle, half = self._sides(center.size)
        blocks = Blocks(
            center=center[:, None],
            middle=whole(middle / width, center.dtype)[:, None],
            radius=half / width,
            sigma=sigma,
        )
        drawn: Integers = blocks.draw()[:, 0]
        return drawn

    def mean(self, center: Floats, sigma: float) -> Floats:
        """Coordinates are independent."""
        middle, half = self._sides(center.size)
        return middle + means_within(center - middle, sigma, half)

    def record(self) -> tuple[Any, ...]:
        return ("box", self.low, self.high)


@dataclass(frozen=True)
class Simplex(Domain):
    """All points with x ≥ 0 and Σx = total: weights of a mixture.

    >>> round(Simplex().diameter(10), 4)
    1.4142
    """

    total: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", extent("total", self.total))

    def dimension(self, coordinates: int) -> int:
        """One less than there are coordinates."""
        if coordinates < 2:
            raise BadParameter(
                "a simplex needs at least two coordinates", fix="domain=Box(0.0, 1.0)"
            )
        return coordinates - 1

    def center(self, coordinates: int) -> Floats:
        return np.full(coordinates, self.total / coordinates)

    def reach(self, coordinates: int) -> float:
        return self.total * math.sqrt(1 - 1 / coordinates)

    def diameter(self, _coordinates: int) -> float:
        """From corner to corner."""
        return self.total * math.sqrt(2)

    def inner(self, _coordinates: int) -> float:
        """Half the side of a coordinate."""
        return self.total / 2

    def scaled(self, factor: float) -> Simplex:
        """With another total."""
        return Simplex(self.total * factor)

    def project(self, point: Floats) -> Floats:
        """max(x − t, 0) with the t that makes the total right   [DSSC08]."""
        falling = np.sort(point)[::-1]
        excess = (np.cumsum(falling) - self.total) / np.arange(1, point.size + 1)
        last = int(np.flatnonzero(falling > excess)[-1])
        found: Floats = np.maximum(point - excess[last], 0.0)
        return found

    def completed(self, point: Floats) -> Floats:
        """The first coordinate is what the others leave."""
        return np.insert(point[1:], 0, self.total - point[1:].sum())

    def farthest(self, direction: Floats) -> Floats:
        corner = np.zeros_like(direction)
        corner[int(np.argmax(direction))] = self.total
        return corner

    def ends(self, rows: Floats) -> tuple[Floats, Floats]:
        return self.total * rows.min(axis=1), self.total * rows.max(axis=1)

    def normal(self, center: Integers, sigma: float, width: float) -> Integers:
        """Each but one coordinate restricted to [0, total]; the last is what the sum leaves.

        On the plane Σx = total, moving the center by the same amount in all coordinates changes
        nothing: t is chosen so that the sum comes out about right. Given the others, the
        coordinate j is kept with probability exp(−(xⱼ − cⱼ)²/2σ²), which restores the density.
        """
        step = 2.0 ** (math.frexp(self.total)[1] - 44)  # every lattice of a sampler divides it
        top = round(math.floor(self.total / step) * step / width)
        moved = center - round(shift(center.astype(np.float64), sigma, top))
        j = int(np.argmax(moved))
        moved -= moved[j] - min(max(moved[j], -top), 2 * top)
        others = np.delete(moved, j)
        blocks = Blocks(
            center=others[:, None],
            middle=np.full((others.size, 1), top // 2, dtype=center.dtype),
            radius=np.full(others.size, top / 2),
            sigma=sigma,
        )
        while True:
            drawn = blocks.draw()[:, 0]
            rest = top - int(drawn.sum())
            late = (Fraction(rest - int(moved[j])) / Fraction(sigma)) ** 2 / 2
            if is_above(rest, drawn.size) and bernoulli_exp(late)[0]:
                return np.insert(drawn, j, rest)

    def mean(self, center: Floats, sigma: float) -> Floats:
        """Coordinates above 0, after the shift that makes their sum right: see `normal`."""
        return self.project(means_above(center - shift(center, sigma, self.total), sigma))

    def record(self) -> tuple[Any, ...]:
        return ("simplex", self.total)


def extent(name: str, value: object) -> float:
    """A public length whose square and products floats can hold."""
    size = parameters.positive(name, value)
    if not 2.0**-100 <= size <= 2.0**100:
        raise BadParameter.of(name, value, must="between 2⁻¹⁰⁰ and 2¹⁰⁰")
    return size


def _ends(name: str, value: ArrayLike) -> float | tuple[float, ...]:
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(parameters.real(name, float(end)) for end in value)
    return parameters.real(name, value)


def _times(end: float | tuple[float, ...], factor: float) -> float | tuple[float, ...]:
    return tuple(e * factor for e in end) if isinstance(end, tuple) else end * factor


_DOMAINS = "Ball(radius), Box(low, high) or Simplex()"
