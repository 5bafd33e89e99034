"""Rows over which an engine fails, or which take others with them: one person must do neither."""

import datetime as dt

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.query.algebra.meaning import like
from deniable.session.sources.arrow_values import settled

from .exact import exact, moves, number

COUNT = "SELECT COUNT(*) AS n, COUNT(v) AS m FROM data"
TEXT = dp.Schema(columns={"v": dp.column("text", missing="drop")})


# ---- an analyst who makes one person's row fail


def grown(times, layers):
    """Bob's name, `times` times as long with every layer; nothing of anybody else."""
    inner = "SELECT id, CASE WHEN v = 'bob' THEN v ELSE '' END AS v FROM data"
    longer = " || ".join(["v"] * times)
    for layer in range(layers):
        inner = f"SELECT id, MAX({longer}) AS v FROM ({inner}) AS q{layer} GROUP BY id"
    return f"SELECT COUNT(*) AS n FROM ({inner}) AS q WHERE LENGTH(v) > 2"


def test_no_question_can_make_one_row_too_long_for_the_engine():
    connection = duckdb.connect(config={"memory_limit": "200MB", "max_temp_directory_size": "0KB"})
    connection.execute("CREATE TABLE data AS SELECT 1 AS id, 'bob' AS v")
    person = dp.person("id", rows=1)
    assert number(connection, grown(8, 9), unit=person, schema=TEXT) == 1


# ---- CSV

CSV = dp.Schema(columns={"v": dp.bounds(90, 100, type="int", missing=90), "c": dp.column("text")})


def csv_with(path, line):
    """A line among four thousand others on either side."""
    lines = b"".join(b"%d,x\n" % (i % 100) for i in range(4000))
    path.write_bytes(b"v,c\n" + lines + line + lines)
    return path


@pytest.mark.parametrize(
    "line", [b'1,"ab"c\n', b"1,a\rb\n", b"1,a\r\n"], ids=["quote", "return", "other line end"]
)
def test_a_line_of_a_csv_takes_no_others_with_it(tmp_path, line):
    path = csv_with(tmp_path / "data.csv", line)
    assert number(path, "SELECT COUNT(*) AS n FROM data", schema=CSV) >= 8000


def test_a_replaced_line_that_cannot_be_read_moves_no_more_than_declared(tmp_path):
    replace = dp.rows(relation="replace")
    asked = "SELECT SUM(v) AS n FROM data"
    paths = [csv_with(tmp_path / f"{i}.csv", row) for i, row in enumerate([b"99,x\n", b"9,9,9\n"])]
    given = {"unit": replace, "schema": CSV, "name": "data"}
    sums = [number(path, asked, **given) for path in paths]
    assert abs(sums[0] - sums[1]) <= moves(paths[0], asked, **given).l1


def test_a_row_that_is_no_utf8_does_not_stop_a_csv_from_opening(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"v,c\n1,x\n1,\xff\n")
    dp.open(path, unit=dp.rows(), budget=dp.epsilon(1), schema=CSV)


# ---- stored values

MOMENT = dp.Schema(columns={"v": dp.column("timestamp")})


@pytest.mark.parametrize("unit", ["s", "ms"])
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_a_moment_beyond_the_engines_calendar_is_missing(unit, zone):
    moments = pa.array([0, 2**62], pa.int64()).cast(pa.timestamp(unit, zone))
    (row,) = exact(pa.table({"v": moments}), COUNT, schema=MOMENT)
    assert (row["n"], row["m"]) == (2, 1)


@pytest.mark.parametrize("stored", ["arrow", "parquet"])
def test_nanoseconds_with_a_time_zone_are_moments(stored, tmp_path):
    moments = pa.array([dt.datetime(2020, 1, 1)], pa.timestamp("ns", "UTC"))  # noqa: DTZ001
    source = pa.table({"v": moments})
    if stored == "parquet":
        pq.write_table(source, tmp_path / "data.parquet")
        source = tmp_path / "data.parquet"
    assert exact(source, COUNT, schema=MOMENT)[0]["m"] == 1


def not_utf8():
    ends, letters = np.array([0, 1, 2], dtype=np.int32), b"a\xff"
    return pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(ends), pa.py_buffer(letters)])


@pytest.mark.parametrize(
    "asked",
    [
        "SELECT COUNT(*) AS n FROM data WHERE LOWER(v) = 'a'",
        "SELECT COUNT(*) AS n FROM data WHERE TRIM(v) = 'a'",
        "SELECT COUNT(*) AS n FROM data WHERE v ILIKE 'A%'",
        "SELECT v, COUNT(*) AS n FROM data WHERE v <> '' GROUP BY v",
    ],
    ids=["lower", "trim", "ilike", "keys"],
)
def test_arrow_text_that_is_no_utf8_is_missing(asked):
    assert number(pa.table({"v": not_utf8()}), asked, schema=TEXT) == 1


def test_parquet_text_that_is_no_utf8_is_missing(tmp_path):
    pq.write_table(pa.table({"v": not_utf8()}), tmp_path / "data.parquet")
    assert exact(tmp_path / "data.parquet", COUNT, schema=TEXT)[0]["n"] == 2


def arrow(kind, number):
    """A column with 0 and a number that nobody checked."""
    return pa.Array.from_buffers(kind, 2, [None, pa.py_buffer(np.array([0, number], np.int64))])


def dictionary(texts):
    return pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), texts)


