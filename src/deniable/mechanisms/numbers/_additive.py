"""What mechanisms that add noise to numbers share: which numbers they take, and how they answer."""

from __future__ import annotations

import dataclasses
import math
import sys
from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, lru_cache
from numbers import Integral
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.forms import Form, read_real
from deniable.mechanisms._mechanism import Mechanism
from deniable.sampling import lazy
from deniable.sampling.lattice import Lattice

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

_INT64 = np.iinfo(np.int64)
_EXACT = 2**53
_LARGEST = sys.float_info.max
_NUMBERS = (int, float, np.integer, np.float16, np.float32)


class Additive(Mechanism):
    """Independent noise on a number or on each number of an array."""

    by_entry: ClassVar[bool] = True

    @abstractmethod
    def quantile(self, tail: float) -> float:
        """The least t with P(|noise| > t) ≤ tail, before rounding to a lattice."""

    def error(self, confidence: float = 0.95, *, coordinates: int = 1) -> float:
        """Half-width of the interval around one answer, or around `coordinates` of them at once."""
        return self.quantile(tail_of_each(confidence, coordinates))


class RealNoise(Additive):
    """Real noise, released rounded to a lattice: post-processing of the ideal real mechanism.

    Whole numbers are answered in whole numbers, real ones on the lattice of steps 2ᵏ ≈ 2⁻²⁰ of the
    noise, rounded to the nearest float. A session goes by what is declared of the value; `release`
    by the type of what it is given (a list is whole if every type in it is). The rounded sum is a
    function of the ideal mechanism's answer, and so is its saturation at the ends of int64 or of
    the floats; whole values beyond int64 are first held at its ends, which never moves two values
    apart. Real values are never held: their sum with the noise is exact before it is rounded.
    """

    @property
    @abstractmethod
    def _spread(self) -> float:
        """The scale of the noise."""

    @abstractmethod
    def _rounded(self, spread: Fraction, rests: Floats) -> Integers:
        """⌊rest + noise + ½⌋, the noise of that scale."""

    @abstractmethod
    def _lazy(self) -> lazy.LazyReal:
        """The noise at scale 1, known to as many digits as are needed."""

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """Whole numbers if they are declared, else real ones."""
        if not form.whole:
            _ = self.lattice  # raises if the noise is too small or too large for one
        return super().reading(form)

    @cached_property
    def lattice(self) -> Lattice:
        """Where answers to real values lie."""
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

    def shown_error(self, confidence: float, *, whole: bool) -> float:
        """Half-width of the interval around one answer."""
        return self.error(confidence, whole=whole)

    def draw(self, value: object) -> int | float | Integers | Floats:
        """The value plus noise: in whole numbers, or on the lattice of real ones."""
        numbers = as_numbers(value)
        if not numbers.size:
            return numbers
        flat = numbers.reshape(-1)
        if flat.dtype == np.int64:
            noise = self._rounded(self._exact_spreads[0], np.zeros(flat.shape))
            return answer_like(numbers, saturating_sum(flat.astype(np.int64), noise))
        if flat.dtype == object:
            return answer_like(numbers, np.array([self._exactly(x) for x in flat]))
        if flat.size == 1:
            return answer_like(numbers, self._near_one(flat.item()))
        return answer_like(numbers, self._near(flat.astype(np.float64)))

    def _near(self, flat: Floats) -> Floats:
        """Floats plus noise: the float nearest to (lattice point + noise), however far out.

        value/g = point + rest exactly, as g is a power of two; from 2⁵³ steps on every float is a
        lattice point. Point and noise are floats without error, so their sum is rounded once.
        """
        width = self.lattice.width
        with np.errstate(over="ignore", invalid="ignore"):  # warnings would reveal large values
            steps = flat * math.ldexp(1.0, -self.lattice.exponent)
            points = np.rint(steps)
            rests = steps - points
            points *= width
            beyond = np.isinf(steps)
            rests[beyond], points[beyond] = 0.0, flat[beyond]
            noise = self._rounded(self._exact_spreads[1], rests)
            if np.abs(noise).max() > _EXACT:
                pairs = zip(points.tolist(), noise.tolist(), strict=True)
                return np.array([self._joined(Fraction(p) / Fraction(width) + n) for p, n in pairs])
            points += noise.astype(np.float64) * width
            return np.clip(points, -_LARGEST, _LARGEST, out=points)

    def _near_one(self, value: float) -> Floats:
        """`_near` for one number, with floats of Python in place of arrays of one."""
        width = self.lattice.width
        steps = value * math.ldexp(1.0, -self.lattice.exponent)
        if math.isinf(steps):
            point, rest = value, 0.0
        else:
            nearest = float(np.rint(steps))
            point, rest = nearest * width, steps - nearest
        noise = self._rounded(self._exact_spreads[1], np.array([rest]))
        far = int(noise.item())
        if abs(far) > _EXACT:
            return np.array([self._joined(Fraction(point) / Fraction(width) + far)])
        total = point + float(far) * width
        return np.array([min(max(total, -_LARGEST), _LARGEST)])

    def _exactly(self, value: Fraction) -> float:
        """One number that no float holds, plus noise."""
        steps = self.lattice.steps(value)
        return self._joined(lazy.rounded(steps, self._exact_spreads[1], self._lazy()))

    def draw_points(self, points: NDArray[Any]) -> Floats:
        """For values on the lattice, in its steps: add noise, and back to floats."""
        zeros = np.zeros(points.shape)
        noise = self._rounded(self._exact_spreads[1], zeros).reshape(points.shape)
        if all(n.dtype != object and np.abs(n).max(initial=0) < 2**62 for n in (points, noise)):
            with np.errstate(over="ignore"):
                return np.clip(self.lattice.join(points + noise), -_LARGEST, _LARGEST)
        total = points.astype(object) + noise
        joined = [self._joined(n) for n in np.asarray(total).reshape(-1).tolist()]
        return np.array(joined, dtype=np.float64).reshape(points.shape)

    def _joined(self, steps: Fraction | int) -> float:
        """The float nearest to so many steps, held at the ends of the floats."""
        try:
            return float(steps * Fraction(2) ** self.lattice.exponent)
        except OverflowError:
            return _LARGEST if steps > 0 else -_LARGEST


