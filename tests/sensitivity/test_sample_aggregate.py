"""What may be sampled, whose the rows are, and what a part answers."""

import datetime as dt
import math

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.errors import BadParameter, MissingUnit
from deniable.sensitive import compute
from deniable.sensitivity import sample_and_aggregate, sample_and_aggregate_median
from deniable.sensitivity.sample_aggregate import (
    _answers,
    _check_rows,
    _named,
    _unit,
    one_answer,
)


class Counted:
    """It has a length, and nothing else."""

    def __len__(self):
        return 3


class Walked:
    """It can be walked, and nobody knows how far."""

    def __iter__(self):
        return iter([1])


@pytest.mark.parametrize(
    "rows", [[], [1, 2], (1,), np.arange(3), np.zeros((3, 2)), "abc", pd.Series([1]), range(4)]
)
def test_lists_and_arrays_of_rows_are_taken(rows):
    _check_rows(rows, None)
    _check_rows(rows, ["a"])
    _check_rows(rows, np.array(["a"]))


@pytest.mark.parametrize(
    "rows", [Counted(), Walked(), iter([1]), 5, np.array(5), pd.DataFrame({"a": [1]}), None]
)
def test_what_is_not_a_sequence_of_rows_is_refused(rows):
    with pytest.raises(BadParameter, match="rows must be"):
        _check_rows(rows, None)


@pytest.mark.parametrize("people", [pd.DataFrame({"a": [1]}), np.zeros((1, 1)), np.array(5)])
def test_people_are_one_column(people):
    with pytest.raises(BadParameter, match="people must be"):
        _check_rows([1], people)


ROWS, REPLACED, PERSON = dp.rows(), dp.rows(relation="replace"), dp.person("u", rows=2)


def test_without_people_every_row_is_a_unit_and_with_people_the_unit_is_theirs():
    assert _unit(None, None) == ROWS
    assert _unit(None, REPLACED) == REPLACED
    assert _unit(["a"], PERSON) == PERSON
    with pytest.raises(BadParameter, match="people= is missing"):
        _unit(None, PERSON)
    for unit in (None, ROWS, REPLACED):
        with pytest.raises(MissingUnit):
            _unit(["a"], unit)


@pytest.mark.parametrize(
    ("answer", "held"), [(-9, 0.0), (0.25, 0.25), (9, 4.0), (math.nan, 2.0), (math.inf, 4.0)]
)
def test_an_answer_is_held_in_its_range_and_the_middle_where_there_is_none(answer, held):
    given = {"parts": 1, "low": 0.0, "high": 4.0, "people": None}
    assert _answers([1], lambda _: answer, **given) == [held]
    assert _answers([], lambda _: answer, **given) == [2.0]
    assert _answers([1], lambda _: 1 / 0, **given) == [2.0]


def test_an_interrupt_is_not_an_answer():
    def interrupted(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one_answer(interrupted, [1])


@pytest.mark.parametrize("people", [None, list("aabbccdd") * 5, [None] * 40])
def test_every_row_of_somebody_is_in_one_part(people):
    seen = []
    found = _answers(
        list(range(40)), lambda sample: seen.extend(sample) or 1.0,
        parts=7, low=0.0, high=4.0, people=people,
    )  # fmt: skip
    assert len(found) == 7
    assert sorted(seen) == ([] if people == [None] * 40 else list(range(40)))


@pytest.mark.parametrize(
    "nobody",
    [None, math.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), np.timedelta64("NaT")],
)
def test_a_missing_name_is_nobody(nobody):
    assert _named(nobody) is None


@pytest.mark.parametrize("raised", [TypeError, SystemExit])
def test_who_cannot_be_hashed_is_nobody(raised):
    class Unhashed:
        def __hash__(self):
            raise raised

    assert _named(Unhashed()) is None


@pytest.mark.parametrize("milliseconds", [-1500, -1000, 0, 400, 1500, 2000])
def test_a_span_is_the_same_person_in_every_library(milliseconds):
    """NumPy cuts to whole seconds downwards, so everybody must."""
    spans = [
        dt.timedelta(milliseconds=milliseconds),
        np.timedelta64(milliseconds, "ms"),
        pd.Timedelta(milliseconds, "ms"),
    ]
    assert len({_named(span) for span in spans}) == 1


@pytest.mark.parametrize("unit", [ROWS, REPLACED])
@pytest.mark.parametrize("parts", [1, 8])
def test_the_average_is_read_from_whole_steps_and_held_in_its_range(unit, parts):
    given = {"parts": parts, "low": -2.0, "high": 6.0, "epsilon": 1.0, "unit": unit}

    def ended(noisy):
        algorithm = sample_and_aggregate([1.0] * 50, lambda _: 5.0, **given)
        step = next(algorithm)
        with pytest.raises(StopIteration) as stop:
            algorithm.send(noisy(step))
        return step, stop.value.value

    step, _ = ended(lambda _: 0)
    width = 8.0 * unit.sides / step.mechanism.sensitivity
    assert step.value.bound("l1") == step.mechanism.sensitivity
    if parts == 1:  # of several, one may be empty
        assert compute(step.value) == pytest.approx(7.0 / width)
    assert ended(lambda _: 0)[1] == -2.0
    assert ended(lambda _: round(7.0 * parts / width))[1] == pytest.approx(5.0)
    assert ended(lambda _: round(99 * parts / width))[1] == 6.0
    assert ended(lambda _: -5)[1] == -2.0


@pytest.mark.parametrize("unit", [ROWS, REPLACED])
def test_the_scores_of_the_median_fall_on_both_sides_of_it(unit):
    given = {"parts": 4, "low": 0.0, "high": 9.0, "epsilon": 1.0, "unit": unit}
    step = next(sample_and_aggregate_median([1.0] * 400, lambda _: 5.0, **given))
    edges, scores = compute(step.value)
    assert edges.tolist() == [0.0, 5.0, 5.0, 5.0, 5.0, 9.0]
    assert scores.tolist() == [-2.0, -1.0, 0.0, -1.0, -2.0]
    assert step.value.bound("linf") == unit.sides


@pytest.mark.parametrize("algorithm", [sample_and_aggregate, sample_and_aggregate_median])
def test_every_way_to_aggregate_refuses_what_are_no_rows_before_its_first_step(algorithm):
    given = {"parts": 3, "low": 0.0, "high": 1.0, "epsilon": 1.0}
    for rows, people in ((pd.DataFrame({"a": [1]}), None), ([1], np.zeros((1, 1)))):
        unit = None if people is None else PERSON
        with pytest.raises(BadParameter, match="must be"):
            next(algorithm(rows, len, people=people, unit=unit, **given))
