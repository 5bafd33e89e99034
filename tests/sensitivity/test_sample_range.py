"""Sample and aggregate where nobody said in which range answers lie."""

import math

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable import sensitivity
from deniable.audit import replay
from deniable.errors import BadParameter
from deniable.sensitivity.sample_range import RANGES, range_at, range_scores

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


POWERS = range(-33, 64)  # the first holds all that is smaller than 2⁻³²


def scored(answers, parts):
    """The definition, range by range and answer by answer."""
    found = [x for x in answers if not math.isnan(x)]
    held = [0.0 if abs(x) < 2.0**-32 else min(abs(x), 2.0**64 * (1 - 2**-53)) for x in found]
    half, scores = len(found) / 2, []
    for left_out in (sum(x < 0 for x in found), sum(x > 0 for x in found), parts / 4):
        for k in POWERS:
            low = 0.0 if k == -33 else 2.0**k
            below, upto = sum(x < low for x in held), sum(x < 2.0 ** (k + 1) for x in held)
            scores.append(-max(below - half, half - upto, 0.0, left_out))
    return scores


EDGES = [0.0, -0.0, 2.0**-33, 2.0**-32, 1.0, -1.0, 1.5, 2.0, 2.0**63, 2.0**64, -(2.0**64)]
ANSWERS = [
    [], [math.nan], [1.0], [-1.0], [0.0], [2.0**-32], [2.0**-33], [2.0**64], [-1e300, math.inf],
    [1.0, 2.0], [1.0, 2.0, 4.0, -8.0, math.nan], [-3.0] * 5 + [100.0] * 4, EDGES,
    [3.0, 3.5, 3.9, 7.0, 0.1], [-x for x in EDGES] + [5.0] * 3,
]  # fmt: skip


@pytest.mark.parametrize("answers", ANSWERS, ids=str)
@pytest.mark.parametrize("parts", [1, 8, 30])
def test_scores_are_those_of_the_definition(answers, parts):
    found = range_scores(np.array(answers, dtype=float), parts=parts)
    assert found.tolist() == scored(answers, parts)


def test_ranges_reach_to_four_times_their_power_of_two_on_either_side():
    highs = [2.0 ** (k + 2) for k in POWERS]
    ranges = [(0.0, h) for h in highs] + [(-h, 0.0) for h in highs] + [(-h, h) for h in highs]
    assert [range_at(place) for place in range(RANGES)] == ranges


@pytest.mark.parametrize("unit", [dp.rows(), dp.rows(relation="replace")])
def test_a_quarter_of_epsilon_finds_the_range_and_the_rest_averages_in_it(unit):
    algorithm = sensitivity.sample_and_aggregate_anywhere(
        [5.0] * 400, np.mean, parts=8, epsilon=2.0, unit=unit
    )
    search = next(algorithm)
    assert search.mechanism.epsilon == 0.5
    assert search.mechanism.sensitivity == search.value.bound("linf") == unit.sides
    best = max(range(RANGES), key=scored([5.0] * 8, 8).__getitem__)
    average = algorithm.send(best)
    assert range_at(best) == (0.0, 16.0)
    assert average.mechanism.pure() == pytest.approx(1.5)
    with pytest.raises(StopIteration) as stop:
        algorithm.send(0)
    assert stop.value.value == 0.0
