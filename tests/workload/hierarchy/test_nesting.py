"""The fit along nested levels, against least squares solved as one system of equations."""

import math

import numpy as np
import pytest
from mpmath import mp

from deniable.workload.hierarchy.nesting import Chain, parents_of, summed

PARENTS = (np.array([0, 1, 0, 2, 2, 2, 1]), np.array([1, 0, 1]), np.array([0, 0]))
CHAIN = Chain(sizes=(7, 3, 2, 1), parents=PARENTS)


def grids():
    """The matrix that adds leaves up to the nodes of each level."""
    codes, found = np.arange(7), []
    for level, size in enumerate(CHAIN.sizes):
        found.append(np.eye(size)[:, codes])
        codes = PARENTS[level][codes] if level < 3 else codes
    return found


@pytest.mark.parametrize(
    "variances", [(1.0, 2.0, 0.5, 3.0), (4.0, math.inf, 1.0, math.inf), (1.0, 1.0, 1.0, 1e-9)]
)
def test_the_fit_is_least_squares_and_its_variances_are_exact(variances):
    rng = np.random.default_rng(2)
    noisy = [rng.normal(10, 5, size) for size in CHAIN.sizes]
    values, spread = CHAIN.fit(noisy, variances)
    leaves, inverse = solved(noisy, variances)
    for grid, value, variance in zip(grids(), values, spread, strict=True):
        assert value == pytest.approx(grid @ leaves, rel=1e-6)
        assert variance == pytest.approx(np.diag(grid @ inverse @ grid.T), rel=1e-5)


def solved(noisy, variances):
    """The leaves of least squares and their covariances, with the 50 digits of mpmath.

    In floats the equations are so ill-conditioned that processors differ in the sixth digit.
    """
    pairs = [pair for pair in zip(grids(), noisy, variances, strict=True) if pair[2] < math.inf]
    normal, right = mp.zeros(7), mp.zeros(7, 1)
    for grid, counts, variance in pairs:
        turned = mp.matrix(grid.T.tolist()) / mp.mpf(variance)
        normal += turned * mp.matrix(grid.tolist())
        right += turned * mp.matrix(counts.tolist())
    inverse = normal**-1
    return [
        np.array((inverse * each).tolist(), dtype=float).reshape(shape)
        for each, shape in ((right, 7), (mp.eye(7), (7, 7)))
    ]


def test_a_node_without_children_is_known_from_its_own_count():
    chain = Chain(sizes=(2, 2), parents=(np.array([0, 0]),))
    values, spread = chain.fit([np.array([1.0, 2.0]), np.array([9.0, 7.0])], [1.0, 2.0])
    assert values[1].tolist() == [6.0, 7.0]
    assert spread[1].tolist() == [1.0, 2.0]
    assert values[0].sum() == pytest.approx(6.0)


def test_values_are_summed_by_group_and_groups_nest_or_do_not():
    assert summed(np.array([2, 0, 2]), np.array([1.0, 5.0, 3.0]), 4).tolist() == [
        5.0,
        0.0,
        4.0,
        0.0,
    ]
    fine, sizes = np.array([0, 0, 1, 3]), (4, 2)
    assert parents_of(fine, np.array([1, 1, 0, 0]), sizes).tolist() == [1, 0, -1, 0]
    assert parents_of(fine, np.array([1, 0, 0, 0]), sizes) is None
