"""Frames that are not tables are refused when they are opened; odd ones are read all the same."""

import datetime as dt

import pytest

import deniable as dp
from deniable.errors import BadParameter
from deniable.query.backends import engine_for
from deniable.query.compile import Relations
from deniable.session.sources import tables

from ..back.holding import scan_of  # noqa: TID252
from .keeping import exactly, opened


@pytest.fixture(params=["spark", "connect"])
def session(request):
    return request.getfixturevalue(request.param)


def read(frame, **columns):
    schema = dp.Schema(columns={"i": dp.column("int"), **columns})
    (table,) = tables(frame, schema=schema, unit=dp.rows(), name="data").values()
    with engine_for([table])([table]) as engine:
        made = Relations(engine.dialect, engine.stored()).rows(scan_of(table))
        (found,) = engine.run([engine.dialect.write(made.select)])
    names = list(table.columns)
    return {row[names.index("i")]: row[names.index("o")] for row in found}


def test_a_stream_is_refused(session):
    stream = session.readStream.format("rate").load()
    with pytest.raises(BadParameter, match="`data` is a stream"):
        dp.open(stream, unit=dp.rows(), budget=dp.epsilon(1.0))


def test_two_columns_of_one_name_are_refused(session):
    frame = session.sql("SELECT 1 AS a, 2 AS A")
    with pytest.raises(BadParameter, match="two columns named `a` and `A`"):
        dp.open(frame, unit=dp.rows(), budget=dp.epsilon(1.0))


def test_what_is_no_frame_is_refused(session):
    for other in (session, session.range(3).id, session.range(3).groupBy("id")):
        with pytest.raises(BadParameter, match="not a DataFrame"):
            dp.open(other, unit=dp.rows(), budget=dp.epsilon(1.0))


def test_nested_columns_are_not_read_unless_the_schema_says_how(session):
    frame = session.sql("SELECT 1 AS i, named_struct('a', 1) AS o, array(1, 2) AS list")
    opened_ = opened(frame, "rows", None)
    with pytest.raises(BadParameter, match="the type of `o`"):
        opened_.sql("SELECT COUNT(o) AS n FROM data")
    assert read(frame, o=dp.column("text")) == {1: "{1}"}
    assert read(frame, o=dp.column("float")) == {1: None}


def test_columns_may_have_any_name(session):
    frame = session.sql("SELECT 7 AS `a.b`, 'x' AS `it``s \"é\" $`, 1 AS ` `")
    asked = opened(frame, "rows", dp.Schema(columns={"a.b": dp.bounds(0, 9, type="int")}))
    text = """SELECT SUM("a.b") AS s, COUNT(*) FILTER (WHERE "it`s ""é"" $" = 'x') AS n FROM data"""
    (row,) = exactly(asked, text)
    assert (row["s"], row["n"]) == (7, 1)


def test_bytes_that_are_no_text_do_not_let_two_groups_become_one(session):
    """Python would read both as U+FFFD: one person could replace the count of a large group."""
    frame = session.sql(
        "SELECT id AS i, CAST(IF(id < 900, X'ff41', X'fe41') AS STRING) AS o FROM range(1000)"
    )
    assert set(read(frame.limit(3), o=dp.column("text")).values()) == {"\ufffdA"}
    rows = exactly(opened(frame, "rows", None), "SELECT o, COUNT(*) AS n FROM data GROUP BY o")
    assert [(row["o"], row["n"]) for row in rows] == [("\ufffdA", 1000)]


def test_bytes_are_read_as_text_if_the_schema_says_so(session):
    frame = session.sql("SELECT 1 AS i, X'4f6b' AS o UNION ALL SELECT 2, X'ff'")
    assert read(frame, o=dp.column("text")) == {1: "Ok", 2: "\ufffd"}


def test_a_columns_own_collation_does_not_merge_keys(session):
    frame = session.sql(
        "SELECT CAST(id AS INT) AS i, IF(id < 4, 'a', 'A') COLLATE UTF8_LCASE AS o FROM range(10)"
    )
    schema = dp.Schema(columns={"o": dp.keys(["a", "A"])})
    rows = exactly(opened(frame, "rows", schema), "SELECT o, COUNT(*) AS n FROM data GROUP BY o")
    assert {row["o"]: row["n"] for row in rows} == {"a": 4, "A": 6}


def test_a_column_with_a_collation_identifies_nobody(session):
    frame = session.sql("SELECT IF(id < 4, 'a', 'A') COLLATE UTF8_LCASE AS who FROM range(8)")
    with pytest.raises(dp.BadParameter, match="cannot identify people"):
        opened(frame, dp.person("who", rows=4), None)


@pytest.mark.parametrize("stored", ["TINYINT", "DECIMAL(38, 2)", "FLOAT"])
def test_stored_types_of_all_kinds_become_what_the_schema_says(spark, stored):
    frame = spark.sql(f"SELECT 0 AS i, CAST(7 AS {stored}) AS o UNION ALL SELECT 1, NULL")
    assert read(frame, o=dp.column("int")) == {0: 7, 1: None}
    assert read(frame, o=dp.bounds(0.0, 5.0)) == {0: 5.0, 1: None}


def test_calendars_longer_than_ours_are_cut(spark):
    frame = spark.sql(
        "SELECT * FROM VALUES (0, make_date(-44, 3, 15)), (1, make_date(10000, 1, 1)), "
        "(2, make_date(2020, 1, 1)) AS t(i, o)"
    )
    day = dt.date(2020, 1, 1)
    assert read(frame, o=dp.column("date")) == {0: None, 1: None, 2: day}
    moments = frame.selectExpr("i", "CAST(o AS TIMESTAMP_NTZ) AS o")
    assert read(moments, o=dp.column("timestamp"))[2] == dt.datetime(2020, 1, 1)  # noqa: DTZ001
    assert read(moments, o=dp.column("timestamp"))[0] is None


def test_variants_and_empty_types_are_read_as_text(spark):
    frame = spark.sql(
        "SELECT i, parse_json(j) AS o FROM VALUES (0, '{\"a\": [1]}'), (1, '2'), (2, 'null'), "
        "(3, NULL) AS t(i, j)"
    )
    found = read(frame, o=dp.column("text"))
    assert (found[0], found[1], found[3]) == ('{"a":[1]}', "2", None)
    assert read(spark.sql("SELECT 1 AS i, NULL AS o"), o=dp.column("text")) == {1: None}
