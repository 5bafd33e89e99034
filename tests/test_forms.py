"""One representation for one value: what a computation returned is coerced to what was declared."""

import datetime as dt
import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable import forms
from deniable.forms import Form, _typed, plain_key, read_numbers, read_real

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


class Word(str):
    """Text of another type."""

    __slots__ = ()


class Pair(NamedTuple):
    first: object
    second: object


def number_ways(number: Fraction) -> list[object]:
    """Everything that Python takes for a number and calls equal to this one."""
    made: list[object] = [number, -0.0 if number == 0 else number]
    floats = [float, np.float64, np.float32, np.float16, np.longdouble, complex, np.complex128]
    made += [kind(float(number)) for kind in floats if abs(number) < 60_000]
    made += [Decimal(number.numerator) / Decimal(number.denominator)]
    made += [Decimal(f"{made[-1]:f}" + ("0" if "." in f"{made[-1]:f}" else ".00"))]
    if number.denominator == 1:
        made += [int(number), *[k(int(number)) for k in (np.int32, np.int64)]]
        made += [bool(number), np.bool_(bool(number))] if number in (0, 1) else []
    return [way for way in made if way == number and hash(way) == hash(number)]


def moment_ways(moment: dt.datetime) -> list[object]:
    made = [moment, pd.Timestamp(moment), moment.replace(fold=1)]
    if moment.tzinfo is None:
        made += [np.datetime64(moment, "us"), np.datetime64(moment, "ns")]
        made += [np.datetime64(moment, "s")] if moment.microsecond == 0 else []
    else:
        made += [moment.astimezone(dt.timezone(dt.timedelta(hours=h))) for h in (-11, 2)]
        made += [pd.Timestamp(moment).tz_convert("Asia/Tokyo")]
    return made


def span_ways(span: dt.timedelta) -> list[object]:
    return [span, pd.Timedelta(span), np.timedelta64(span, "us"), np.timedelta64(span, "ns")]


DAY = dt.datetime.fromisoformat("2020-01-01")
DAYS = st.datetimes(DAY.replace(year=1700), DAY.replace(year=2200))
SCALARS = st.one_of(
    st.sampled_from([Fraction(n, d) for n in range(-3, 4) for d in (1, 2, 3, 5, 8)]).map(
        number_ways
    ),
    st.integers(-(2**31), 2**31 - 1).map(Fraction).map(number_ways),
    DAYS.map(moment_ways),
    DAYS.map(lambda d: d.replace(microsecond=0, tzinfo=dt.UTC)).map(moment_ways),
    st.timedeltas(dt.timedelta(-9999), dt.timedelta(9999)).map(span_ways),
    st.text(max_size=3).map(lambda t: [t, Word(t)] + [np.str_(t)] * ("\0" not in t)),
    st.binary(max_size=3).map(lambda b: [b] + [np.bytes_(b)] * (not b.endswith(b"\0"))),
    st.just([None, math.nan, np.float32("nan"), Decimal("NaN"), pd.NA, pd.NaT]),
    st.just([pd.Interval(0, 1), pd.Interval(0.0, 1.0), pd.Interval(np.int8(0), 1.0)]),
)
WAYS = st.recursive(
    SCALARS,
    lambda ways: (
        st.tuples(ways, ways).map(
            lambda two: [make(x, y) for x in two[0] for y in two[1] for make in (_pair, Pair)]
        )
        | ways.map(lambda one: [frozenset([way]) for way in one])
    ),
    max_leaves=3,
)


def _pair(first, second):
    return (first, second)


@given(WAYS)
def test_keys_that_are_equal_are_released_as_one_type_and_one_text(ways):
    """The key that a dict keeps is the first that came: its type would tell who is there."""
    made = {(_types(plain_key(way)), repr(plain_key(way))) for way in ways}
    assert len(made) == 1


@given(WAYS)
def test_a_plain_key_stays_as_it_is(ways):
    for way in ways:
        plain = plain_key(way)
        assert _types(plain_key(plain)) == _types(plain)
        assert plain == plain_key(plain)


