"""Quantiles of dates and moments: dates and moments again, with a ± in time."""

import datetime as dt
import json

import pyarrow as pa
import pytest

import deniable as dp
from deniable.curator import open as open_curator
from deniable.release import Release

DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=i % 400) for i in range(2000)]
TIMES = [dt.datetime(2020, 1, 1) + dt.timedelta(minutes=100 * i) for i in range(2000)]  # noqa: DTZ001
ENDS = (dt.date(2015, 1, 1), dt.date(2025, 1, 1))
COLUMNS = {
    "d": dp.bounds(*ENDS, type="date"),
    "t": dp.bounds(*(dt.datetime.combine(end, dt.time()) for end in ENDS), type="timestamp"),
}
SQL = "SELECT MEDIAN(d) AS d, MEDIAN(t) AS t, MAX(d) AS last FROM data"


@pytest.fixture(scope="module")
def session():
    table = pa.table({"d": DAYS, "t": TIMES})
    schema = dp.Schema(columns=COLUMNS)
    return open_curator(table, unit=dp.rows(), budget=dp.epsilon(1e5), schema=schema)


def test_the_median_lies_in_its_interval_nearly_always(session):
    """40 answers at 99.9 %: more than 3 misses have a chance of 10⁻⁷."""
    truth = {"d": sorted(DAYS)[1000], "t": TIMES[1000]}
    missed = 0
    for i in range(20):
        release = session.sql(SQL).release(spend=dp.epsilon(1 + i / 100))
        (ends,) = release.interval(0.999).rows()
        missed += sum(not ends[f"{n}_low"] <= truth[n] <= ends[f"{n}_high"] for n in truth)
    assert missed <= 3


def test_the_error_is_a_time_that_can_be_added(session):
    release = session.sql(SQL).release(spend=dp.epsilon(2))
    (row,), (ends,) = release.rows(), release.interval().rows()
    assert isinstance(row["d"], dt.date)
    assert isinstance(row["t"], dt.datetime)
    for name in ("d", "t"):
        assert isinstance(row[f"{name}_error"], dt.timedelta)
        assert row[name] - row[f"{name}_error"] <= ends[f"{name}_low"]
        assert row[name] + row[f"{name}_error"] >= ends[f"{name}_high"]
    assert row["d_error"] < dt.timedelta(days=60)
    assert row["t_error"] < dt.timedelta(days=60)
    assert f"{row['d']} ± {row['d_error'].days} days" in str(release)
    assert release.to_arrow().num_rows == 1
    assert release.to_pandas()["d_error"][0] == row["d_error"]


def test_plans_and_answers_speak_of_dates(session):
    plan, release = session.sql(SQL).explain(spend=dp.epsilon(2)), session.sql(SQL)
    assert "quantile(d in [2015-01-01, 2025-01-01], 0.5)" in str(plan)
    assert "days_between" not in str(plan)
    told = release.release(spend=dp.epsilon(2)).answers["d"].estimand
    assert told == "values are clipped to [2015-01-01, 2025-01-01]"


def test_they_survive_storage(session):
    made = session.sql(SQL).release(spend=dp.epsilon(2))
    again = Release.from_dict(json.loads(json.dumps(made.to_dict())))
    assert again.rows() == made.rows()
    assert again.interval(0.9) == made.interval(0.9)
