"""Synthetic tables compared with real ones."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.synthetic.people import opened, people

import deniable as dp
from deniable.progress import Progress


def test_evaluation_has_every_yardstick():
    frame = people(400)
    s = opened(frame, dp.rho(1.0))
    y = s.synthesize(spend=dp.rho(1.0), method="tree", bins=6)
    found = y.evaluate(frame, target="sex")
    assert set(found.variation) == {1, 2, 3}
    assert 0 <= found.ranges <= 1
    assert {"age", "height", "joined", "score"} == set(found.means)
    assert 0 <= found.correlations <= 2
    assert set(found.classifier) == {"synthetic", "real"}
    assert "do not publish it" in repr(found)
    assert found.to_dict()["rows"] == 400
    with pytest.raises(dp.UnknownName):
        y.evaluate(frame.drop(columns="age"))


@pytest.mark.parametrize("listed", [False, True])
def test_means_of_dates_are_dates_and_of_times_times(listed):
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(101)]
    noon = dt.datetime.fromisoformat("2021-06-01T12:00")
    times = [noon + dt.timedelta(minutes=i) for i in range(101)]
    day, time = (
        (dp.keys(days), dp.keys(times))
        if listed
        else (
            dp.bounds(days[0], days[-1], type="date"),
            dp.bounds(times[0], times[-1], type="timestamp"),
        )
    )
    frame = pd.DataFrame({"day": days, "time": times, "gone": np.full(101, np.nan)})
    schema = dp.Schema(columns={"day": day, "time": time, "gone": dp.bounds(0.0, 1.0)})
    s = dp.open(frame, unit=dp.rows(), budget=dp.rho(1e6), schema=schema)
    found = s.synthesize(spend=dp.rho(1e6), method="independent", bins=None).evaluate(frame)
    for mean in found.means["day"]:
        assert type(mean) is dt.date
        assert abs(mean - days[50]) <= dt.timedelta(days=6)
    for mean in found.means["time"]:
        assert type(mean) is dt.datetime
        assert abs(mean - times[50]) <= dt.timedelta(minutes=6)
    assert found.means["gone"][0] is None
    assert "2020-02-" in repr(found)
    assert "2021-06-01 12:" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["means"]["day"][0].startswith("2020-02-")


def test_an_evaluation_says_what_it_is_doing(monkeypatch):
    frame = people(60)
    y = opened(frame, dp.rho(1.0)).synthesize(spend=dp.rho(1.0), method="independent")
    said = []

    class Heard(Progress):
        def __setattr__(self, name, value):
            if name == "text":
                said.append(value)
            super().__setattr__(name, value)

    monkeypatch.setattr("deniable.synthetic.evaluation.Progress", Heard)
    y.evaluate(frame)
    assert len(said) >= 6
    assert all(each.startswith("evaluation: ") for each in said)
    assert said[1] == "evaluation: 1-way marginals"


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "dict": dict,
}


@pytest.fixture(scope="module")
def small():
    facts = dp.Schema(columns={"age": dp.bounds(0, 100, type="int"), "sex": dp.keys(["f", "m"])})
    rows = {"age": [20, 30, 40, 50] * 10, "sex": ["f", "m"] * 20}
    session = dp.open(pd.DataFrame(rows), unit=dp.rows(), budget=dp.epsilon(9.0), schema=facts)
    made = session.synthesize(method="independent", bins=4, spend=dp.epsilon(5.0))
    return made, rows


@pytest.mark.parametrize("kind", FRAMES)
def test_a_missing_column_is_named_whatever_the_frame(small, kind):
    made, rows = small
    with pytest.raises(dp.UnknownName) as caught:
        made.evaluate(FRAMES[kind]({"ages": rows["age"], "sex": rows["sex"]}))
    assert "no column `age`; did you mean `ages`?" in str(caught.value)
    assert "known: ages, sex" in str(caught.value)


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_is_read_alike(small, kind):
    made, rows = small
    rows = rows | {"age": [None, *rows["age"][1:]]}
    found, first = (made.evaluate(make(rows)) for make in (FRAMES[kind], dict))
    assert (found.rows, found.variation) == (first.rows, first.variation)


@pytest.mark.parametrize("table", [3, "people.csv", [1, 2]], ids=str)
def test_what_is_not_a_frame_is_refused(small, table):
    with pytest.raises(dp.BadParameter, match="has no columns with names"):
        small[0].evaluate(table)
