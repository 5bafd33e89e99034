"""Marginals: exact residuals, tables that agree, errors as stated."""

import math

import numpy as np
import pytest

import deniable as dp
from deniable import workload
from deniable.errors import BadParameter, UnknownName
from deniable.workload.strategies import Bounds

SIZES = {"a": 3, "b": 4, "c": 2, "d": 1}


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("size", [1, 3 * 2**20])
def test_what_one_unit_moves_is_within_the_bounds(law, size):
    w = workload.marginals(SIZES, ways=2)
    vectors = w._vectors(law, Bounds(l1=size, l2=size))
    rng = np.random.default_rng(1)
    for vector, (columns, make, length) in zip(vectors, w._steps(law), strict=True):
        base = rng.integers(0, 1000, w.cells(columns)) * size
        longest = 0.0
        for move in np.eye(w.cells(columns), dtype=np.int64) * size:
            change = (make(base + move) - make(base)).astype(np.float64)
            assert len(change) == length
            assert np.abs(change).sum() <= vector.l1
            assert np.square(change).sum() <= vector.l2**2
            longest = max(longest, math.sqrt(np.square(change).sum()))
        assert vector.l2 <= longest * (1 + 1e-9)
        several = rng.multinomial(size, np.full(len(base), 1 / len(base)))
        change = (make(base + several) - make(base)).astype(np.float64)
        assert np.square(change).sum() <= vector.l2**2


@pytest.mark.parametrize("spend", [dp.mu(1.0), dp.epsilon(1.0)])
def test_errors_are_as_stated_and_tables_agree(spend):
    """250 releases at 95 %: for a cell to be covered fewer than 205 times has odds below 1e-9."""
    w = workload.marginals(SIZES, ways=2)
    counts = np.arange(24).reshape(3, 4, 2, 1)
    truth = np.concatenate(
        [
            counts.sum(axis=tuple(i for i, c in enumerate(SIZES) if c not in s)).ravel()
            for s in w.sets
        ]
    )
    found = [w.release(counts, spend=spend) for _ in range(250)]
    errors = np.array([each.values - truth for each in found])
    plan = found[0].plan
    assert (np.abs(errors) <= plan.errors).sum(axis=0).min() >= 205
    assert abs(np.sqrt(np.mean(np.square(errors / plan.deviations))) - 1) < 0.1
    tables = found[0].tables
    assert np.allclose(tables["a", "b"].sum(axis=1), tables["a", "c"].sum(axis=1))
    assert np.allclose(tables["a", "b"].sum(), tables["c", "d"].sum())


def test_residuals_beat_noise_on_every_marginal():
    w = workload.marginals({f"c{i}": 8 for i in range(6)}, ways=2)
    plan = w.plan(spend=dp.mu(1.0))
    assert plan.strategy == "residuals"
    assert plan.rmse < 0.97 * math.sqrt(len(w.sets))


def test_one_table_is_one_table():
    w = workload.marginals({"a": 3, "b": 4}, sets=[["b", "a"]])
    assert w.sets == (("a", "b"),)
    assert w.plan(spend=dp.epsilon(1.0)).rmse < 1.5


def test_bad_requests_are_refused():
    with pytest.raises(UnknownName):
        workload.marginals({"a": 2}, sets=[["b"]])
    for bad in ({"sizes": {}}, {"sizes": {"a": 0}}, {"sizes": {"a": 2}, "sets": [["a", "a"]]}):
        with pytest.raises(BadParameter):
            workload.marginals(bad["sizes"], sets=bad.get("sets", [["a"]]))
    with pytest.raises(BadParameter):
        workload.marginals({"a": 2})
    with pytest.raises(BadParameter):
        workload.marginals({"a": 10**5, "b": 10**5}, ways=2)
    with pytest.raises(BadParameter):
        workload.marginals({"a": 2}, ways=1).release([1, 2, 3], spend=dp.mu(1.0))


