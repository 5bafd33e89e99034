"""Laplace noise, exactly: on the integers, and on the reals rounded to a lattice."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import BadParameter
from deniable.parameters import rational, whole

from .inversion import Inversion
from .source import Source, chosen

Integers = NDArray[np.int64]
Number = Fraction | float


def discrete_laplace(scale: Number, count: int = 1, *, source: Source | None = None) -> Integers:
    """Integers x with probability (1 − q)/(1 + q)·q^|x|, q = e^(−1/scale), exactly.

    By inversion: P(|X| ≥ k) = 2qᵏ/(1 + q) for k ≥ 1, so |X| = ⌊s·(λ − ln U)⌋ with
    λ = ln(2/(1 + q)), and a fair sign. The law is that of [GRS12]; why it is drawn exactly is
    said in inversion.py. The result is int64; beyond a scale of 2⁵² it holds Python integers.

    >>> int(abs(discrete_laplace(3, 1000)).max()) < 3 * 60
    True
    """
    count = whole("count", count, least=0)
    return _law(scale, "discrete", count).draw(count, chosen(source))


def rounded_laplace(scale: Number, offsets: ArrayLike, *, source: Source | None = None) -> Integers:
    """⌊offset + ½ + scale·L⌋ for real standard Laplace noise L, exactly, in units of the lattice.

    Rounding what the ideal real mechanism returns is post-processing, so its price is the price
    [DMNS06]. Offsets are floats in [−1, 1], as Lattice.split makes them; the answer has their
    shape, and is int64 up to a scale of 2⁵².

    >>> rounded_laplace(2.0**20, [0.25, -0.5]).shape
    (2,)
    """
    rests = np.asarray(offsets, dtype=np.float64)
    if np.count_nonzero(np.abs(rests) <= 1) < rests.size:  # NaN is not counted either
        raise BadParameter(
            "offsets must be numbers from -1 to 1",
            why="they are what is left of a number when its lattice point is taken away",
            fix="points, offsets = lattice.split(values)",
        )
    law = _law(scale, "rounded", rests.size)
    return law.draw(rests.size, chosen(source), rests.ravel()).reshape(rests.shape)


def geometric(scale: Number, count: int = 1, *, source: Source | None = None) -> Integers:
    """Integers k ≥ 0 with P(G ≥ k) = e^(−k/scale), exactly: the floor of an exponential."""
    count = whole("count", count, least=0)
    return _law(scale, "geometric", count).draw(count, chosen(source))


def _law(scale: Number, kind: str, count: int) -> Inversion:
    if not isinstance(scale, Real):  # what cannot be hashed cannot be looked up
        raise BadParameter.of("scale", scale, must="a number above 0")
    if type(scale) is Fraction:  # the hash of a fraction takes longer than a draw
        return _cached_law(scale.numerator, scale.denominator, kind, single=count == 1)
    return _cached_law(scale, 1, kind, single=count == 1)


@lru_cache(maxsize=256, typed=True)
def _cached_law(top: Number, bottom: int, kind: str, *, single: bool) -> Inversion:
    exact = rational("scale", top if bottom == 1 else Fraction(top) / bottom)
    return Inversion(exact, centred=kind == "discrete", signed=kind != "geometric", single=single)
