"""What is held (files, frames, other types than the schema's) is read as the schema says."""

import datetime as dt
import math
import subprocess
import sys

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import UnsupportedQuery
from deniable.query.algebra import Aggregate, Function, Question
from deniable.query.backends import engine_for
from deniable.query.backends.duckdb import SETTINGS
from deniable.query.backends.engine import EngineError, check_settings
from deniable.query.compile import Relations
from deniable.session.sources import tables

from .holding import Holding, cells_of, scan_of

SCHEMA = dp.Schema(
    columns={
        "i": dp.column("int"),
        "x": dp.bounds(0.0, 10.0),
        "k": dp.keys(["a", "b"], missing="b"),
        "d": dp.column("date"),
        "t": dp.column("text"),
        "f": dp.column("bool"),
    }
)


def read(source, schema=SCHEMA, **options):
    (table,) = tables(source, schema=schema, unit=dp.rows(), name="data", **options).values()
    with engine_for([table])([table]) as engine:
        made = Relations(engine.dialect, engine.stored()).rows(scan_of(table))
        (found,) = engine.run([engine.dialect.write(made.select)])
    return sorted(found, key=lambda row: (row[0] is None, row[0]))


WANTED = [
    (1, 3.5, "a", dt.date(2020, 2, 29), 'é, "q"', True),
    (2, 10.0, "b", None, "NA", False),
    (3, 0.0, "b", None, None, None),
    (None, None, "b", None, "x", None),
]