def test_each_residual_gets_loss_by_how_much_its_noise_adds_to_the_variances_of_the_tables():
    """Of all tables together, per unit of squared noise as long as one unit's move."""
    w = workload.marginals(SIZES, ways=2)
    vectors = w._vectors("gaussian", Bounds(l1=1, l2=1))
    still = [dp.Gaussian(sigma=1e-9)] * len(vectors)
    for i, vector in enumerate(vectors):
        noises = [*still[:i], dp.Gaussian(sigma=vector.l2 or 1e-9), *still[i + 1 :]]
        plan = w._planned(noises, "gaussian", dp.mu(1.0))
        total = sum(deviation**2 for deviation in plan.tables.values())
        assert vector.weight == pytest.approx(total, rel=1e-6, abs=1e-12)


def test_no_other_division_of_the_loss_has_smaller_errors():
    w = workload.marginals(SIZES, ways=2)
    plan = w.plan(spend=dp.mu(1.0))
    sigmas = np.array(plan.noise.deviations)
    moves = np.array([vector.l2 for vector in w._vectors("gaussian", Bounds(l1=1, l2=1))])
    for i in np.flatnonzero(moves):
        for factor in (0.9, 1.1):
            moved = sigmas.copy()
            moved[i] *= factor
            moved *= math.sqrt(((moves / moved) ** 2).sum() / ((moves / sigmas) ** 2).sum())
            other = w._planned([dp.Gaussian(sigma=s) for s in moved], "gaussian", dp.mu(1.0))
            assert other.rmse > plan.rmse * (1 - 1e-6)


@pytest.mark.parametrize("part", [(), ("a",), ("a", "b")])
@pytest.mark.parametrize("far", [5, 2**62, 2**63 - 1])
def test_residuals_are_exact_and_cells_are_held_where_they_might_overflow(part, far):
    """Against whole numbers of any width: n·x less the sum along each column of the part."""
    w = workload.marginals({"a": 3, "b": 5}, ways=2)
    counts = np.random.default_rng(3).choice([-far, far, 0, 1], 15)
    most = 2**62 // (15 * 2 ** len(part))
    table = np.array([min(max(int(x), -most), most) for x in counts], dtype=object).reshape(3, 5)
    if "b" not in part:
        table = table.sum(axis=1, keepdims=True)
    if "a" not in part:
        table = table.sum(axis=0, keepdims=True)
    for axis, column in enumerate("ab"):
        if column in part:
            table = table.shape[axis] * table - table.sum(axis=axis, keepdims=True)
    found = w.residual(counts, columns=("a", "b"), part=part)
    assert found.tolist() == table.ravel().tolist()


def test_only_a_table_alone_under_laplace_noise_has_whole_answers():
    one, two = (workload.marginals(SIZES, sets=s) for s in ([["a", "b"]], [["a"], ["b"]]))
    assert one.plan(spend=dp.epsilon(1.0)).step == 1.0
    assert two.plan(spend=dp.epsilon(1.0)).step == 0.0
    assert one.plan(spend=dp.mu(1.0)).step == 0.0


@pytest.mark.parametrize("wrong", [np.zeros((3, 4, 2, 1)), np.zeros((3, 4, 2), int), [1, 2]])
def test_counts_are_whole_numbers_with_an_axis_per_column(wrong):
    with pytest.raises(BadParameter, match="whole numbers of shape"):
        workload.marginals(SIZES, ways=1).release(wrong, spend=dp.mu(1.0))


@pytest.mark.parametrize("bound", [{"linf": 1}, {"l2": 1}])
def test_marginals_without_a_bound_in_l1_are_refused(bound):
    w = workload.marginals(SIZES, ways=1)
    hidden = {s: dp.Sensitive(lambda: None, whole=True, shape=w.cells(s), **bound) for s in w.sets}
    with pytest.raises(BadParameter):
        w.measure(hidden, spend=dp.rho(0.5))
