"""Rows of nobody, rows with keys off the list, and constants at the ends of what numbers can be."""

import itertools
import math

import psycopg
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.errors import DeniableError

from .exact import exact, number

_numbers = itertools.count()
POSTGRES = {"id": "bigint", "city": "text", "k": "bigint", "pay": "float8"}


@pytest.fixture(params=["duckdb", "postgres"])
def held(request):
    """Puts rows (dictionaries) into an engine: the source, and the name and schema to open it."""

    def put(rows, schema):
        columns = {c: [row.get(c) for row in rows] for c in POSTGRES}
        kinds = {"bigint": pa.int64(), "text": pa.string(), "float8": pa.float64()}
        if request.param == "duckdb":
            arrays = {c: pa.array(columns[c], kinds[kind]) for c, kind in POSTGRES.items()}
            return pa.table(arrays), {"schema": schema}, "data"
        name, address = f"whose_{next(_numbers)}", request.getfixturevalue("server")
        listed = ", ".join(f"{c} {kind}" for c, kind in POSTGRES.items())
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"CREATE TABLE {name} ({listed})")
            with connection.cursor().copy(f"COPY {name} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row([row.get(c) for c in POSTGRES])
        return address, {"schema": dp.Schema(tables={name: schema})}, name

    return put


# ---- rows of nobody

SCHEMA = dp.Schema(
    columns={
        "city": dp.keys(["a", "b"]),
        "k": dp.keys([1, 2, 4]),
        "pay": dp.bounds(0, 9, missing=0),
    }
)
SOMEBODY = [
    {"id": who, "city": "ab"[who % 2], "k": (1, 2, 4)[who % 3], "pay": float(who)}
    for who in (1, 2, 3, 3, 4)
]
NOBODY = [{"id": None, "city": c, "k": k, "pay": 9.0} for c in "ab" for k in (1, 2, 4)] * 2
ASKED = [
    "SELECT COUNT(DISTINCT id) AS n FROM {}",
    "SELECT city, COUNT(DISTINCT id) AS n FROM {} GROUP BY city",
    "SELECT city, k, COUNT(DISTINCT id) AS n FROM {} GROUP BY ROLLUP (city, k)",
    "SELECT COUNT(DISTINCT id) AS n FROM {} WHERE pay > 1",
    "SELECT COUNT(DISTINCT id) AS n, COUNT(*) AS m FROM {}",
    "SELECT city, COUNT(*) AS n, SUM(pay) AS s, COUNT(DISTINCT id) AS p FROM {} GROUP BY city",
    "SELECT COUNT(DISTINCT k) AS n FROM {}",
]


@pytest.mark.parametrize("unit", [dp.person("id", rows=1, groups=1), dp.person("id", rows=3)])
@pytest.mark.parametrize("sql", ASKED)
def test_rows_of_nobody_count_for_nothing(held, sql, unit):
    answers = []
    for rows in (SOMEBODY, SOMEBODY + NOBODY, NOBODY + SOMEBODY):
        source, given_, name = held(rows, SCHEMA)
        try:
            answers.append(exact(source, sql.format(name), unit=unit, **given_))
        except DeniableError as refused:  # not every question goes with every unit
            answers.append(type(refused))
    if "groups" in repr(unit) and "GROUP" in sql:  # which group is kept is drawn
        answers = [total(answer) for answer in answers]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0]


def total(answer):
    return answer if isinstance(answer, type) else sum(row["n"] for row in answer)


def test_nobody_alone_is_no_person(held):
    source, given_, name = held(NOBODY, SCHEMA)
    for sql in ASKED[:3]:
        rows = exact(source, sql.format(name), unit=dp.person("id", rows=2, groups=2), **given_)
        assert {row["n"] for row in rows} == {0}


# ---- keys off the list

WHOLE = st.integers(-4, 7)


@pytest.mark.parametrize("unit", [dp.rows(), dp.person("id", rows=1)], ids=str)
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(listed=st.lists(WHOLE, min_size=1, max_size=5, unique=True))
def test_keys_are_those_of_the_list_and_not_those_between(unit, listed):
    """Everybody has a row at one key of the list, and one at every number off it."""
    off = [k for k in range(-6, 10) if k not in listed]
    rows = [{"id": who, "k": k} for who, own in enumerate(listed) for k in (own, *off)]
    table = pa.table({c: pa.array([row[c] for row in rows]) for c in ("id", "k")})
    schema = dp.Schema(columns={"k": dp.keys(listed)})
    by_key = exact(table, "SELECT k, COUNT(*) AS n FROM data GROUP BY k", unit=unit, schema=schema)
    assert {row["k"]: row["n"] for row in by_key} == dict.fromkeys(listed, 1)
    if unit == dp.rows():
        assert number(table, "SELECT COUNT(k) AS n FROM data", schema=schema) == len(listed)


def test_keys_with_a_gap_are_the_same_in_every_engine(held):
    rows = [{"id": k, "k": k} for k in (-1, 0, 1, 1, 2, 3, 3, 3, 4, 5, None)]
    source, given_, name = held(rows, SCHEMA)
    found = exact(source, f"SELECT k, COUNT(*) AS n FROM {name} GROUP BY k", **given_)
    assert [(row["k"], row["n"]) for row in found] == [(1, 2), (2, 1), (4, 1)]


# ---- constants and bounds at the ends of the floats

ENDS = [1e-308, 2.0**-501, 2.0**-499, 1e-9, 3.0, 2.0**499, 2.0**501, 2.0**999, 2.0**1001, 1.7e308]
VALUES = [0.0, -0.0, 5e-324, 1e-300, 1.0, -1.0, 1e300, 1.7e308, -1.7e308, math.inf, -math.inf, None]
SHAPES = [
    "pay * {c}",
    "pay / {c}",
    "{c} / pay",
    "pay + {c}",
    "{c} - pay",
    "pay * {c} * {c}",
    "pay * pay + {c}",
    "pay * {c} - pay / {c}",
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("most", [1e10, 2.0**501, 8e307])
def test_no_constant_and_no_value_make_an_engine_fail(held, shape, most):
    """Clamped to [0, 1], so that engines agree; a failure over the data would be raised."""
    columns = {"pay": dp.bounds(-most, most, missing="drop")}
    source, given_, name = held(
        [{"id": 1, "pay": value} for value in VALUES], dp.Schema(columns=columns)
    )
    sums = [f"SUM(CLAMP({shape.format(c=repr(c))}, 0, 1)) AS n{i}" for i, c in enumerate(ENDS)]
    (row,) = exact(source, f"SELECT {', '.join(sums)} FROM {name}", **given_)
    assert all(0 <= row[f"n{i}"] <= len(VALUES) for i in range(len(ENDS)))


@pytest.mark.parametrize(("most", "what"), [(1e134, "VAR_POP(pay)"), (1e269, "AVG(pay)")])
def test_plain_sums_with_wide_bounds_do_not_fail(held, most, what):
    schema = dp.Schema(columns={"pay": dp.bounds(-most, most, missing=0)})
    source, given_, name = held([{"id": 1, "pay": value} for value in VALUES], schema)
    asked = f"SELECT SUM(pay) AS n, {what} AS m, SUM(pay + {most}) AS s FROM {name}"
    (row,) = exact(source, asked, **given_)
    assert all(math.isfinite(row[each]) for each in "nms")