@pytest.mark.parametrize(
    "column",
    [
        arrow(pa.duration("s"), 2**62),
        arrow(pa.time64("us"), 2**62),
        arrow(pa.date64(), 2**62),
        arrow(pa.timestamp("us", "UTC"), -(2**63)),
        pa.array([0.5, 1.5], pa.float16()),
        pa.array([1, 2], pa.decimal256(50, 0)),
        pa.array([["a"], []], pa.list_(pa.string())),
        pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), not_utf8()),
        dictionary(not_utf8()),
        pd.Series(np.array([0, 2**62], "datetime64[s]")),
        pd.Series(pd.to_timedelta([0, 1])),
        pd.Series(pd.period_range("2020", periods=2, freq="M")),
        pd.Series(pd.arrays.SparseArray([0, 1])),
        pd.Series(pd.Categorical.from_codes([0, 1], pd.Index(["a", "\udc80"], dtype=object))),
    ],
    ids=lambda column: str(getattr(column, "type", getattr(column, "dtype", ""))),
)
def test_a_column_of_any_stored_type_is_read_as_any_other(column):
    kinds = ["text", "int", "float", "timestamp", "date", "bool"]
    frame = pd.DataFrame if isinstance(column, pd.Series) else pa.table
    schema = dp.Schema(columns={kind: dp.column(kind) for kind in kinds})
    counted = ", ".join(f'COUNT("{kind}")' for kind in kinds)
    (row,) = exact(
        frame(dict.fromkeys(kinds, column)), f"SELECT {counted} FROM data", schema=schema
    )
    assert all(0 <= n <= 2 for called, n in row.items() if not called.endswith("error"))


@pytest.mark.parametrize(
    "column",
    [
        arrow(pa.timestamp("ms"), 2**62),
        arrow(pa.timestamp("ms", "UTC"), -(2**63)),
        arrow(pa.timestamp("us"), -(2**63)),
        arrow(pa.time64("us"), 2**62),
    ],
    ids=lambda column: str(column.type),
)
@pytest.mark.parametrize("kind", ["timestamp", "text"])
def test_a_moment_in_parquet_stops_nobody(column, kind, tmp_path):
    pq.write_table(pa.table({"v": column, "w": [1, 2]}), tmp_path / "data.parquet")
    schema = dp.Schema(columns={"v": dp.column(kind)})
    assert exact(tmp_path / "data.parquet", COUNT, schema=schema)[0]["n"] == 2


def test_a_moment_may_tell_people_apart_wherever_it_is():
    moments = arrow(pa.timestamp("us"), -(2**63))
    source = pa.table({"id": moments, "k": ["a", "b"]})
    person = dp.person("id", rows=1, groups=1)
    schema = dp.Schema(columns={"k": dp.column("text")})
    asked = "SELECT k, COUNT(*) AS n FROM data GROUP BY k"
    (row,) = exact(source, asked, unit=person, schema=schema)
    assert (row["k"], row["n"]) == ("a", 1)


def test_how_a_column_is_handed_over_depends_on_no_value():
    odd = pa.array(["a", None], pa.string())
    kinds = [
        [settled(pa.table({"v": column})).schema.types for column in columns]
        for columns in (
            (odd, not_utf8()),
            (dictionary(odd), dictionary(not_utf8())),
            (arrow(pa.time64("us"), 1), arrow(pa.time64("us"), 2**62)),
        )
    ]
    assert all(first == second for first, second in kinds)


# ---- patterns


def naive(text, pattern):
    """LIKE by trying everything."""
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(naive(text[i:], pattern[1:]) for i in range(len(text) + 1))
    return bool(text) and pattern[0] in ("_", text[0]) and naive(text[1:], pattern[1:])


@given(st.text("ab", max_size=7), st.text("ab%_", max_size=6))
def test_a_pattern_matches_where_some_way_of_matching_exists(text, pattern):
    assert like(text, pattern) is naive(text, pattern)


HOSTILE = "%a" * 12 + "%b_"


def test_a_pattern_does_not_try_all_ways_to_match():
    assert like("a" * 2000, HOSTILE) is False


def test_no_engine_tries_all_ways_to_match_in_postgres(server):
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS long")
        connection.execute("CREATE TABLE long AS SELECT repeat('a', 2000) || 'b' AS v")
    schema = dp.Schema(tables={"long": TEXT})
    asked = f"SELECT COUNT(*) AS n FROM long WHERE v LIKE '{HOSTILE}'"
    assert number(server, asked, schema=schema) == 0


def test_no_engine_tries_all_ways_to_match_in_duckdb():
    asked = f"SELECT COUNT(*) AS n FROM data WHERE v LIKE '{HOSTILE}'"
    assert number(pa.table({"v": ["a" * 2000 + "b"]}), asked, schema=TEXT) == 0


def test_no_engine_tries_all_ways_to_match_in_spark(spark):
    asked = f"SELECT COUNT(*) AS n FROM data WHERE v LIKE '{HOSTILE}'"
    frame = spark.sql("SELECT repeat('a', 2000) || 'b' AS v")
    assert number(frame, asked, schema=TEXT) == 0


class Unspeakable:
    def __str__(self):
        raise ValueError("no")


ODD = {"half": lambda: "\udc80", "long": lambda: 10**5000, "mute": Unspeakable}


@pytest.mark.parametrize("odd", ODD)
def test_an_object_that_is_no_text_is_missing(odd):
    frame = pd.DataFrame({"v": pd.Series(["a", ODD[odd]()], dtype=object)})
    assert exact(frame, COUNT, schema=TEXT)[0]["n"] == 2
