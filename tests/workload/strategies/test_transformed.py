"""Convolutions with whole numbers, against their matrices written out in exact arithmetic."""

import math

import numpy as np
import pytest

from deniable.workload.strategies import Bounds, Sine, SquareRoot, transformed
from deniable.workload.strategies.exact import DIGIT, HELD, LARGEST_CELL, MOST_SHIFT
from deniable.workload.strategies.transformed import _circle, _padded, _root, _sine

KINDS = [Sine, SquareRoot]
CELLS = [1, 2, 5, 16, 37]


def matrix(strategy):
    """K in whole numbers, the weights of its columns, and those of its rows."""
    n = strategy.cells
    if isinstance(strategy, Sine):
        kernel, weights, _ = _sine(n)
        size, circle = strategy.lengths[0], len(kernel)
        rows = [
            [int(kernel[(i - j) % circle] - kernel[(i + j) % circle]) for j in range(1, n + 1)]
            for i in range(1, size + 1)
        ]
        return rows, weights[:n].tolist(), [1] * size
    kernel, weights, v, _ = _root(n)
    rows = [[int(kernel[i - j]) if i >= j else 0 for j in range(n)] for i in range(n)]
    return rows, weights.tolist(), v.tolist()


def made(kind, cells, bits=0):
    return kind(cells=cells, bounds=Bounds(l1=2.0**bits, l2=2.0**bits))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("bits", [0, 12, 30, 49, 200])
def test_the_product_is_rounded_down_and_held(kind, cells, bits):
    strategy = made(kind, cells, bits)
    rows, weights, v = matrix(strategy)
    source = np.random.default_rng(cells)
    most = HELD // 255 if kind is SquareRoot else HELD
    for far in (3, 2**40, 2**62):
        counts = source.integers(-far, far + 1, cells)
        held = [min(max(int(c), -LARGEST_CELL), LARGEST_CELL) for c in counts]
        wanted = []
        for row, times in zip(rows, v, strict=True):
            exact = sum(k * w * x for k, w, x in zip(row, weights, held, strict=True))
            wanted.append(times * min(max(exact >> DIGIT * strategy.shift, -most), most))
        assert strategy.encode(0, counts).tolist() == wanted


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cells", CELLS)
def test_columns_are_no_longer_than_is_said_and_as_long_as_one_another(kind, cells):
    strategy = made(kind, cells)
    rows, weights, v = matrix(strategy)
    squares = [
        sum((f * row[j]) ** 2 for f, row in zip(v, rows, strict=True)) * weights[j] ** 2
        for j in range(cells)
    ]
    longest = math.isqrt(max(squares))
    assert longest <= strategy.column_norm <= (longest + 1) * (1 + 2.0**-17)
    assert min(squares) >= 0.99 * max(squares)
    assert max(weights) <= 2047
    assert max(strategy.weights) == 2047
    assert strategy.rounding == pytest.approx(math.sqrt(sum(f * f for f in v)), rel=1e-5)
    assert strategy.rounding >= math.sqrt(sum(f * f for f in v)) * (1 - 1e-15)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cells", [5, 37])
def test_digits_are_dropped_only_as_one_unit_moves_the_product_beyond_36_bits(kind, cells):
    norm = math.log2(made(kind, cells).column_norm)
    for digits in range(10):
        edge = 36 + DIGIT * digits - norm
        for side, shift in ((-0.01, digits), (0.01, digits + 1)):
            strategy = made(kind, cells, edge + side)
            assert strategy.shift == min(shift, MOST_SHIFT)
            l2 = strategy.bounds.l1 * strategy.column_norm
            if strategy.shift:
                l2 = l2 / 2.0 ** (DIGIT * strategy.shift) + strategy.rounding
            (vector,) = strategy.vectors
            assert l2 <= vector.l2 <= l2 * (1 + 2.0**-18)
            wide = vector.l2 * math.sqrt(strategy.lengths[0])
            assert wide <= vector.l1 <= wide * (1 + 2.0**-18)
    assert made(kind, cells, -30).shift == 0


def small_factors(number):
    for prime in (2, 3, 5):
        while number % prime == 0:
            number //= prime
    return number == 1


@pytest.mark.parametrize("cells", [1, 2, 3, 6, 10, 99, 500, 1009, 1010, 4093, 5000, 65_537])
def test_a_few_cells_more_make_a_fast_length_where_they_are_few(cells):
    """Twice one more than the cells: the next even number with factors 2, 3 and 5 alone."""
    least = 2 * cells + 2
    fast = next(n for n in range(least, 3 * least, 2) if small_factors(n))
    assert _padded(cells) == (fast // 2 - 1 if fast <= least * 1.002 else cells)
    size = _padded(cells)
    assert cells <= size <= cells * 1.003 + 1
    assert _circle(size) == 2 * size + 2 or _circle(size) >= 3 * size + 2
    assert small_factors(_circle(size)) or _circle(size) >= 3 * size + 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bits", [0, 40])
def test_noise_is_as_wide_as_what_was_dropped_makes_it(kind, bits):
    """Variances are those of one digit less times 2²² for each digit that is dropped."""
    plain, strategy = made(kind, 9), made(kind, 9, bits)
    times = (3.0 * 2.0 ** (DIGIT * strategy.shift)) ** 2
    assert (strategy.shift > 0) == (bits > 0)
    weights = np.random.default_rng(4).normal(size=(2, 9))
    first, last = np.array([0, 2]), np.array([4, 8])
    for found, wanted in (
        (strategy.variance(weights, [3.0]), plain.variance(weights, [1.0])),
        (strategy.cell_variances([3.0]), plain.cell_variances([1.0])),
        (strategy.prefix_variances([3.0]), plain.prefix_variances([1.0])),
        (strategy.interval_variances(first, last, [3.0]),
         plain.interval_variances(first, last, [1.0])),
        (strategy.mean_variance("ranges", [3.0]), plain.mean_variance("ranges", [1.0])),
    ):  # fmt: skip
        assert np.allclose(found, np.asarray(wanted) * times, rtol=1e-9)


def test_the_sine_kernel_is_the_fourth_root_of_the_ranges_rounded():
    """K⁴ is in proportion to WᵀW, which counts the ranges that hold two cells both."""
    strategy = made(Sine, 16)
    rows, _, _ = matrix(strategy)
    size = strategy.lengths[0]
    whole = np.array([[min(i, j) * (size + 1 - max(i, j)) for j in range(1, size + 1)]
                      for i in range(1, size + 1)], dtype=float)  # fmt: skip
    real = np.array(rows, dtype=float)
    assert size == 16
    power = np.linalg.matrix_power(real, 4)
    assert np.allclose(power / power[7, 7], whole / whole[7, 7], atol=2e-3)
    assert _sine(16)[0][0] == transformed._KERNEL


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cells", CELLS)
def test_cells_err_by_what_comes_back_of_each_noise(kind, cells):
    strategy = made(kind, cells)
    (size,) = strategy.lengths
    back = np.array([strategy.decode([row], [1.0]) for row in np.eye(size)])
    assert np.allclose(strategy.cell_variances([1.0]), np.square(back).sum(axis=0), rtol=1e-9)
    totals = np.square(np.cumsum(back, axis=1)).sum(axis=0)
    assert np.allclose(strategy.prefix_variances([1.0])[1:], totals, rtol=1e-9)
