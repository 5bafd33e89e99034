"""What the sparse vector technique promises beyond the conformance suite."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from tests import goodness

import deniable as dp
from deniable.mechanisms import SparseVector
from deniable.mechanisms.streams import _race
from deniable.mechanisms.streams.sparse_vector import checked_query
from deniable.sampling.seeded import SeededSource
from deniable.sampling.source import using


def test_the_parts_of_epsilon_add_up_exactly_and_are_split_best():
    for c, monotonic, values in itertools.product([1, 3, 100], [False, True], [False, True]):
        vector = SparseVector(epsilon=0.7, answers=c, monotonic=monotonic, values=values)
        first, second, third = vector.split
        assert first + second + third == Fraction(0.7)
        assert float(second / first) == pytest.approx((c if monotonic else 2 * c) ** (2 / 3))
        assert (third == 0) != values


def test_it_stops_after_its_answers():
    stream = [1000.0] * 50
    assert SparseVector(epsilon=10.0, answers=3).release(stream, threshold=500) == [0, 1, 2]


def test_a_stream_may_be_endless():
    queries = itertools.chain([0] * 20, itertools.repeat(10_000))
    assert dp.AboveThreshold(epsilon=1.0).release(queries, threshold=5000) == 20


def test_none_means_none():
    assert dp.AboveThreshold(epsilon=1.0).release([], threshold=0) is None
    assert dp.AboveThreshold(epsilon=1.0).release(np.zeros(10_000), threshold=1e6) is None


@pytest.mark.parametrize("length", [1, 5, _race._BLOCK - 1, _race._BLOCK + 1, 10_000])
def test_blocks_decide_as_single_queries_do(length: int):
    """The same words give the same decisions, whether queries come in an array or one by one."""
    queries = np.linspace(-30, 30, length)
    vector = SparseVector(epsilon=1.0, answers=length + 1)
    found = []
    for stream in (queries, iter(queries.tolist())):
        with using(SeededSource(7)):
            found.append(vector.release(stream, threshold=0.5))
    assert found[0] == found[1]


def test_what_floats_cannot_tell_is_decided_lazily(monkeypatch):
    """With the margin widened to everything, every query is decided exactly: the answers stay."""
    queries, vector = np.linspace(-30, 30, 500), SparseVector(epsilon=1.0, answers=501)
    with using(SeededSource(3)):
        fast = vector.release(queries)
    looked_at = []

    def unsure(self, block, words):
        looked_at.append(len(block))
        return ((i, False) for i in range(len(block)))

    monkeypatch.setattr(_race.Race, "_likely", unsure)
    with using(SeededSource(3)):
        assert vector.release(queries) == fast
    assert sum(looked_at) == len(queries)


@pytest.mark.statistical
def test_the_first_query_passes_with_its_exact_chance():
    """P(2·L₁/ε₂ − L₂/ε₁ ≥ 1), by integrating over the threshold's noise; false alarm below 1e-7."""
    mechanism = dp.AboveThreshold(epsilon=2.0)
    once, each = (float(s) for s in mechanism.as_sparse.scales)
    grid = np.linspace(-60, 60, 1_200_001)
    density = np.exp(-np.abs(grid) / once) / (2 * once)
    chance = np.trapezoid(density * stats.laplace.sf(1 + grid, scale=each), grid)
    n = 20_000
    passed = sum(mechanism.release([0.0], threshold=1.0) is not None for _ in range(n))
    assert goodness.count(passed, n, chance) > 1e-7


def test_values_come_with_fresh_noise():
    vector = SparseVector(epsilon=20.0, answers=2, values=True)
    (i, a), (j, b) = vector.release([1000.0, 0.0, 1000.0], threshold=500)
    assert (i, j) == (0, 2)
    assert a != b
    assert abs(a - 1000) < 20


@pytest.mark.statistical
def test_the_stated_error_holds_over_a_long_stream():
    vector = dp.AboveThreshold(epsilon=1.0)
    reach = vector.error(0.95, queries=1000)
    stream = np.concatenate([np.full(999, -reach), [reach]])
    right = sum(vector.release(stream) == 999 for _ in range(400))
    assert goodness.covered(right, 400, 0.95) > 1e-8


def beyond(reach, first, second):
    """P(X − Y > reach) of Laplace noises with these scales, by partial fractions."""
    if first == second:
        return (1 + reach / first / 2) * math.exp(-reach / first) / 2
    squares = first**2, second**2
    tails = (s * math.exp(-reach / b) for s, b in zip(squares, (first, second), strict=True))
    return float(np.subtract(*tails)) / (squares[0] - squares[1]) / 2


@pytest.mark.parametrize("bits", [1, 4, 10, 20, 40, 48])
@pytest.mark.parametrize("answers", [1, 3, 100])
@pytest.mark.parametrize("monotonic", [True, False])
def test_one_answer_is_right_beyond_the_stated_error_at_every_confidence(bits, answers, monotonic):
    """By the exact law: no draws, no alarms."""
    vector = SparseVector(epsilon=0.7, threshold=0.0, answers=answers, monotonic=monotonic)
    reach = vector.error(1 - 2.0**-bits, queries=1)
    assert beyond(reach, *map(float, vector.scales)) <= 2.0**-bits


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "3", None])
def test_bad_queries_are_refused(bad):
    with pytest.raises(dp.BadParameter):
        dp.AboveThreshold(epsilon=1.0).release([0.0, bad], threshold=1.0)


@pytest.mark.parametrize("kind", [np.int8, np.uint64, np.float32, np.array, int, float, Fraction])
def test_a_query_is_one_number_of_any_kind(kind):
    found = checked_query(kind(3))
    assert found == 3
    assert not isinstance(found, np.ndarray | np.integer)


@pytest.mark.parametrize("bad", [True, np.bool_(True), np.array([3]), np.array(math.nan), 3j, [3]])
def test_what_is_not_one_number_is_not_a_query(bad):
    with pytest.raises(dp.BadParameter, match="finite number"):
        checked_query(bad)


def test_flags_are_flags():
    with pytest.raises(dp.BadParameter, match="monotonic"):
        SparseVector(epsilon=1.0, answers=1, monotonic=1)
