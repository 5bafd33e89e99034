"""Skellam noise, exactly: the difference of two independent Poisson numbers of the same mean.

A Skellam number of variance v has P(X = k) = e^(−v)·I_|k|(v), I being the modified Bessel function
[Ske46]. Only ratios of neighbours are needed: rₖ = I_{k+1}(v)/I_k(v) obeys the recurrence

    r_{k−1} = 1/(2k/v + rₖ),        0 < rₖ < v/(2k + 2)

which shrinks intervals when it runs downward. So the weights ωₖ = I_k/I_0 = r₀·r₁⋯r_{k−1} are known
between two integers to as many digits as a draw needs, and the alias table of `gaussian.table`,
which is exact whatever the weights are, does the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.errors import BadParameter
from deniable.parameters import rational, whole

from .gaussian.table import AliasTable, alias_table
from .source import Source, chosen

Integers = NDArray[np.int64]

LARGEST_VARIANCE = 2**22


def skellam(
    variance: Fraction | float, count: int = 1, *, source: Source | None = None
) -> Integers:
    """Differences of two independent Poisson numbers of mean variance/2, each exact.

    The sum of independent draws is a draw of the summed variance, which is why parties can each
    add a share. The variance is taken exactly, whether a Fraction, an int or a float.

    >>> skellam(2.5, 1000).shape
    (1000,)
    """
    table, size = _table(checked(variance)), whole("count", count, least=0)
    return table.many(size, chosen(source))


def checked(variance: object) -> Fraction:
    """The variance, if a table of that width can be made."""
    exact = rational("variance", variance)
    if exact > LARGEST_VARIANCE:
        raise BadParameter.of(
            "variance",
            variance,
            must=f"at most 2²² = {LARGEST_VARIANCE:,}",
            why="Skellam noise is tabulated, one cell for each whole number that can occur",
            fix="count in coarser units: divide the numbers by a public factor",
        )
    return exact


@dataclass(frozen=True, kw_only=True)
class BesselWeights:
    """ωₖ = I_k(v)/I_0(v) for k = 0, 1, 2, …; ω₀ is halved, because 0 comes with both signs."""

    variance: Fraction

    def floats(self) -> NDArray[np.float64]:
        """The weights down to 2⁻⁵³ or so, each within 2⁻⁵⁰ of itself."""
        pairs, _ = self.bounds(160)
        weights = np.array([float(Fraction(lo + hi, 2 << 160)) for lo, hi in pairs])
        kept: NDArray[np.float64] = weights[weights > 2.0**-60]
        return kept

    def bounds(self, bits: int) -> tuple[list[tuple[int, int]], int]:
        """Certified lo ≤ ωₖ·2ᵇⁱᵗˢ ≤ hi for k = 0 … K − 1, and a bound on the sum beyond.

        rₖ falls with k, so the weights from K on sum to at most ω_K/(1 − r_K).
        """
        work = bits + 96
        last = math.isqrt(math.ceil(self.variance * bits)) * 2 + bits + 16
        while True:
            ratios = self._ratios(last, work)
            pairs: list[tuple[int, int]] = []
            low = high = 1 << work
            for least, most in ratios:
                if low >> (work - bits) == 0:
                    rest = Fraction(high, 1 << (work - bits)) / (1 - Fraction(most, 1 << work))
                    half = 1 << (bits - 1)
                    return [(half, half), *pairs[1:]], math.ceil(rest)
                pairs.append((low >> (work - bits), -(-high >> (work - bits))))
                low, high = low * least >> work, -(-high * most >> work)
            last *= 2

    def _ratios(self, last: int, work: int) -> list[tuple[int, int]]:
        """Integers lo ≤ rₖ·2ʷᵒʳᵏ ≤ hi for k = 0 … last − 1."""
        top, bottom = self.variance.numerator, self.variance.denominator
        one, step = 1 << (2 * work), 2 * bottom << work
        low, high = 0, -(-(top << work) // ((2 * last + 2) * bottom))
        ratios = []
        for k in range(last, 0, -1):
            least = step * k // top
            low, high = one // (least + 1 + high), -(-one // (least + low))
            ratios.append((low, high))
        return ratios[::-1]


@lru_cache(maxsize=16)
def _table(variance: Fraction) -> AliasTable:
    return alias_table(BesselWeights(variance=variance), mirror=0)
