"""What floats decide about a draw is exact, also within an ulp of an edge."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from deniable.sampling.gaussian.digits import (
    R_BITS,
    UNIT,
    V_BITS,
    Digits,
    Discrete,
    Rounded,
    finely,
    floors,
    widely,
)
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


@pytest.mark.parametrize(
    ("sigma", "fine"),
    [
        (Fraction(2**40), True),
        (Fraction(2**40) - Fraction(1, 2**10), False),
        (Fraction(2**46 + 1, 3), False),
        (Fraction(2**52), True),
        (Fraction(2**52) + Fraction(1, 3), True),
        (Fraction(10**40, 7), True),
        (Fraction(1, 3), False),
    ],
)
def test_more_digits_are_drawn_where_a_float_holds_sigma_and_is_too_coarse(sigma, fine):
    assert Rounded(sigma).fine is fine
    assert Discrete(sigma).fine is False


def proposed(j, chance, *, step=None, width=V_BITS):
    source = SeededSource(1)
    return Digits(
        step=j if step is None else step,
        place=Uniform(source, width=R_BITS, value=0),
        chance=Uniform(source, width=width, value=chance),
    )


@pytest.mark.parametrize("j", [0, 1, 2, 200, 549])
@pytest.mark.parametrize("width", [V_BITS, 48])
@pytest.mark.parametrize("inside", [0.0, 0.5, 1.0])
def test_a_float_judges_a_proposal_except_within_its_margin(j, width, inside):
    """V < exp((h² − t²)/2), h = (j − ½)/64, or 0 in the first step."""
    height, t = max(0.0, (j - 0.5) / 64), (j + inside) / 64
    chance = mpmath.exp((mpmath.mpf(height) ** 2 - mpmath.mpf(t) ** 2) / 2)
    edge = chance * 2**width
    margin = mpmath.mpf(2) ** (width - 40)
    for far in (1.01, 1.5, 100, 2**12):
        below, above = int(edge - far * margin) - 2, int(edge + far * margin) + 2
        assert proposed(j, max(0, below), width=width).verdict(t) is True
        if above < 2**width:
            assert proposed(j, above, width=width).verdict(t) is False
    if width == 48:
        assert proposed(j, int(edge), width=width).verdict(t) is None
    assert proposed(j, 0, step=~j).verdict(t) is True
    assert proposed(550, 0).verdict(8.6) is None


@pytest.mark.parametrize("j", [0, 1, 2, 300])
def test_exact_judgements_are_right_next_to_the_edge(j):
    start = Fraction(max(0, 2 * j - 1) ** 2, 2**14)
    square = Fraction((2 * j + 1) ** 2, 2**14)
    with mpmath.workprec(300):
        edge = int(
            mpmath.floor(mpmath.exp(-mpmath.mpf(int((square - start) * 2**14)) / 2**15) * 2**100)
        )
    for value, kept in ((edge - 3, True), (edge + 3, False)):
        assert proposed(j, value, width=100).kept(lambda: (square, square)) is kept
