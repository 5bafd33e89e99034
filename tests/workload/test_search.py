"""One quantile: better than a tree of counts, with intervals that cover."""

import math

import numpy as np
import pytest
from tests import goodness

import deniable as dp
from deniable.mechanisms import Laplace, QuantileSearch
from deniable.mechanisms.selection.quantile_search import STEPS
from deniable.sampling.seeded import SeededSource
from deniable.sampling.source import using
from deniable.workload.search import Search, SearchResult, usual_reach
from deniable.workload.tails import factor
from deniable.workload.trees import Ranks, tree_for

CELLS, ALARM = 4096, 1e-8


def column(rows=4000, *, seed=3):
    """A long tail over many cells."""
    values = np.exp(np.random.default_rng(seed).normal(5, 1.2, rows))
    return np.bincount(np.clip(values, 0, CELLS - 1).astype(int), minlength=CELLS)


def truth(counts, q):
    return int(np.searchsorted(np.cumsum(counts), q * counts.sum()))


def rank_errors(counts, cells, q):
    below = np.concatenate([[0], np.cumsum(counts)])
    wanted = q * below[-1]
    return np.maximum(np.maximum(below[cells] - wanted, wanted - below[cells + 1]), 0)


def searched(counts, q, *, epsilon, times):
    noise = QuantileSearch(epsilon=epsilon, share=q)
    numbers = np.array([noise.release(counts[None])[0] for _ in range(times)], dtype=float)
    return SearchResult(search=Search(cells=CELLS, q=q), numbers=numbers, noise=noise)


def covered(found, counts, q, confidence):
    first, last = found.possible(confidence)
    held = truth(counts, q)
    return int(np.count_nonzero((first <= held) & (held <= last)))


@pytest.mark.statistical
@pytest.mark.parametrize("q", [0.5, 0.9])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_intervals_cover_as_often_as_they_say(q, confidence):
    """False alarm below 1e-8 each."""
    counts, times = column(), 300
    found = searched(counts, q, epsilon=0.5, times=times)
    hits = covered(found, counts, q, confidence)
    assert goodness.covered(hits, times, confidence) > ALARM


@pytest.mark.statistical
def test_less_noise_than_was_meant_is_noticed():
    """A twin that draws at a quarter of the loss it is read with no longer covers."""
    counts, times = column(), 300
    noisy = searched(counts, 0.9, epsilon=0.05, times=times)
    sure = QuantileSearch(epsilon=1.0, share=0.9)
    wrong = SearchResult(search=noisy.search, numbers=noisy.numbers, noise=sure)
    assert goodness.covered(covered(wrong, counts, 0.9, 0.95), times, 0.95) < ALARM


def test_one_quantile_errs_less_than_one_read_off_a_tree():
    """By a factor of 4 in rank, and intervals half as wide; a factor of 2 and 0.8 is asked for.

    Seeded: no alarms.
    """
    counts, q, times = column(), 0.5, 60
    tree = tree_for(CELLS, law="laplace")
    noise = Laplace.calibrate(epsilon=1.0, sensitivity=tree.levels)
    with using(SeededSource(1)):
        found = searched(counts, q, epsilon=1.0, times=times)
        noisy = np.array([noise.release(tree.sums(counts)) for _ in range(times)], dtype=float)
    ranks = Ranks(
        tree=tree, cells=tree.agreed(noisy), law="laplace", deviation=noise.scale * math.sqrt(2)
    )
    read = ranks.cell(q)
    by_tree = ranks.possible(q, 0.95, guess=read)
    by_search = found.possible(0.95)
    error = {
        "tree": np.sqrt(np.mean(rank_errors(counts, read, q) ** 2)),
        "search": np.sqrt(np.mean(rank_errors(counts, found.cell, q) ** 2)),
    }
    assert 2 * error["search"] < error["tree"]
    assert np.mean(by_search[1] - by_search[0]) < 0.8 * np.mean(by_tree[1] - by_tree[0])


def noises(sql, *, budget=dp.epsilon(9), spend=dp.epsilon(1)):  # noqa: B008  (frozen values)
    import pyarrow as pa

    held = pa.table({"x": [1.0], "k": ["a"]})
    schema = dp.Schema(columns={"x": dp.bounds(0, 1e6), "k": dp.keys(["a", "b"])})
    session = dp.open(held, unit=dp.rows(), budget=budget, schema=schema, name="t")
    release = session.sql(sql).release(spend=spend)
    return [m["mechanism"] for m in release.mechanisms]


def test_one_quantile_is_searched_and_several_are_read_off_a_tree():
    assert noises("SELECT MEDIAN(x) AS m FROM t") == ["quantile_search"]
    assert noises("SELECT k, MEDIAN(x) AS m FROM t GROUP BY k") == ["quantile_search"]
    assert noises("SELECT MEDIAN(x) AS m, QUANTILE(x, 0.9) AS q FROM t") == ["laplace"]
    assert noises("SELECT MAX(x) AS m FROM t") == ["laplace"]
    assert noises("SELECT QUANTILE(x, 1.0) AS m FROM t") == ["laplace"]


def test_where_gaussian_noise_alone_is_proved_there_is_a_tree():
    found = noises("SELECT MEDIAN(x) AS m FROM t", budget=dp.mu(3), spend=dp.mu(0.5))
    assert found == ["gaussian"]
    assert noises("SELECT MEDIAN(x) AS m FROM t", budget=dp.rho(3), spend=dp.rho(0.5)) == [
        "quantile_search"
    ]


@pytest.mark.parametrize("cells", [1, 2, 5, 16, 37])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_a_block_is_possible_while_neither_of_its_edges_refutes_it(cells, confidence):
    """Block by block: what is empty holds no value, and the cell that was found always may be."""
    noise = QuantileSearch(epsilon=1.0, share=0.3)
    search = Search(cells=cells, q=0.3)
    source = np.random.default_rng(cells)
    numbers = source.normal(0, 9, (400, search.nodes))
    numbers[:, 0] = source.integers(0, cells, 400)
    numbers[:, 1] *= STEPS
    first, last = SearchResult(search=search, numbers=numbers, noise=noise).possible(confidence)
    blocks, times = search.nodes - 2, factor("laplace", confidence)
    here = blocks // 2
    rank, block = noise.rank_noise.scale / STEPS, noise.block_noise.scale
    for row, low, high in zip(numbers, first, last, strict=True):
        cell = int(row[0])
        far = [0, *(2**k for k in range(here))]
        edges = [max(cell - f, 0) for f in far[::-1]] + [min(cell + 1 + f, cells) for f in far]
        balance = np.concatenate([[0.0], np.cumsum(row[2:])])
        balance += row[1] / STEPS - balance[here]
        reach = [
            times * math.sqrt(2 * rank**2 + 2 * block**2 * abs(k - here)) for k in range(blocks + 1)
        ]
        open_ = [
            k
            for k in range(blocks)
            if k == here
            or (
                edges[k] < edges[k + 1]
                and balance[k] <= reach[k]
                and balance[k + 1] >= -reach[k + 1]
            )
        ]
        assert (low, high) == (edges[open_[0]], edges[open_[-1] + 1] - 1)


def test_the_usual_distance_is_that_of_two_blocks():
    noise = QuantileSearch(epsilon=1.0, share=0.3)
    rank, block = noise.rank_noise.scale / STEPS, noise.block_noise.scale
    for confidence in (0.5, 0.95):
        wanted = factor("laplace", confidence) * math.sqrt(2 * rank**2 + 4 * block**2)
        assert usual_reach(noise, confidence=confidence) == pytest.approx(wanted)
