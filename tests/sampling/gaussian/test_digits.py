"""What floats decide about a draw is exact, also within an ulp of an edge."""

import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.sampling.gaussian.digits import R_BITS, UNIT, Digits, finely, floors, widely
from deniable.sampling.lazy import Uniform
from deniable.sampling.seeded import SeededSource

SIGMAS = [2.0**-20, 2.0**-10, 0.3, 1.0, 57.0, 2.0**30]
LAST = (1 << R_BITS) - 1
PLACES = [(step, place) for step in (-300, -1, 0, 7, 549) for place in (0, 1, 1234567, LAST)]


def near_edges(sigma, z):
    """Offsets for which offset + ½ + σz is a whole number, but for an ulp or two on either side."""
    for edge in (-1, 0, 1):
        middle = float(edge - Fraction(1, 2) - Fraction(sigma) * z)
        near = [middle, math.nextafter(middle, 1e99), math.nextafter(middle, -1e99)]
        yield from (*near, math.nextafter(near[1], 1e99), math.nextafter(near[2], -1e99))
    yield from (0.5 - 2.0**-54, 0.5, -0.5, -0.5 + 2.0**-54, 0.25)


@pytest.mark.parametrize("sigma", SIGMAS)
def test_what_is_certain_in_floats_is_exact(sigma):
    told = 0
    for step, value in PLACES:
        source = SeededSource(1)
        place, chance = Uniform(source, width=R_BITS, value=value), Uniform(source)
        digits = Digits(step=step, place=place, chance=chance)
        ends = [Fraction(end) * Fraction(UNIT) for end in digits.ends()]
        for offset in near_edges(sigma, ends[0]):
            exact = [Fraction(offset) + Fraction(1, 2) + Fraction(sigma) * z for z in ends]
            first, last = math.floor(exact[0]), math.ceil(exact[1]) - 1  # the far end is not drawn
            found = digits.roughly(sigma, offset)
            assert found is None or first == found == last
            x, unclear = floors(np.array([digits.ends()[0]]), sigma, offset)
            assert unclear[0] or first == x[0] == last
            told += found is not None
    assert told, "and something is certain"


@pytest.mark.parametrize(
    ("way", "sigma"),
    [
        *((finely, sigma) for sigma in (2.0**40, 2.0**50 / 3, 2.0**52, 2.0**52 - 1)),
        *((widely, Fraction(sigma)) for sigma in (2**40, 2.0**52 + 1, 2.0**60 / 3, 3 * 2**62)),
        (widely, Fraction(2**66, 7)),
    ],
)
@pytest.mark.parametrize("offset", [0.0, 1.0, -1.0, 0.3])
def test_what_is_certain_with_64_more_digits_is_exact(way, sigma, offset):
    """At all distances from an edge, 2⁰ … 2⁶³ of the last of those digits."""
    told, open_ = 0, 0
    scale = Fraction(UNIT) / 2**64
    for step, value in PLACES:
        start = ((step << R_BITS) + value) << 64
        exact = Fraction(offset) + Fraction(1, 2) + Fraction(sigma) * start * scale
        edge = (math.floor(exact) + 1 - exact) / (Fraction(sigma) * scale)
        for away in [0, *(sign * 2**k for k in range(64) for sign in (-1, 1))]:
            ahead = math.floor(edge) + away
            ends = [exact + Fraction(sigma) * scale * (ahead + i) for i in (0, 1)]
            place, more = divmod(start + ahead, 2**64)
            x, unclear = way(np.array([place]), np.array([more], np.uint64), sigma, offset)
            assert unclear[0] or math.floor(ends[0]) == x[0] == math.ceil(ends[1]) - 1
            told, open_ = told + (not unclear[0]), open_ + bool(unclear[0])
    assert told > open_ > 0
