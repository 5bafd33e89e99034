"""Products of rows depend on each row alone."""

import numpy as np
import pytest

from deniable.learn.engine.rowwise import margins, squares


@pytest.mark.parametrize("columns", [(), (4,)])
def test_margins_are_products_row_by_row(columns):
    draw = np.random.default_rng(0)
    x, theta = draw.normal(size=(9, 5)), draw.normal(size=(5, *columns))
    found = margins(x, theta)
    assert found.shape == (9, *columns)
    assert found == pytest.approx(x @ theta)
    assert (margins(x[3:4], theta)[0] == found[3]).all()


def test_squares_of_norms_do_not_depend_on_how_rows_lie_in_memory():
    rows = np.random.default_rng(1).normal(size=(50, 9))
    found = squares(rows)
    assert found == pytest.approx(np.linalg.norm(rows, axis=1) ** 2)
    assert squares(np.asfortranarray(rows)).tolist() == found.tolist()
    assert squares(rows[7:8]).tolist() == found[7:8].tolist()
    assert squares(np.zeros((3, 0))).tolist() == [0.0] * 3
