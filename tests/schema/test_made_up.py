"""Made-up rows have the shape that the schema says, are the same for a seed, and need no data."""

import csv
import datetime as dt

import pytest

import deniable as dp
from deniable.errors import BadParameter
from deniable.schema.made_up import write

SCHEMA = dp.Schema(
    columns={
        "who": dp.column("text"),
        "age": dp.bounds(18, 99, type="int"),
        "pay": dp.bounds(-5.0, 5.0),
        "city": dp.keys(["Oslo", "Bergen"]),
        "member": dp.column("bool"),
        "day": dp.bounds(dt.date(2020, 1, 1), dt.date(2020, 12, 31), type="date"),
        "moment": dp.column("timestamp"),
        "note": dp.column("text"),
        "number": dp.column("float"),
    },
    unit=dp.person("who", rows=3),
)


def rows(folder, **options):
    made = write(SCHEMA, ["people"], folder=folder, **{"rows": 400, "seed": 1} | options)
    with made["people"].open(newline="") as file:
        return list(csv.DictReader(file))


def test_values_lie_where_the_schema_says(tmp_path):
    made = rows(tmp_path)
    assert len(made) == 400
    assert all(18 <= int(row["age"]) <= 99 for row in made if row["age"])
    assert all(-5 <= float(row["pay"]) <= 5 for row in made if row["pay"])
    assert {row["city"] for row in made} == {"Oslo", "Bergen", ""}
    assert {row["member"] for row in made} == {"true", "false", ""}
    assert all(row["day"].startswith("2020-") for row in made if row["day"])


def test_every_row_is_somebodys(tmp_path):
    people = [row["who"] for row in rows(tmp_path)]
    assert all(people)
    assert 100 < len(set(people)) <= 133


def test_a_seed_decides(tmp_path):
    assert rows(tmp_path) == rows(tmp_path)
    assert rows(tmp_path) != rows(tmp_path, seed=2)


def test_a_session_reads_them_back(tmp_path):
    made = write(SCHEMA, ["people"], folder=tmp_path, rows=300, seed=1)
    with dp.open(made, schema=SCHEMA, budget=dp.epsilon(1000)) as s:
        text = "SELECT COUNT(*) AS n, COUNT(day) AS days, AVG(age) AS age FROM people WHERE member"
        (row,) = s.sql(text).release(spend=dp.epsilon(900)).rows()
    assert 100 < row["n"] < 190
    assert row["days"] > 90
    assert 48 < row["age"] < 68


@pytest.mark.parametrize("count", [0, -1])
def test_no_rows_are_refused(tmp_path, count):
    with pytest.raises(BadParameter):
        rows(tmp_path, rows=count)
