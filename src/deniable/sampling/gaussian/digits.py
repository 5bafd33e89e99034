"""A proposal under the staircase, known to ever more binary digits, and what is made of it.

See `steps` for the law. Here is its exact arithmetic: Python integers and certified
exponentials only, except for one float64 comparison with a margin that spares most of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.sampling.exact import exp_bounds
from deniable.sampling.lazy import Uniform

WIDTH_BITS = 6
"""The steps are 2⁻⁶ wide."""
STEPS = 550
"""More than the steps in the table (they end at 8.6), and the mark of its residual."""
R_BITS, V_BITS = 43, 21
"""How many digits of R and V the first word of a proposal holds."""
UNIT = 2.0 ** -(R_BITS + WIDTH_BITS)
"""What the last of those digits of R is worth in z."""

FINE = 2**40
"""The σ from which one float cannot tell σz from its neighbours often enough."""

LARGEST_WORD = 2**52
"""Beyond this σ, results are Python integers."""

# exp(−t²/2)/hⱼ in float64 for j < STEPS: t² and its counterpart are below 82 and right to 2⁻⁴⁵,
# the unknown digits move t² by less than 2·9·2⁻⁴⁹ < 2⁻⁴⁴, and exp is right to 2⁻⁵⁰: below 2⁻⁴³.
EXP_MARGIN = 2.0**-40

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def floors(place: Ints, sigma: float, offsets: Floats | float) -> tuple[Floats, Bools]:
    """⌊offset + ½ + σz⌋ in float64, z in units of 2⁻⁴⁹, and where that is not certain.

    |σz| ≤ 9σ is right to 9σ·2⁻⁵¹ and the sum to (9σ + 2)·2⁻⁵²; unknown digits of z move it by less
    than σ·2⁻⁴⁹. Together that is below σ·2⁻⁴⁶ + 2⁻⁴⁹.
    """
    y = np.multiply(place, sigma * UNIT)
    y += offsets + 0.5
    x = np.floor(y)
    y -= x
    y -= 0.5
    np.abs(y, out=y)
    return x, y > 0.5 - (sigma * 2.0**-46 + 2.0**-49)


def finely(
    place: Ints, more: NDArray[np.uint64], sigma: float, offsets: Floats | float
) -> tuple[Ints, Bools]:
    """The same for σ of 2⁴⁰ to 2⁵² from 64 more digits of R, and where that is not certain.

    The product of place and σ is two floats, exactly [Dek71]: the first up to 2⁵⁵ and the second up
    to 2. What is added to the first one's fraction is below 2⁵ and right to 2⁻⁴⁶, and digits that
    are still unknown move it by less than σ·2⁻¹¹³.
    """
    unit = sigma * UNIT
    near = place.astype(np.float64)
    first = near * unit
    (a, b), (c, d) = _halves(near), _halves(unit)
    second = ((a * c - first) + a * d + b * c) + b * d
    whole = np.floor(first)
    y = (first - whole) + second + more * (2.0**-64 * unit) + (offsets + 0.5)
    x = np.floor(y)
    return whole.astype(np.int64) + x.astype(np.int64), np.abs(y - x - 0.5) > 0.5 - 2.0**-44


def widely(
    place: Ints, more: NDArray[np.uint64], sigma: Fraction, offsets: Floats | float
) -> tuple[NDArray[np.object_], Bools]:
    """The same for any larger σ, in whole numbers of Python.

    y is known in steps of 2⁻⁴⁸: σz is rounded down, by less than a step, the offset by half of one,
    and digits that are still unknown move y by less than σ·2⁻¹¹³.
    """
    top, bottom = sigma.as_integer_ratio()
    known = (place.astype(object) << 64) + more.astype(object)  # z in units of 2⁻¹¹³
    y = ((known * top) << 48) // (bottom << (R_BITS + WIDTH_BITS + 64))
    y += np.rint((np.zeros(place.shape) + offsets + 0.5) * 2.0**48).astype(np.int64)
    margin = (top >> 64) // bottom + 4
    rest = (y & (1 << 48) - 1).astype(np.int64)
    unclear: Bools = (rest < margin) | (rest > (1 << 48) - margin)
    return y >> 48, unclear


def _halves(number: Any) -> tuple[Any, Any]:
    """Two floats of half as many digits that add up to it, exactly, for each number."""
    far = number * (2.0**27 + 1)
    upper = far - (far - number)
    return upper, number - upper


class Digits:
    """The signed step s, j steps from the middle, and R and V as far as they are known."""

    __slots__ = ("chance", "j", "place", "step")

    def __init__(self, *, step: int, place: Uniform, chance: Uniform) -> None:
        self.step, self.place, self.chance = step, place, chance
        self.j = max(step, ~step)

    def ends(self) -> tuple[int, int]:
        """z lies in [low, high]·2^−(digits of R + 6)."""
        low = (self.step << self.place.width) + self.place.value
        return low, low + 1

    def squares(self) -> tuple[Fraction, Fraction]:
        """Exact lower and upper ends of z²."""
        low, high = sorted(end * end for end in self.ends())
        scale = 1 << (2 * (self.place.width + WIDTH_BITS))
        return Fraction(low, scale), Fraction(high, scale)

    def rounded(self, sigma: Fraction, offset: float) -> int:
        """⌊offset + ½ + σz⌋, exactly."""
        top, bottom = offset.as_integer_ratio()
        while True:
            # offset + ½ + σz = ((2·top + bottom)·scale + 2·bottom·p·z·2ᵇ) / (2·bottom·scale), with
            # σ = p/q and scale = q·2ᵇ
            scale = sigma.denominator << (self.place.width + WIDTH_BITS)
            fixed, slope = (2 * top + bottom) * scale, 2 * bottom * sigma.numerator
            whole = 2 * bottom * scale
            low, high = self.ends()
            x = (fixed + slope * low) // whole
            if fixed + slope * high <= (x + 1) * whole:  # z = high has probability 0
                return x
            self.place.extend()

    def roughly(self, sigma: float, offset: float) -> int | None:
        """The same from a float64, with the margin of `floors`; None if that is too close to tell.

        Integers of Python take longer the more digits they have, and the time would tell the noise:
        they are left for the few that floats cannot decide.
        """
        if self.place.width < R_BITS:
            return None
        y = sigma * math.ldexp(self.ends()[0], -self.place.width - WIDTH_BITS) + (offset + 0.5)
        x = math.floor(y)
        margin = sigma * 2.0**-46 + 2.0**-49
        return x if abs(y - x - 0.5) <= 0.5 - margin else None

    def verdict(self, t: float) -> bool | None:
        """Is V < exp(−t²/2)/hⱼ? From a float64 t, or None if that is too close to tell."""
        if self.j >= STEPS:
            return None
        height = max(0.0, (self.j - 0.5) * 2.0**-WIDTH_BITS)
        chance = math.exp((height * height - t * t) / 2)
        unit = 2.0**-self.chance.width
        v = self.chance.value * unit
        if v + unit < chance - EXP_MARGIN:
            return True
        return False if v > chance + EXP_MARGIN else None

    def kept(self, squares: Callable[[], tuple[Fraction, Fraction]]) -> bool:
        """The same with certainty; `squares` tells the ends of t², as well as R is known."""
        start = Fraction(max(0, 2 * self.j - 1) ** 2, 1 << (2 * WIDTH_BITS + 2))
        while True:
            least, most = squares()
            if self.chance.value < exp_bounds((start - most) / 2, self.chance.width)[0]:
                return True
            if self.chance.value >= exp_bounds((start - least) / 2, self.chance.width)[1]:
                return False
            self.place.extend()
            self.chance.extend()


class Target(Protocol):
    """What is made of z, and how far out it counts as."""

    sigma: Fraction
    sigma_float: float
    fine: bool
    """Whether `floors` would leave many open, and `finely` or `widely` is needed."""

    def reach(self, place: Ints) -> tuple[Floats, Bools]:
        """±t in float64, and where that is not certain."""

    def settle(self, digits: Digits, offset: float) -> int | None:
        """x exactly, or None if the proposal is not kept."""


class Rounded:
    """⌊offset + ½ + σZ⌋ for a real standard normal Z."""

    def __init__(self, sigma: Fraction) -> None:
        self.sigma, self.sigma_float = sigma, float(sigma)
        self.fine = sigma > LARGEST_WORD or FINE <= sigma == Fraction(self.sigma_float)

    def reach(self, place: Ints) -> tuple[Floats, Bools]:
        """The places as floats z, none in doubt."""
        return np.multiply(place, UNIT), np.zeros(place.shape, dtype=np.bool_)

    def settle(self, digits: Digits, offset: float) -> int | None:
        """Kept or not, then rounded."""
        kept = digits.verdict(math.ldexp(digits.ends()[0], -digits.place.width - WIDTH_BITS))
        if kept is None:
            kept = digits.kept(digits.squares)
        if not kept:
            return None
        x = digits.roughly(self.sigma_float, offset)
        return digits.rounded(self.sigma, offset) if x is None else x


class Discrete:
    """x with probability proportional to exp(−x²/2σ²), for σ ≥ 64 and offset 0."""

    fine = False

    def __init__(self, sigma: Fraction) -> None:
        self.sigma, self.sigma_float = sigma, float(sigma)

    def reach(self, place: Ints) -> tuple[Floats, Bools]:
        """x/σ of the places, and which are in doubt."""
        x, doubtful = floors(place, self.sigma_float, 0.0)
        x /= self.sigma_float
        return x, doubtful

    def settle(self, digits: Digits, offset: float) -> int | None:
        """Rounded, then kept or not."""
        x = digits.rounded(self.sigma, offset)
        kept = digits.verdict(x / self.sigma_float)
        if kept is None:
            square = (x / self.sigma) ** 2
            kept = digits.kept(lambda: (square, square))
        return x if kept else None
