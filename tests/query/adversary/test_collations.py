"""Ids that travel through Ibis: an engine that may compare text by a collation must rule it out."""

import contextlib
import sqlite3

import ibis
import pyarrow as pa
import pytest

import deniable as dp

from .exact import number

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
COUNT = "SELECT COUNT(*) AS n FROM data"


def held_by_sqlite(kind, path):
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE data (id {kind}, x REAL)")
        connection.executemany("INSERT INTO data VALUES (?, 1)", [("Bob",), ("BOB",), ("Bob ",)])
    return ibis.sqlite.connect(path)


def held_by_duckdb(kind, _path):
    connection = ibis.duckdb.connect()
    connection.con.execute(f"CREATE TABLE data (id {kind}, x DOUBLE)")
    connection.con.execute("INSERT INTO data VALUES ('Bob', 1), ('BOB', 1), ('Bob ', 1)")
    connection.con.execute("CREATE TEMP TABLE passing AS FROM data")
    return connection


TRAVELS = {
    "connection": lambda held: held,
    "table": lambda held: held.table("data"),
    "filter": lambda held: held.table("data").filter(held.table("data").x > 0),
    "equal": lambda held: held.table("data").filter(held.table("data").x == 1),
    "distinct": lambda held: held.table("data").distinct(),
    "passing": lambda held: held.table("passing"),
}


ELSEWHERE = ("COLLATE RTRIM", "COLLATE BINARY")


@pytest.mark.parametrize("collation", ["", "COLLATE NOCASE", *ELSEWHERE])
@pytest.mark.parametrize("held", [held_by_sqlite, held_by_duckdb])
@pytest.mark.parametrize("travel", TRAVELS)
def test_text_that_travels_through_ibis_identifies_only_without_a_collation(
    tmp_path, held, collation, travel
):
    sqlite = held is held_by_sqlite
    if (travel == "passing" and sqlite) or (collation in ELSEWHERE and not sqlite):
        pytest.skip("this engine has no such thing")
    kind = "TEXT" if sqlite else "VARCHAR"
    source = TRAVELS[travel](held(f"{kind} {collation}", tmp_path / "data.sqlite"))
    unit = dp.person("id", rows=1)
    if collation in ("", "COLLATE BINARY"):
        assert number(source, COUNT, unit=unit, name="data") == 3
    else:
        with pytest.raises(dp.BadParameter, match="cannot identify people") as caught:
            dp.open(source, unit=unit, budget=dp.epsilon(1), name="data")
        assert caught.value.fix


@pytest.mark.parametrize("travel", ["connection", "relation", *TRAVELS])
def test_text_identifies_nobody_where_the_connection_compares_by_a_collation(travel):
    held = held_by_duckdb("VARCHAR", None)
    held.con.execute("SET default_collation = 'nocase'")
    ours = {"connection": lambda _: held.con, "relation": lambda _: held.con.table("data")}
    source = (TRAVELS | ours)[travel](held)
    with pytest.raises(dp.BadParameter, match="cannot identify people"):
        dp.open(source, unit=dp.person("id", rows=1), budget=dp.epsilon(1), name="data")


def test_an_engine_without_collations_brings_text_that_identifies():
    held = ibis.polars.connect()
    held.create_table("data", pa.table({"id": ["Bob", "BOB"]}))
    assert number(held, COUNT, unit=dp.person("id", rows=1), name="data") == 2
