"""Rows as a caller hands them over: checked by shape, read as numbers, their number hidden."""

import math

import numpy as np
import pytest

import deniable as dp
from deniable.errors import BadParameter
from deniable.learn.convex.held import Held

X, Y = np.ones((5, 3)), np.zeros(5)


@pytest.mark.parametrize(
    ("unit", "known"),
    [
        (dp.rows(), None),
        (dp.person("id", rows=2), None),
        (dp.rows(relation="replace"), 5),
        (dp.person("id", rows=2, relation="replace"), 5),
    ],
    ids=str,
)
def test_the_number_of_rows_is_public_where_units_are_replaced_or_where_it_is_stated(unit, known):
    held = Held.of((X, Y))
    assert held.public_size(None, unit) == known
    assert held.public_size(7, unit) == 7
    with pytest.raises(BadParameter, match="size"):
        held.public_size(0, unit)


@pytest.mark.parametrize("data", [(X, Y), [X, Y], (X.tolist(), Y.tolist()), (X > 0, Y.astype(int))])
def test_a_table_and_a_column_of_numbers_are_taken(data):
    held = Held.of(data)
    rows, targets = held.numbers()
    assert held.coordinates == 3
    assert (rows == X).all()
    assert (targets == Y).all()
    assert rows.dtype == targets.dtype == np.float64


@pytest.mark.parametrize(
    "data",
    [X, (X,), (X, Y, Y), {"X": X}, (X[0], Y), (X[:, :0], Y), (X[None], Y), (X.astype(str), Y),
     (X, Y[:4]), (X, Y[:, None]), (X, Y.astype(str)), (X.astype(complex), Y)],
    ids=range(12),
)  # fmt: skip
def test_other_shapes_and_types_are_refused(data):
    with pytest.raises(BadParameter):
        Held.of(data)


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("rows", [0, 1, 5])
def test_any_number_of_rows_and_at_least_one_column_are_taken(rows, columns):
    held = Held.of((np.ones((rows, columns)), np.zeros(rows)))
    assert held.coordinates == columns
    assert held.numbers()[0].shape == (rows, columns)


def test_what_is_not_a_number_is_missing():
    odd = [[1, "2"], [None, 10**400], [True, 0.5]]
    rows, targets = Held.of((odd, [0, "x", 1])).numbers()
    wanted = [[1.0, math.nan], [math.nan, math.nan], [1.0, 0.5]]
    assert np.array_equal(rows, np.array(wanted), equal_nan=True)
    assert np.array_equal(targets, [0.0, math.nan, 1.0], equal_nan=True)