@given(st.integers(-(10**25), 10**25), st.integers(0, 30), st.integers(0, 12), st.integers(0, 12))
def test_a_number_is_an_int_a_float_or_a_decimal_of_fewest_digits_and_stays_the_same(n, t, f, p):
    number = Fraction(n * 10**p, 2**t * 5**f)
    plain = plain_key(number)
    assert Fraction(plain) == number
    if number.denominator == 1:
        assert type(plain) is int
    elif Fraction(float(number)) == number:
        assert type(plain) is float
    else:
        assert type(plain) is Decimal
        assert plain.as_tuple().digits[-1] != 0


@given(st.integers(-(10**6), 10**6), st.sampled_from([3, 7, 9, 30, 700]))
def test_a_number_that_no_decimal_holds_stays_a_fraction(n, d):
    plain = plain_key(Fraction(n, d))
    assert plain == Fraction(n, d)
    ends = Fraction(n, d).denominator
    for factor in (2, 5):
        while ends % factor == 0:
            ends //= factor
    assert (type(plain) is Fraction) == (ends > 1)


@pytest.mark.parametrize("sign", [1, -1])
def test_whole_numbers_are_read_as_such_up_to_the_last_that_floats_hold_on_either_side(sign):
    for largest, dtype in [(2**53 - 1, np.int64), (2**53, np.int64), (2**53 + 1, object)]:
        for numbers in ([sign * largest], [0, sign * largest], [True, sign * largest]):
            read = _typed(np.array(numbers, dtype=object))
            assert read.dtype == dtype
            assert [int(x) for x in read] == numbers
            mixed = _typed(np.array([*numbers, 0.5], dtype=object))
            assert mixed.dtype == (object if dtype is object else np.float64)
            assert [Fraction(x) for x in mixed] == [*numbers, Fraction(1, 2)]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_arrays_of_whole_numbers_are_read_as_reals_without_loss(dtype):
    for numbers in ([], [0, 7], [2**53], [2**53 + 1], [5, 2**53 + 1], [2**63 - 1, 0]):
        read = read_real(np.array(numbers, dtype=dtype))
        assert [Fraction(x) for x in read.tolist()] == numbers
    below = [-(2**53) - 1, 0]
    assert [Fraction(x) for x in read_real(np.array(below)).tolist()] == below


def _types(key):
    if isinstance(key, tuple | frozenset):
        return type(key).__name__, *map(_types, key)
    return type(key).__name__


FIRST_COMERS = [
    [(1, "a"), (1.0, "a"), (np.int64(1), np.str_("a")), Pair(True, "a")],
    [0.5, Decimal("0.50"), Fraction(1, 2), np.float32(0.5)],
    [1, True, 1.0, Decimal(1)],
    [DAY, pd.Timestamp("2020-01-01"), np.datetime64("2020-01-01", "s")],
]


@pytest.mark.parametrize("ways", FIRST_COMERS, ids=repr)
@pytest.mark.parametrize(
    "m",
    [
        dp.mechanisms.PartitionSelection(epsilon=9.0, delta=1e-7),
        dp.mechanisms.LaplaceThreshold.calibrate(epsilon=9.0, delta=1e-7),
        dp.mechanisms.GaussianThreshold.calibrate(epsilon=9.0, delta=1e-7),
    ],
    ids=lambda m: m.name,
)
def test_who_came_first_does_not_show_in_released_keys(m, ways):
    """One person's spelling is what the dict keeps; all the others wrote the key another way."""
    shown = set()
    s = dp.open(pa.table({"x": [1]}), unit=dp.rows(), budget=dp.epsilon(999, delta=1e-4))
    for first in ways:
        counts = Counter([first, *[ways[0]] * 500])
        assert len(counts) == 1
        released = s.release(m.on(dp.Sensitive(lambda c=counts: c, l1=1, linf=1))).value
        shown |= {(_types(key), repr(key)) for key in released}
    assert len(shown) == 1


def test_keys_that_are_one_value_count_as_the_largest_of_them():
    """Their sum would let a person who is in both move it by two."""
    m = dp.mechanisms.LaplaceThreshold(scale=1e-3, threshold=2)
    assert m.release({math.nan: 7, None: 5, np.datetime64(DAY, "ns"): 3, DAY: 9}) == {
        None: 7,
        DAY: 9,
    }


