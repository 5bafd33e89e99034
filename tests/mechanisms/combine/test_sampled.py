"""Sums over a sample: exact, of every shape, and held where a type ends."""

from fractions import Fraction

import numpy as np
import pytest

from deniable.mechanisms.combine.sampled import _exact_sum, _real_sum, _steps
from deniable.sampling.lattice import Lattice

SHAPES = [(), (3,), (2, 3), (1, 1)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("count", [1, 4])
def test_real_rows_are_added_up_exactly_in_their_shape(shape, count):
    random = np.random.default_rng(1)
    rows = random.uniform(-1, 1, (count, *shape)) * 10.0 ** random.integers(
        -200, 200, (count, *shape)
    )
    found = np.asarray(_real_sum(rows), dtype=object)
    assert found.shape == shape
    flat = rows.reshape(count, -1)
    wanted = [sum(map(Fraction, column), Fraction(0)) for column in flat.T.tolist()]
    assert [Fraction(each) for each in found.reshape(-1).tolist()] == wanted


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("most", [5, 2**62, 2**63 - 1])
def test_whole_rows_are_added_up_exactly_however_large(shape, most):
    rows = np.full((5, *shape), most, dtype=np.int64)
    found = _exact_sum(rows)
    assert found.shape == shape
    assert {int(each) for each in found.reshape(-1).tolist()} == {5 * most}
    assert _exact_sum(rows[:0]).shape == shape


@pytest.mark.parametrize("exponent", [-20, 0, 7])
def test_rows_are_steps_of_the_lattice_rounded_towards_zero(exponent):
    lattice = Lattice(exponent=exponent)
    values = [0.0, 1.9, -1.9, 200.5, -200.5, 1e-9, 2.0**60 + 2**20, -1e300, 5e-324]
    width = Fraction(2) ** exponent
    for rows in (np.array(values), np.array([Fraction(v) for v in values], dtype=object)):
        found = _steps(rows, lattice)
        assert found.shape == rows.shape
        wanted = [int(Fraction(v) / width) for v in values]
        assert [int(each) for each in found.tolist()] == wanted
    assert _steps(np.array(values[:5]), lattice).dtype == np.int64
