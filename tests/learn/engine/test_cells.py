"""Cells of columns: how they are packed, looked up and added up, one row after the other."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from deniable.learn.engine import cells as module
from deniable.learn.engine.cells import Cells, EqualCells

SIZES = (2, 3, 5)
SPACES = [Cells(sizes=SIZES), Cells(sizes=(130, 130, 3)), Cells(sizes=(4,))]


def made_up(space, rows=40, seed=3):
    draw = np.random.default_rng(seed)
    codes = [draw.integers(0, size, rows) for size in space.sizes]
    return codes, space.packed(codes)


def on(space, codes):
    """One row of zeros and ones per row."""
    found = np.zeros((len(codes[0]), space.dimension))
    for column, start in zip(codes, space.starts, strict=True):
        found[np.arange(len(column)), start + column] = 1
    return found


@pytest.mark.parametrize(
    ("sizes", "starts", "moments"),
    [((2, 3, 5), [0, 2, 5], 10 + 6 + 10 + 15), ((4,), [0], 4), ((3, 3), [0, 3], 15)],
)
def test_what_is_known_of_cells_before_any_row(sizes, starts, moments):
    space, k = Cells(sizes=sizes), len(sizes)
    assert (space.dimension, space.starts, space.moments_size) == (sum(sizes), starts, moments)
    assert k <= Fraction(space.norm) ** 2 <= k * (1 + Fraction(1, 2**40))
    pairs = Fraction(k * (k + 1), 2)
    assert pairs <= Fraction(space.moments_l2) ** 2 <= pairs * (1 + Fraction(1, 2**40))
    assert (space.moment_unit(weighted=False), space.moment_unit(weighted=True)) == (1, 1 << 20)
    assert pickle.loads(pickle.dumps(space)) == space
    assert space.lengths(np.zeros((1, 4))) == space.norm


@pytest.mark.parametrize("columns", range(2, 12))
def test_a_norm_is_never_below_the_root(columns):
    space = Cells(sizes=(2,) * columns)
    assert Fraction(space.norm) ** 2 >= columns
    assert Fraction(space.moments_l2) ** 2 >= Fraction(columns * (columns + 1), 2)


@pytest.mark.parametrize(
    ("sizes", "blocks"),
    [
        ((128, 128), [[0, 1]]),
        ((128, 129), [[0], [1]]),
        ((20_000, 2), [[0], [1]]),
        ((2, 20_000, 2, 3), [[0], [1], [2, 3]]),
        ((100, 100, 2, 100, 2), [[0, 1], [2, 3, 4]]),
    ],
)
def test_columns_are_joined_while_their_combinations_fit(sizes, blocks):
    assert Cells(sizes=sizes)._blocks == blocks


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_codes_are_packed_and_read_again(space):
    codes, x = made_up(space)
    assert x.shape == (len(space._blocks), 40)
    assert [c.tolist() for c in space.codes(x)] == [c.tolist() for c in codes]
    beyond = [np.array([-5, 10**6]) for _ in space.sizes]
    assert [c.tolist() for c in space.codes(space.packed(beyond))] == [
        [0, size - 1] for size in space.sizes
    ]


@pytest.mark.parametrize(("size", "kind"), [(1 << 16, np.uint16), ((1 << 16) + 1, np.int32)])
def test_a_number_takes_two_bytes_where_that_is_enough(size, kind):
    x = Cells(sizes=(size,)).packed([np.array([0, size - 1])])
    assert x.dtype == kind
    assert x.tolist() == [[0, size - 1]]
    beside = Cells(sizes=(size, 2)).packed([np.array([0, size - 1]), np.array([0, 1])])
    assert beside.dtype == kind
    assert beside.tolist() == [[0, size - 1], [0, 1]]


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize("columns", [(), (3,)])
def test_margins_and_totals_are_products_with_zeros_and_ones(space, columns):
    codes, x = made_up(space)
    dense, draw = on(space, codes), np.random.default_rng(1)
    theta = draw.integers(-99, 99, (space.dimension, *columns))
    assert space.linear(theta)(x).tolist() == (dense @ theta).astype(int).tolist()
    assert space.linear(theta)(x).dtype == theta.dtype
    residuals = draw.integers(-9, 9, (40, *columns)).astype(float)
    parts = [(x[:, :15], residuals[:15]), (x[:, 15:], residuals[15:])]
    found = space.total(parts, columns)
    assert found.shape == (space.dimension, *columns)
    assert found.tolist() == (dense.T @ residuals).astype(int).tolist()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("space", SPACES, ids=str)
def test_moments_are_those_of_zeros_and_ones(space, weighted, monkeypatch):
    monkeypatch.setattr(module, "chunks", lambda n: [slice(0, 7), slice(7, n)])
    codes, x = made_up(space)
    weights = np.arange(40) if weighted else None
    dense = on(space, codes)
    exact = dense.T @ (dense * (np.ones(40) if weights is None else weights)[:, None])
    moments = space.moments(x, weights)
    assert moments.shape == (space.moments_size,)
    assert moments.dtype == np.int64
    assert space.matrix(moments).tolist() == exact.tolist()


def test_numbers_are_put_in_cells_of_equal_width():
    cells = EqualCells(low=np.array([0.0, -1.0, 7.0]), high=np.array([10.0, 1.0, 7.0]), bins=4)
    assert cells.space.sizes == (5, 5, 5)
    X = [
        [-3.0, -1.0, 7.0], [0.0, -0.5, 7.0], [2.4, -0.51, 6.0], [2.5, 0.0, 9.0],
        [9.9, 0.99, 7.0], [10.0, 1.0, 7.0], [math.inf, -math.inf, 7.0], [math.nan] * 3,
    ]  # fmt: skip
    found = [c.tolist() for c in cells.space.codes(cells.coded(X))]
    assert found == [
        [0, 0, 0, 1, 3, 3, 3, 4],
        [0, 1, 0, 2, 3, 3, 0, 4],
        [0, 0, 0, 0, 0, 0, 0, 4],
    ]
