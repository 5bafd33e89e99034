"""Tables and columns of any form as numbers and labels, each cell by itself."""

import math
from collections import deque
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning

from deniable.learn.models.tables import column, table, values

NAN, INF = math.nan, math.inf


class Held:
    """Something of which NumPy can make an array, and that says nothing else."""

    def __init__(self, cells):
        self.cells = np.asarray(cells)

    def __array__(self, dtype=None, copy=None):
        return self.cells


MASKED = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
FRAME = pd.DataFrame({"a": [1, None], "b": [2.5, 3]})
TABLES = {
    "lists": ([[1, 2.5], [None, "x"], [True, 10**400]], [[1, 2.5], [NAN, NAN], [1, INF]]),
    "texts beside numbers": ([[True, "x"], [2, "3"]], [[1, NAN], [2, 3]]),
    "tuples": (((1, 2), (3, 4)), [[1, 2], [3, 4]]),
    "floats": (np.array([[1.5, 2.0]]), [[1.5, 2.0]]),
    "whole numbers": (np.array([[1, 2]]), [[1, 2]]),
    "objects": (np.array([[1, None], ["x", 2.5]], dtype=object), [[1, NAN], [NAN, 2.5]]),
    "complex": (np.array([[1 + 0j, 2 + 1j], [0j, 1j]]), [[1, NAN], [0, NAN]]),
    "masked": (MASKED, [[1, NAN], [3, 4]]),
    "pandas": (FRAME, [[1, 2.5], [NAN, 3]]),
    "Polars": (pl.DataFrame({"a": [1, None], "b": [2.5, 3.0]}), [[1, 2.5], [NAN, 3]]),
    "Arrow": (pa.table({"a": [1, None], "b": [2.5, 3.0]}), [[1, 2.5], [NAN, 3]]),
    "columns by place": (
        SimpleNamespace(iloc=FRAME.iloc, shape=FRAME.shape), [[1, 2.5], [NAN, 3]],
    ),
    "a list of columns": (
        SimpleNamespace(get_columns=lambda: [[1, None], [2.5, 3]]), [[1, 2.5], [NAN, 3]],
    ),
    "columns with names": (
        SimpleNamespace(column_names=["a"], columns=[pa.array([1, None])]), [[1], [NAN]],
    ),
    "an array in disguise": (Held([[1.0, 2.0]]), [[1, 2]]),
    "another sequence": (deque([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
}  # fmt: skip
SHAPES = {
    "no columns": ([[], []], (2, 0)),
    "a frame without columns": (pd.DataFrame(index=range(3)), (3, 0)),
    "no rows": (np.zeros((0, 3)), (0, 3)),
    "nothing": ([], (0, 0)),
    "a number": (5, ()),
    "a range": (range(3), (0,)),
    "a list": ([1, 2], (0,)),
    "an array": (np.ones(4), (0,)),
    "a list of tables": ([[[1], [2]], [[3], [4]]], (2, 2)),
    "a list of arrays": ([np.ones((1, 1)), np.ones((1, 1))], (0, 0, 0)),
    "rows beside tables": ([[1], np.ones((1, 1))], (0, 0, 0)),
    "three dimensions": (np.ones((2, 2, 2)), (0, 0, 0)),
}


@pytest.mark.parametrize("name", TABLES)
def test_each_cell_of_a_table_is_a_number_or_missing(name):
    given, wanted = TABLES[name]
    found = table(given)
    assert found.dtype == np.float64
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_no_table_keeps_its_dimensions(name):
    given, shape = SHAPES[name]
    assert table(given).shape == shape


def test_large_tables_of_numbers_are_not_copied():
    given = np.ones((3, 2))
    assert np.shares_memory(table(given), given)


def test_sparse_and_ragged_tables_are_refused():
    class Sparse:
        def toarray(self):
            raise AssertionError

    with pytest.raises(TypeError, match="sparse"):
        table(Sparse())
    with pytest.raises(ValueError, match="different lengths"):
        table([[1], [2, 3]])


def test_a_column_is_taken_as_it_is():
    for given in ([1, "x"], (1, 2), np.ones(3), pd.Series([1]), pl.Series([1]), pa.array([1])):
        assert column(given) is given
    assert column(Held([1, 2])).tolist() == [1, 2]


@pytest.mark.parametrize(
    "given", [np.array([[1], [2]]), pd.DataFrame({"y": [1, 2]})], ids=["array", "frame"]
)
def test_a_table_with_one_column_is_that_column_with_a_warning(given):
    with pytest.warns(DataConversionWarning, match="column-vector"):
        found = column(given)
    assert list(found) == [1, 2]
    assert isinstance(found, pd.Series) == isinstance(given, pd.DataFrame)


@pytest.mark.parametrize(
    "given", [np.ones((2, 2)), pd.DataFrame({"a": [1], "b": [2]}), np.ones((2, 1, 1)), 5, object()],
    ids=range(5),
)  # fmt: skip
def test_other_targets_are_refused(given):
    with pytest.raises(ValueError, match="1d array"):
        column(given)


@pytest.mark.parametrize("make", [list, tuple, np.array, pd.Series, pl.Series, pa.array])
def test_labels_are_plain_values_one_by_one(make):
    found = values(make([1, 2]))
    assert found == [1, 2]
    assert [type(each) for each in found] == [int, int]
