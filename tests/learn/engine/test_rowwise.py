"""Products of rows depend on each row alone."""

import numpy as np
import pytest

from deniable.learn.engine.rowwise import margins


@pytest.mark.parametrize("columns", [(), (4,)])
def test_margins_are_products_row_by_row(columns):
    draw = np.random.default_rng(0)
    x, theta = draw.normal(size=(9, 5)), draw.normal(size=(5, *columns))
    found = margins(x, theta)
    assert found.shape == (9, *columns)
    assert found == pytest.approx(x @ theta)
    assert (margins(x[3:4], theta)[0] == found[3]).all()
