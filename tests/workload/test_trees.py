"""Trees of counts: sums, agreement, and what they say about quantiles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import goodness

from deniable.workload.trees import Ranks, Tree, branching_for, spread, tree_for

SHAPES = st.sampled_from([1, 2, 7, 10, 126, 1000, 1024])


# The least of h³·(B − 1) for Laplace and of h²·(B − 1) for Gaussian noise, worked out by hand.
LEVELS = {16: (1, 2), 256: (2, 4), 4096: (3, 5), 65536: (4, 7), 2**20: (5, 9)}


@pytest.mark.parametrize(("cells", "levels"), LEVELS.items(), ids=str)
def test_trees_under_gaussian_noise_are_higher_as_their_levels_cost_less(cells, levels):
    assert tuple(len(branching_for(cells, law=law)) for law in ("laplace", "gaussian")) == levels


@given(cells=SHAPES, law=st.sampled_from(["laplace", "gaussian"]), seed=st.integers(0, 99))
def test_every_level_is_a_histogram_of_all_cells(cells, law, seed):
    tree = tree_for(cells, law=law)
    counts = np.random.default_rng(seed).integers(0, 100, (2, cells))
    nodes = tree.sums(counts)
    assert nodes.shape == (2, tree.nodes)
    levels = np.split(nodes, np.cumsum(tree.sizes)[:-1], axis=-1)
    for level in levels:
        assert (level.sum(axis=-1) == counts.sum(axis=-1)).all()


@given(cells=SHAPES, law=st.sampled_from(["laplace", "gaussian"]), seed=st.integers(0, 99))
def test_one_unit_moves_each_level_as_far_as_the_cells(cells, law, seed):
    """So the L1 bound of the tree is that of the histogram, once a level."""
    tree = tree_for(cells, law=law)
    generator = np.random.default_rng(seed)
    own = np.zeros((1, cells), dtype=np.int64)
    own[0, generator.integers(0, cells, 5)] += generator.integers(1, 9, 5)
    others = generator.integers(0, 100, (1, cells))
    moved = np.abs(tree.sums(others + own) - tree.sums(others)).sum()
    assert moved == tree.levels * own.sum()


@given(cells=SHAPES)
def test_agreed_counts_of_exact_sums_are_the_cells(cells):
    tree = tree_for(cells, law="laplace")
    counts = np.arange(cells)[None] % 17
    assert np.allclose(tree.agreed(tree.sums(counts).astype(float)), counts)


def test_agreeing_is_least_squares():
    tree = Tree(cells=6, branching=(2, 3))
    design = np.array([tree.sums(row[None])[0] for row in np.eye(6, dtype=np.int64)]).T
    noisy = np.random.default_rng(1).normal(0, 1, tree.nodes)
    best = np.linalg.lstsq(design.astype(float), noisy, rcond=None)[0]
    assert np.allclose(tree.agreed(noisy[None])[0], best)


def test_the_spread_is_that_of_simulated_noise():
    tree = tree_for(126, law="laplace")
    noise = np.random.default_rng(3).normal(0, 1, (20_000, tree.nodes))
    ranks = Ranks(tree=tree, cells=tree.agreed(noise), law="gaussian", deviation=1.0)
    seen = ranks.balance(0.5).std(axis=0).max()
    assert 0.93 * seen <= spread(tree, 0.5) <= 1.03 * seen


def test_sums_too_wide_for_64_bits_are_held_at_the_end():
    tree = tree_for(100, law="laplace")
    nodes = tree.sums(np.full((1, 100), 2**62, dtype=np.int64))
    assert nodes.max() == 2**63 - 1
    assert (nodes > 0).sum() >= 100


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_without_noise_the_quantile_is_exact(q):
    values = np.random.default_rng(0).integers(0, 126, 999)
    tree = tree_for(126, law="laplace")
    cells = tree.agreed(tree.sums(np.bincount(values, minlength=126)[None]).astype(float))
    ranks = Ranks(tree=tree, cells=np.round(cells), law="laplace", deviation=1e-9)
    assert ranks.cell(q)[0] == np.quantile(values, q, method="inverted_cdf")


def edge_errors(tree, q):
    """The standard deviation of D at every edge, in that of one count."""
    found = []
    for edges in np.array_split(np.arange(tree.cells + 1), 1 + tree.cells // 500):
        c = np.where(np.arange(tree.cells) < edges[:, None], 1 - q, -q)
        counts = np.zeros((len(edges), tree.nodes))
        counts[:, -tree.sizes[-1] :][:, : tree.cells] = c
        found.append(np.sqrt((c * tree.agreed(counts)).sum(axis=-1)))
    return np.concatenate(found)


SPREADS = [(law, cells) for law in ("laplace", "gaussian") for cells in (2, 64, 200, 1000, 4096)]


@pytest.mark.parametrize("q", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(("law", "cells"), SPREADS)
def test_the_spread_is_that_of_the_worst_edge(law, cells, q):
    tree = tree_for(cells, law=law)
    assert spread(tree, q) >= (1 - 1e-9) * edge_errors(tree, q).max()


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(("law", "cells"), [("laplace", 126), ("gaussian", 126), ("gaussian", 200)])
def test_quantiles_are_covered_where_both_edges_of_their_cell_are_close(law, cells, q):
    """One row between two crowds, at the worst edge: it is missed when D errs on either side.

    Noise is drawn with a seed, so nothing alarms by chance. An interval for one side alone would
    cover 90 % of these.
    """
    tree, times, deviation = tree_for(cells, law=law), 4000, 100.0
    place = int(np.clip(edge_errors(tree, q).argmax(), 1, cells - 2))
    counts = np.zeros((1, cells), dtype=np.int64)
    counts[0, place - 1 : place + 2] = round(q * 10**6), 1, round((1 - q) * 10**6)
    draw = np.random.default_rng(5)
    if law == "laplace":
        noise = draw.laplace(0, deviation / np.sqrt(2), (times, tree.nodes))
    else:
        noise = draw.normal(0, deviation, (times, tree.nodes))
    noisy = tree.agreed(tree.sums(counts) + noise)
    ranks = Ranks(tree=tree, cells=noisy, law=law, deviation=deviation)
    first, last = ranks.possible(q, 0.95, guess=ranks.cell(q))
    held = int(((first <= place) & (place <= last)).sum())
    assert goodness.covered(held, times, 0.95) > 1e-6
