"""Columns of pandas: those that Arrow holds as they are, and those written as texts."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from deniable.session.sources.pandas_frames import _column

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