class WholeNoise(Additive):
    """Whole-number noise on whole numbers."""

    @abstractmethod
    def _noise(self, count: int) -> Integers:
        """That many independent draws."""

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """Whole numbers, whether or not that is declared."""
        return super().reading(needs_whole(self, form))

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
        flat = numbers.reshape(-1)
        return answer_like(numbers, saturating_sum(flat, self._noise(flat.size)))


def as_numbers(value: object) -> NDArray[Any]:
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
    if array.dtype.kind == "O" and all(isinstance(x, Fraction) for x in array.flat):
        return array  # read by a session: real numbers that no float holds
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise _not_numbers()
    if not np.isfinite(array).all():
        raise _not_numbers()
    return array.astype(np.float64)


def _from_list(value: list[object] | tuple[object, ...]) -> NDArray[Any]:
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
    return read_real(array)


def _not_numbers() -> BadParameter:
    return BadParameter(
        "the value must be a finite number or an array of finite numbers (integers or floats)"
    )


def needs_whole(mechanism: Mechanism, form: Form) -> Form:
    """The form with whole numbers; refused if real ones were declared."""
    if form.whole is False:
        raise BadParameter(
            f"{type(mechanism).__name__} takes whole numbers, and the value is declared real",
            fix="dp.Sensitive(..., whole=True)",
        )
    return dataclasses.replace(form, whole=True)


def saturating_sum(left: Integers, right: Integers) -> Integers:
    """The sum, held at the ends of int64 instead of wrapping around."""
    if right.dtype == object:  # noise too wide for int64 comes as Python integers
        return np.clip(left.astype(object) + right, _INT64.min, _INT64.max).astype(np.int64)
    total = left + right
    if total.size == 1:
        exact = left.item() + right.item()
        held = max(_INT64.min, min(exact, _INT64.max))
        return total if held == exact else np.full_like(total, held)
    low, high = (
        sum(int(end(part, initial=0)) for part in (left, right)) for end in (np.min, np.max)
    )
    if _INT64.min <= low and high <= _INT64.max:  # no sum wraps around
        return total
    wrapped = ((left ^ total) & (right ^ total)) < 0
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


@lru_cache(maxsize=1024, typed=True)  # a price asks for its ε again and again
def ratio_up(numerator: float, denominator: float) -> float:
    """The least float that is not below the exact quotient of two positive numbers."""
    try:
        quotient = numerator / denominator
    except OverflowError:
        return math.inf
    if math.isinf(quotient):
        return quotient
    (top, over), (part, parts) = numerator.as_integer_ratio(), denominator.as_integer_ratio()
    whole, wholes = quotient.as_integer_ratio()
    short = whole * part * over < top * wholes * parts
    return math.nextafter(quotient, math.inf) if short else quotient
