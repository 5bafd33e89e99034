"""Normal draws restricted to balls, intervals and sums: exact, however little lies inside."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from deniable.sampling import below, bernoulli_exp, rounded_gaussian

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
"""Machine words, or whole numbers of Python where 64 bits are too few for a lattice."""
_NODES = np.polynomial.legendre.leggauss(24)


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """Normal draws around `center`, each row restricted to its own ball; all in lattice steps.

    A proposal has the larger precision a + λ and the center moved towards the middle, so that it
    falls near the boundary rather than far outside:

        −a‖x − c‖²/2 = −(a + λ)‖x − c′‖²/2 + λ‖x‖²/2 + r·x + const,    r = ac − (a + λ)c′

    with x and c relative to the middle of the ball. As ‖x‖ ≤ R, keeping a proposal inside with
    probability exp(−λ(R² − ‖x‖²)/2 + r·x − ‖r‖R) restores the density exactly, for any λ ≥ 0. c′
    lies on the lattice, and r is what that rounding left.
    """

    center: Integers
    middle: Integers
    radius: Floats
    sigma: float

    def draw(self) -> Integers:
        """One draw per row; rows that were not kept are drawn again."""
        tilt, from_middle = self._tilt(), self.center - self.middle
        narrow = self.sigma / np.sqrt(1 + tilt)
        inwards = whole(from_middle.astype(np.float64) / (1 + tilt)[:, None], from_middle.dtype)
        aim = np.where(tilt[:, None] > 0, inwards, from_middle)  # no coin corrects an untilted one
        coins = {
            i: _Coin.of(from_middle[i], aim[i], float(narrow[i]), float(self.radius[i]), self.sigma)
            for i in np.flatnonzero(tilt).tolist()
        }
        out = np.empty_like(self.center)
        left = np.arange(len(out))
        while left.size:
            drawn = aim[left]
            for each in set(narrow[left].tolist()):
                like = narrow[left] == each
                count = int(like.sum()) * out.shape[1]
                steps = rounded_gaussian(each, 0.0, count)
                drawn[like] += steps.astype(out.dtype).reshape(-1, out.shape[1])
            kept = self._kept(drawn, left, coins)
            out[left[kept]] = drawn[kept]
            left = left[~kept]
        return out + self.middle

    def _tilt(self) -> Floats:
        """λ/a per row, 0 well inside: about the least with ‖c′‖² + d/(a + λ) ≤ R².

        The root of a quadratic in q = 1/(1 + λ/a): any λ is right.
        """
        length = np.linalg.norm((self.center - self.middle).astype(np.float64), axis=1)
        square = self.center.shape[1] * self.sigma**2
        root = np.sqrt(square**2 + (2 * length * self.radius) ** 2)
        tilt = np.maximum((square + root) / (2 * self.radius**2) - 1, 0.0)
        return np.where(tilt > 2.0**-30, tilt, 0.0)

    def _kept(self, drawn: Integers, rows: Integers, coins: dict[int, _Coin]) -> NDArray[np.bool_]:
        near, radius = drawn.astype(np.float64), self.radius[rows]
        room = radius**2 - (near**2).sum(axis=1)
        close = np.abs(room) <= 4 * radius * (2 + math.sqrt(near.shape[1])) + 2.0**-40 * radius**2
        inside: NDArray[np.bool_] = room > 0
        for i in np.flatnonzero(close).tolist():
            inside[i] = _within(drawn[i], float(radius[i]))
        for i in np.flatnonzero(inside).tolist():
            if (coin := coins.get(int(rows[i]))) is not None:
                inside[i] = bernoulli_exp(coin.late(drawn[i]))[0]
        return inside


@dataclass(frozen=True, kw_only=True)
class _Coin:
    """λ(R² − ‖x‖²)/2 + ‖r‖R − r·x in whole numbers over one denominator: the coin is exact."""

    rest: list[int]
    tilt: int
    least: int
    below: Fraction

    @staticmethod
    def of(center: Integers, aim: Integers, narrow: float, radius: float, sigma: float) -> _Coin:
        """With r·σ² = c − c′·σ²/σ′² exactly, σ′ what proposals were drawn with; ‖r‖R rounded up."""
        top, bottom = ((Fraction(sigma) / Fraction(narrow)) ** 2).as_integer_ratio()
        pairs = zip(center.tolist(), aim.tolist(), strict=True)
        rest = [2 * (bottom * c - top * a) for c, a in pairs]
        length = math.isqrt(sum(r * r for r in rest)) + 1
        far = math.ceil(radius)
        return _Coin(
            rest=rest,
            tilt=top - bottom,
            least=(top - bottom) * far**2 + length * far,
            below=1 / (2 * bottom * Fraction(sigma) ** 2),
        )

    def late(self, point: Integers) -> Fraction:
        """−ln of the probability; a cell's middle may lie just outside."""
        numbers = point.tolist()
        spent: int = sum(self.tilt * x * x + r * x for x, r in zip(numbers, self.rest, strict=True))
        return max(self.least - spent, 0) * self.below


