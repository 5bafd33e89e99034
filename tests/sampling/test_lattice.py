"""The grid: exact splitting, exact sensitivities, nothing but the integer in the answer."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.errors import BadParameter
from deniable.sampling import Lattice, rounded_laplace

finite = st.floats(allow_nan=False, allow_infinity=False)
modest = st.floats(-1e9, 1e9)
exponents = st.integers(-60, 30)


@settings(max_examples=300)
@given(values=st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=9), exponent=exponents)
def test_a_split_adds_up_exactly(values, exponent):
    grid = Lattice(exponent=exponent)
    points, rests = grid.split(values)
    for value, point, rest in zip(values, points.tolist(), rests.tolist(), strict=True):
        steps = Fraction(value) / Fraction(2) ** exponent
        if abs(steps) <= 2**62 and (value == 0 or abs(steps) >= Fraction(2) ** -1022):
            assert point + Fraction(rest) == steps
        assert abs(rest) <= 0.5


@given(value=finite, other=finite, exponent=st.integers(-960, 900))
def test_splitting_never_moves_two_values_apart(value, other, exponent):
    """Clamping and underflow included: by at most 2⁻¹⁰⁷⁴ steps."""
    points, rests = Lattice(exponent=exponent).split([value, other])
    ends = [
        point + Fraction(rest) for point, rest in zip(points.tolist(), rests.tolist(), strict=True)
    ]
    truth = abs(Fraction(value) - Fraction(other)) / Fraction(2) ** exponent
    assert abs(ends[0] - ends[1]) <= truth + Fraction(2) ** -1074
    assert max(map(abs, ends)) <= 2**62


@settings(max_examples=300)
@given(
    values=st.lists(st.one_of(finite, st.just(math.nan)), min_size=1, max_size=9),
    bounds=st.tuples(modest, modest).map(sorted),
    missing=modest,
    exponent=st.integers(-25, 30),
)
def test_records_are_rounded_half_up_and_stay_in_bounds(values, bounds, missing, exponent):
    grid, (low, high) = Lattice(exponent=exponent), bounds
    points = grid.to_grid(values, low=low, high=high, missing=missing).tolist()
    for value, point in zip(values, points, strict=True):
        known = missing if math.isnan(value) else value
        clipped = Fraction(min(max(known, low), high))
        assert point == math.floor(clipped / Fraction(2) ** exponent + Fraction(1, 2))
        assert grid.point(low) <= point <= grid.point(high)


def test_halves_go_up_and_neighbours_of_halves_do_not():
    grid = Lattice(exponent=0)
    values = [0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, 4503599627370497.5, -0.0]
    points = grid.to_grid(values, low=-1e16, high=1e16, missing=0)
    assert points.tolist() == [1, 2, 3, 0, -1, 0, 4503599627370498, 0]


def test_missing_and_infinite_values_never_pass():
    grid = Lattice(exponent=-2)
    values = [math.nan, math.inf, -math.inf, 1e308]
    assert grid.to_grid(values, low=-1, high=2, missing=1).tolist() == [4, 8, -4, 8]
    points, rests = grid.split(values, missing=1)
    assert points.tolist() == [4, 2**62, -(2**62), 2**62]
    assert rests.tolist() == [0, 0, 0, 0]


@given(bounds=st.tuples(modest, modest).map(sorted), exponent=st.integers(-20, 20), data=st.data())
def test_one_record_moves_a_sum_by_no_more_than_the_sensitivity(bounds, exponent, data):
    low, high = bounds
    grid = Lattice(exponent=exponent)
    one, two = data.draw(st.tuples(finite, finite))
    first, second = grid.to_grid([one, two], low=low, high=high, missing=low).tolist()
    assert abs(first) <= grid.sensitivity(low=low, high=high)
    kept = grid.sensitivity(low=low, high=high, sides=2, always=True)
    assert abs(first - second) <= kept
    free = grid.sensitivity(low=low, high=high, sides=2)
    assert max(abs(first - second), abs(first), abs(second)) <= free


def test_sensitivities_are_attained():
    grid = Lattice(exponent=0)
    assert grid.sensitivity(low=20, high=80) == 80
    assert grid.sensitivity(low=20, high=80, sides=2) == 80
    assert grid.sensitivity(low=20, high=80, sides=2, always=True) == 60
    assert grid.sensitivity(low=-30, high=20) == 30
    assert grid.sensitivity(low=-30, high=20, sides=2) == 50


@given(bound=st.floats(1e-200, 1e200), bits=st.integers(1, 60))
def test_a_grid_for_bounds_has_the_steps_asked_for(bound, bits):
    steps = Lattice.for_bounds(-bound, bound / 3, bits=bits).steps(bound)
    assert 2 ** (bits - 1) < steps <= 2**bits


@given(scale=st.floats(1e-200, 1e200))
def test_a_grid_for_noise_is_a_millionth_of_its_scale(scale):
    assert 2**19 < Lattice.for_scale(scale).steps(scale) <= 2**20


@given(points=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), exponent=exponents)
def test_joining_rounds_each_integer_correctly(points, exponent):
    joined = Lattice(exponent=exponent).join(np.array(points, dtype=np.int64)).tolist()
    assert joined == [float(Fraction(point) * Fraction(2) ** exponent) for point in points]


def test_the_answer_is_a_function_of_the_integer_alone():
    """Different data whose noisy integers agree give the same float."""
    grid = Lattice.for_scale(3.0)
    for value in (0.1, 1e9 + 0.1, -7.3e11):
        point, _ = grid.split([value])
        other = point - 12345
        assert (grid.join(point + 12345) == grid.join(other + 24690)).all()


def test_perturbing_adds_the_noise_of_the_sampler(scripted):
    grid = Lattice.for_scale(1000.0)
    scale = grid.steps(1000.0)
    values = np.array([[1.5, math.nan, -2e6]])
    words = [2**62, 2**61, 2**63 + 2**60]
    answer = grid.perturb(
        values, lambda rests: rounded_laplace(scale, rests, source=scripted(words))
    )
    assert answer.shape == (1, 3)
    noise = [-math.log((w % 2**63) / 2**63) * (1 if w < 2**63 else -1) * 1000 for w in words]
    wanted = np.array([1.5, 0.0, -2e6]) + noise
    assert (abs(answer - wanted) <= grid.width).all()
    assert (answer / grid.width == np.rint(answer / grid.width)).all()


def test_perturbing_works_in_pieces_and_on_nothing():
    grid = Lattice(exponent=0)
    values = np.arange(40_000.0)
    assert (
        grid.perturb(values, lambda rests: np.zeros(rests.size, dtype=np.int64)) == values
    ).all()
    assert grid.perturb([], lambda rests: rests.astype(np.int64)).shape == (0,)


@pytest.mark.parametrize("bad", [math.nan, math.inf, True, "1", None])
def test_bad_bounds_are_refused(bad):
    grid = Lattice(exponent=0)
    for call in (
        lambda: Lattice.for_bounds(bad, 1, bits=10),
        lambda: Lattice.for_bounds(0, bad, bits=10),
        lambda: Lattice.for_scale(bad),
        lambda: grid.to_grid([1.0], low=bad, high=2, missing=0),
        lambda: grid.to_grid([1.0], low=0, high=1, missing=bad),
        lambda: grid.split([1.0], missing=bad),
        lambda: grid.sensitivity(low=0, high=bad),
        lambda: grid.sensitivity(low=3, high=1),
        lambda: grid.sensitivity(low=0, high=1, sides=bad),
        lambda: Lattice(exponent=bad),
    ):
        with pytest.raises(BadParameter):
            call()


@pytest.mark.parametrize("bad", [0, -1, 61, 1.5])
def test_bad_numbers_of_bits_are_refused(bad):
    with pytest.raises(BadParameter):
        Lattice.for_bounds(0, 1, bits=bad)
    for bad_exponent in (901, -961):
        with pytest.raises(BadParameter):
            Lattice(exponent=bad_exponent)
    assert Lattice(exponent=900).width == 2.0**900
    assert Lattice(exponent=-960).width == 2.0**-960
