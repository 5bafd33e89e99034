"""Any function of columns, by sample and aggregate, in one line of a session."""

import math

import numpy as np
import pandas as pd
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.audit import replay
from deniable.errors import BadParameter, BudgetExceeded, MissingBounds, UnknownName
from deniable.sensitivity.sample_range import RANGES, range_at, range_scores
from deniable.statistics import sampled as sampled_module

SCHEMA = dp.Schema(
    columns={
        "pay": dp.bounds(0.0, 1000.0, missing="drop"),
        "age": dp.bounds(0, 99, type="int", missing="drop"),
    }
)
UNITS = [dp.rows(), dp.rows(relation="replace"), dp.person("who", rows=2)]


def people(rows=6000):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "who": rng.integers(0, rows // 2, rows),
            "pay": np.minimum(rng.lognormal(3, 0.5, rows), 1000),
            "age": rng.integers(0, 100, rows),
        }
    )
    table.loc[::50, "pay"] = np.nan
    return table


def opened(source, unit=UNITS[0], budget=None):
    return dp.open(source, unit=unit, budget=budget or dp.epsilon(50.0), schema=SCHEMA)


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("spend", [dp.epsilon(4.0), dp.rho(2.0), dp.epsilon(4.0, delta=1e-6)])
def test_the_answer_is_near_without_a_range(unit, spend):
    """Half of the truth apart is 8 of its ±: odds below 1e-9, those of a wrong range included."""
    table, rho = people(), isinstance(spend, dp.losses.Zcdp)
    wide = dp.epsilon(50.0, delta=1e-5) if hasattr(spend, "delta") else dp.epsilon(50.0)
    s = opened(table, unit, dp.rho(50.0) if rho else wide)
    found = s.sample_and_aggregate(np.median, "pay", spend=spend)
    (row,) = found.rows()
    assert abs(row["value"] / table.pay.median() - 1) < 0.5
    assert s.spent.epsilon_at(1e-5) <= spend.epsilon_at(1e-5) * (1 + 1e-9)
    assert "covers the noise" in str(found)
    found.certificate()


def test_what_is_explained_is_what_is_released():
    s = opened(people())
    asked = s.sample_and_aggregate(np.median, "pay", parts=100)
    plan = asked.explain(spend=dp.epsilon(3.0))
    assert not s.ledger.entries
    (note,) = [n for n in plan.notes if "of the magnitude found" in n]
    (row,) = asked.release(spend=dp.epsilon(3.0)).rows()
    share = float(note.split("the ± is")[1].split("%")[0]) / 100
    assert row["value_error"] == pytest.approx(16 * share, rel=0.01)  # the median is about 20
    assert s.spent.epsilon == pytest.approx(3.0)
    asked.release(spend=dp.epsilon(3.0)).plot()


@pytest.mark.parametrize(
    ("parts", "warned"), [(None, False), (400, False), (100, False), (99, True)]
)
def test_plan_and_answer_warn_where_parts_are_too_few_to_find_the_range(parts, warned):
    asked = opened(people()).sample_and_aggregate(np.median, "pay", parts=parts)
    for said in (asked.explain(spend=dp.epsilon(1.0)), asked.release(spend=dp.epsilon(1.0))):
        assert ("too few at this spend" in str(said)) == warned
        assert ("use 200 parts" in str(said)) == warned
    assert all(asked.explain(spend=dp.epsilon(1.0)).notes)


def test_the_plus_minus_covers_the_noise():
    """100 releases at 95 %: fewer than 76 covered has odds below 1e-9."""
    table = pd.DataFrame({"pay": np.full(600, 20.0), "age": 1})
    covered = 0
    for _ in range(100):
        s = opened(table)
        (row,) = s.sample_and_aggregate(np.mean, "pay", parts=40, spend=dp.epsilon(40.0)).rows()
        covered += abs(row["value"] - 20.0) <= row["value_error"]
    assert covered >= 76


def test_answers_around_zero_and_of_several_columns():
    s = opened(people(20_000))
    found = s.sample_and_aggregate(
        lambda x: np.corrcoef(x.T)[0, 1], ["pay", "age"], parts=200, spend=dp.epsilon(8.0)
    )
    assert abs(found.rows()[0]["value"]) < 0.3


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_neighbours_move_values_no_further_than_declared(unit):
    """Rows that are units come last: each has a coin of its own, in its place."""
    first = people(40).assign(who=np.arange(40))
    more = first.iloc[[-1]].assign(who=99, pay=999.0)
    replaced = unit.relation.value == "replace"
    kept = first.iloc[:-1] if replaced else first
    second = pd.concat([kept, *([more] * (1 if unit.column is None else 2))])

    def program(table):
        s = opened(table, unit)
        return [
            s.sample_and_aggregate(function, "pay", parts=5, spend=dp.epsilon(1.0)).rows()
            for function in (np.max, lambda x: 1 / (len(x) - 8), lambda _: math.nan)
        ]

    found = replay(program, first, second)
    assert found.ok, str(found)