def test_a_csv_is_read_as_the_schema_says_and_nothing_is_guessed(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(
        "i,x,k,extra,d,t,f\n"
        '1,3.5,a,z,2020-02-29,"é, ""q""",true\n'
        "2,inf,c,z,2020-02-30,NA,0\n"
        "too,many,cells,in,this,line,and,more\n"
        "3,-7,,z,never,,maybe\n"
        "2.5,nan,b,z,,x,\n",
        encoding="utf-8",
    )
    found = read(path)
    # "inf" and "nan" are not numbers as text: see moments.FLOAT_TEXT
    assert found == [WANTED[0], (2, None, *WANTED[1][2:]), *WANTED[2:]]


def test_whole_numbers_that_pandas_wrote_beside_missing_ones_are_read_from_its_csv(tmp_path):
    frame = pd.DataFrame({"i": [1, None, 3, 2**40], "t": ["1.0", "2", "3.5", None]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    assert "\n3.0," in (tmp_path / "rows.csv").read_text(encoding="utf-8")
    schema = dp.Schema(columns={"i": dp.column("int"), "t": dp.column("int")})
    assert read(tmp_path / "rows.csv", schema) == [(1, 1), (3, None), (2**40, None), (None, 2)]


FRAME = {
    "i": [1.0, 2.0, 3.0, 2.5],
    "x": [3.5, math.inf, -7.0, math.nan],
    "k": ["a", "c", None, "b"],
    "d": ["2020-02-29", "2020-02-30", "never", None],
    "t": ['é, "q"', "NA", None, "x"],
    "f": ["true", "0", "maybe", None],
}


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"]
)
def test_frames_are_read_by_the_schema_whatever_they_hold(make):
    assert read(make(FRAME)) == WANTED


def test_a_lazy_frame_and_a_relation_and_a_connection_are_read(tmp_path):
    assert read(pl.LazyFrame(FRAME)) == WANTED
    connection = duckdb.connect()
    frame = pa.table(FRAME)
    connection.register("frame", frame)
    connection.execute("CREATE TABLE data AS FROM frame")
    assert read(connection) == WANTED
    assert read(connection.table("data")) == WANTED
    connection.execute(f"COPY data TO '{tmp_path}/part.parquet'")
    assert read(tmp_path / "*.parquet") == WANTED
    assert connection.execute("SELECT count(*) FROM data").fetchall() == [(4,)]


def test_mixed_objects_in_pandas_are_text_whatever_comes_first():
    schema = dp.Schema(columns={"i": dp.column("int"), "o": dp.column("text")})
    forth = pd.DataFrame({"i": range(3), "o": [1, "t", None]})
    back = pd.DataFrame({"i": range(3), "o": ["t", 1, None]})
    assert read(forth, schema) == [(0, "1"), (1, "t"), (2, None)]
    assert read(back, schema) == [(0, "t"), (1, "1"), (2, None)]


@pytest.mark.parametrize("stored", ["HUGEINT", "UBIGINT", "DECIMAL(38,2)", "FLOAT", "INTEGER[]"])
def test_stored_types_of_all_kinds_become_what_the_schema_says(stored):
    connection = duckdb.connect()
    value = "[7]" if stored.endswith("[]") else "7"
    connection.execute(f"CREATE TABLE data AS SELECT 0 AS i, {value}::{stored} AS o")
    connection.execute("INSERT INTO data VALUES (1, NULL)")
    if stored in ("HUGEINT", "UBIGINT"):
        connection.execute(f"INSERT INTO data SELECT 2, (2::HUGEINT^63)::{stored}")
    schema = dp.Schema(columns={"i": dp.column("int"), "o": dp.column("int")})
    wanted = None if stored.endswith("[]") else 7
    assert [row[1] for row in read(connection, schema)][:3] in ([wanted, None], [7, None, None])


def test_calendars_longer_than_ours_are_cut():
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE data AS SELECT * FROM (VALUES (0, 'infinity'::DATE), "
        "(1, '0044-03-15 (BC)'::DATE), (2, '10000-01-01'::DATE), (3, '2020-01-01'::DATE)) t(i, o)"
    )
    schema = dp.Schema(columns={"i": dp.column("int"), "o": dp.column("date")})
    assert [row[1] for row in read(connection, schema)] == [None, None, None, dt.date(2020, 1, 1)]


def test_numerics_that_no_float_can_hold_do_not_fail(postgres):
    import psycopg

    holding = Holding(kind="postgres", place=postgres)
    table = holding.table("data", [], {"i": dp.column("int"), "o": dp.bounds(0.0, 5.0)})
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f'ALTER TABLE "{table.source.inner}" ALTER o TYPE numeric')
        connection.execute(
            f"""INSERT INTO "{table.source.inner}" VALUES (0, '1e400'), (1, '-1e400'),
            (2, '1e-400'), (3, 'NaN'), (4, NULL), (5, 2.5)"""
        )
    (column,) = [c for c in scan_of(table).columns if c.name == "o"]
    found = holding.values(table, (("o", column),))
    assert [value for (value,) in found] == [5.0, 0.0, 0.0, None, None, 2.5]


def test_a_setting_that_does_not_take_stops_everything():
    check_settings(SETTINGS, dict(SETTINGS))
    with pytest.raises(EngineError):
        check_settings(SETTINGS, SETTINGS | {"default_collation": "NOCASE"})


def test_duckdb_draws_no_bar_on_the_standard_output(tmp_path):
    """By `python -c` and in notebooks it would, for what takes longer than two seconds."""
    path = f"{tmp_path}/data.parquet"
    code = (
        "import duckdb, deniable as dp\n"
        "from deniable.query.backends.duckdb import DuckDB\n"
        "asked = \"SELECT current_setting('enable_progress_bar')\"\n"
        "plain = duckdb.connect()\n"
        f"plain.execute(\"COPY (SELECT 1.0::DOUBLE AS x) TO '{path}'\")\n"
        f"plain.execute(\"CREATE TABLE data AS FROM '{path}'\")\n"
        "assert plain.execute(asked).fetchall() == [(True,)]\n"
        "schema = dp.Schema(columns={'x': dp.bounds(0, 9)})\n"
        f"for held in ({path!r}, plain):\n"
        "    s = dp.open(held, unit=dp.rows(), budget=dp.epsilon(1), schema=schema, name='data')\n"
        "    with DuckDB(list(s.tables.values())) as engine:\n"
        "        assert engine.run([asked]) == [[(False,)]]\n"
        "assert plain.execute(asked).fetchall() == [(True,)]  # the user's own is left alone\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_tables_of_two_engines_are_refused_from_public_facts(postgres):
    facts = {"u": dp.column("int")}
    here = Holding(kind="duckdb").table("here", [], facts)
    there = Holding(kind="postgres", place=postgres).table("there", [], facts)
    with pytest.raises(UnsupportedQuery):
        engine_for([here, there])


def test_an_unknown_collation_of_the_users_connection_does_not_merge_keys():
    connection = duckdb.connect()
    connection.execute("SET default_collation = 'NOCASE'")
    connection.execute("CREATE TABLE data AS SELECT * FROM (VALUES ('a'), ('A')) t(k)")
    schema = dp.Schema(columns={"k": dp.column("text")})
    (table,) = tables(connection, schema=schema, unit=dp.rows(), name="data").values()
    scan = scan_of(table)
    distinct = Aggregate(name="n", function=Function.DISTINCT, argument=scan.columns[0])
    plan, found = cells_of(Question(unit=dp.rows(), relation=scan, aggregates=(distinct,)), [table])
    assert found.numbers[plan.tallies[0].name][0] == 2
