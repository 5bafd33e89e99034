"""Shares of noise add up exactly, wherever in int64 the rows and their sum lie."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from tests import goodness

from deniable.mechanisms import Skellam, SkellamShares
from deniable.mechanisms.numbers.skellam_shares import _saturated_once

ENDS = np.iinfo(np.int64)
WHOLE = st.integers(ENDS.min, ENDS.max) | st.sampled_from(
    [ENDS.min, ENDS.min + 1, -(2**32), -1, 0, 1, 2**32 - 1, 2**32, ENDS.max - 1, ENDS.max]
)


@given(st.lists(st.tuples(WHOLE, WHOLE), min_size=1, max_size=9))
def test_a_sum_is_exact_and_saturates_once(rows):
    exact = [max(ENDS.min, min(sum(column), ENDS.max)) for column in zip(*rows, strict=True)]
    arrays = [np.array(row, dtype=np.int64) for row in rows]
    total = _saturated_once(arrays, like=np.zeros(2, np.int64))
    assert total.dtype == np.int64
    assert total.tolist() == exact


@pytest.mark.statistical
@pytest.mark.parametrize(
    "rows",
    [(0, 0), (ENDS.max, -ENDS.max), (ENDS.max, ENDS.min), (ENDS.min, ENDS.max), (2**62, -(2**62))],
    ids=str,
)
def test_the_noise_on_the_sum_has_its_law_even_if_rows_are_at_the_ends(rows):
    """Four parties of which two are at the ends. False-alarm rate 5e-8 for all five."""
    length, shares = 20_000, SkellamShares(of=Skellam(variance=8.0), parties=4)
    value = np.array([*rows, 0, 0], dtype=np.int64)[:, None] + np.zeros(length, np.int64)
    noise = shares.draw(value) - sum(rows)
    points = np.arange(-40, 41)
    chances = special.ive(np.abs(points), 8.0)
    wide = chances * length > 25
    seen = np.array([(noise == k).sum() for k in points[wide]] + [0])
    seen[-1] = length - seen.sum()
    assert goodness.cells(seen, np.append(chances[wide], 1 - chances[wide].sum())) > 1e-8


def test_one_number_per_party_is_answered_with_a_plain_number():
    shares = SkellamShares(of=Skellam(variance=1e-9), parties=3)
    assert shares.draw(np.array([ENDS.max, ENDS.max, -ENDS.max])) == pytest.approx(ENDS.max)
    assert isinstance(shares.draw(np.array([1, 2, 3])), int)
