"""Columns of pandas: those that Arrow holds as they are, and those written as texts."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import deniable as dp
from deniable.session.sources.pandas_frames import PandasFrame, _column, look

CASES = {
    "ints": (pd.Series([1, 2]), pa.int64(), [1, 2]),
    "floats": (pd.Series([0.5, None]), pa.float64(), [0.5, None]),
    "flags": (pd.Series([True, False]), pa.bool_(), [True, False]),
    "wide floats": (pd.Series(np.array([0.5, 2], dtype=np.longdouble)), None, ["0.5", "2"]),
    "complex": (pd.Series([1j, 2j]), None, [None, None]),
    "objects": (pd.Series([1, "a", None], dtype=object), None, ["1", "a", None]),
    "sparse": (pd.Series(pd.arrays.SparseArray([0, 7])), pa.int64(), [0, 7]),
    "arrow": (pd.Series([1, None], dtype="int64[pyarrow]"), pa.int64(), [1, None]),
    "arrow text": (pd.Series(["a", None], dtype="string[pyarrow]"), None, ["a", None]),
    "python text": (pd.Series(["a", None], dtype="string[python]"), None, ["a", None]),
    "objects by code": (
        pd.Series(["a", None, "b"], dtype=object).astype("category"),
        None,
        ["a", None, "b"],
    ),
    "numbers by code": (pd.Series([3, None, 4]).astype("category"), None, [3.0, None, 4.0]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_column_is_what_it_was_or_the_texts_of_it(name):
    series, kind, values = CASES[name]
    found = _column(pa, series)
    assert found.to_pylist() == values
    if kind is not None:
        assert found.type == kind
    assert pa.types.is_dictionary(found.type) == (name == "objects by code")


FRAME = pd.DataFrame({"n": [1, 2], "s": ["x", "y"], "b": [True, False], "o": [None, 7]})


def test_a_type_is_what_no_missing_value_could_have_changed():
    types = {
        "int64": "float", "uint8": "float", "float32": "float", "Int64": "int", "boolean": "bool",
        "bool": None, "object": "text", "string": "text", "datetime64[ns]": "timestamp",
    }  # fmt: skip
    for dtype, kind in types.items():
        frame = pd.DataFrame({"x": pd.Series([], dtype=dtype)})
        (found,) = look(frame, "t", None)
        assert (found.name, found.types) == ("t", {"x": kind})
        assert found.likely == ({"x": "bool"} if dtype == "bool" else {})


@pytest.mark.parametrize(
    ("columns", "read"),
    [(["s"], {"s": ["x", "y"]}), (["s", "n"], {"s": ["x", "y"], "n": [1, 2]}), ([], {"n": [1, 2]})],
)
def test_only_the_columns_of_a_question_are_read(columns, read):
    source = PandasFrame(held=FRAME).only(columns)
    assert source.rows().to_pydict() == read
    assert source.none().rows().num_rows == 0
    assert source.none().rows().column_names == list(read)


def test_a_series_is_no_table():
    with pytest.raises(dp.BadParameter, match="one column, not a table"):
        look(FRAME["n"], "t", None)
    with pytest.raises(dp.BadParameter, match="one column, not a table"):
        look(FRAME.columns, "t", None)


def test_frames_are_read_by_arrow(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(dp.MissingExtra, match="PyArrow"):
        look(FRAME, "t", None)
