"""What goes in, what comes out, and that neither depends on more than it may."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import goodness

import deniable as dp
from deniable.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Staircase
from deniable.mechanisms.numbers._additive import as_numbers, ratio_up, saturating_sum
from deniable.sampling.seeded import SeededSource
from deniable.sampling.source import Source, using

REAL = [Laplace(scale=3.0), Gaussian(sigma=3.0)]
WHOLE = [DiscreteLaplace(scale=3.0), DiscreteGaussian(sigma=3.0)]
INT64 = np.iinfo(np.int64)


class NothingDrawn(Source):
    def words(self, count):
        raise AssertionError("randomness was drawn")


@pytest.mark.parametrize("m", [*REAL, *WHOLE], ids=repr)
def test_whole_numbers_are_answered_in_whole_numbers_of_the_same_shape(m):
    assert type(m.release(5)) is int
    assert type(m.release(np.int32(5))) is int
    for shape in [(0,), (1,), (7,), (2, 3), (2, 0)]:
        answer = m.release(np.ones(shape, dtype=np.uint8))
        assert answer.shape == shape
        assert answer.dtype == np.int64
    assert m.release([1, 2, 3]).dtype == np.int64


@pytest.mark.parametrize("m", REAL, ids=repr)
def test_floats_are_answered_on_the_lattice(m):
    answer = m.release(np.full(1000, 1 / 3))
    steps = answer / m.lattice.width
    assert (steps == np.rint(steps)).all()
    assert type(m.release(0.5)) is float
    assert m.release([1, 2.5]).dtype == np.float64
    assert 2.0**-20 <= m.lattice.width / 3.0 < 2.0**-19


@pytest.mark.parametrize("m", REAL, ids=repr)
def test_the_lattice_depends_on_the_noise_alone(m):
    for value in [0.0, 1e-300, 1e300, -1e17, 1 / 3]:
        answer = Fraction(m.release(value)) / Fraction(m.lattice.width)
        assert answer.denominator == 1


NOT_NUMBERS = [
    math.nan, math.inf, -math.inf, True, "1", None, 1j, ..., b"1", Fraction(1, 2),
    np.array([1.0, np.nan]), np.array([np.inf]), np.array([True]), np.array(["1"]), np.array([1j]),
    np.array([1.0], dtype=np.longdouble), [1, True], [1.0, None], [[1], [1, 2]], ["a"],
    [1.0, math.nan], [np.longdouble(1)],
    np.array([1], dtype=object), {1: 2}, {1},
]  # fmt: skip


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
@pytest.mark.parametrize("m", [*REAL, *WHOLE, Staircase(epsilon=1.0)], ids=lambda m: m.name)
def test_what_is_not_a_finite_number_is_refused_and_nothing_is_drawn(m, value):
    with using(NothingDrawn()), pytest.raises(dp.BadParameter) as caught:
        m.release(value)
    assert "nan" not in str(caught.value).lower()


@pytest.mark.parametrize("m", WHOLE, ids=lambda m: m.name)
def test_whole_noise_refuses_floats(m):
    with using(NothingDrawn()), pytest.raises(dp.BadParameter):
        m.release(1.0)


def test_a_list_is_read_by_types_and_not_by_sizes():
    assert as_numbers([2**63, -1]).dtype == np.int64
    assert as_numbers([2**200]).tolist() == [INT64.max]
    assert as_numbers([np.uint64(2**64 - 1)]).tolist() == [INT64.max]
    assert as_numbers(np.array([2**64 - 1], dtype=np.uint64)).tolist() == [INT64.max]
    assert as_numbers(-(10**30)).item() == INT64.min
    assert as_numbers([1, 2.0]).dtype == np.float64
    assert as_numbers([2**60, 2.0]).dtype == np.float64
    assert as_numbers([10**400, 2.0]).tolist() == [10**400, 2]  # exactly, as no float holds it
    assert as_numbers([]).size == 0


@settings(deadline=None)
@given(st.integers(-(2**70), 2**70), st.integers(-(2**70), 2**70))
def test_clamping_never_moves_two_values_apart(x, y):
    assert abs(int(as_numbers(x)) - int(as_numbers(y))) <= abs(x - y)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))))
def test_sums_are_held_at_the_ends_of_the_range(pairs):
    left, right = (np.array([p[i] for p in pairs], dtype=np.int64) for i in (0, 1))
    exact = [max(INT64.min, min(INT64.max, a + b)) for a, b in pairs]
    assert saturating_sum(left, right).tolist() == exact
    assert saturating_sum(left, right.astype(object)).tolist() == exact


@pytest.mark.parametrize("m", [Laplace(scale=1e6), Gaussian(sigma=1e6)], ids=lambda m: m.name)
def test_noise_at_the_ends_of_the_range_does_not_wrap_around(m):
    top = m.release(np.full(200, INT64.max))
    bottom = m.release(np.full(200, INT64.min))
    assert top.min() > 2**62
    assert bottom.max() < -(2**62)
    assert top.max() == INT64.max
    assert bottom.min() == INT64.min


@pytest.mark.parametrize("m", [Laplace(scale=1e-9), Gaussian(sigma=1e-9)], ids=lambda m: m.name)
def test_floats_beyond_the_lattice_are_held_and_do_not_warn(m):
    assert m.release(1.7e308) > 1e3
    assert m.release(np.array([-1.7e308]))[0] < -1e3


def test_noise_wider_than_64_bits_saturates():
    answers = Laplace(scale=2.0**200).release(np.zeros(50, dtype=np.int64))
    assert set(np.abs(answers.astype(float))) <= {2.0**63}


@settings(deadline=None)
@given(st.floats(2.0**-900, 2.0**900), st.floats(2.0**-900, 2.0**900))
def test_quotients_are_rounded_up_to_the_next_float(a, b):
    quotient = ratio_up(a, b)
    if math.isfinite(quotient):
        assert Fraction(quotient) * Fraction(b) >= Fraction(a)
        assert Fraction(math.nextafter(quotient, 0.0)) * Fraction(b) < Fraction(a)


@pytest.mark.parametrize("m", REAL, ids=lambda m: m.name)
def test_error_for_several_numbers_at_once_is_that_of_the_worst(m):
    assert m.error(0.95) < m.error(0.95, coordinates=2) < m.error(0.95, coordinates=10_000)
    with pytest.raises(dp.BadParameter):
        m.error(0.95, coordinates=0)
    for bad in (0, 1, 1.5, math.nan, "0.95", True):
        with pytest.raises(dp.BadParameter):
            m.error(bad)


def test_ten_thousand_names_err_by_twelve():
    names = Laplace(scale=1.0).error(0.95, coordinates=10_000)
    assert names == pytest.approx(math.log(10_000 / 0.05), abs=0.03)


@pytest.mark.statistical
@pytest.mark.parametrize("coordinates", [1, 50])
@pytest.mark.parametrize("m", [*REAL, *WHOLE], ids=lambda m: m.name)
def test_all_of_several_numbers_are_within_the_error(m, coordinates):
    """5,000 groups; false alarm below 1e-8."""
    errors = np.abs(m.release(np.zeros((5000, coordinates), dtype=np.int64))).max(axis=1)
    more = {"whole": True} if m in REAL else {}
    inside = int((errors <= m.error(0.9, coordinates=coordinates, **more)).sum())
    assert goodness.covered(inside, 5000, 0.9) > 1e-8


def test_whole_errors_are_the_least_whole_numbers_that_cover():
    m = Laplace(scale=10.0)
    k = m.error(0.95, whole=True)
    assert k == int(k)
    assert 1 - math.exp(-(k + 0.5) / 10) >= 0.95 > 1 - math.exp(-(k - 0.5) / 10)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("m", [Laplace(scale=1.0), Gaussian(sigma=1.0)], ids=repr)
def test_steps_beyond_the_floats_are_held_at_the_end_on_their_side(m, sign):
    far = sign * Fraction(2) ** 3000
    assert m._joined(far) == sign * sys.float_info.max
    assert m.draw_points(np.array([sign * 2**3000], dtype=object))[0] == sign * sys.float_info.max
    assert m._joined(sign * Fraction(3) / Fraction(2) ** m.lattice.exponent) == sign * 3.0


@given(
    x=st.floats(allow_nan=False, allow_infinity=False),
    scale=st.sampled_from([2.0**-200, 1e-3, 1.0, 3.0, 1e9, 2.0**200]),
    gaussian=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_one_number_is_answered_as_an_array_of_one_is(x, scale, gaussian, seed):
    m = Gaussian(sigma=scale) if gaussian else Laplace(scale=scale)
    with using(SeededSource(seed)):
        one = m._near_one(x)
    with using(SeededSource(seed)):
        several = m._near(np.array([x]))
    assert one.tolist() == several.tolist()


@given(
    st.integers(INT64.min, INT64.max),
    st.integers(INT64.min, INT64.max),
)
def test_one_sum_is_held_as_several_are(a, b):
    left, right = np.array([a, a, 0]), np.array([b, b, 0])
    assert saturating_sum(left[:1], right[:1]).tolist() == saturating_sum(left, right)[:1].tolist()
    assert saturating_sum(left[:1], right[:1]).dtype == np.int64


class Scripted(Laplace):
    """Laplace noise that is known beforehand, in steps of the lattice."""

    def _rounded(self, spread, rests):
        assert (np.abs(rests) <= 0.5).all()
        return NOISE[-1][: rests.size]


NOISE = [np.array([0])]
FAR = [2**53, 2**53 + 1, -(2**53) - 1, 2**54 + 2, 2**61 + 2**8 + 1, 2**62, INT64.max, -INT64.max]


@pytest.mark.parametrize("kind", [np.int64, object])
@pytest.mark.parametrize("x", [0.0, 1.0, -1.0, 3e9, -(2.0**33), 1e300])
def test_however_far_out_the_noise_is_the_sum_is_rounded_once(x, kind, monkeypatch):
    m = Scripted(scale=1.0)
    point = round(Fraction(x) / Fraction(m.lattice.width))
    for noise in (*FAR, 7, 0):
        monkeypatch.setitem(globals(), "NOISE", [np.array([noise, 1], dtype=kind)])
        nearest = float((point + noise) * Fraction(m.lattice.width))
        assert m._near_one(x).tolist() == [nearest]
        assert m._near(np.array([x, 0.0])).tolist() == [nearest, m.lattice.width]


@pytest.mark.parametrize("kinds", [(np.int64, np.int64), (object, np.int64), (object, object)])
@pytest.mark.parametrize("point", [0, 5, -3, 2**62, -(2**62), INT64.max])
def test_points_and_noise_do_not_wrap_around(point, kinds, monkeypatch):
    m = Scripted(scale=1.0)
    for noise in (*FAR, 7, 0):
        monkeypatch.setitem(globals(), "NOISE", [np.array([noise], dtype=kinds[1])])
        nearest = float((point + noise) * Fraction(m.lattice.width))
        assert m.draw_points(np.array([point], dtype=kinds[0])).tolist() == [nearest]
