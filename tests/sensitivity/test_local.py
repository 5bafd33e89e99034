"""The two facts about every A_k, checked by brute force on small data and by chance on larger."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.errors import BadParameter
from deniable.sensitivity import Mean, Quantile, TrimmedMean, distance_to_instability, smooth_bound
from deniable.sensitivity.local import bounds_at, sorted_within

LOW, HIGH = 0.0, 8.0
GRID = [0.0, 1.0, 3.0, 8.0]
STATISTICS = [
    Mean(),
    Quantile(),
    Quantile(q=0.0),
    Quantile(q=0.1),
    Quantile(q=0.9),
    Quantile(q=1.0),
    TrimmedMean(trim=0),
    TrimmedMean(trim=1),
    TrimmedMean(trim=2),
]
MIDDLE = (Quantile(), Quantile(q=0.1), Quantile(q=0.9))
RANDOM = np.random.default_rng(7)
EDGE = (Quantile(q=0.0), Quantile(q=1.0))  # one row decides


def neighbours(data: tuple[float, ...]) -> set[tuple[float, ...]]:
    removed = {data[:i] + data[i + 1 :] for i in range(len(data))}
    added = {tuple(sorted((*data, x))) for x in GRID}
    return removed | added


def value(statistic, data: tuple[float, ...]) -> float:
    return statistic.value(np.array(data, dtype=float), LOW, HIGH)


def local_sensitivity(statistic, data: tuple[float, ...]) -> float:
    return max(abs(value(statistic, data) - value(statistic, other)) for other in neighbours(data))


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
def test_no_data_within_k_units_can_be_moved_further_than_a_k(statistic):
    for size in range(5):
        for data in itertools.combinations_with_replacement(GRID, size):
            ball = {data}
            for k in range(3):
                bound = bounds_at(statistic, np.array(data, dtype=float), np.array([k]), LOW, HIGH)
                worst = max(local_sensitivity(statistic, other) for other in ball)
                assert worst <= bound[0], (data, k)
                ball |= {other for near in ball for other in neighbours(near)}


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
def test_bounds_are_never_wider_than_the_range_and_narrow_where_data_agree(statistic):
    distances, room = np.arange(12), 2.0**-40 * HIGH
    for size in range(5):
        for data in itertools.combinations_with_replacement(GRID, size):
            bounds = bounds_at(statistic, np.array(data, dtype=float), distances, LOW, HIGH)
            assert bounds.max() <= HIGH - LOW + room
    agreed = bounds_at(statistic, np.full(4000, 3.0), np.array([0]), LOW, HIGH)[0]
    assert agreed <= (room if statistic in MIDDLE else HIGH if statistic in EDGE else 0.01)


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
@pytest.mark.parametrize("ends", [(-2.0, 8.0), (-9.0, 3.0), (0.0, 0.25)])
def test_bounds_have_room_for_rounding_and_no_more(statistic, ends):
    data = np.sort(np.clip(RANDOM.uniform(-9, 8, 7), *ends))
    plain = statistic.at_distance(data, np.arange(9), *ends)
    found = bounds_at(statistic, data, np.arange(9), *ends)
    assert (found - plain) == pytest.approx(2.0**-48 * max(map(abs, ends)), rel=0.2, abs=0)


VALUES = st.lists(st.floats(LOW, HIGH), max_size=60)


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
@settings(max_examples=60)
@given(VALUES, st.floats(LOW, HIGH))
def test_one_unit_delays_every_bound_by_at_most_one_step(statistic, values, extra):
    here, there = sorted_within(values, LOW, HIGH), sorted_within([*values, extra], LOW, HIGH)
    steps = np.arange(2 * len(values) + 6)
    for x, y in ((here, there), (there, here)):
        a = bounds_at(statistic, x, steps, LOW, HIGH)
        b = bounds_at(statistic, y, steps + 1, LOW, HIGH)
        assert (a <= b).all()


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
@settings(max_examples=60)
@given(VALUES, st.floats(LOW, HIGH), st.floats(0.001, 2.0))
def test_a_smooth_bound_changes_by_at_most_its_factor(statistic, values, extra, beta):
    here, there = sorted_within(values, LOW, HIGH), sorted_within([*values, extra], LOW, HIGH)
    s = [smooth_bound(x, statistic, beta=beta, low=LOW, high=HIGH) for x in (here, there)]
    assert s[0] > 0
    assert abs(np.log(s[0] / s[1])) <= beta


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
@settings(max_examples=60)
@given(VALUES, st.floats(LOW, HIGH), st.floats(0.01, 8.0))
def test_the_distance_to_instability_moves_by_at_most_one(statistic, values, extra, bound):
    here, there = sorted_within(values, LOW, HIGH), sorted_within([*values, extra], LOW, HIGH)
    d = [
        distance_to_instability(x, statistic, bound=bound, low=LOW, high=HIGH)
        for x in (here, there)
    ]
    assert d[0] == d[1] or abs(d[0] - d[1]) <= 1


def test_the_search_does_not_stop_before_the_maximum():
    """A lone far value makes A_k jump late; a cut-off at k = 200 would miss it."""
    data = np.sort(np.concatenate([np.zeros(300), np.full(300, HIGH)]))
    bound = smooth_bound(data[:599], Quantile(), beta=1e-4, low=LOW, high=HIGH)
    everything = np.exp(-1e-4 * np.arange(5000)) * Quantile().at_distance(
        data[:599], np.arange(5000), LOW, HIGH
    )
    assert bound >= everything.max()


def test_nan_is_left_out_and_infinity_is_clipped():
    assert sorted_within([np.nan, np.inf, -np.inf, 1], LOW, HIGH).tolist() == [0.0, 1.0, 8.0]


@pytest.mark.parametrize("make", [lambda: Quantile(q=1.5), lambda: TrimmedMean(trim=-1)])
def test_bad_parameters_are_refused(make):
    with pytest.raises(BadParameter):
        make()