@given(
    st.lists(st.floats() | st.sampled_from([0.0, 1.0, 2.0, -1.0, 1e300]), max_size=12),
    st.integers(0, 11),
    st.floats(),
)
def test_one_answer_moves_every_score_by_at_most_one(answers, place, other):
    before = np.array([*answers, 5.0])
    after = before.copy()
    after[place % len(before)] = other
    scores = [range_scores(each, parts=len(before)) for each in (before, after)]
    assert scores[0].shape == (RANGES,)
    assert np.abs(scores[0] - scores[1]).max() <= 1


@pytest.mark.parametrize("value", [2.0**-40, 1e-9, 0.3, 20.0, 1e15, -7.0, 0.0])
def test_the_best_range_holds_the_answers_and_is_of_their_size(value):
    low, high = range_at(int(np.argmax(range_scores(np.full(50, value), parts=50))))
    assert low <= value <= high
    assert high - low <= max(4 * abs(value), 2.0**-31)


def test_bad_questions_are_refused_before_anything_is_charged():
    s = opened(people(30), budget=dp.epsilon(1.0))
    ask = s.sample_and_aggregate
    for bad in ({"parts": 1}, {"parts": 10**6}, {"parts": 2.5}):
        with pytest.raises(BadParameter):
            ask(np.median, "pay", spend=dp.epsilon(1.0), **bad)
    with pytest.raises(BadParameter):
        ask("median", "pay", spend=dp.epsilon(1.0))
    with pytest.raises(UnknownName):
        ask(np.median, "paid")
    with pytest.raises(MissingBounds):
        ask(np.median, "who")
    with pytest.raises(BudgetExceeded):
        ask(np.median, "pay", spend=dp.epsilon(1.1))
    assert not s.ledger.entries
    assert np.isfinite(ask(np.median, "pay", spend=dp.epsilon(1.0)).rows()[0]["value"])


@pytest.mark.parametrize("engine", ["postgres", "spark"])
def test_other_engines_answer_as_well(engine, request):
    table = people(3000).assign(pay=20.0)
    rows = table.to_numpy().tolist()
    if engine == "postgres":
        source = request.getfixturevalue("server")
        with psycopg.connect(source, autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS sampled")
            connection.execute("CREATE TABLE sampled (who bigint, pay float8, age bigint)")
            with connection.cursor() as cursor:
                cursor.executemany("INSERT INTO sampled VALUES (%s, %s, %s)", rows)
    else:
        kinds = "who double, pay double, age double"
        source = {"sampled": request.getfixturevalue("spark").createDataFrame(rows, kinds)}
    schema = dp.Schema(tables={"sampled": SCHEMA})
    for unit in (UNITS[0], UNITS[2]):
        s = dp.open(source, unit=unit, budget=dp.epsilon(50.0), schema=schema)
        found = s.sample_and_aggregate(np.median, "pay", parts=50, spend=dp.epsilon(40.0))
        assert abs(found.rows()[0]["value"] - 20.0) < 5


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_a_function_gets_its_own_part_and_reaches_no_other(unit):
    """What it writes, wherever an array leads, is in the array of that part alone."""
    reached = []

    def greedy(part):
        whole = part
        while whole.base is not None:
            whole = whole.base
        reached.append(whole.size == part.size and 7e9 not in part)
        whole[...] = 7e9
        return 1.0

    opened(people(600), unit).sample_and_aggregate(greedy, ["pay", "age"], parts=20).release(
        spend=dp.epsilon(4.0)
    )
    assert reached
    assert all(reached)


@pytest.mark.parametrize("columns", [["pay"], ["pay", "age"]])
def test_the_order_in_which_an_engine_hands_over_rows_changes_no_answer(columns, monkeypatch):
    """It may depend on other people's rows, and a function may look at it: here at the first."""
    asked = opened(people(300), UNITS[2]).sample_and_aggregate(lambda a: float(a.flat[0]), columns)
    handed = {}
    monkeypatch.setattr(
        sampled_module, "_values", lambda rows, matrix: (matrix.points, np.full(len(matrix), True))
    )

    class Handed:
        def __init__(self, order):
            rng = np.random.default_rng(5)
            points = rng.integers(0, 1000, (300, len(columns))).astype(float)
            self.points = (points if len(columns) > 1 else points[:, 0])[order]
            self.digests = rng.integers(0, 2**63, 300, dtype=np.uint64)[order]

        def __len__(self):
            return len(self.points)

    for turn, order in enumerate((np.arange(300), np.random.default_rng(6).permutation(300))):
        handed[turn] = sampled_module._Answers(asked, 7)._of(Handed(order))
    assert handed[0].tolist() == handed[1].tolist()
    assert len(set(handed[0])) > 1
