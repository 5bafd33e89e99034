"""Lattices and bins of a value: fine enough, never too wide, and centred where that is exact."""

import itertools
import math
from fractions import Fraction

import pytest

from deniable.errors import UnsupportedQuery
from deniable.query.aggregates.tallies import Measure, Tally, grid, middle, on_lattice
from deniable.query.algebra import EXACT, Column, Domain, Kind, call, literal
from deniable.sampling import Lattice
from deniable.workload.moves import Moves

NOWHERE = Moves(l1=0, l2_squared=0, linf=0)


def value(low, high, kind=None):
    kind = kind or (Kind.INT if isinstance(low, int) else Kind.FLOAT)
    return Column(name="x", domain=Domain(kind=kind, low=low, high=high))


REALS = [
    (0.0, 1.0),
    (-3.0, 100.0),
    (-100.0, 3.0),
    (1e-280, 2e-280),
    (-1e130, 1e-5),
    (7.0, 7.0),
    (-0.1, 0.3),
]


@pytest.mark.parametrize("ends", REALS)
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("squared", [False, True])
def test_reals_have_2_to_the_30_steps_or_more_and_at_most_2_to_the_32(ends, centred, squared):
    centre = middle(value(*ends)) if centred else 0.0
    lattice, low, high = on_lattice(value(*ends), centre=centre, squared=squared)
    first, last = (Fraction(end) - Fraction(centre) for end in ends)
    if squared:
        first, last = Fraction(0), max(first**2, last**2)
    most, width = max(abs(first), abs(last)), Fraction(2) ** lattice.exponent
    assert max(abs(low), abs(high)) <= 2**32
    if most and lattice.exponent > -960:
        assert 2**30 <= most / width <= 2**32
    if not most:
        assert lattice.exponent == 0
    for end, point in ((first, low), (last, high)):
        assert abs(point * width - end) <= width / 2


@pytest.mark.parametrize("ends", [(0, 125), (-7, 3), (0, 2**40), (-(2**40), 0), (5, 5)])
def test_whole_numbers_of_40_bits_stay_as_they_are(ends):
    for centre in (0, ends[0]):
        lattice, low, high = on_lattice(value(*ends), centre=centre, squared=False)
        if max(abs(end - centre) for end in ends) <= 2**40:
            assert (lattice.exponent, low, high) == (0, ends[0] - centre, ends[1] - centre)


@pytest.mark.parametrize("ends", [(0, 2**40 + 1), (-(2**40) - 1, 0), (0, 2**62)])
def test_larger_ones_are_put_on_a_lattice(ends):
    lattice, low, high = on_lattice(value(*ends), centre=0, squared=False)
    assert lattice.exponent > 0
    assert max(-low, high) <= 2**32


@pytest.mark.parametrize(
    ("ends", "squared", "refused"),
    [((0.0, 1e270), False, False), ((0.0, 1e290), False, True), ((-1e290, 0.0), False, True),
     ((0.0, 1e135), True, False), ((0.0, 1e145), True, True)],
)  # fmt: skip
def test_bounds_too_far_from_zero_are_refused(ends, squared, refused):
    if not refused:
        on_lattice(value(*ends), centre=0.0, squared=squared)
        return
    with pytest.raises(UnsupportedQuery, match="too far from 0"):
        on_lattice(value(*ends), centre=0.0, squared=squared)


@pytest.mark.parametrize(
    ("ends", "centre"),
    [((0, 125), 62.0), ((-125, 0), -62.0), ((-7, 4), -1.0), ((-4, 7), 1.0), ((3, 4), 3.0),
     ((-4, -3), -3.0), ((0.0, 1.0), 0.5), ((-3.0, 1.0), -1.0), ((1e308, 1.7e308), 1.35e308),
     ((-1.0, 1.0), 0.0)],
)  # fmt: skip
def test_the_middle_of_whole_numbers_is_whole_and_the_one_nearer_zero(ends, centre):
    assert middle(value(*ends)) == centre


