"""Any matrix of queries: whatever strategy is chosen can answer every one of them."""

from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable import workload
from deniable.progress import Progress
from deniable.workload.strategies import Bounds

SPENDS = [dp.mu(1.0), dp.epsilon(1.0), dp.rho(0.5)]


def without_noise(w, strategy, counts):
    parts = [strategy.encode(i, counts).astype(float) for i in range(len(strategy.lengths))]
    return w.weights @ strategy.decode(parts, [1.0] * len(parts))


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 8), st.integers(1, 10), st.integers(0, 2), st.integers(0, 2**32 - 1))
def test_without_noise_every_candidate_returns_the_truth(queries, cells, kind, seed):
    """Rows differ in scale by up to 10¹⁰, and some are sums of others."""
    rng = np.random.default_rng(seed)
    entries = [
        rng.normal(size=(queries, cells)),
        rng.choice([0.0, 1.0, -1.0, 0.5], (queries, cells)),
        rng.integers(0, 2, (queries, cells)).astype(float),
    ][kind]
    entries[0, 0] = 1.0
    entries[-1] = entries.sum(axis=0)
    weights = entries * 10.0 ** rng.integers(-5, 6, size=(queries, 1))
    w = workload.matrix(weights)
    counts = rng.integers(0, 10**6, cells)
    lengths = np.sqrt(np.square(weights).sum(axis=1))
    for law in ("laplace", "gaussian"):
        for strategy in w._strategies(law, Bounds()):
            missed = np.abs(without_noise(w, strategy, counts) - weights @ counts)
            assert (missed <= 1e-8 * lengths * np.sqrt(np.square(1.0 * counts).sum())).all()


@pytest.mark.parametrize("spend", SPENDS, ids=str)
@pytest.mark.parametrize("top", [10.0**6, 10.0**5, 7.0])
def test_a_number_of_people_and_their_income_are_within_eight_times_the_error(top, spend):
    """Noise beyond 8 times the 95 % error has odds below 1e-9, also under Laplace noise."""
    incomes = np.linspace(0, top, 50)
    counts = np.zeros(50, dtype=int)
    counts[3] = 200_000
    found = workload.matrix([np.ones(50), incomes]).release(counts, spend=spend)
    truth = np.array([200_000, incomes @ counts])
    assert (np.abs(found.values - truth) <= 8 * found.errors).all()


def test_few_queries_of_whole_numbers_keep_an_optimised_matrix():
    weights = np.array([[1] * 30, range(30), [3 * i % 7 for i in range(30)]])
    plan = workload.matrix(weights).plan(spend=dp.mu(1.0))
    assert plan.strategy == "optimised matrix"


def test_rows_of_zeros_and_of_any_scale_are_planned():
    for weights in ([[0, 0], [1, 2]], [[1e150, 0], [0, 1e-150]], [[1e-200, 1e-200]]):
        assert np.isfinite(workload.matrix(weights).plan(spend=dp.mu(1.0)).errors).all()


@pytest.mark.parametrize("shape", [(3, 40), (5, 200), (20, 300), (60, 50)])
@pytest.mark.parametrize("rank", [2, 50])
@pytest.mark.parametrize("moved", [1.0, 3.0 * 2**20])
def test_real_queries_of_any_rank_are_answered_near_the_best(shape, rank, moved):
    """Within 1 % of the dual bound of the best matrix for Gaussian noise, also for people."""
    queries = low_rank(shape, rank)
    plan = workload.matrix(queries).plan(spend=dp.mu(1.0), sensitivity=moved)
    assert plan.strategy == "optimised matrix"
    least = dual_bound(shape, rank)
    assert least <= plan.rmse / moved <= 1.01 * least


def low_rank(shape, rank):
    rng = np.random.default_rng(rank)
    return rng.normal(size=(shape[0], rank)) @ rng.normal(size=(rank, shape[1]))


@lru_cache
def dual_bound(shape, rank):
    """(tr (D½·WᵀW·D½)½)²/Σd is below the sum of squared errors of any strategy, for every d."""
    queries = low_rank(shape, rank)
    d = np.ones(queries.shape[1])
    for _ in range(300):
        values = np.linalg.svd(queries * np.sqrt(d), full_matrices=False)
        root = (values[2] ** 2 * values[1][:, None]).sum(axis=0)
        d = np.maximum(root, 1e-9)
    total = np.linalg.svd(queries * np.sqrt(d), compute_uv=False).sum() ** 2 / d.sum()
    return np.sqrt(total / len(queries))


@pytest.mark.parametrize("largest", [10**3, 10**9])
def test_answers_to_real_queries_are_unbiased_at_any_size(largest):
    """Means of 60 releases, each within 6.5 standard errors: odds below 1e-9 for all 12."""
    rng = np.random.default_rng(4)
    queries, counts = rng.normal(size=(6, 80)), rng.integers(0, largest, 80)
    w = workload.matrix(queries)
    found = np.array([w.release(counts, spend=dp.mu(1.0)).values for _ in range(60)])
    plan = w.plan(spend=dp.mu(1.0))
    gaps = (found - queries @ counts).mean(axis=0) / (plan.deviations / np.sqrt(60))
    assert np.abs(gaps).max() < 6.5


def test_a_plan_names_the_strategies_that_err_more():
    plan = workload.matrix(np.tri(40)).plan(spend=dp.mu(1.0))
    assert plan.chosen.others["identity (Gaussian)"] > plan.rmse
    assert "identity (Gaussian)" in str(plan)
    assert min(plan.chosen.others.values()) >= plan.rmse


def test_planning_shows_what_it_does():
    """Whatever takes more than two seconds has a line on a terminal."""
    with Progress("outside") as outer:
        seen = []
        w = workload.ranges(9)
        square = type(w).mean_square

        def noted(*given):
            seen.append(outer.inner.text if outer.inner else "")
            return square(*given)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(w), "mean_square", noted)
            w.plan(spend=dp.mu(1.0))
    assert any("planning: sine transform" in each for each in seen)


@pytest.mark.parametrize(
    ("weights", "step"),
    [([[1, 0, -1], [1, 1, 1]], 1.0), ([[1, 2, 0]], 0.0), ([[0.5, 0, 1]], 0.0)],
)
def test_only_sums_and_differences_of_noisy_cells_are_whole(weights, step):
    w = workload.matrix(weights)
    first, *others = w._strategies("laplace", Bounds())
    assert first.name == "identity"
    assert w.step(first) == step
    assert {w.step(each) for each in others} == {0.0}


@pytest.mark.parametrize(
    "wrong",
    [[[1, np.nan]], [[1, np.inf]], [[0, 0]], [[]], [], [1, 2], [[[1]]], "ab", [[1], [1, 2]], None],
    ids=str,
)
def test_what_is_not_a_table_of_finite_weights_is_refused(wrong):
    with pytest.raises(dp.BadParameter, match="table of finite weights"):
        workload.matrix(wrong)


@pytest.mark.parametrize(("cells", "blocks"), [(2, 0), (3, 1), (16, 1), (17, 2)])
def test_hierarchies_are_tried_where_they_have_more_than_one_level(cells, blocks):
    w = workload.matrix(np.tri(cells))
    names = [each.name for each in w._strategies("gaussian", Bounds())]
    assert names.count("hierarchy") == blocks
