"""A condition that no row can meet is pointed out before anything is spent, from the schema."""

import pyarrow as pa
import pytest

import deniable as dp

VISITS = pa.table(
    {
        "u": [1, 1, 2],
        "ward": ["surgery", "medicine", "surgery"],
        "floor": [1, 2, 3],
        "cost": [1.0, 2.0, 3.0],
        "day": pa.array([0, 1, 2], pa.timestamp("us")),
        "code": ["a", "b", "c"],
    }
)
SCHEMA = dp.Schema(
    columns={
        "ward": dp.keys(["surgery", "medicine", "oncology"], missing="drop"),
        "floor": dp.keys([1, 2, 3], missing="drop"),
        "cost": dp.bounds(0, 1000, missing="drop"),
        "day": dp.bounds("2023-01-01", "2025-12-31", type="timestamp", missing="drop"),
        "code": dp.column("text", missing="drop"),
    }
)
SURGERY = "'Surgery' is not one of the keys of `ward` (did you mean 'surgery'?)"


@pytest.fixture(scope="module")
def session():
    budget = dp.epsilon(1000, delta=1e-6)
    unit = dp.person("u", rows=2)
    return dp.open({"visits": VISITS}, unit=unit, budget=budget, schema=SCHEMA)


def notes(session, where, select="COUNT(*) AS n"):
    query = session.sql(f"SELECT {select} FROM visits WHERE {where}")
    told = query.explain(spend=dp.epsilon(0.5)).notes
    return [n for n in told if " is not one of " in n or "no row can pass" in n]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("ward = 'Surgery'", [SURGERY]),
        ("'Surgery' = ward", [SURGERY]),
        ("ward <> 'Surgery'", [SURGERY]),
        ("ward IN ('Surgery', 'oncology')", [SURGERY]),
        ("ward NOT IN ('Surgery') OR cost > 3", [SURGERY]),
        ("cost > 3 AND (ward = 'Surgery' OR ward = 'medicine')", [SURGERY]),
        ("ward = 'xyz'", ["'xyz' is not one of the keys of `ward`"]),
        ("floor = 4", ["4 is not one of the keys of `floor`"]),
        ("floor > 3", ["no row can pass: floor ends at 3"]),
        ("day >= '2030-01-01'", ["no row can pass: day ends at 2025-12-31"]),
        ("cost > 1000", ["no row can pass: cost ends at 1000"]),
        ("0 > cost", ["no row can pass: cost starts at 0"]),
        ("cost < 0", ["no row can pass: cost starts at 0"]),
        ("cost BETWEEN 2000 AND 3000", ["no row can pass: cost ends at 1000"]),
        ("cost = 2000", ["no row can pass: cost ends at 1000"]),
        ("cost IN (-1, 2000)", ["no row can pass: cost starts at 0"]),
        ("cost * 2 > 2000", ["no row can pass: cost * 2 ends at 2000"]),
    ],
)
def test_a_constant_beyond_the_schema_is_noted(session, where, expected):
    assert notes(session, where) == expected


@pytest.mark.parametrize(
    "where",
    [
        "ward = 'surgery'",
        "ward IN ('surgery', 'oncology')",
        "code = 'Surgery'",
        "floor >= 3",
        "cost >= 1000",
        "cost <= 0",
        "cost = 0 OR cost > 2000",
        "NOT cost > 2000",
        "cost IN (1, 2000)",
        "day >= '2025-12-31'",
        "ward IS NULL",
        "cost > CAST(NULL AS DOUBLE)",
    ],
)
def test_what_some_row_can_meet_is_not(session, where):
    assert notes(session, where) == []


def test_conditions_of_one_column_are_noted_as_well(session):
    some = "COUNT(*) FILTER (WHERE ward = 'Surgery') AS n, AVG(cost) AS c"
    assert notes(session, "cost > 1", some) == [SURGERY]
    own = "(SELECT u, SUM(cost) AS c FROM visits WHERE ward = 'Surgery' GROUP BY u)"
    plan = session.sql(f"SELECT COUNT(*) AS n FROM {own}").explain(spend=dp.epsilon(0.5))
    assert SURGERY in plan.notes


def test_the_answer_repeats_it(session):
    query = session.sql("SELECT COUNT(*) AS n FROM visits WHERE ward = 'Surgery'")
    assert SURGERY in str(query.release(spend=dp.epsilon(0.5)))
