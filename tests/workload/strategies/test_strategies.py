"""Every strategy: what one unit moves, what comes back, and how far it may be off."""

import math

import numpy as np
import pytest

from deniable.workload.strategies import Blocks, Bounds, Dense, Identity, Sine, SquareRoot
from deniable.workload.strategies.blocks import optimised
from deniable.workload.strategies.dense import optimised as matrix_for

ROWS = Bounds()
PEOPLE = Bounds(l1=3 * 2.0**20, l2=3 * 2.0**20)


def blocks(cells, branching, law, bounds=ROWS):
    sizes, shares = optimised(cells, branching, "ranges", law)
    return Blocks(cells=cells, bounds=bounds, sizes=sizes, shares=shares, law=law)


def every(cells, bounds=ROWS):
    yield Identity(cells=cells, bounds=bounds)
    yield blocks(cells, 2, "laplace", bounds)
    yield blocks(cells, 3, "gaussian", bounds)
    yield Sine(cells=cells, bounds=bounds)
    yield SquareRoot(cells=cells, bounds=bounds)
    (found,) = matrix_for(np.tri(cells))[:1]
    yield Dense(cells=cells, bounds=bounds, matrix=found)


CASES = [
    pytest.param(strategy, id=f"{strategy.name}-{cells}-{strategy.bounds.l1:g}")
    for cells in (3, 16, 37)
    for bounds in (ROWS, PEOPLE)
    for strategy in every(cells, bounds)
]


def encoded(strategy, counts):
    return [strategy.encode(part, counts) for part in range(len(strategy.lengths))]


@pytest.mark.parametrize("strategy", CASES)
def test_what_one_unit_moves_is_within_the_bounds(strategy):
    rng = np.random.default_rng(1)
    size = int(strategy.bounds.l1)
    base = rng.integers(0, 1000 * size, strategy.cells)
    before = encoded(strategy, base)
    moves = np.eye(strategy.cells, dtype=np.int64) * size
    several = rng.multinomial(size, np.full(strategy.cells, 1 / strategy.cells), 5)
    for move in [*moves, *-moves, *several, *(several * rng.choice([-1, 1], several.shape))]:
        for old, new, vector in zip(
            before, encoded(strategy, base + move), strategy.vectors, strict=True
        ):
            change = (new - old).astype(np.float64)
            assert np.abs(change).sum() <= vector.l1
            assert math.sqrt(np.square(change).sum()) <= vector.l2


@pytest.mark.parametrize("kind", [Sine, SquareRoot])
@pytest.mark.parametrize("bits", [69, 75, 81, 100, 1000])
def test_however_far_units_move_the_bound_holds(kind, bits):
    """Neighbours as far apart as cells can be: 2¹⁷ cells from −2⁵⁰ to 2⁵⁰."""
    cells = 2**17
    strategy = kind(cells=cells, bounds=Bounds(l1=2.0**bits, l2=2.0**bits))
    low, high = (strategy.encode(0, np.full(cells, end)) for end in (-(2**50), 2**50))
    change = high.astype(np.float64) - low
    assert math.sqrt(np.square(change).sum()) <= strategy.vectors[0].l2


@pytest.mark.parametrize("strategy", CASES)
def test_the_bound_in_l2_is_hardly_above_what_some_unit_moves(strategy):
    size = int(strategy.bounds.l1)
    zero = encoded(strategy, np.zeros(strategy.cells, dtype=np.int64))
    moves = np.eye(strategy.cells, dtype=np.int64) * size
    for part, vector in enumerate(strategy.vectors):
        changes = [strategy.encode(part, m) - zero[part] for m in moves]
        longest = max(math.sqrt(np.square(c.astype(np.float64)).sum()) for c in changes)
        assert vector.l2 <= longest * 1.001


@pytest.mark.parametrize("strategy", CASES)
def test_without_noise_the_counts_come_back(strategy):
    counts = np.random.default_rng(2).integers(0, 10**6, strategy.cells)
    noiseless = [part.astype(np.float64) for part in encoded(strategy, counts)]
    deviations = [1.0 + i for i in range(len(noiseless))]
    assert np.allclose(strategy.decode(noiseless, deviations), counts, atol=1e-3)


@pytest.mark.parametrize("strategy", CASES)
def test_variances_are_those_of_the_decoder(strategy):
    """The decoder is linear: its variance is the sum of squares of its columns."""
    n = strategy.cells
    deviations = [2.0 + i for i in range(len(strategy.lengths))]
    columns = []
    for part, length in enumerate(strategy.lengths):
        for place in range(length):
            noise = [np.zeros(m) for m in strategy.lengths]
            noise[part][place] = deviations[part]
            columns.append(strategy.decode(noise, deviations))
    spread = np.array(columns)
    padded = isinstance(strategy, Blocks) and n % strategy.sizes[-1]

    def agrees(found, weights):
        wanted = np.square(spread @ weights).sum(axis=0)
        if padded:  # what fills up the last block is known to be 0, and taken as noisy
            assert (found >= wanted * (1 - 1e-9)).all()
            assert (found <= wanted * 1.5).all()
            assert found.mean() <= wanted.mean() * 1.1
        else:
            assert np.allclose(found, wanted, rtol=1e-6)

    weights = np.random.default_rng(3).normal(size=(n, 4))
    agrees(strategy.variance(weights.T, deviations), weights)
    agrees(strategy.cell_variances(deviations), np.eye(n))
    agrees(strategy.prefix_variances(deviations)[1:], np.triu(np.ones((n, n))))
    first, last = np.array([0, 1]), np.array([n - 1, n - 2])
    ranges = np.array([[f <= i <= t for i in range(n)] for f, t in zip(first, last, strict=True)])
    agrees(strategy.interval_variances(first, last, deviations), ranges.T.astype(float))


@pytest.mark.parametrize("queries", ["ranges", "prefixes"])
@pytest.mark.parametrize("strategy", [s for s in every(37) if s.name != "optimised matrix"])
def test_mean_variances_are_means_over_all_queries(strategy, queries):
    n = strategy.cells
    pairs = [(a, b) for a in range(n) for b in range(a, n) if queries == "ranges" or a == 0]
    first, last = np.array(pairs).T
    deviations = [2.0 + i for i in range(len(strategy.lengths))]
    wanted = strategy.interval_variances(first, last, deviations).mean()
    assert math.isclose(strategy.mean_variance(queries, deviations), wanted, rel_tol=1e-9)


@pytest.mark.parametrize("cells", [5000, 2**16])
def test_interpolated_variances_are_close_and_not_below(cells):
    strategy = Sine(cells=cells, bounds=Bounds())
    places = np.array([0, 1, 5, 77, cells // 3, cells // 2 + 1, cells - 40, cells - 1])
    exact = strategy.interval_variances(np.zeros_like(places), places, [1.0])
    found = strategy.prefix_variances([1.0])[places + 1]
    assert (found >= exact).all()
    assert (found <= exact * 1.006).all()
