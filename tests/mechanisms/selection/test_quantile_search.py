"""One quantile of many histograms: what moves, what is charged, and what comes out."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.forms import Form
from deniable.losses import convert
from deniable.mechanisms import QuantileSearch
from deniable.mechanisms.selection import quantile_search
from deniable.mechanisms.selection.quantile_search import block_edges

LARGE = st.sampled_from([0, 1, 2, 7, 2**20, 2**44, 2**47, 2**61])


@settings(max_examples=200)
@given(
    share=st.floats(0.001, 0.999),
    counts=st.lists(st.lists(LARGE, min_size=4, max_size=4), min_size=1, max_size=3),
    changes=st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(-5, 5)), max_size=5
    ),
)
def test_distances_move_no_further_than_is_said_all_rows_together(share, counts, changes):
    first = np.array(counts, dtype=np.int64)
    second = first.copy()
    for row, cell, by in changes:
        if row < len(second):
            second[row, cell] = max(0, second[row, cell] + by)
    moved = int(np.abs(second - first).sum())
    search = QuantileSearch(epsilon=1.0, share=share, sensitivity=max(1, moved))
    tables = (quantile_search._below(first), quantile_search._below(second))
    away = [np.array([search.distances(row) for row in table]) for table in tables]
    assert np.abs(away[0] - away[1]).max(axis=1).sum() <= search.moved * (moved > 0)


def test_a_margin_for_rounding_is_needed_and_small():
    search = QuantileSearch(epsilon=1.0, share=0.5)
    assert 0.5 < search.moved < 0.503


@given(cell=st.integers(0, 40), more=st.integers(0, 40))
def test_blocks_are_disjoint_and_cover_all_cells(cell, more):
    edges = block_edges(np.array([cell]), cell + more + 1)[0]
    assert edges[0] == 0
    assert edges[-1] == cell + more + 1
    assert (np.diff(edges) >= 0).all()
    assert {cell, cell + 1} <= set(edges.tolist())


def test_what_is_charged_is_what_was_asked_for():
    search = QuantileSearch(epsilon=0.3, share=0.9, sensitivity=10)
    assert search.pure() == pytest.approx(0.3, rel=1e-12)
    assert search.zcdp() == pytest.approx(0.3**2 * (0.4**2 / 8 + 0.2**2 / 2 + 0.4**2 / 2), rel=0.05)


def test_with_much_to_spend_the_numbers_are_right():
    counts = np.array([[5, 0, 20, 5, 1], [0, 0, 0, 0, 9]])
    found = QuantileSearch(epsilon=1e6, share=0.25).release(counts)
    assert found[:, 0].tolist() == [2, 4]
    assert found[:, 1].tolist() == [
        pytest.approx((5 - 31 / 4) * 2**20, abs=2000),
        pytest.approx(-9 / 4 * 2**20, abs=2000),
    ]
    assert found[0, 2:].tolist() == np.diff([0, 0, 0, 5, 5, 25, 30, 31, 31, 31]).tolist()


def test_counts_that_fill_64_bits_do_not_overflow():
    found = QuantileSearch(epsilon=1e3, share=0.5).release(np.full((1, 3), 2**63 - 1))
    assert found[0, 0] == 1


@pytest.mark.parametrize("counts", [[1, 2], [[]], [[0.5]], [[-1]], "x"])
def test_what_is_no_table_of_counts_is_refused(counts):
    with pytest.raises(dp.BadParameter):
        QuantileSearch(epsilon=1.0, share=0.5).release(counts)


@pytest.mark.parametrize("share", [0.0, 1.0, -1, math.nan])
def test_a_share_is_between_0_and_1(share):
    with pytest.raises(dp.BadParameter):
        QuantileSearch(epsilon=1.0, share=share)


def test_no_histograms_have_no_quantiles():
    found = QuantileSearch(epsilon=1.0, share=0.5).release(np.zeros((0, 5), dtype=int))
    assert len(found) == 0


@pytest.mark.parametrize("shape", [(5,), (3, 0), (), (1, 2, 3)], ids=str)
def test_the_number_of_cells_is_declared_and_at_least_one(shape):
    with pytest.raises(dp.BadParameter, match="not declared"):
        QuantileSearch(epsilon=1.0, share=0.5).reading(Form(shape=shape, whole=True))


@pytest.mark.parametrize("shape", [(0, 5), (2, 1)], ids=str)
def test_there_may_be_any_number_of_histograms(shape):
    read = QuantileSearch(epsilon=1.0, share=0.5).reading(Form(shape=shape, whole=True))
    assert read(np.zeros(shape, dtype=int)).shape == shape


@pytest.mark.parametrize("share", [0.001, 0.25, 0.5, 0.9, 1e-9, 1 - 1e-9])
def test_each_part_gets_its_share_of_epsilon_and_covers_what_one_unit_moves(share):
    search = QuantileSearch(epsilon=2.0, share=share, sensitivity=3.0)
    q = min(max(round(share * 2**20), 1), 2**20 - 1)
    assert search.numerator == q
    most = max(q, 2**20 - q)
    assert search.rank_noise.sensitivity == 3 * most
    assert search.rank_noise.pure() == pytest.approx(0.4)
    assert search.block_noise.sensitivity == 3.0
    assert search.block_noise.pure() == pytest.approx(0.8)
    assert float(search.moved) == pytest.approx(3 * most / 2**20, rel=1e-2)
    assert search.moved > Fraction(3 * most, 2**20)
    wanted = math.log(7 / 0.1) * 2 * float(search.moved) / 0.8
    assert search.error(0.9, candidates=7) == pytest.approx(wanted)
    order = 3.0
    parts = [search.rank_noise.renyi(order), search.block_noise.renyi(order)]
    chosen = convert.bounded_range_to_renyi(0.8, order)
    assert search.renyi(order) == pytest.approx(chosen + sum(parts), rel=1e-9)


@pytest.mark.parametrize("largest", [5, 2**47, 2**48, 2**62])
def test_what_lies_below_each_edge_is_added_up_exactly(largest):
    counts = np.array([[largest, 0, largest, 3], [1, 2, 3, 4]])
    found = quantile_search._below(counts)
    exact = [[0, largest, largest, 2 * largest, 2 * largest + 3], [0, 1, 3, 6, 10]]
    assert [[int(each) for each in row] for row in found] == exact


def test_distances_are_those_of_the_ranks_at_both_edges():
    """q = ¼ of 8 rows is rank 2: cells that hold it are at 0, others as far as their edge."""
    search = QuantileSearch(epsilon=1.0, share=0.25)
    below = quantile_search._below(np.array([[1, 0, 3, 0, 4]]))[0]
    assert search.distances(below).tolist() == [1.0, 1.0, 0.0, 2.0, 2.0]
    huge = quantile_search._below(np.array([[2**62, 2**62]]))[0]
    assert search.distances(huge).tolist() == [0.0, 2.0**43]
