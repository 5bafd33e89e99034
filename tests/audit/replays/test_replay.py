"""Replay keeps to itself: frozen noise stays inside, and what it compares it compares exactly."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import deniable as dp
from deniable.audit import neighbours, replay
from deniable.audit.replays.distances import Unlike, moved
from deniable.audit.replays.sameness import difference
from deniable.ledger import open_ledger
from deniable.mechanisms import (
    BestOf,
    Composed,
    IntervalExponential,
    Parallel,
    SampledWithoutReplacement,
    Shuffled,
)
from deniable.sampling.seeded import TESTING, SeededSource
from deniable.sampling.source import SystemSource, current

TABLE = pa.table({"x": [1.0, 2.0, 3.0]})


def count(data, **options):
    session = dp.open(data, unit=dp.rows(), budget=dp.epsilon(9.0), **options)
    return session.release(dp.Laplace(scale=1.0).on(dp.Sensitive(lambda: len(data), l1=1)))


# ---- frozen noise stays inside


def test_it_needs_no_permission_to_seed_and_gives_none(monkeypatch):
    monkeypatch.delenv(TESTING)
    assert replay(count, TABLE, TABLE.slice(1)).ok
    with pytest.raises(dp.SeedOutsideTests):
        SeededSource(1)
    assert isinstance(current(), SystemSource)


def test_a_replay_keeps_its_ledger_in_memory(tmp_path):
    """A stored answer with frozen noise would later be given out as if it were private."""
    path = tmp_path / "memory"  # a file, whatever it is called

    def durable(data):
        return count(data, ledger=path)

    with pytest.raises(dp.BadParameter, match="ended with BadParameter"):
        replay(durable, TABLE, TABLE.slice(1))
    assert list(open_ledger(path).entries) == []
    assert count(TABLE, ledger=path).value is not None  # outside a replay nothing is refused


def test_answers_outside_are_not_frozen():
    inside = []

    def program(data):
        inside.append(count(data).value)

    replay(program, TABLE, TABLE.slice(1))
    replay(program, TABLE, TABLE.slice(1))
    assert len(set(inside)) == 1  # fed back, and frozen
    outside = {count(TABLE).value for _ in range(60)}
    assert len(outside) > 1


def test_a_release_of_a_replay_says_so():
    seen = []
    replay(lambda data: seen.append(count(data)), TABLE, TABLE)
    assert "hides nobody" in seen[0].randomness


def test_it_says_what_it_found():
    found = replay(count, TABLE, TABLE.slice(1))
    assert str(found) == "Within declared bounds: 1 step; the closest used 1 of 1."
    assert found._repr_html_().startswith("<div role='status'")
    worse = replay(count, TABLE, TABLE.slice(2))
    assert "moved by 2; at most 1 was declared" in worse._repr_html_()
    assert not worse.ok


def test_a_failure_on_both_sides_is_no_difference():
    def broken(data):
        session = dp.open(data, unit=dp.rows(), budget=dp.epsilon(9.0))
        return session.release(dp.Laplace(scale=1.0).on(dp.Sensitive(lambda: float("nan"), l1=1)))

    found = replay(broken, TABLE, TABLE.slice(1))
    assert found.ok
    assert "1 failed on both data sets" in str(found)


def test_a_failure_that_the_program_hides_is_seen():
    """It catches the error and goes on: the session does not let it."""

    def program(data):
        session, told = dp.open(data, unit=dp.rows(), budget=dp.epsilon(9.0)), []
        for value in (1 if data.num_rows == 3 else float("nan"), 2):
            try:
                session.release(dp.Laplace(scale=1.0).on(dp.Sensitive(lambda v=value: v, l1=1)))
            except dp.DeniableError as error:
                told.append(error.code)
        return told

    assert program(TABLE.slice(1)) == ["DP601", "DP602"]
    found = replay(program, TABLE, TABLE.slice(1))
    assert not found.ok
    assert "is raised on the second data set only" in str(found)


def test_an_answer_off_its_lattice_is_seen():
    @dataclass(frozen=True, kw_only=True)
    class Leaky(dp.Laplace):
        def draw(self, value):
            return float(value) / 3

    def program(data):
        session = dp.open(data, unit=dp.rows(), budget=dp.epsilon(9.0))
        step = Leaky(scale=1.0).on(dp.Sensitive(lambda: float(len(data)), l1=1))
        return session.release(step)

    found = replay(program, TABLE.slice(1), TABLE.slice(2))
    assert [fault.kind for fault in found.faults] == ["lattice"]


# ---- distances


def measured(mechanism, first, second, **bounds):
    declared = dp.Sensitive(lambda: None, **(bounds or {"linf": 1}))
    return moved(mechanism, first, second, declared)


def verdicts(*options, **bounds):
    return [each.within for each in measured(*options, **bounds)]


def test_integers_beyond_floats_are_compared_exactly():
    one, other = 2**60, 2**60 + 2
    (found, *_) = measured(dp.Laplace(scale=1.0), one, other, l1=1)
    assert (found.moved, found.within) == (2, False)


def test_euclidean_distances_are_compared_by_their_squares():
    assert all(verdicts(dp.Gaussian(sigma=1.0), [0.0, 0.0], [3.0, 4.0], l2=5))
    assert not all(verdicts(dp.Gaussian(sigma=1.0), [0.0, 0.0], [3.0, 4.0000001], l2=5))


@pytest.mark.parametrize(("one", "other"), [([1], [1, 2]), (1, 1.0), ("a", "b"), ({}, {})], ids=str)
def test_values_of_other_shapes_and_types_are_told_apart(one, other):
    with pytest.raises(Unlike):
        measured(dp.Laplace(scale=1.0), one, other)


def test_scores_on_intervals_are_compared_as_functions():
    pick = IntervalExponential(epsilon=1.0, low=0.0, high=10.0)
    one = ([0, 5, 10], [0, -1])
    assert verdicts(pick, one, ([0, 2, 5, 10], [0, 0, -1])) == [True]
    assert verdicts(pick, one, ([0, 4, 10], [0, -1])) == [True]
    assert verdicts(pick, one, ([0, 4, 10], [0, -2.5])) == [False]


def test_parts_are_counted():
    both = Parallel(parts=(dp.Laplace(scale=1.0),) * 3, unit=dp.person("who", rows=2))
    assert all(verdicts(both, [1, 1, 1], [2, 2, 1], l1=1))
    assert not all(verdicts(both, [1, 1, 1], [2, 2, 2], l1=1))


def test_samples_are_compared_by_rows():
    pick = SampledWithoutReplacement(of=dp.Laplace(scale=1.0), size=2, population=3)
    assert all(verdicts(pick, np.array([0, 1, 0]), np.array([0, 0, 0]), l1=1))
    assert not all(verdicts(pick, np.array([0, 1, 1]), np.array([0, 0, 0]), l1=2))
    some = dp.Laplace(scale=1.0).sampled(rate=0.5)
    value = (np.ones(3), lambda rows: 2.0 * len(rows))
    assert not all(verdicts(some, value, (np.ones(2), value[1]), l1=1))


def test_mechanisms_of_other_kinds():
    survey = dp.RandomizedResponse(epsilon=1.0)
    assert verdicts(survey, [0, 1], [0, 0]) == [True]
    mixed = Shuffled(of=survey, people=2, delta=1e-6)
    assert verdicts(mixed, [0, 1], [1, 0]) == [False]
    assert measured(BestOf(mechanism=survey, stop=0.5), print, print) == []
    twice = Composed.of((dp.Laplace(scale=1.0), 2))
    assert len(measured(twice, 1, 2, l1=1)) == 3


# ---- sameness


class Plain:
    pass


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 2),
        (1, 1.0),
        (True, 1),
        ([1, 2], [1]),
        ({"a": 1}, {"b": 1}),
        ({"a": [1, {2}]}, {"a": [1, {3}]}),
        (np.zeros(2), np.zeros(3)),
        (np.zeros(2), np.zeros(2, dtype=int)),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [2]})),
        (pa.table({"a": [1]}), pa.table({"a": [2]})),
        (ValueError("a"), ValueError("b")),
        (dp.epsilon(1.0), dp.epsilon(2.0)),
        ("a", None),
    ],
    ids=str,
)
def test_results_that_differ_are_seen(one, other):
    assert difference(one, other)
    assert difference(one, one) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [(float("nan"), float("nan")), (Plain(), Plain()), (np.array([np.nan]), np.array([np.nan]))],
    ids=["nan", "identity", "array"],
)
def test_results_that_tell_nothing_are_the_same(one, other):
    assert difference(one, other) is None


# ---- neighbours


@pytest.mark.parametrize(
    "data",
    [
        [1.0, 2.0, 3.0],
        [],
        ["a", "b"],
        np.array([1, 2, 3]),
        np.array([True, False]),
        np.zeros((3, 2)),
        pd.DataFrame({"n": [1, 2], "t": ["a", "b"], "when": pd.to_datetime(["2020-01-01"] * 2)}),
        np.zeros((2, 2), dtype=np.int8),
        np.zeros(2, dtype=np.float32),
        pd.DataFrame({"n": pd.array([1, 2], dtype="Int64"), "t": ["a", None]}),
        pa.table({"x": [1.0, None], "b": [True, None], "d": pa.array([1, 2], pa.date32())}),
    ],
    ids=lambda data: type(data).__name__,
)
def test_neighbours_differ_in_one_row(data):
    pairs = list(neighbours(data))
    assert len({pair.what for pair in pairs}) == len({pair.what for pair in pairs if pair.kind})
    for pair in pairs:
        assert abs(len(pair.first) - len(pair.second)) == 1
        assert type(pair.first) is type(pair.second) is type(data)
        assert getattr(pair.second, "schema", None) == getattr(data, "schema", None)
    assert any(len(pair.first) == 0 for pair in pairs)


def test_under_replacement_sizes_are_equal():
    pairs = list(neighbours([1.0, 2.0], dp.rows(relation="replace")))
    assert pairs
    assert all(len(pair.first) == len(pair.second) == 2 for pair in pairs)


def test_people_come_with_all_their_rows():
    table = pa.table({"who": ["a", "a", "b"], "x": [1.0, 2.0, 3.0]})
    pairs = list(neighbours(table, dp.person("who", rows=2)))
    most = max(abs(len(pair.first) - len(pair.second)) for pair in pairs)
    assert most >= 5  # beyond the limit, so that a missing cap is seen
    for pair in pairs:
        people = [set(side["who"].to_pylist()) for side in (pair.first, pair.second)]
        assert len(people[0] ^ people[1]) == 1


def test_units_may_be_kept_at_the_end():
    for pair in neighbours([1.0, 2.0, 3.0], where="end"):
        assert pair.at == len(pair.shared)
    with pytest.raises(dp.BadParameter):
        list(neighbours([1.0], where="front"))
