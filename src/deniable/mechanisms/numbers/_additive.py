"""What mechanisms that add noise to numbers share: which numbers they take, and how they answer."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.mechanisms._mechanism import Mechanism
from deniable.sampling.lattice import Lattice

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

_INT64 = np.iinfo(np.int64)
_EXACT = 2**53
_NUMBERS = (int, float, np.integer, np.float16, np.float32)


class Additive(Mechanism):
    """Independent noise on a number or on each number of an array."""

    @abstractmethod
    def quantile(self, tail: float) -> float:
        """The least t with P(|noise| > t) ≤ tail, before rounding to a lattice."""

    def error(self, confidence: float = 0.95, *, coordinates: int = 1) -> float:
        """Half-width of the interval around one answer, or around `coordinates` of them at once."""
        return self.quantile(tail_of_each(confidence, coordinates))


class RealNoise(Additive):
    """Real noise, released rounded to a lattice: post-processing of the ideal real mechanism.

    Whole numbers (Python or NumPy integers) are answered in whole numbers, floats on the lattice of
    steps 2ᵏ ≈ 2⁻²⁰ of the noise. Which of the two depends on the *type* of the value, never on the
    value; a list of numbers is whole if every type in it is. The rounded sum is a function of the
    ideal mechanism's answer, and so is its saturation at the ends of int64; values beyond the ends
    are first clamped to them, which never moves two values apart.
    """

    @property
    @abstractmethod
    def _spread(self) -> float:
        """The scale of the noise."""

    @abstractmethod
    def _rounded(self, spread: Fraction, rests: Floats) -> Integers:
        """⌊rest + noise + ½⌋, the noise of that scale."""

    @cached_property
    def lattice(self) -> Lattice:
        """Where answers to floats lie."""
        return Lattice.for_scale(self._spread)

    @cached_property
    def _exact_spreads(self) -> tuple[Fraction, Fraction]:
        """The scale of the noise in whole numbers, and in steps of the lattice."""
        return Fraction(self._spread), self.lattice.steps(self._spread)

    def error(
        self, confidence: float = 0.95, *, coordinates: int = 1, whole: bool = False
    ) -> float:
        """Half-width of the interval around one answer, or around `coordinates` of them at once.

        Includes the rounding to the lattice of floats; for answers in whole numbers say `whole`.
        """
        reach = super().error(confidence, coordinates=coordinates)
        return float(max(0, math.ceil(reach - 0.5))) if whole else reach + self.lattice.width / 2

    def draw(self, value: object) -> int | float | Integers | Floats:
        """The value plus noise, on the lattice of its type."""
        numbers = as_numbers(value)
        if not numbers.size:
            return numbers
        flat = numbers.reshape(-1)
        if flat.dtype == np.int64:
            noise = self._rounded(self._exact_spreads[0], np.zeros(flat.shape))
            return answer_like(numbers, saturating_sum(flat.astype(np.int64), noise))
        with np.errstate(over="ignore"):  # a warning would tell that a value is large
            points, rests = self.lattice.split(flat)
        return answer_like(numbers, self.draw_points(points, rests))

    def draw_points(self, points: Integers, rests: Floats | None = None) -> Floats:
        """For values on the lattice, in its steps (and rests): add noise, and back to floats."""
        noise = self._rounded(
            self._exact_spreads[1], np.zeros(points.shape) if rests is None else rests
        )
        with np.errstate(over="ignore"):
            return self.lattice.join(saturating_sum(points, noise))


class WholeNoise(Additive):
    """Whole-number noise on whole numbers."""

    @abstractmethod
    def _noise(self, count: int) -> Integers:
        """That many independent draws."""

    def draw(self, value: object) -> int | float | Integers | Floats:
        """The value plus noise, in whole numbers."""
        numbers = as_numbers(value)
        if numbers.dtype != np.int64:
            raise BadParameter(
                f"{type(self).__name__} takes whole numbers",
                fix="dp.Laplace or dp.Gaussian take floats",
            )
        if not numbers.size:
            return numbers
        flat = numbers.reshape(-1).astype(np.int64)
        return answer_like(numbers, saturating_sum(flat, self._noise(flat.size)))


def as_numbers(value: object) -> Integers | Floats:
    """The value as int64 or float64, by its type alone; refused before anything is drawn."""
    if isinstance(value, list | tuple):
        return _from_list(value)
    if not isinstance(value, int | float | np.ndarray | np.generic) or isinstance(value, bool):
        raise _not_numbers()
    if isinstance(value, int):
        return np.asarray(max(_INT64.min, min(value, _INT64.max)), dtype=np.int64)
    array = np.asarray(value)
    if array.dtype.kind == "u":
        return np.minimum(array.astype(np.uint64), np.uint64(_INT64.max)).astype(np.int64)
    if array.dtype.kind == "i":
        return array.astype(np.int64)
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise _not_numbers()
    if not np.isfinite(array).all():
        raise _not_numbers()
    return array.astype(np.float64)


def _from_list(value: list[object] | tuple[object, ...]) -> Integers | Floats:
    """NumPy would choose the type of a list by the size of its numbers; here types alone count."""
    try:
        array = np.array(value, dtype=object)
    except ValueError:
        raise _not_numbers() from None
    kinds = set(map(type, array.flat))
    if bool in kinds or not all(issubclass(kind, _NUMBERS) for kind in kinds):
        raise _not_numbers()
    if all(issubclass(kind, Integral) for kind in kinds):
        return np.array(np.clip(array, _INT64.min, _INT64.max), dtype=np.int64)
    # Among floats, whole numbers are held to where floats are exact: that moves no two apart.
    exact = [max(-_EXACT, min(x, _EXACT)) if isinstance(x, Integral) else x for x in array.flat]
    return as_numbers(np.array(exact, dtype=np.float64).reshape(array.shape))


def _not_numbers() -> BadParameter:
    return BadParameter(
        "the value must be a finite number or an array of finite numbers (integers or floats)"
    )


def saturating_sum(left: Integers, right: Integers) -> Integers:
    """The sum, held at the ends of int64 instead of wrapping around."""
    if right.dtype == object:  # noise too wide for int64 comes as Python integers
        return np.clip(left.astype(object) + right, _INT64.min, _INT64.max).astype(np.int64)
    total = left + right
    wrapped = ((left ^ total) & (right ^ total)) < 0
    if not wrapped.any():
        return total
    return np.where(wrapped, np.where(right < 0, _INT64.min, _INT64.max), total)


def answer_like(
    asked: Integers | Floats, answer: Integers | Floats
) -> int | float | Integers | Floats:
    """A plain number if one was asked about, else an array of the same shape."""
    return answer.reshape(asked.shape) if asked.ndim else answer.item()


def tail_of_each(confidence: float, coordinates: int) -> float:
    """1 − c^(1/d): how often each of d independent errors may exceed, so that none does with c."""
    share = math.log(parameters.confidence("confidence", confidence))
    return -math.expm1(share / parameters.whole("coordinates", coordinates))


def ratio_up(numerator: float, denominator: float) -> float:
    """The least float that is not below the exact quotient of two positive numbers."""
    try:
        quotient = numerator / denominator
    except OverflowError:
        return math.inf
    if math.isinf(quotient):
        return quotient
    short = Fraction(quotient) * Fraction(denominator) < Fraction(numerator)
    return math.nextafter(quotient, math.inf) if short else quotient
