"""A name means one thing: what was opened is what is described, guarded and read."""

import math

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dp
from deniable.errors import NotReady
from deniable.query.backends.duckdb import DuckDB
from deniable.session import sources

UNIT = dp.rows()


def count(session, sql="SELECT COUNT(*) AS n FROM people"):
    """How many rows the engine finds, without noise."""
    from tests.query.executing import execute

    plan = session.sql(sql).integers
    return int(execute(plan, tables=session.tables).numbers[plan.tallies[0].name][0])


def opened(source, **options):
    return dp.open(source, unit=UNIT, budget=dp.epsilon(1), **options)


def two_places():
    """A table of one row here, another of its name and two rows in each other place."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people AS SELECT 1 AS x")
    connection.execute(
        "CREATE SCHEMA other; CREATE TABLE other.people AS SELECT x FROM range(2) t(x)"
    )
    connection.execute("ATTACH ':memory:' AS away")
    connection.execute("CREATE TABLE away.people AS SELECT x AS x, x AS y FROM range(2) t(x)")
    return connection


@pytest.mark.parametrize("place", ["other", "away"])
def test_a_table_stays_the_one_that_was_opened_wherever_the_user_goes(place):
    connection = two_places()
    session = opened(connection, name="people")
    connection.execute(f"USE {place}")
    assert list(session.tables["people"].columns) == ["x"]
    assert count(session) == 1


@pytest.mark.parametrize("place", ["other", "away"])
def test_a_table_is_the_one_that_the_user_means_when_it_is_opened(place):
    connection = two_places()
    connection.execute(f"USE {place}")
    session = opened(connection, name="people")
    connection.execute("USE memory.main")
    assert count(session) == 2


def test_names_of_other_databases_add_no_columns():
    assert list(opened(two_places(), name="people").tables["people"].columns) == ["x"]


NAMESAKES = {
    "nothing": "CREATE TABLE elsewhere (x DOUBLE)",
    "a schema": "CREATE SCHEMA s; CREATE TABLE s.data (x DOUBLE)",
    "a database": "ATTACH ':memory:' AS far; CREATE TABLE far.data (x DOUBLE)",
}


@pytest.mark.parametrize("namesake", NAMESAKES)
def test_nan_in_parquet_behind_a_view_is_missing_whatever_else_has_its_name(tmp_path, namesake):
    """Statistics leave NaN out: with them DuckDB takes it for a number below the largest."""
    table = pa.table({"x": [1.0] * 20 + [math.nan]})
    pq.write_table(table, tmp_path / "rows.parquet")
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW data AS FROM '{tmp_path / 'rows.parquet'}'")
    connection.execute(NAMESAKES[namesake])
    schema = dp.Schema(columns={"x": dp.bounds(0.0, 5.0)})
    (found,) = sources.tables(connection, schema=schema, unit=UNIT, name="data").values()
    with DuckDB([found]) as engine:
        assert "NEXTAFTER" in engine.dialect.write(engine.stored()["data"].source)
    session = opened(connection, name="data", schema=schema)
    assert count(session, "SELECT COUNT(*) AS n FROM data WHERE x < 2") == 20


def test_a_postgres_table_stays_the_one_of_its_schema(server):
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        for name, rows in (("first", 1), ("second", 2)):
            connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}")
            made = f"CREATE TABLE {name}.people AS SELECT i AS x FROM generate_series(1, {rows}) i"
            connection.execute(made)
        connection.execute("SET search_path TO second, first")
        session = opened(connection, name="people")
        connection.execute("SET search_path TO first")
        assert session.tables["people"].source.within == ("second",)
        assert count(session) == 2


ODD = ["a[1]", "b*", "c?", "d[x", "e[!f]", "{a1,bx}", "**", "f\\\\x", "g%20h", "i'j\"k", "plain"]


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_path_is_one_file_whatever_its_letters(tmp_path, name, ending):
    for rows, stem in ((1, name), (2, "a1"), (2, "bx"), (2, "cx"), (2, "eg")):
        path = tmp_path / f"{stem}.{ending}"
        table = pa.table({"x": list(range(rows))})
        if ending == "csv":
            path.write_text("\n".join(["x", *map(str, range(rows)), ""]))
        else:
            pq.write_table(table, path)
    schema = dp.Schema(columns={"x": dp.column("int")})
    assert count(opened(tmp_path / f"{name}.{ending}", name="people", schema=schema)) == 1


def test_a_relative_path_is_the_file_that_it_was_when_opened(tmp_path, monkeypatch):
    for rows, folder in ((1, "here"), (2, "there")):
        (tmp_path / folder).mkdir()
        pq.write_table(pa.table({"x": list(range(rows))}), tmp_path / folder / "people.parquet")
    monkeypatch.chdir(tmp_path / "here")
    session = opened("people.parquet")
    monkeypatch.chdir(tmp_path / "there")
    assert count(session) == 1


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_pattern_means_the_files_that_it_meant_when_opened(tmp_path, monkeypatch, ending):
    def write(stem):
        path = tmp_path / f"{stem}.{ending}"
        if ending == "csv":
            path.write_text("x\n1\n")
        else:
            pq.write_table(pa.table({"x": [1]}), path)

    for stem in ("b[1]", "a", "c"):
        write(stem)
    monkeypatch.chdir(tmp_path)
    schema = dp.Schema(columns={"x": dp.column("int")})
    session = opened(f"*.{ending}", name="people", schema=schema)
    write("d")  # comes too late
    monkeypatch.chdir("/")
    assert session.tables["people"].source.held == tuple(
        str(tmp_path / f"{stem}.{ending}") for stem in ("a", "b[1]", "c")
    )
    assert count(session) == 3


CHANGED = {
    "another order": "y,x\n1,2\n",
    "another name": "x,z\n1,2\n",
    "one column fewer": "x\n1\n",
    "another separator": "x;y\n1;2\n",
    "nothing": "",
}


@pytest.mark.parametrize("how", CHANGED)
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_with_other_columns_is_refused_with_advice_before_the_charge(tmp_path, ending, how):
    """A CSV is read by the places of its columns: those of another file would be mixed up."""
    path, text = tmp_path / f"people.{ending}", CHANGED[how]
    if ending == "csv":
        path.write_text("x,y\n1,2\n")
    else:
        pq.write_table(pa.table({"x": [1], "y": [2]}), path)
    schema = dp.Schema(columns={"x": dp.column("int"), "y": dp.bounds(0, 9, missing=0.0)})
    session = opened(path, schema=schema)
    if ending == "csv" or how == "nothing":
        path.write_text(text)
    else:
        pq.write_table(pa.table({"x": [1], "z": [2]}), path)
    with pytest.raises(NotReady, match=r"no longer ha|readable Parquet") as refused:
        session.sql("SELECT SUM(y) AS s FROM people").release(spend=dp.epsilon(0.5))
    assert refused.value.cost == "nothing was spent"
    assert "version=" in refused.value.fix
    assert len(session.ledger.entries) == 0


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_that_was_deleted_is_refused_with_advice_before_the_charge(tmp_path, ending):
    path = tmp_path / f"people.{ending}"
    if ending == "csv":
        path.write_text("x\n1\n")
    else:
        pq.write_table(pa.table({"x": [1]}), path)
    session = opened(path, schema=dp.Schema(columns={"x": dp.bounds(0, 9, missing=0.0)}))
    path.unlink()
    with pytest.raises(NotReady, match="moved, deleted") as refused:
        session.sql("SELECT SUM(x) AS s FROM people").release(spend=dp.epsilon(0.5))
    assert "put the file back" in refused.value.fix
    assert len(session.ledger.entries) == 0


def test_a_connection_that_is_busy_is_refused_with_a_fix():
    connection = two_places()
    connection.execute("SELECT * FROM range(3)")
    with pytest.raises(dp.BadParameter, match="busy") as refused:
        opened(connection, name="people")
    assert "fetchall" in str(refused.value)
    connection.fetchall()
    assert count(opened(connection, name="people")) == 1
