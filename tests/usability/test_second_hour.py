"""What a newcomer met after the first answer: each message says what to do, each figure is true."""

import datetime as dt
import inspect

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.errors import BadParameter, MissingBounds, UnknownName
from deniable.learn import LogisticRegression, Ridge

START = dt.datetime.fromisoformat("2025-01-01")
SPEND = dp.epsilon(0.5)
SCHEMA = dp.Schema(
    columns={
        "patient": dp.column("int"),
        "city": dp.keys(["Oslo", "Bergen"]),
        "cost": dp.bounds(0, 100),
        "seen": dp.bounds(START, START + dt.timedelta(days=59), type="timestamp"),
    }
)


@pytest.fixture
def s():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "patient": rng.integers(0, 40, 200),
            "city": rng.choice(["Oslo", "Bergen"], 200),
            "cost": rng.uniform(0, 100, 200),
            "seen": pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 1400, 200), "h"),
        }
    )
    unit = dp.person("patient", rows=5)
    return dp.open(table, unit=unit, budget=dp.epsilon(20, delta=1e-6), schema=SCHEMA)


@pytest.mark.parametrize(
    "ask",
    [
        lambda s: s.sum("patient", spend=SPEND),
        lambda s: s.std("patient", spend=SPEND),
        lambda s: s.median("patient", spend=SPEND),
        lambda s: s.sql("SELECT SUM(patient + 1) FROM data"),
        lambda s: s.sql("SELECT city, AVG(patient) FROM data GROUP BY city"),
    ],
)
def test_a_statistic_of_the_column_that_identifies_people_is_told_how_to_count_them(s, ask):
    with pytest.raises(MissingBounds, match="`patient` identifies people") as caught:
        ask(s)
    fix = caught.value.fixes[0].python
    assert "COUNT(DISTINCT patient)" in fix
    answer = eval(fix, {"s": s}).release(spend=dp.epsilon(10))  # what the fix says works
    assert answer.value == pytest.approx(40, abs=10)


@pytest.mark.parametrize("name", ["a b", 'a"b', "select"])
def test_odd_names_are_quoted_in_that_fix(name):
    from deniable import fixes

    fix = fixes.people(name, table="my visits")
    assert fix.python.startswith("s.sql(")
    compile(fix.python, "fix", "eval")


def test_what_is_left_prints_rounded_down_and_is_the_same_amount(s):
    s.count(spend=dp.epsilon(0.00123))
    ceiling, left = 20 - 0.00123, s.left
    shown = float(str(left).split(",")[0].removeprefix("ε = "))
    assert shown <= ceiling
    assert left == dp.Approx(left.epsilon, delta=left.delta)
    assert str(left + 0 * left) == str(dp.Approx(left.epsilon, delta=left.delta))  # rounds up


@pytest.mark.parametrize("budget", [dp.epsilon(1), dp.rho(1), dp.mu(1), dp.epsilon(1, delta=1e-6)])
def test_no_currency_shows_more_than_is_left(budget):
    s = dp.open(dp.load_adult(), unit=dp.rows(), budget=budget)
    s.count(spend=budget.share(0.123456))
    shown = float(str(s.left).split(",")[0].partition("= ")[2])
    assert shown <= getattr(s.left, budget.figure)


@pytest.mark.parametrize(
    ("ask", "fix"),
    [
        (lambda s: s.running("seen", every="moth", spend=SPEND), 'every="month"'),
        (lambda s: s.running("seen", every="decade", spend=SPEND), '"week" or "month"'),
        (lambda s: s.synthesize(["city"], method="mst", spend=SPEND), '"auto" or "independent"'),
        (lambda s: s.synthesize(["city"], method="marginal", spend=SPEND), 'method="marginals"'),
    ],
)
def test_a_word_that_is_no_choice_is_answered_with_the_choices(s, ask, fix):
    with pytest.raises(BadParameter) as caught:
        ask(s)
    assert fix in caught.value.fix


@pytest.mark.parametrize(("model", "column"), [(LogisticRegression(), "city"), (Ridge(), "cost")])
def test_a_target_that_is_missing_is_proposed_from_the_table(s, model, column):
    with pytest.raises(BadParameter, match="target=") as caught:
        s.fit(model, spend=dp.epsilon(1, delta=1e-7))
    kind = SCHEMA[caught.value.fix.removeprefix("target=").strip('"')]
    assert (kind.keys is None) == (SCHEMA[column].keys is None)


def test_a_fit_without_a_formula_names_what_to_try(s):
    plan = s.explain_fit(LogisticRegression(), target="city", spend=dp.epsilon(1, delta=1e-7))
    assert "deniable.learn.effect(" in str(plan) or "excess loss" in str(plan)


def test_help_shows_types_as_they_are_written(s):
    for call in (s.count, s.sum, s.mean, s.histogram, s.quantile, s.top_k):
        assert "ForwardRef" not in str(inspect.signature(call))
    assert "spend: 'Loss | None' = None" in str(inspect.signature(s.count))


def test_the_nearest_name_says_what_it_replaces(s):
    with pytest.raises(UnknownName) as caught:
        s.mean("coast", spend=SPEND)
    assert caught.value.fix == "cost    in place of `coast`"


def test_ranges_of_moments_are_cells_of_the_calendar(s):
    asked = s.ranges("seen", spend=dp.epsilon(5))
    labels = asked.release.keys["seen"]
    assert labels[0] == "2025-01-01"
    assert labels[-1] == "2025-03-01 00:00:00"
    assert len(labels) == 31 + 28 + 1


@pytest.mark.parametrize(
    ("days", "first"),
    [
        (3, "2025-01-01 00:00 to 2025-01-01 00:59"),
        (300, "2025-01-01"),
        (4000, "2025-01-01 to 2025-01-05"),
    ],
)
def test_the_finest_unit_that_is_few_enough_is_taken(days, first):
    low = START
    columns = {"at": dp.bounds(low, low + dt.timedelta(days=days), type="timestamp")}
    table = pd.DataFrame({"at": [low]})
    schema = dp.Schema(columns=columns)
    s = dp.open(table, unit=dp.rows(), budget=dp.epsilon(1), schema=schema)
    labels = s.ranges("at").labels["at"]
    assert labels[0] == first
    assert len(labels) <= 1000


def test_the_noise_is_told_in_units_of_the_answer(s):
    answer = s.count(spend=SPEND)
    (noise,) = answer.provenance.noise
    assert noise == "add Laplace noise to the number of rows: b = 10"
    assert noise in answer._repr_html_()
    assert "in steps of the lattice" in answer._repr_html_()
    assert answer.certificate()["noise"] == [noise]
    assert "units of the columns" in answer.certificate()["units"]
    again = s.count(spend=SPEND)  # the stored answer says so, too
    assert again.free
    assert again.provenance.noise == (noise,)
    assert dp.Release.from_dict(again.to_dict()).provenance.noise == (noise,)


def test_a_workload_tells_its_noise(s):
    (noise,) = s.ranges("cost", spend=SPEND).release.provenance.noise
    assert noise.startswith("add Laplace noise to ")
    assert ": b = " in noise
