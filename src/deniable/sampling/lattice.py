"""The grid on which every number is released: whole multiples of a power of two.

Two routes, both chosen from public facts alone.
- *Grid first*: each record is put on the grid, sums are sums of integers, sensitivities are whole
  numbers of grid steps computed exactly. `to_grid`, `sensitivity`, `to_floats`.
- *Round after noise*: a real number is split into a grid point and a rest, real noise is added to
  the rest and the whole is rounded to the grid: post-processing of the ideal real mechanism, so
  the price is the continuous one. `split`, a rounded sampler, `join`; or `perturb`, all three.

Either way no float of the answer has gaps that tell the value behind the noise [Mir12].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import BadParameter
from deniable.parameters import rational, real, value_as_fraction, whole

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

# Grid points beyond this are never produced: what is added to them still fits in 64 bits.
LARGEST_POINT = 2**62
_PIECE = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Lattice:
    """The multiples of 2ᵉˣᵖᵒⁿᵉⁿᵗ.

    >>> grid = Lattice.for_bounds(0, 100, bits=10)
    >>> grid.exponent, grid.width
    (-3, 0.125)
    >>> grid.to_grid([33.3, 250.0, float("nan")], low=0, high=100, missing=0)
    array([266, 800,   0])
    >>> grid.sensitivity(low=0, high=100)
    800
    """

    exponent: int

    def __post_init__(self) -> None:
        exponent = whole("exponent", self.exponent, least=-960)
        if exponent > 900:
            raise BadParameter.of("exponent", exponent, must="a whole number from -960 to 900")
        object.__setattr__(self, "exponent", exponent)

    @classmethod
    def for_bounds(cls, low: float, high: float, *, bits: int) -> Lattice:
        """The coarsest grid with at least 2ᵇⁱᵗˢ⁻¹ steps, at most 2ᵇⁱᵗˢ, from 0 to the far bound."""
        _ordered(low, high)
        bits = whole("bits", bits)
        if bits > 60:
            raise BadParameter.of("bits", bits, must="a whole number from 1 to 60")
        largest = max(abs(value_as_fraction(low)), abs(value_as_fraction(high)))
        return cls(exponent=_log2_ceiling(largest) - bits if largest else -bits)

    @classmethod
    def for_scale(cls, scale: float | Fraction, *, bits: int = 20) -> Lattice:
        """The grid whose step is about 2⁻ᵇⁱᵗˢ of the noise: scale/step in (2ᵇⁱᵗˢ⁻¹, 2ᵇⁱᵗˢ]."""
        return cls(exponent=_log2_ceiling(rational("scale", scale)) - whole("bits", bits, least=0))

    @property
    def width(self) -> float:
        """The step of the grid."""
        return math.ldexp(1.0, self.exponent)

    def steps(self, amount: float | Fraction) -> Fraction:
        """An amount in grid steps, exactly."""
        return value_as_fraction(amount) / Fraction(2) ** self.exponent

    def to_grid(self, values: ArrayLike, *, low: float, high: float, missing: float) -> Integers:
        """Round to the grid by ⌊x/g + ½⌋ and clip to the rounded bounds.

        That is the same as clipping first, because rounding keeps the order. NaN becomes `missing`,
        clipped like any value. The result lies between the grid points of `low` and `high`, which
        is what `sensitivity` assumes.
        """
        _ordered(low, high)
        points, rest = self.split(values, missing=missing)
        points += rest == 0.5  # split rounds half to even, which is not shift-invariant
        return np.clip(points, self.point(low), self.point(high))

    def point(self, value: float | Fraction) -> int:
        """The grid point ⌊value/g + ½⌋, computed in exact arithmetic."""
        return math.floor(self.steps(value) + Fraction(1, 2))

    def sensitivity(self, *, low: float, high: float, sides: int = 1, always: bool = False) -> int:
        """How many grid steps one record in [low, high] can move a sum of grid points.

        1 of its sides   it comes or goes: max(|l|, |u|)
        2                it is replaced: max(u, 0) − min(l, 0); or u − l if every record `always`
                         contributes exactly one value (no filter, no NULL dropped)
        """
        _ordered(low, high)
        if whole("sides", sides) > 2:
            raise BadParameter.of("sides", sides, must="1 or 2")
        least, most = self.point(low), self.point(high)
        if sides == 1:
            return max(abs(least), abs(most))
        return most - least if always else max(most, 0) - min(least, 0)

    def split(self, values: ArrayLike, *, missing: float = 0.0) -> tuple[Integers, Floats]:
        """Grid points and rests in [−½, ½], with value/g = point + rest exactly.

        Exact for float64 values: division by a power of two only moves the exponent; and
        y − rint(y) is a multiple of the last place of y that is no larger than y, hence a float64.
        (Rests in [0, 1) would not be exact: −2⁻⁶⁰ is the point −1 and a rest of 1 − 2⁻⁶⁰.) Three
        exceptions, each a function of one value alone: NaN becomes `missing`; a value beyond ±2⁶²
        steps is clamped there, which never moves two values apart; and one below 2⁻¹⁰²² steps may
        move by 2⁻¹⁰⁷⁵.
        """
        numbers = _without_nan(values, missing)
        limit = math.ldexp(LARGEST_POINT, self.exponent)
        np.minimum(numbers, limit, out=numbers)
        np.maximum(numbers, -limit, out=numbers)
        numbers *= math.ldexp(1.0, -self.exponent)
        points = np.rint(numbers)
        numbers -= points
        return points.astype(np.int64), numbers

    def perturb(
        self,
        values: ArrayLike,
        noise: Callable[[Floats], Integers],
        *,
        missing: float = 0.0,
    ) -> Floats:
        """Split, add noise to the rests, round, join: a rounded sampler on an array of floats.

        `noise` maps rests β to ⌊β + ½ + noise⌋, as rounded_laplace and rounded_gaussian do. Large
        arrays are done in pieces that stay in the processor's cache.

        >>> from deniable.sampling.laplace import rounded_laplace
        >>> grid = Lattice.for_scale(2.0)
        >>> scale = grid.steps(2.0)
        >>> answer = grid.perturb([10.0, -3.5], lambda rests: rounded_laplace(scale, rests))
        >>> answer.shape, bool((answer / grid.width == np.rint(answer / grid.width)).all())
        ((2,), True)
        """
        numbers = np.asarray(values, dtype=np.float64)
        flat = numbers.ravel()
        out = np.empty(flat.size)
        for start in range(0, flat.size, _PIECE):
            part = slice(start, start + _PIECE)
            points, rests = self.split(flat[part], missing=missing)
            out[part] = self.join(points + noise(rests))
        return out.reshape(numbers.shape)

    def join(self, points: Integers) -> Floats:
        """The floats nearest to point·g.

        A function of the integers alone, hence post-processing of them: conversion from int64 is
        the correctly rounded IEEE 754 operation, and scaling by a power of two is exact (or, at the
        ends of the range, rounds or overflows depending on that number alone). So if the integers
        are point + noise, added as integers, the floats reveal nothing more than they do.
        """
        return np.asarray(points).astype(np.float64) * self.width


def _ordered(low: float, high: float) -> None:
    if real("low", low) > real("high", high):
        raise BadParameter.of("low", low, must=f"at most high, which is {high!r}")


def _log2_ceiling(value: Fraction) -> int:
    """The least k with value ≤ 2ᵏ."""
    k = value.numerator.bit_length() - value.denominator.bit_length() - 1
    while Fraction(2) ** k < value:
        k += 1
    return k


def _without_nan(values: ArrayLike, missing: float) -> Floats:
    filled = real("missing", missing)
    numbers = np.array(values, dtype=np.float64)
    numbers[np.isnan(numbers)] = filled
    return numbers