def test_the_middle_of_whole_numbers_beyond_exact_floats_is_not_used():
    assert middle(value(EXACT, EXACT)) == EXACT
    assert middle(value(EXACT, EXACT + 2)) == 0.0
    assert middle(value(-EXACT - 2, -EXACT)) == 0.0


@pytest.mark.parametrize(
    ("low", "high"), [(0, 9), (-5, 4), (EXACT - 9, EXACT), (-EXACT, -EXACT + 9)]
)
def test_few_whole_numbers_have_a_bin_each(low, high):
    for most in (10, 11):
        found = grid(value(low, high), at_most=most)
        assert (found.count, found.whole, found.low, found.high) == (10, True, low, high)
    assert not grid(value(low, high), at_most=9).whole
    assert grid(value(low, high), at_most=9).count == 9


@pytest.mark.parametrize(("low", "high"), [(EXACT, EXACT + 1), (-EXACT - 1, -EXACT)])
def test_whole_numbers_that_floats_do_not_tell_apart_have_no_bin_each(low, high):
    assert not grid(value(low, high), at_most=64).whole


def test_reals_have_as_many_bins_as_are_allowed_and_one_where_there_is_no_width():
    assert grid(value(0.0, 9.0), at_most=64).count == 64
    assert not grid(value(0.0, 9.0), at_most=64).whole
    assert grid(value(7.0, 7.0), at_most=64).count == 1
    assert grid(value(0.0, 5e-324), at_most=64).count == 1
    with pytest.raises(UnsupportedQuery, match="too far apart"):
        grid(value(-1.7e308, 1.7e308), at_most=64)


@pytest.mark.parametrize(("exponent", "denominator"), [*itertools.product([-3, 0, 5], [1, 2**20])])
def test_one_in_a_cell_is_worth_a_step_of_a_weight(exponent, denominator):
    lattice = Lattice(exponent=exponent)
    given = {"name": "t", "measure": Measure.SUM, "moves": NOWHERE}
    tally = Tally(lattice=lattice, denominator=denominator, **given)
    assert tally.unit == Fraction(2) ** exponent / denominator


@pytest.mark.parametrize(
    ("power", "exponent"), [(931, 900), (932, None), (-929, -960), (-990, -960)]
)
def test_the_coarsest_and_the_finest_lattice_are_those_that_lattices_allow(power, exponent):
    ends = value(0.0, 2.0**power)
    if exponent is None:
        with pytest.raises(UnsupportedQuery, match="too far from 0"):
            on_lattice(ends, centre=0.0, squared=False)
    else:
        assert on_lattice(ends, centre=0.0, squared=False)[0] == Lattice(exponent=exponent)


def test_a_middle_too_small_for_a_float_is_zero_without_a_sign():
    assert math.copysign(1.0, middle(value(-5e-324, 0.0))) == 1.0


X = value(0.0, 9.0)
FEW = call("gt", X, literal(1.0))


@pytest.mark.parametrize(
    ("measure", "given", "text"),
    [
        (Measure.COUNT, {}, "the number of rows"),
        (Measure.COUNT, {"value": X}, "the number of x"),
        (Measure.COUNT, {"where": FEW}, "the number of rows where x > 1"),
        (Measure.SUM, {"value": X}, "the sum of x"),
        (Measure.SUM, {"value": X, "centre": 4.5}, "the sum of x − 4.5"),
        (
            Measure.SUM,
            {"value": X, "centre": 4.5, "where": FEW},
            "the sum of x − 4.5 where x > 1",
        ),
        (Measure.SQUARES, {"value": X, "centre": 4.5}, "the sum of squares of x − 4.5"),
        (Measure.HISTOGRAM, {"value": X}, "the histogram of x"),
        (Measure.DISTINCT, {"value": X}, "the number of distinct values of x"),
        (Measure.PERSONS, {}, "the number of people"),
    ],
)
def test_a_tally_says_what_it_adds_up(measure, given, text):
    assert Tally(name="t", measure=measure, moves=NOWHERE, **given).text == text
