"""Wide whole numbers, a column at a time, are those of Python's integers."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deniable.query.scatter.limbs import rounded

MOST = 10**38 - 1
numbers = st.one_of(
    st.integers(-MOST, MOST),
    st.integers(-(2**66), 2**66),
    st.sampled_from([2**63, -(2**63), 2**64, 2**63 - 1, 2**64 - 1, -(2**64), 0, -1]),
)


def expected(values, shift):
    half = (1 << shift) >> 1
    return [max(-(2**63), min((x + half) >> shift, 2**63 - 1)) for x in values]


@given(values=st.lists(numbers, min_size=1, max_size=20), shift=st.integers(0, 90))
@example(values=[2**64 - 1, -1, -(2**64)], shift=1)
@example(values=[MOST, -MOST], shift=63)
def test_decimals_are_rounded_as_whole_numbers_are(values, shift):
    column = pa.array([Decimal(x) for x in values], pa.decimal128(38, 0))
    assert rounded(column, shift=shift).tolist() == expected(values, shift)
    assert rounded(column[1:], shift=shift).tolist() == expected(values[1:], shift)


@given(values=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20), shift=st.integers(0, 62))
def test_so_are_whole_numbers_of_64_bits(values, shift):
    found = rounded(pa.array(values, pa.int64()), shift=shift)
    assert found.dtype == np.int64
    assert found.tolist() == expected(values, shift)


@given(values=st.lists(numbers, min_size=1, max_size=20), shift=st.integers(-20, -1))
def test_a_negative_shift_multiplies_as_far_as_there_is_room(values, shift):
    column = pa.array([Decimal(x) for x in values], pa.decimal128(38, 0))
    ends = -(2**63) >> -shift, (2**63 - 1) >> -shift
    wanted = [max(ends[0], min(x, ends[1])) << -shift for x in values]
    assert rounded(column, shift=shift).tolist() == wanted


def test_a_missing_number_or_a_fraction_is_refused():
    with pytest.raises(ValueError, match="missing"):
        rounded(pa.array([1, None], pa.int64()), shift=0)
    with pytest.raises(ValueError, match="fraction"):
        rounded(pa.array([Decimal("1.5")], pa.decimal128(10, 1)), shift=0)
