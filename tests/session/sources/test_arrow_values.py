"""Equal numbers are written alike whatever their type, and columns keep what can be read."""

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from deniable.session.sources.arrow_values import _decimal, _number, _text, settled, settled_column

EXACT = [
    Fraction(1, 10), Fraction(-1, 10), Fraction(3, 5**30), Fraction(-7, 2**10 * 5**40),
    Fraction(1, 5**27),
    Fraction(2**60 + 1, 10**3), Fraction(10**30 + 1, 5), Fraction(123, 2**80 * 5),
    Fraction(1, 2**1100),
]  # fmt: skip


@pytest.mark.parametrize("exact", EXACT)
def test_a_decimal_is_exact_and_has_one_zero_more_than_it_needs(exact):
    text = _decimal(exact)
    assert Fraction(text) == exact
    assert text.endswith("0")
    assert not text.endswith("00")
    assert text.lstrip("-")[0] != "."


@pytest.mark.parametrize("exact", [Fraction(1, 3), Fraction(1, 30), Fraction(1, 7 * 2**9)])
def test_other_fractions_have_no_digits(exact):
    assert _decimal(exact) is None
    assert _number(exact) is None


@pytest.mark.parametrize(("places", "written"), [(4300, True), (4301, False)])
def test_numbers_too_long_to_write_are_missing(places, written):
    assert (_decimal(Fraction(1, 10**places)) is not None) == written
    assert (_decimal(Fraction(1, 2**places)) is not None) == written
    assert (_decimal(Fraction(1, 5**places)) is not None) == written


@pytest.mark.parametrize(
    ("power", "written"), [(4300, False), (4299, True), (-4300, True), (-4301, False)]
)
def test_decimals_too_large_or_small_to_write_are_missing(power, written):
    assert (_text(Decimal(f"1E{power}")) is not None) == written


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1, 1.0, Decimal("1.00"), Fraction(1), np.int8(1), np.float32(1), True, np.True_], "1"),
        ([0.5, Decimal("0.50"), Fraction(1, 2), np.float16(0.5)], "0.5"),
        ([-0.0, 0, Decimal("-0"), False], "0"),
        ([0.1, np.float64(0.1)], "0.1"),
        ([Decimal("0.1"), Fraction(1, 10)], "0.10"),
        ([float(np.float32(0.1)), np.float32(0.1)], repr(float(np.float32(0.1)))),
        ([1e22, 10**22, Decimal("1e22")], "1" + "0" * 22),
        ([math.inf, np.inf, Decimal("inf")], "inf"),
        ([-math.inf, Decimal("-inf")], "-inf"),
        ([math.nan, Decimal("nan"), 1 + 0j, Fraction(1, 3), None, "\udc80"], None),
        (["nan", np.str_("nan")], "nan"),
    ],
)
def test_equal_numbers_have_one_text(values, text):
    assert [_text(value) for value in values] == [text] * len(values)


def test_moments_of_other_zones_are_written_in_utc():
    moment = dt.datetime(2024, 1, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    assert _text(moment) == _text(moment.astimezone(dt.UTC)) == "2024-01-01 10:00:00+00:00"
    assert _text(dt.datetime(2024, 1, 1, 12)) == "2024-01-01 12:00:00"  # noqa: DTZ001


BAD = b"\xff\xfe"
KINDS = [pa.string(), pa.large_string(), pa.string_view()]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("chunked", [False, True])
def test_text_that_is_no_utf8_is_missing_and_the_rest_stays(kind, chunked):
    wide = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}
    held = pa.array([b"a", BAD, None, "é".encode()], wide.get(kind, pa.binary_view())).view(kind)
    column = pa.chunked_array([held, held]) if chunked else held
    found = settled_column(pa, column)
    assert found.type == kind
    assert found.to_pylist() == ["a", None, None, "é"] * (2 if chunked else 1)


def test_dictionaries_of_text_stay_so_and_others_are_written_out():
    bad = pa.array([b"a", BAD], pa.binary()).view(pa.string())
    made = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0]), bad)
    found = settled_column(pa, made)
    assert pa.types.is_dictionary(found.type)
    assert found.to_pylist() == ["a", None, None, "a"]
    moments = pa.array([dt.datetime(2024, 1, 1, tzinfo=dt.UTC)]).dictionary_encode()
    assert settled_column(pa, moments).type == pa.timestamp("us")
    numbers = pa.chunked_array([pa.array([5, 6, 5]).dictionary_encode()])
    assert settled_column(pa, numbers).to_pylist() == [5, 6, 5]


@pytest.mark.parametrize(
    ("array", "kind", "values"),
    [
        (pa.array([1.5], pa.float16()), pa.float32(), [1.5]),
        (pa.array([dt.timedelta(seconds=5)]), pa.string(), None),
        (pa.array([dt.time(1, 2)]), pa.string(), None),
        (pa.array([Decimal("1.5")], pa.decimal256(50, 2)), pa.string(), ["1.50"]),
        (pa.array([Decimal("1.5")], pa.decimal128(20, 2)), pa.decimal128(20, 2), None),
        (pa.array([[1, 2]]), pa.large_string(), ["[1, 2]"]),
        (pa.array([{"a": 1}]), pa.large_string(), ["{'a': 1}"]),
        (pa.array([1, 2]), pa.int64(), [1, 2]),
        (pa.RunEndEncodedArray.from_arrays([2, 3], [5, 6]), pa.large_string(), ["5", "5", "6"]),
        (pa.array([pa.MonthDayNano([1, 2, 3])]), pa.large_string(), None),
        (pa.array([1, None], pa.bool8()), pa.large_string(), ["1", None]),
        (pa.array([b"0" * 16, None], pa.uuid()), pa.uuid(), None),
        (pa.array([dt.datetime(2024, 1, 1, tzinfo=dt.UTC)]), pa.timestamp("us"), None),
    ],
    ids=lambda x: str(x)[:20],
)
def test_the_type_of_a_column_decides_what_it_becomes(array, kind, values):
    found = settled_column(pa, array)
    assert found.type == kind
    assert values is None or found.to_pylist() == values


def test_tables_readers_and_datasets_are_settled_alike():
    table = pa.table({"x": [[1], [2]], "t": ["a", "b"]})
    wanted = {"x": ["[1]", "[2]"], "t": ["a", "b"]}
    assert settled(table).to_pydict() == wanted
    assert settled(table.to_batches()[0]).to_pydict() == wanted
    assert settled(table.to_reader()).read_all().to_pydict() == wanted
    import pyarrow.dataset

    assert settled(pyarrow.dataset.dataset(table)).read_all().to_pydict() == wanted


@pytest.mark.parametrize("raised", [ValueError, SystemExit])
def test_what_cannot_be_written_is_missing(raised):
    class Unwritten:
        def __str__(self):
            raise raised

    assert _text(Unwritten()) is None