@pytest.mark.parametrize(
    "declared",
    [{"whole": 1}, {"shape": -1}, {"shape": 1.5}, {"shape": "3"}, {"shape": (2, None)},
     {"keys": "ab"}, {"keys": []}, {"keys": ["a", "a"]}, {"keys": [[]]},
     {"keys": ["a"], "shape": 2}, {"entries": 0}, {"stream": ""}, {"stream": 3}, {"statistic": 3}],
    ids=repr,
)  # fmt: skip
def test_bad_declarations_are_refused(declared):
    with pytest.raises(dp.BadParameter):
        dp.Sensitive(lambda: 1, l1=1, **declared)


def test_one_key_written_in_two_ways_is_refused():
    twice = {DAY: 1, np.datetime64(DAY, "ns"): 2, "undeclared": 3}
    with pytest.raises(dp.BadParameter, match="must come once"):
        read_numbers(twice, Form(whole=True, shape=(1,), keys=(DAY,)))


NANO = "2020-01-01T00:00:00.000000001"
SPANS = (pd.Interval(pd.Timestamp(DAY), pd.Timestamp(DAY) + pd.Timedelta(1, "D")),)
PLAIN = [
    *[(3 + 0j, 3), (3 + 4j, 3 + 4j), (pa.scalar(1), 1), (pa.scalar("a"), "a")],
    *[(pa.scalar(None), None), (pd.Timestamp(NANO), np.datetime64(NANO))],
    *[(2**14_280 - 1, 2**14_280 - 1), (2**14_280, None), (-(2**14_280), None)],
    *[(Fraction(1, 2**14_280 - 1), Fraction(1, 2**14_280 - 1)), (Fraction(1, 2**14_280), None)],
    *[(np.datetime64("2020-01-01", "D"), DAY), (np.datetime64("2020", "Y"), DAY)],
    *[(np.datetime64(2**62, "s"), None), (np.timedelta64(2**62, "D"), None)],
    *[(np.datetime64(NANO, "ns"), np.datetime64(NANO, "ns"))],
    *[(pd.Timedelta(1), np.timedelta64(1, "ns")), (dt.time(1, fold=1), dt.time(1))],
    *[(Decimal("-0.10"), Decimal("-0.1")), (SPANS[0], SPANS[0]), (math.inf, math.inf)],
]  # fmt: skip


@pytest.mark.parametrize(("key", "plain"), PLAIN, ids=lambda key: repr(key)[:40])
def test_a_key_becomes_what_python_has_for_it_or_nothing(key, plain):
    found = plain_key(key)
    assert type(found) is type(plain)
    assert found == plain
    assert repr(found) == repr(plain)


class Unwritten(Decimal):
    """A number whose digits must not be made."""

    def as_integer_ratio(self):
        raise AssertionError("the digits were made")


@pytest.mark.parametrize("written", ["1E+4301", "-1E-4301", "9.9E+999999"])
def test_the_digits_of_a_number_that_is_too_long_are_not_made(written):
    assert plain_key(Unwritten(written)) is None


def test_the_keys_of_most_tables_are_returned_as_they_are(monkeypatch):
    for name in ("_plain_value", "is_missing"):
        monkeypatch.setattr(forms, name, None)
    for key in ("a", "", 0, 2**63 - 1, 1 - 2**63):
        assert plain_key(key) is key
    assert plain_key(("a", 5, ("b",))) == ("a", 5, ("b",))


@pytest.mark.parametrize("raised", [ValueError, RecursionError, SystemExit, GeneratorExit])
def test_whatever_a_row_raises_it_is_read_as_something_else(raised):
    def fails(_):
        raise raised

    assert forms.attempted(fails, "row", otherwise=7) == 7
    assert forms.attempted(len, "row", otherwise=7) == 3


def test_an_interrupt_does_not_come_from_a_row():
    def interrupted(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        forms.attempted(interrupted, "row", otherwise=7)
