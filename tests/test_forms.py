"""One representation for one value: what a computation returned is coerced to what was declared."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.forms import Form, plain_key, read_numbers

LARGE = st.integers(-(2**70), 2**70)
DYADIC = st.builds(lambda n, k: Fraction(n, 2**k), st.integers(-(2**53), 2**53), st.integers(0, 60))


def real(value):
    return read_numbers(value, Form(whole=False)).item()


def whole(value):
    return read_numbers(value, Form(whole=True)).item()


@settings(deadline=None)
@given(DYADIC)
def test_what_a_float_holds_is_read_as_that_float(number):
    ways = [
        number,
        float(number),
        np.float64(number),
        np.longdouble(float(number)),
        Decimal(float(number)),
    ]
    assert {real(way) for way in ways} == {float(number)}
    assert all(type(real(way)) is float for way in ways)


@settings(deadline=None)
@given(st.one_of(LARGE, st.fractions()), st.one_of(LARGE, st.fractions()))
def test_reading_never_moves_two_values_apart(first, second):
    assert abs(Fraction(real(first)) - Fraction(real(second))) == abs(Fraction(first) - second)
    if first.denominator == second.denominator == 1:
        assert abs(whole(first) - whole(second)) <= abs(first - second)


@settings(deadline=None)
@given(LARGE)
def test_whole_numbers_are_held_at_the_ends_of_64_bits_in_every_representation(number):
    held = max(-(2**63), min(number, 2**63 - 1))
    assert {whole(way) for way in (number, Decimal(number), Fraction(number))} == {held}
    rounded = int(float(number))
    held = max(-(2**63), min(rounded, 2**63 - 1))
    assert {whole(way) for way in (float(number), np.longdouble(float(number)), rounded)} == {held}


WRONG = [
    None,
    "1",
    b"1",
    math.nan,
    -math.inf,
    1j,
    Decimal("NaN"),
    Decimal("Infinity"),
    pd.NA,
    pd.NaT,
]
WRONG += [
    np.datetime64("2020-01-01"),
    np.float32("nan"),
    [1],
    np.ones(1),
    {},
    object(),
    pa.scalar(None),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: repr(wrong).partition(" at 0x")[0])
@pytest.mark.parametrize("form", [Form(whole=True), Form(whole=False)], ids=["whole", "real"])
def test_what_is_not_one_number_is_refused(wrong, form):
    with pytest.raises(dp.BadParameter):
        read_numbers(wrong, form)


@pytest.mark.parametrize("half", [1.5, Decimal("1.5"), Fraction(3, 2), np.float16(1.5)])
def test_a_fraction_is_not_a_whole_number(half):
    with pytest.raises(dp.BadParameter):
        whole(half)
    assert real(half) == 1.5


def test_sums_of_nothing_are_zero_whatever_their_type():
    for nothing in (0, 0.0, -0.0, False, pd.Series([], dtype="float64").sum(), sum([]), np.sum([])):
        assert (whole(nothing), real(nothing)) == (0, 0.0)
        assert type(whole(nothing)) is int


KEYED = [
    {"a": 3, "b": 1, "x": 9},
    {"b": 1.0, "a": 3.0},
    pd.Series({"b": 1, "a": 3}),
    pd.Series(["a", "b", "a", "a"]).value_counts(),
    [3, 1, 0],
    np.array([3.0, 1.0, 0.0]),
]


@pytest.mark.parametrize("value", KEYED, ids=lambda v: type(v).__name__)
def test_numbers_by_key_come_in_the_declared_order(value):
    """A group that nobody is in, or one that was not declared, does not show by its absence."""
    s = dp.open(pa.table({"x": [1]}), unit=dp.rows(), budget=dp.epsilon(1e4))
    counts = dp.Sensitive(lambda: value, l1=1, whole=True, keys=["a", "b", "c"])
    release = s.release(dp.Laplace(scale=1e-3).on(counts))
    assert [(row["key"], row["value"]) for row in release.rows()] == [("a", 3), ("b", 1), ("c", 0)]


def test_keys_are_the_same_for_equal_values():
    """A column of whole numbers becomes one of floats by a missing value."""
    for key in (1, 1.0, np.int8(1), np.float64(1), Decimal(1), Fraction(1)):
        assert type(plain_key(key)) is int
    assert plain_key(1.5) == 1.5
    assert plain_key("1") == "1"
    assert plain_key(("a", 1.0)) == ("a", 1.0)
    keys = dp.mechanisms.PartitionSelection(epsilon=9.0, delta=1e-2)
    assert keys.release({1.0: 500, np.float64(2): 500}) == [1, 2]


@pytest.mark.parametrize(
    "declared",
    [{"whole": 1}, {"shape": -1}, {"shape": 1.5}, {"shape": "3"}, {"shape": (2, None)},
     {"keys": "ab"}, {"keys": []}, {"keys": ["a", "a"]}, {"keys": [[]]},
     {"keys": ["a"], "shape": 2}, {"entries": 0}, {"stream": ""}, {"stream": 3}],
    ids=repr,
)  # fmt: skip
def test_bad_declarations_are_refused(declared):
    with pytest.raises(dp.BadParameter):
        dp.Sensitive(lambda: 1, l1=1, **declared)


# ---- the ± of answers at the end of what their type holds


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_the_interval_holds_the_truth_at_every_magnitude(scale):
    """Beyond the digits of floats, too; false alarm below 1e-9 a magnitude, 61 of them."""
    s = dp.open(pa.table({"x": [1]}), unit=dp.rows(), budget=dp.epsilon(1e300))
    noise = dp.Laplace(scale=scale, sensitivity=scale)
    for power in range(0, 305, 5):
        for truth in (10**power, -(10.0**power), Fraction(10**power, 3)):
            value = dp.Sensitive(lambda t=truth: t, l1=scale)
            (pair,) = s.release(noise.on(value)).answers["value"].intervals(1 - 1e-9)
            assert pair[0] <= truth <= pair[1]


@pytest.mark.parametrize("mechanism", [dp.Laplace(scale=2.0), dp.DiscreteLaplace(scale=2)])
def test_whole_answers_at_the_ends_of_64_bits_say_that_the_truth_may_lie_beyond(mechanism):
    s = dp.open(pa.table({"x": [1]}), unit=dp.rows(), budget=dp.epsilon(1e300))
    for truth in (2**62, 2**63 - 1, 2**63, 2**80, -(2**63), -(10**30)):
        release = s.release(mechanism.on(dp.Sensitive(lambda t=truth: t, l1=1, whole=True)))
        (pair,) = release.answers["value"].intervals(1 - 1e-9)
        assert pair[0] <= truth <= pair[1]
        assert any(map(math.isinf, pair)) == (abs(truth) > 2**62)
        # What is shown is at 95 %, of which noise may fall short.
        beyond = any(map(math.isinf, release.answers["value"].intervals(0.95)[0]))
        assert ("the truth may lie far beyond" in str(release)) == beyond
        assert ("±" in str(release).split("\n")[3]) != beyond
