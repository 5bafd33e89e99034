"""Whole-number arithmetic of strategies: exact, or clipped where exact numbers would not fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.workload.strategies import exact

CELLS = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=40)


@given(CELLS, st.integers(1, 7))
def test_block_sums_are_exact_or_clipped(cells, size):
    blocks = -(-len(cells) // size)
    found = exact.block_sums(np.array(cells, dtype=np.int64), size, blocks)
    wanted = [sum(cells[i * size : (i + 1) * size]) for i in range(blocks)]
    assert found.tolist() == [max(-(2**62), min(w, 2**62)) for w in wanted]


@settings(max_examples=60)
@given(
    st.sampled_from([2, 6, 30, 96]),
    st.integers(0, exact.MOST_SHIFT),
    st.integers(0, 61),
    st.integers(0, 2**32 - 1),
)
def test_convolutions_are_exact_or_clipped(length, shift, bits, seed):
    rng = np.random.default_rng(seed)
    kernel = rng.integers(-(2**16), 2**16, length)
    signal = rng.integers(-(2**bits), 2**bits + 1, length)
    assert exact.kernel_fits(kernel)
    found = exact.convolve(kernel, signal, shift=shift)
    for i in range(length):
        terms = (int(kernel[(i - j) % length]) * int(signal[j]) for j in range(length))
        wanted = sum(terms) >> (11 * shift)
        assert int(found[i]) == max(-(2**62), min(wanted, 2**62))


@pytest.mark.parametrize("value", [2**61, -(2**61), 2**61 - 1, 2**50 - 1])
def test_a_long_convolution_is_exact_in_the_worst_case(value):
    length = 2**17
    kernel = np.full(length, 2**9, dtype=np.int64)
    assert exact.kernel_fits(kernel)
    found = exact.convolve(kernel, np.full(length, value), shift=4)
    assert set(found.tolist()) == {max(-(2**62), min((length * 2**9 * value) >> 44, 2**62))}


def test_no_more_digits_are_dropped_than_there_are():
    few = np.ones(2, dtype=np.int64)
    with pytest.raises(AssertionError, match="digits"):
        exact.convolve(few, few, shift=exact.MOST_SHIFT + 1)


@settings(max_examples=200)
@given(st.integers(0, 50), st.integers(1, 30), st.integers(0, 63), st.integers(0, 2**32 - 1))
def test_products_with_a_matrix_are_exact_or_clipped(entries, cells, bits, seed):
    """Also where large terms cancel, and whole or float products in 64 bits are wrong."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-(2**entries), 2**entries + 1, (3, cells))
    counts = rng.integers(-(2**bits), 2**bits, cells)
    matrix[0] = np.resize([2**entries, -(2**entries)], cells)
    counts[: cells // 2 * 2] = np.repeat(counts[: cells // 2], 2)
    held = [max(-(2**62), min(c, 2**62)) for c in counts.tolist()]
    wanted = [sum(a * c for a, c in zip(row, held, strict=True)) for row in matrix.tolist()]
    shift = seed % 43
    found = exact.times(matrix, counts, shift=shift)
    assert found.tolist() == [max(-(2**62), min(w >> shift, 2**62)) for w in wanted]


@given(CELLS, st.integers(1, 5))
def test_sums_by_group_are_exact_or_clipped(cells, groups):
    codes = np.arange(len(cells)) % groups
    found = exact.grouped_sums(np.array(cells, dtype=np.int64), codes, groups)
    wanted = [sum(cells[g::groups]) for g in range(groups)]
    assert found.tolist() == [max(-(2**62), min(w, 2**62)) for w in wanted]
