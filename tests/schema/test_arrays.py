"""Values of any kind as numbers: whole ones, days and microseconds, missing where they are none."""

import datetime as dt
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from deniable.errors import BadParameter, UnknownName
from deniable.schema import arrays

DAY = dt.date(1969, 12, 31)
MOMENT = dt.datetime(1969, 12, 31, 23, 59, 59, 999_999)  # noqa: DTZ001


def whole(values, kind):
    numbers, known = arrays.integers(values, kind)
    return [int(n) if k else None for n, k in zip(numbers, known, strict=True)]


@pytest.mark.parametrize(
    ("value", "kind", "number"),
    [
        (DAY, "date", -1),
        (MOMENT, "date", -1),
        (dt.datetime.fromisoformat("1970-01-01"), "date", 0),
        ("1969-12-31", "date", -1),
        ("1969-12-31T00:00:01", "date", -1),
        (dt.date(1970, 1, 2), "date", 1),
        (MOMENT, "timestamp", -1),
        (DAY, "timestamp", -86_400_000_000),
        ("1970-01-01T00:00:01", "timestamp", 10**6),
        (dt.datetime(1970, 1, 1, tzinfo=dt.UTC), "timestamp", None),
        (np.datetime64("1970-01-02"), "timestamp", None),
        (dt.timedelta(1), "timestamp", None),
        (5, "timestamp", None),
        (5, "date", None),
        ("x", "date", None),
        (None, "date", None),
        (3, "int", 3),
        (3.0, "int", 3),
        (3.5, "int", None),
        ("3", "int", 3),
        ("3.5", "int", None),
        (Decimal(7), "int", 7),
        (Decimal("7.5"), "int", None),
        (2**63 - 1, "int", 2**63 - 1),
        (2**63, "int", None),
        (-(2**63), "int", -(2**63)),
        (-(2**63) - 1, "int", None),
        (np.array(4), "int", None),
        (np.array([4]), "int", None),
        (True, "bool", 1),
        (False, "bool", 0),
    ],
)
def test_an_object_is_its_number_or_missing(value, kind, number):
    held = np.empty(1, dtype=object)
    held[0] = value
    assert whole(held, kind) == [number]


@pytest.mark.parametrize("scale", ["s", "ms", "us", "ns", "D"])
def test_days_are_those_that_began_before_the_moment(scale):
    moments = np.array(["1969-12-31", "1970-01-01", "NaT"], dtype=f"datetime64[{scale}]")
    assert whole(moments, "date") == [-1, 0, None]
    micro = 86_400 * 10**6
    assert whole(moments, "timestamp") == [-micro, 0, None]


def test_a_moment_just_before_midnight_is_of_the_day_before():
    moments = np.array(["1969-12-31T23:59:59.999999"], dtype="datetime64[us]")
    assert whole(moments, "date") == [-1]
    assert whole(moments, "timestamp") == [-1]


def test_floats_and_unsigned_numbers_are_whole_where_they_fit():
    below, above = np.nextafter(-(2.0**63), -np.inf), 2.0**63
    values = np.array([2.0, 2.5, -(2.0**63), below, above, np.nextafter(above, 0), np.nan, np.inf])
    assert whole(values, "int") == [2, None, -(2**63), None, None, 2**63 - 1024, None, None]
    unsigned = np.array([0, 2**63 - 1, 2**63, 2**64 - 1], dtype=np.uint64)
    assert whole(unsigned, "int") == [0, 2**63 - 1, None, None]


def test_whole_numbers_in_a_list_are_exact_beyond_those_of_floats():
    beyond = [2**53 + 1, -(2**53) - 1, 2**63 - 1]
    assert whole(beyond, "int") == beyond
    assert arrays.texts(beyond) == beyond


def test_numbers_are_floats_and_what_is_none_is_nan():
    found = arrays.floats([1, "2.5", None, 10**400, -(10**400), object(), np.array([3.0])])
    assert found[:2].tolist() == [1.0, 2.5]
    assert np.isnan(found[[2, 5, 6]]).all()
    assert found[3:5].tolist() == [np.inf, -np.inf]


def test_masked_values_are_missing():
    held = np.ma.MaskedArray([1, 2, 3], mask=[False, True, False])
    assert whole(held, "int") == [1, None, 3]
    found = arrays.floats(np.ma.MaskedArray([1.5, 2.5], mask=[True, False]))
    assert np.isnan(found[0])
    assert found[1] == 2.5
    assert arrays.texts(np.ma.MaskedArray(["a", "b"], mask=[False, True])) == ["a", None]


@pytest.mark.parametrize(
    ("values", "count"),
    [("abc", 0), (b"abc", 0), (bytearray(3), 0), (5, 0), (None, 0), ({1, 2}, 0), ([], 1), ((1,), 1),
     (range(3), 1), (np.zeros(3), 1), (np.zeros((3, 2)), 2), (np.array(5), 0)],
)  # fmt: skip
def test_a_list_has_one_dimension_and_text_has_none(values, count):
    assert arrays.dimensions(values) == count
    if count != 1:
        assert arrays.floats(values).tolist() == []
        assert whole(values, "int") == []