def whole(numbers: Floats, kind: np.dtype[Any]) -> Integers:
    """Rounded to whole numbers of a kind, exactly, however large they are."""
    near = np.rint(numbers)
    if kind.kind != "O":
        return near.astype(np.int64)
    found = np.empty(near.shape, dtype=object)
    found.ravel()[:] = [int(x) for x in near.ravel().tolist()]
    return found


def _within(point: Integers, radius: float) -> bool:
    """Whether the real point that was rounded to this one lies in the ball.

    Within its cell it is uniform up to the second order of the cell's width; 40 more digits of it
    decide, in whole numbers.
    """
    cells = [(int(x) << 40) + int(v) - (1 << 39) for x, v in _digits(point)]
    return sum(x * x for x in cells) <= int(radius * 2.0**40) ** 2


def is_above(rest: int, others: int) -> bool:
    """Whether what the sum of real points leaves is above 0, as `_within` decides it."""
    if abs(rest) > others:
        return rest > 0
    digits = below(1 << 40, others)
    return (rest << 40) - sum(int(v) - (1 << 39) for v in digits) > 0


def _digits(point: Integers) -> list[tuple[int, int]]:
    return list(zip(point.tolist(), below(1 << 40, point.size).tolist(), strict=True))


def shift(center: Floats, sigma: float, whole: float) -> float:
    """About the t with Σ E[x | x ≥ 0] = whole for x ~ N(c − t, σ²); any t is right."""
    low = float(center.min()) - whole  # where that coordinate alone has the whole, or more
    high = float(center.max()) + 2 * sigma * center.size
    for _ in range(30):
        middle = (low + high) / 2
        total = float(means_above(center - middle, sigma).sum())
        low, high = (middle, high) if total > whole else (low, middle)
    return (low + high) / 2


def means_above(center: Floats, sigma: float) -> Floats:
    """The means of N(c, σ²) given that they are above 0, to a few digits."""
    z = np.maximum(center / sigma, -1e4)  # beyond that, differences lose their digits
    above: Floats = sigma * (z + math.sqrt(2 / math.pi) / special.erfcx(-z / math.sqrt(2)))
    return np.maximum(above, 0.0)


def means_within(center: Floats, sigma: float, half: Floats) -> Floats:
    """The means of N(c, σ²) given that they are within ±h, to a few digits, by quadrature.

    The nodes cover the part next to the mode that holds nearly all of the mass.
    """
    side, far = np.where(center < 0, -1.0, 1.0), np.abs(center)
    mode = np.minimum(far, half)
    outside = np.maximum(far - half, 0.0)
    below = np.minimum(mode + half, np.minimum(7 * sigma, 40 * sigma**2 / (outside + 2.0**-900)))
    above = np.minimum(half - mode, 7 * sigma)
    nodes, weights = _NODES
    x = mode[:, None] + (above - below)[:, None] / 2 + np.outer((above + below) / 2, nodes)
    rise = (x - mode[:, None]) * (x + mode[:, None] - 2 * far[:, None]) / (2 * sigma**2)
    mass = weights * np.exp(-np.maximum(rise, 0.0))
    found: Floats = side * (mass * x).sum(axis=1) / mass.sum(axis=1)
    return found
