"""Blocks of cells, level by level, against least squares with the matrix written out."""

import itertools
import math

import numpy as np
import pytest

from deniable.workload.strategies import Blocks, Bounds, blocks
from deniable.workload.strategies.blocks import _trace, optimised

SHAPES = [
    (1, (1,)), (5, (1,)), (8, (1, 2, 8)), (7, (1, 2, 8)), (12, (1, 3, 12)), (10, (1, 3, 12)),
    (12, (2, 6)), (9, (2, 4, 12)), (13, (1, 4, 16)),
]  # fmt: skip
CASES = [pytest.param(cells, sizes, id=f"{cells}-{sizes}") for cells, sizes in SHAPES]

ROWS = Bounds()


def made(cells, sizes, law="gaussian", bounds=ROWS):
    shares = tuple((1.0 + i) / sum(range(1, len(sizes) + 1)) for i in range(len(sizes)))
    return Blocks(cells=cells, bounds=bounds, sizes=sizes, shares=shares, law=law)


def deviations_of(sizes):
    return [1.5 + 0.7 * i for i in range(len(sizes))]


def normal(cells, sizes, deviations):
    """The matrix of all block counts over the cells that fill up the last block, and AᵀPA."""
    whole = math.ceil(cells / sizes[-1]) * sizes[-1]
    levels = [
        np.array([[b * m <= i < b * m + m for i in range(whole)] for b in range(whole // m)])
        for m in sizes
    ]
    weighted = [level.T.astype(float) / d**2 for level, d in zip(levels, deviations, strict=True)]
    return levels, weighted, sum(w @ level for w, level in zip(weighted, levels, strict=True))


@pytest.mark.parametrize(("cells", "sizes"), CASES)
def test_counts_are_those_of_blocks_and_the_last_may_be_short(cells, sizes):
    strategy = made(cells, sizes)
    counts = np.arange(cells) ** 2 + 1
    for part, size in enumerate(sizes):
        wanted = [int(counts[at : at + size].sum()) for at in range(0, cells, size)]
        assert strategy.encode(part, counts).tolist() == wanted
        assert strategy.lengths[part] == len(wanted)


@pytest.mark.parametrize(("cells", "sizes"), [c for c in CASES if c.values[1][0] == 1])
def test_cells_are_fitted_by_least_squares_where_what_is_filled_up_counts_as_zero(cells, sizes):
    strategy, deviations = made(cells, sizes), deviations_of(sizes)
    source = np.random.default_rng(1)
    noisy = [source.normal(100.0, 30.0, length) for length in strategy.lengths]
    levels, weighted, matrix = normal(cells, sizes, deviations)
    right = 0
    for y, level, weights in zip(noisy, levels, weighted, strict=True):
        right = right + weights @ np.concatenate([y, np.zeros(len(level) - len(y))])
    wanted = np.linalg.solve(matrix, right)[:cells]
    assert np.allclose(strategy.decode(noisy, deviations), wanted, rtol=1e-9)


@pytest.mark.parametrize(("cells", "sizes"), [c for c in CASES if c.values[1][0] == 1])
def test_variances_are_those_of_least_squares(cells, sizes):
    strategy, deviations = made(cells, sizes), deviations_of(sizes)
    covariance = np.linalg.inv(normal(cells, sizes, deviations)[2])[:cells, :cells]
    weights = np.random.default_rng(2).normal(size=(3, cells))
    wanted = [w @ covariance @ w for w in weights]
    assert np.allclose(strategy.variance(weights, deviations), wanted, rtol=1e-9)
    assert np.allclose(strategy.cell_variances(deviations), np.diag(covariance), rtol=1e-9)
    pairs = [(a, b) for a in range(cells) for b in range(a, cells)]
    first, last = np.array(pairs).T
    ranges = [covariance[a : b + 1, a : b + 1].sum() for a, b in pairs]
    found = strategy.interval_variances(first, last, deviations)
    assert np.allclose(found, ranges, rtol=1e-9)
    prefixes = [covariance[:b, :b].sum() for b in range(cells + 1)]
    assert np.allclose(strategy.prefix_variances(deviations), prefixes, rtol=1e-9)
    mean = strategy.mean_variance("ranges", deviations)
    assert mean == pytest.approx(np.mean(ranges), rel=1e-9)
    mean = strategy.mean_variance("prefixes", deviations)
    assert mean == pytest.approx(np.mean(prefixes[1:]), rel=1e-9)


@pytest.mark.parametrize(("cells", "size"), [*itertools.product([1, 2, 7, 12], [1, 2, 3, 5, 12])])
def test_a_trace_is_the_sum_over_all_queries_of_the_squares_of_what_blocks_share(cells, size):
    """Every range and every prefix, one by one."""
    for queries in ("ranges", "prefixes"):
        total = 0.0
        for a, b in itertools.combinations_with_replacement(range(cells), 2):
            if queries == "prefixes" and a > 0:
                continue
            for start in range(0, cells, size):
                shared = len({*range(a, b + 1)} & {*range(start, start + size)})
                total += shared**2 / size
        assert _trace(cells, size, queries) == pytest.approx(total)


@pytest.mark.parametrize(("law", "power"), [("laplace", 3), ("gaussian", 2)])
@pytest.mark.parametrize("sizes", [(1, 4, 8), (2, 8)])
def test_a_unit_moves_each_level_by_its_l1_and_cells_themselves_by_its_l2(law, power, sizes):
    """Weights are the powers of which a split takes the roots: shares of the loss."""
    strategy = made(8, sizes, law, Bounds(l1=6.0, l2=4.0))
    found = strategy.vectors
    assert [v.l1 for v in found] == [6.0] * len(sizes)
    assert [v.l2 for v in found] == [4.0 if m == 1 else 6.0 for m in sizes]
    assert [v.weight for v in found] == pytest.approx([s**power for s in strategy.shares])


@pytest.mark.parametrize(
    ("cells", "branching", "sizes"),
    [
        (9, 3, [1, 3, 9]), (10, 3, [1, 3, 9, 18]), (8, 3, [1, 3, 9]), (16, 4, [1, 4, 16]),
        (2, 2, [1, 2]), (37, 3, [1, 3, 9, 27, 54]), (5, 8, [1, 5]),
    ],
)  # fmt: skip
def test_blocks_grow_by_the_branching_until_one_holds_all_cells(
    cells, branching, sizes, monkeypatch
):
    monkeypatch.setattr(blocks, "_DROPPED", 0.0)
    for law in ("laplace", "gaussian"):
        found, shares = optimised.__wrapped__(cells, branching, "ranges", law)
        assert list(found) == sizes
        assert sum(shares) == pytest.approx(1.0)
        assert len(shares) == len(sizes)


def badness(strategy, queries, shares):
    """The mean variance for noise that these shares of the loss buy."""
    laplace = strategy.law == "laplace"
    deviations = [math.sqrt(2) / s if laplace else 1 / math.sqrt(s) for s in shares]
    return strategy.mean_variance(queries, deviations)


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("queries", ["ranges", "prefixes"])
@pytest.mark.parametrize(("cells", "branching"), [(16, 2), (37, 3), (500, 2), (500, 8)])
def test_no_small_move_of_the_loss_between_levels_errs_less(law, queries, cells, branching):
    sizes, shares = optimised(cells, branching, queries, law)
    assert sizes[0] == 1
    assert all(share > 1e-3 for share in shares)
    assert sum(shares) == pytest.approx(1.0)
    strategy = Blocks(cells=cells, bounds=Bounds(), sizes=sizes, shares=shares, law=law)
    best = badness(strategy, queries, shares)
    for i, j in itertools.permutations(range(len(shares)), 2):
        moved = list(shares)
        step = 0.02 * min(shares[i], shares[j])
        moved[i], moved[j] = moved[i] + step, moved[j] - step
        assert badness(strategy, queries, moved) >= best * (1 - 1e-7)


def test_levels_that_hardly_help_are_left_out():
    sizes, shares = optimised(500, 2, "ranges", "laplace")
    assert len(sizes) < 10
    assert min(shares) > 2e-3
    for law in ("laplace", "gaussian"):
        assert optimised(2, 64, "prefixes", law)[0][0] == 1
