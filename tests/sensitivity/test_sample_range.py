"""Sample and aggregate where nobody said in which range answers lie."""

import math

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable import sensitivity
from deniable.audit import replay
from deniable.errors import BadParameter

PERSON = dp.person("a", rows=1)


def opened(epsilon=2.0):
    table = {"t": pd.DataFrame({"a": [1]})}
    return dp.open(table, unit=dp.rows(), budget=dp.epsilon(epsilon))


@pytest.mark.parametrize("centre", [-3e9, -0.5, 0.002, 7.0, 1e12])
def test_the_answer_is_near_wherever_it_lies(centre):
    """200 parts agree, at ε = 2 the cell is missed with odds e^(−200·¼) and less."""
    rows = (centre * (1 + np.random.default_rng(1).normal(size=4000) / 10)).tolist()
    s = opened()
    found = s.run(sensitivity.sample_and_aggregate_anywhere(rows, np.mean, parts=200, epsilon=2.0))
    assert abs(found / centre - 1) < 1  # the noise: 6·centre·Lap(1/300)
    assert math.isclose(s.spent.epsilon, 2.0, rel_tol=1e-9)


def test_functions_may_fail_and_rows_may_be_few():
    def broken(rows):
        raise ValueError(rows)

    for rows, function in [([], np.mean), ([1.0], np.mean), ([1.0, 2.0], broken)]:
        found = opened().run(
            sensitivity.sample_and_aggregate_anywhere(rows, function, parts=5, epsilon=1.0)
        )
        assert math.isfinite(found)


@pytest.mark.parametrize("more", [5.0, -1e300, math.nan])
def test_neighbours_move_values_no_further_than_declared(more):
    def program(rows):
        who = np.arange(len(rows)) // 3
        unit = dp.person("who", rows=3)
        table = {"t": pd.DataFrame({"who": [1]})}
        s = dp.open(table, unit=unit, budget=dp.epsilon(1.0))
        return s.run(
            sensitivity.sample_and_aggregate_anywhere(
                rows, np.median, parts=6, epsilon=1.0, people=who, unit=unit
            )
        )

    rows = np.arange(30.0)
    found = replay(program, rows, np.append(rows, [more, more]))
    assert found.ok, str(found)


def test_parts_without_an_answer_do_not_vote_for_a_range_around_zero():
    """Two thirds fail, the others agree: their magnitude is missed with odds below e^(−50)."""

    def seldom(rows):
        return 1000.0 if sum(rows) % 3 == 0 else math.nan

    found = opened(40.0).run(
        sensitivity.sample_and_aggregate_anywhere(
            list(range(6000)), seldom, parts=150, epsilon=40.0
        )
    )
    assert 500 < found < 2100  # failures count as the middle of a range up to 2048


def test_people_are_read_twice_so_an_iterator_is_refused():
    unit = dp.person("who", rows=3)
    algorithm = sensitivity.sample_and_aggregate_anywhere(
        [1.0], np.mean, parts=2, epsilon=1.0, people=iter([1]), unit=unit
    )
    with pytest.raises(BadParameter, match="read twice"):
        next(algorithm)


ONE_NUMBER = {"low": 0.0, "high": 1.0}
PROGRAMS = {
    "mean": lambda rows, **given: sensitivity.sample_and_aggregate(
        rows, np.mean, parts=2, epsilon=1.0, **ONE_NUMBER, **given
    ),
    "median": lambda rows, **given: sensitivity.sample_and_aggregate_median(
        rows, np.mean, parts=2, epsilon=1.0, **ONE_NUMBER, **given
    ),
    "anywhere": lambda rows, **given: sensitivity.sample_and_aggregate_anywhere(
        rows, np.mean, parts=2, epsilon=1.0, **given
    ),
}
BAD = {
    "a frame": (pd.DataFrame({"a": [1.0]}), {}),
    "a generator": ((x for x in [1.0]), {}),
    "a number": (np.array(1.0), {}),
    "people in a frame": ([1.0], {"people": pd.DataFrame({"a": [1]}), "unit": PERSON}),
    "people in a table": ([1.0], {"people": np.array([[1]]), "unit": PERSON}),
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("bad", BAD)
def test_what_is_not_a_list_of_rows_is_refused_before_anything_is_charged(program, bad):
    rows, given = BAD[bad]
    session = opened()
    with pytest.raises(BadParameter):
        session.run(PROGRAMS[program](rows, **given))
    assert not session.ledger.entries