class Odd:
    """What says nothing of its shape before it is asked for an array."""

    def __init__(self, shape):
        self.held = np.ones(shape)

    def __array__(self, dtype=None, copy=None):
        return self.held


@pytest.mark.parametrize(("shape", "rows"), [((3,), 3), ((3, 2), 3), ((0, 2), 0), ((), 0)])
def test_a_table_in_place_of_a_column_has_rows_without_a_value(shape, rows):
    found, known = arrays.floats(Odd(shape)), shape == (3,)
    assert np.array_equal(found, np.full(rows, 1.0 if known else np.nan), equal_nan=True)
    assert whole(Odd(shape), "int") == [1 if known else None] * rows


@pytest.mark.parametrize(
    ("array", "kinds"),
    [
        (np.array([0, 1]), ("date", "timestamp")),
        (np.array([0.0, 1.0]), ("date", "timestamp")),
        (np.array(["1970-01-02", "1970-01-03"], "datetime64[D]"), ("int", "bool")),
        (np.array([5, 6], "datetime64[ns]"), ("int", "bool")),
        (np.array([5, 6], "timedelta64[ns]"), ("int", "bool", "date", "timestamp")),
        (np.array([1 + 0j, 2 + 0j]), ("int", "bool", "date", "timestamp")),
    ],
)
def test_arrays_of_another_type_have_no_value(array, kinds):
    for kind in kinds:
        assert whole(array, kind) == [None, None]
    if array.dtype.kind not in "if":
        assert np.isnan(arrays.floats(array)).all()


def test_an_array_in_a_row_is_no_number_whatever_python_makes_of_it():
    found = arrays.floats([np.array(3.0), 4.0, np.array([3.0]), [3.0]])
    assert np.array_equal(found, [np.nan, 4.0, np.nan, np.nan], equal_nan=True)


def test_whoever_says_how_many_dimensions_there_are_is_believed():
    assert arrays.dimensions(SimpleNamespace(ndim=2)) == 2
    assert arrays.dimensions(SimpleNamespace(ndim=1, shape=(3, 2))) == 1
    assert arrays.dimensions(SimpleNamespace(shape=(3, 2))) == 2


@pytest.mark.parametrize(
    ("value", "kind", "number"),
    [
        (DAY, "date", -1), (dt.date(9999, 12, 31), "date", 2932896), (MOMENT, "timestamp", -1),
        (dt.datetime.fromisoformat("1970-01-02"), "timestamp", 24 * 3600 * 10**6), (7, "int", 7),
        (2**63 - 1, "int", 2**63 - 1), (0.5, "float", 0.5), (3.0, "float", 3.0),
    ],
)  # fmt: skip
def test_a_number_stands_for_a_value_and_the_value_for_the_number(value, kind, number):
    assert arrays.step_of(value, kind) == number
    found = arrays.value_of(number, kind)
    assert found == value
    assert type(found) is type(value)


class ColumnNotFoundError(Exception):
    """As Polars calls its own."""


def test_a_column_that_is_not_there_is_told_whatever_the_frame_raises():
    class Frame(SimpleNamespace):
        def __getitem__(self, name):
            raise self.error

    missing = (KeyError, IndexError, TypeError, ValueError, ColumnNotFoundError)
    for error in missing:
        with pytest.raises(UnknownName, match="did you mean `age`"):
            arrays.column_of(Frame(error=error(), columns=["age", "city"]), "agee")
    with pytest.raises(ZeroDivisionError):  # not about the name: it is not for us to explain
        arrays.column_of(Frame(error=ZeroDivisionError(), columns=["age"]), "agee")
    with pytest.raises(UnknownName, match="did you mean `age`"):
        arrays.column_of(Frame(error=KeyError(), column_names=["age"]), "agee")
    with pytest.raises(UnknownName, match="did you mean `age`"):
        arrays.column_of({"age": [1]}, "agee")
    with pytest.raises(BadParameter, match="has no columns with names"):
        arrays.column_of(5, "age")


def test_a_column_is_one_column_as_numbers_or_a_list_of_values():
    table = pa.table({"n": [1, 2], "m": [1, None], "s": ["a", "b"], "x": [0.5, 1.5]})
    for name in ("n", "x"):
        assert isinstance(arrays.column_of(table, name), np.ndarray)
    assert arrays.column_of(table, "m") == [1, None]
    assert arrays.column_of(table, "s") == ["a", "b"]
    frame = pd.DataFrame({"n": [1, 2], "s": ["a", "b"], "i": pd.Series([1, None], dtype="Int64")})
    assert arrays.column_of(frame, "s") == ["a", "b"]
    assert arrays.column_of(frame, "i") == [1, pd.NA]
    assert arrays.column_of(frame, "n") is not None
    assert not isinstance(arrays.column_of(frame, "n"), list)
    assert arrays.column_of({"n": (1, 2)}, "n") == (1, 2)
    for wrong in (5, "text", np.zeros((2, 2)), np.array(3)):
        with pytest.raises(BadParameter, match="`n` must be a column of values"):
            arrays.column_of({"n": wrong}, "n")
