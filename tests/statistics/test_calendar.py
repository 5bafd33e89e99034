"""Running totals by months, quarters and years follow the calendar, on every engine."""

import datetime as dt
from itertools import pairwise

import pandas as pd
import psycopg
import pytest

import deniable as dp
from deniable.errors import BadParameter
from deniable.release import Release
from deniable.release.months import PERIODS, Quarter, Year
from deniable.statistics.workloads.ordered import _edges

MOMENTS = [
    dt.datetime.fromisoformat(text)
    for text in (
        *("2023-05-17T03:04", "2023-06-30T23:59:59", "2023-07-01", "2023-12-31T23:59:59"),
        *("2024-01-01", "2024-02-29", "2024-03-31", "2024-04-01", "2024-12-31T12:00"),
        "2025-02-28T23:59:59",
    )
]
LOW, HIGH = MOMENTS[0], MOMENTS[-1]
TOTALS = {
    "quarter": {
        "2023-Q2": 2,
        "2023-Q3": 3,
        "2023-Q4": 4,
        "2024-Q1": 7,
        "2024-Q2": 8,
        "2024-Q3": 8,
        "2024-Q4": 9,
        "2025-Q1": 10,
    },
    "year": {"2023": 4, "2024": 9, "2025": 10},
}
SPEND = dp.rho(1e6)
"""Noise of a deviation below 0.01: a count off by a half has a probability below 1e-100."""
SCHEMA = dp.Schema(
    columns={
        "at": dp.bounds(LOW, HIGH, type="timestamp", missing="drop"),
        "day": dp.bounds(LOW.date(), HIGH.date(), type="date", missing="drop"),
    }
)


def opened(source):
    schema = SCHEMA if not isinstance(source, str) else dp.Schema(tables={"calendar": SCHEMA})
    return dp.open(source, unit=dp.rows(), budget=dp.rho(1e9), schema=schema)


def table():
    return pd.DataFrame({"at": MOMENTS, "day": [at.date() for at in MOMENTS]})


@pytest.fixture
def in_postgres(server):
    with psycopg.connect(server, autocommit=True) as connection, connection.cursor() as cursor:
        connection.execute("CREATE TABLE calendar (at timestamp, day date)")
        rows = [(at, at.date()) for at in MOMENTS]
        cursor.executemany("INSERT INTO calendar VALUES (%s, %s)", rows)
    yield server
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP TABLE calendar")


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
@pytest.mark.parametrize("column", ["at", "day"])
@pytest.mark.parametrize("every", TOTALS)
def test_totals_are_those_of_the_calendar(request, engine, column, every):
    source = table() if engine == "duckdb" else request.getfixturevalue("in_postgres")
    found = opened(source).running(column, every=every, spend=SPEND)
    told = {str(row[every]): round(row["total"]) for row in found.rows()}
    assert told == TOTALS[every]


@pytest.mark.parametrize("every", TOTALS)
def test_a_stream_goes_on_by_them(every):
    growing = opened(table()).follow("at", every=every, spend=SPEND)
    found = growing.next(through=dt.date(2024, 12, 31))
    told = {str(row[every]): round(row["total"]) for row in found.rows()}
    over = {name: total for name, total in TOTALS[every].items() if name < "2025"}
    assert told == over


@pytest.mark.parametrize("every", TOTALS)
def test_they_are_shown_and_stored_by_name_and_dates_in_frames(every):
    found = opened(table()).running("day", every=every, spend=SPEND)
    again = Release.from_dict(found.to_dict())
    first = next(iter(TOTALS[every]))
    for release in (found, again):
        assert f" {first} " in str(release)
        assert release.rows() == found.rows()
        assert "datetime64" in str(release.to_pandas()[every].dtype)
        assert str(release.to_arrow().column(every).type).startswith("date32")
    assert found.plot().get_title(loc="left")


@pytest.mark.parametrize("every", PERIODS)
@pytest.mark.parametrize("start", [dt.date(1899, 11, 30), dt.date(2000, 2, 29), LOW])
def test_every_moment_lies_in_the_period_it_is_named_by(every, start):
    end = start + dt.timedelta(days=3000)
    edges = _edges(start, end, every)
    assert edges[0] <= start <= end < edges[-1]
    period = PERIODS[every]
    least = dt.timedelta(seconds=1) if isinstance(start, dt.datetime) else dt.timedelta(days=1)
    for low, high in pairwise(edges):
        last = high - least
        assert period.of(low) == period.of(last)
        assert period.of(low) != period.of(high)
        assert (low.day, (low.month - 1) % period.months) == (1, 0)


def test_names():
    day = dt.date(2024, 6, 30)
    assert [str(each.of(day)) for each in PERIODS.values()] == ["2024-06", "2024-Q2", "2024"]
    assert Quarter.of(dt.date(2024, 12, 31)) == dt.date(2024, 10, 1)
    assert Year.of(day).isoformat() == "2024-01-01"


def test_another_word_is_refused_with_those_that_are_known():
    with pytest.raises(BadParameter, match="quarter"):
        opened(table()).running("day", every="quarters", spend=SPEND)
