"""A coin of probability exp(−E), where E is a sum over rows: from a few rows drawn at random.

E is what a tangent of the sum of losses misses, at a proposal x. With w = x − p, and for each row
z = a·p − t, u = a·w and a slope s that is φ′(z) up to γ,

    E   = rest + Σᵢ Rᵢ,     Rᵢ = b·(φ(z + u) − φ(z) − s·u) + h‖w‖²/4n + c
    rest = l·w + h‖w‖²/4 + ‖l‖²/h,      c = n(bγ)²/h

l is what rounding left of the gradient, and h what the proposals spared of the ridge.

Signs      φ is convex and ‖a‖ ≤ 1, so φ(z + u) − φ(z) − s·u ≥ −γ‖w‖, and h‖w‖²/4n + c ≥ bγ‖w‖;
           likewise rest ≥ 0. So E ≥ 0. From above, Rᵢ ≤ b·(min(max φ″·‖w‖²/2, 2‖w‖) + γ‖w‖) +
           h‖w‖²/4n + c: the same for all rows.
Few rows   Let M be a whole number, at least n times that bound. Then the number q = nRᵢ/M is a
           chance, and for a row i drawn at random, heads with chance q is heads with chance ΣRᵢ/M:
           no sum over the rows is needed. M coins of probability exp(−ΣRᵢ/M) make the one of
           exp(−ΣRᵢ). Each is von Neumann's: draw heads of chance ΣRᵢ/(M·k) for k = 1, 2, … until
           the first tails; that this is at an odd k has the probability 1 − r + r²/2! − … = e⁻ʳ.
           M is about d times E: most of the n rows are not looked at.
Exactly    A uniform number is compared with q: in floats with a margin of 2⁻⁴⁴, and, if that does
           not decide, in exact arithmetic, with more digits of the same uniform number.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deniable.sampling import below, bernoulli_exp
from deniable.sampling.lazy import Uniform
from deniable.sampling.source import current

from .objectives import STEP, Rows
from .restricted import Floats, Integers

_MARGIN = 2.0**-44
_AT_ONCE = 1 << 8


@dataclass(frozen=True, kw_only=True)
class Tangent:
    """The tangent at p, on a lattice of this width: rounded slopes, what is left and in hand.

    `norm` is at least the length of every point that may be proposed, `off` is γ.
    """

    rows: Rows
    weight: float
    width: float
    norm: float
    point: Integers
    slopes: Floats
    off: float
    left: tuple[list[int], int]
    hand: Fraction

    def kept(self, proposal: Integers) -> bool:
        """A coin of probability exp(−E), exactly."""
        move = proposal - self.point
        return bool(bernoulli_exp(self.rest(move))[0]) and self._rows_agree(move)

    def rest(self, move: Integers) -> Fraction:
        """What does not come from rows, exactly."""
        numbers, below_ = self.left
        moves = move.tolist()
        linear = Fraction(sum(map(operator.mul, numbers, moves)), below_) * Fraction(self.width)
        return linear + self.hand / 4 * self._square(moves) + self._slack

    @cached_property
    def _slack(self) -> Fraction:
        numbers, below_ = self.left
        return Fraction(sum(x * x for x in numbers), below_**2) / self.hand

    def _square(self, moves: list[int]) -> Fraction:
        return sum(x * x for x in moves) * Fraction(self.width) ** 2

    # ---- the part of the rows

    def _rows_agree(self, move: Integers) -> bool:
        units = self.units(move)
        return all(
            self._units_agree(move, units, min(_AT_ONCE, units - start))
            for start in range(0, units, _AT_ONCE)
        )

    def _units_agree(self, move: Integers, units: int, count: int) -> bool:
        """So many of von Neumann's coins at once: whether none ends at an even k."""
        turn = 1
        while count:
            heads = self._heads(move, units, count)
            if turn > 1:
                heads &= below(turn, count) == 0
            if turn % 2 == 0 and not heads.all():
                return False
            count, turn = int(heads.sum()), turn + 1
        return True

    def units(self, move: Integers) -> int:
        """The whole number M of coins; see above."""
        length = float(np.linalg.norm(move.astype(np.float64))) * self.width
        bent = min(self.rows.link.sharpest * length**2 / 2, 2 * length)
        most = self.weight * (bent + self.off * length) + self._spared(length)
        return math.ceil(len(self.rows.points) * most * (1 + 2.0**-30))

    def _spared(self, length: float) -> float:
        return float(self.hand) * length**2 / (4 * len(self.rows.points)) + self.constant

    @cached_property
    def constant(self) -> float:
        """c, or a little more."""
        square = len(self.rows.points) * (self.weight * self.off) ** 2
        return square / float(self.hand) * (1 + 2.0**-30)

    def _heads(self, move: Integers, units: int, count: int) -> NDArray[np.bool_]:
        """Each with chance nR/M, for a row drawn at random."""
        size = len(self.rows.points)
        chosen = below(size, count)
        about, doubt = self.terms(move, chosen)
        words = current().words(count)
        level = words * (units / size * 2.0**-64)
        heads = level < about
        unclear = np.abs(level - about) <= doubt + (level + units / size * 2.0**-10) * _MARGIN
        for i in np.flatnonzero(unclear).tolist():
            heads[i] = self._is_head(move, units, int(chosen[i]), int(words[i]))
        return heads

    def terms(self, move: Integers, chosen: Integers) -> tuple[Floats, Floats]:
        """R of these rows, and at most how far these floats are from them.

        φ is 1-Lipschitz, so that errors of its arguments, d·2⁻⁵¹ of lengths, add up.
        """
        rows, width = self.rows, self.width
        ends = np.stack([self.point, move], axis=1).astype(np.float64) * (width * STEP)
        products = rows.beside[chosen].astype(np.float64) @ ends
        z, u = products[:, 0] - rows.targets[chosen], products[:, 1]
        rise = rows.link.value(z + u) - rows.link.value(z) - self.slopes[chosen] * u
        length = float(np.linalg.norm(move.astype(np.float64))) * width
        spared = self._spared(length)
        sizes = np.abs(z) + np.abs(u) + np.abs(rows.targets[chosen])
        places = len(move) * (self.norm + length) * 2.0**-5
        doubt = _MARGIN * (self.weight * (sizes + places + 2) + spared)
        return self.weight * rise + spared, doubt

    def _is_head(self, move: Integers, units: int, row: int, word: int) -> bool:
        coin = Uniform(current(), value=word)
        while True:
            one = Fraction(units, len(self.rows.points) << coin.width)
            low, high = self.exactly(move, row, coin.width + 16)
            if (coin.value + 1) * one <= low:
                return True
            if coin.value * one >= high:
                return False
            coin.extend()

    def exactly(self, move: Integers, row: int, bits: int) -> tuple[Fraction, Fraction]:
        """Bounds on R of one row, as near as wanted, in whole numbers."""
        rows, size = self.rows, len(self.rows.points)
        numbers = [int(x) for x in rows.beside[row].tolist()]
        scale = Fraction(self.width) * Fraction(STEP)
        before, u = (
            sum(map(operator.mul, numbers, end.tolist())) * scale for end in (self.point, move)
        )
        before -= Fraction(float(rows.targets[row]))
        bits += 8 + max(math.frexp(self.weight)[1], 0)
        (a, b), (c, d) = (rows.link.bounds(z, bits) for z in (before, before + u))
        known = self.hand / (4 * size) * self._square(move.tolist()) + Fraction(self.constant)
        known -= Fraction(self.weight) * Fraction(float(self.slopes[row])) * u
        below_, above = (Fraction(self.weight) * Fraction(e, 1 << bits) for e in (c - b, d - a))
        return below_ + known, above + known
