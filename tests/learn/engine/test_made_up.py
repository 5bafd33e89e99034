"""Functions of rows are tried on made-up rows, together and one by one."""

import numpy as np
import pytest

import deniable as dp
from deniable.learn.engine.made_up import check_by_row, numbers, unchangeable


def tried(results, columns=3):
    seen = []

    def noted(rows, targets):
        seen.append((rows, targets))
        return results(rows, targets)

    check_by_row(noted, what="gradient", columns=columns, fix="do")
    return seen


@pytest.mark.parametrize("columns", [1, 6, 7, 8, 9])
def test_rows_are_tried_together_and_each_alone_with_its_target(columns):
    (rows, targets), *alone = tried(lambda rows, targets: (rows * targets[:, None],), columns)
    count = 8 if columns == 7 else 7  # never as many rows as columns
    assert rows.shape == (count, columns)
    assert {*targets} == {0.0, 1.0}
    assert len(alone) == count
    for i, (row, target) in enumerate(alone):
        assert row.tolist() == [rows[i].tolist()]
        assert target.tolist() == [targets[i]]


@pytest.mark.parametrize(
    "mixing",
    [
        lambda rows, targets: (rows - rows.mean(axis=0),),
        lambda rows, targets: (targets / len(targets),),
        lambda rows, targets: (rows, np.cumsum(rows[:, 0])),
    ],
)
def test_what_mixes_rows_is_refused(mixing):
    with pytest.raises(dp.BadParameter, match="when other rows are beside it"):
        tried(mixing)


def test_what_treats_rows_alike_passes_even_where_nothing_comes_out():
    tried(lambda rows, targets: (np.log(rows), targets, rows.sum(axis=1)))


def test_what_fails_or_writes_into_its_rows_is_refused():
    for wrong in (lambda rows, targets: 1 / 0, lambda rows, targets: rows.sort()):
        with pytest.raises(dp.BadParameter, match="fails on made-up rows"):
            tried(wrong)
    array = np.ones(2)
    assert not unchangeable(array).flags.writeable
    assert array.flags.writeable


def test_results_are_numbers_of_one_of_the_shapes():
    for given in ([1, 2], np.array([[1], [2]]), np.array([1.0, 2.0]), (True, True)):
        found = numbers(given, (2, 1), (2,))
        assert found.shape == (2, 1)
        assert found.dtype == np.float64
    for wrong in ([1, 2, 3], [[1, 2]], ["a", "b"], [None, 1], [1j, 2]):
        with pytest.raises(ValueError, match="numbers in the shape"):
            numbers(wrong, (2, 1), (2,))
