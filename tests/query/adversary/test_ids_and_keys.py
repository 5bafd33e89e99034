"""Neighbours whose ids or keys compare equal to the engine and differ to us, or the reverse."""

import decimal
from types import SimpleNamespace

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dp
from deniable.query import execute
from deniable.query.backends import engine_for
from deniable.query.backends.duckdb import DuckDB
from deniable.session.sources.postgres_tables import PostgresTable
from deniable.session.tables import Table

from .exact import exact, number

PERSON = dp.person("id", rows=2)
JOINED = "SELECT COUNT(*) AS n FROM visits JOIN people USING (id)"
BIG = 2**53


def people_and_visits(people, visits):
    return {"people": pa.table({"id": people}), "visits": pa.table({"id": visits})}


@pytest.mark.parametrize(
    ("crowd", "one"),
    [([BIG, BIG + 1], [float(BIG)]), ([BIG - 1, BIG], [float(BIG - 1)])],
    ids=["not exact", "exact"],
)
def test_one_person_joins_no_rows_of_other_people(crowd, one):
    nobody = pa.array([], pa.array(one).type)
    without = number(people_and_visits(nobody, crowd), JOINED, unit=PERSON)
    beside = number(people_and_visits(one, crowd), JOINED, unit=PERSON)
    assert beside - without <= 1  # one visit each: 1 is all that one person has


def test_ids_in_text_do_not_meet_ids_in_numbers():
    with pytest.raises(dp.UnsupportedQuery, match="the column that identifies people is") as caught:
        number(people_and_visits([1], ["1", "bob"]), JOINED, unit=PERSON)
    assert "CAST" in str(caught.value.fix)


def test_a_decimal_can_tell_people_apart():
    ids = pa.array([decimal.Decimal(1), decimal.Decimal(2)], pa.decimal128(20, 0))
    assert number(pa.table({"id": ids}), "SELECT COUNT(*) AS n FROM data", unit=PERSON) == 2


@pytest.mark.parametrize(
    ("people", "visits"),
    [
        (pa.array([1, 2]), pa.array([1.0, None])),
        (pa.array([0, 7]), pa.array([-0.0, 0.5])),
        (pa.array([0.5, 2.0], pa.float32()), pa.array([0.5, 3.0])),
        (pa.array([1, 2]), pa.array([decimal.Decimal("1.00"), None], pa.decimal128(20, 2))),
        (pa.array([2.0, 9.0]), pa.array([decimal.Decimal("2.00"), None], pa.decimal128(20, 2))),
    ],
    ids=["int float", "zero", "float32", "int decimal", "float decimal"],
)
def test_a_number_is_one_person_however_it_is_stored(people, visits):
    assert number(people_and_visits(people, visits), JOINED, unit=PERSON) == 1
    assert number(people_and_visits(visits, people), JOINED, unit=PERSON) == 1


def filled(server, *commands):
    """Tables `people` and `visits` of a Postgres server, made anew."""
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS people, visits")
        for command in commands:
            connection.execute(command)
    tables = {"people": dp.Schema(), "visits": dp.Schema()}
    return {"schema": dp.Schema(tables=tables)}


@pytest.mark.parametrize(
    ("people", "visits", "joined"),
    [
        (("bigint", "1"), ("float8", "1"), 1),
        (("bigint", "0"), ("float8", "'-0.0'"), 1),
        (("real", "0.5"), ("float8", "0.5"), 1),
        (("bigint", "1"), ("numeric", "1.00"), 1),
        (("bigint", str(BIG + 1)), ("float8", str(BIG)), 0),
        (('text COLLATE "POSIX"', "'a'"), ('text COLLATE "C"', "'a'"), 1),
    ],
    ids=["int float", "zero", "float32", "numeric", "not exact", "collations"],
)
def test_a_number_is_one_person_in_postgres(server, people, visits, joined):
    commands = [
        command
        for name, (kind, value) in {"people": people, "visits": visits}.items()
        for command in (
            f"CREATE TABLE {name} (id {kind})",
            f"INSERT INTO {name} VALUES ({value})",
        )
    ]
    given = filled(server, *commands)
    assert number(server, JOINED, unit=PERSON, **given) == joined


def test_a_numeric_with_more_zeros_is_no_other_person_in_postgres(server):
    given = filled(
        server,
        "CREATE TABLE people (id numeric)",
        "CREATE TABLE visits (id bigint)",
        "INSERT INTO people VALUES (1.0), (1.00)",
    )
    asked = "SELECT COUNT(*) AS n FROM (SELECT id FROM people UNION ALL SELECT id FROM visits) AS u"
    assert number(server, asked, unit=dp.person("id", rows=1), **given) <= 1


def test_how_a_numeric_is_written_does_not_decide_which_groups_its_person_keeps(
    server, monkeypatch
):
    """Else the row that is grouped first would, and it may be first because of others."""
    monkeypatch.setattr(execute, "current", lambda: SimpleNamespace(integer=lambda _: 7))
    tables = {"people": dp.Schema(columns={"k": dp.keys(range(1, 10))}), "visits": dp.Schema()}
    asked = "SELECT k, COUNT(DISTINCT id) AS n FROM people GROUP BY k"
    unit = dp.person("id", rows=18, groups=2)
    found = []
    for first, second in [("0", "00"), ("00", "0")]:
        filled(
            server,
            "CREATE TABLE visits (id int)",
            "CREATE TABLE people (id numeric, k int)",
            *(
                f"INSERT INTO people SELECT (i || '.{zeros}')::numeric, k "
                "FROM generate_series(1, 60) AS i, generate_series(1, 9) AS k"
                for zeros in (first, second)
            ),
        )
        found.append(exact(server, asked, unit=unit, schema=dp.Schema(tables=tables)))
    assert found[0] == found[1]


def test_every_collation_of_a_postgres_column_is_taken_off(server):
    filled(
        server,
        'CREATE TABLE people (id text COLLATE "POSIX", k varchar(9) COLLATE "C", x text)',
    )
    source = PostgresTable(held=server, inner="people")
    table = Table(name="people", columns={}, source=source)
    with engine_for([table])([table]) as engine:
        types = engine.stored()["people"].types
        written = {c: engine.dialect.write(engine.dialect.column(c, types[c])) for c in types}
    assert written == {"id": '("id" COLLATE "C")', "k": '("k" COLLATE "C")', "x": '"x"'}


def test_a_collation_of_a_column_merges_nothing_on_spark(spark):
    frame = spark.sql(
        "SELECT CAST(v AS STRING COLLATE UTF8_LCASE) AS k, v AS id "
        "FROM VALUES ('a'), ('A'), ('A') AS t(v)"
    )
    schema = dp.Schema(columns={"k": dp.keys(["a"])})
    asked = "SELECT k, COUNT(*) AS n FROM data GROUP BY k"
    assert number(frame, asked, schema=schema) == 1
    assert number(frame, "SELECT COUNT(DISTINCT id) AS n FROM data", unit=PERSON) == 2


def test_rows_of_the_engine_that_are_one_group_are_added_up(monkeypatch):
    run = DuckDB.run
    monkeypatch.setattr(DuckDB, "run", lambda *a: [rows * 2 for rows in run(*a)])
    source = pa.table({"k": ["a", "b", "b"], "x": [1.0, 2.0, 3.0]})
    keys, x = dp.keys(["a", "b"]), dp.bounds(0, 8)
    schema = dp.Schema(columns={"k": keys, "x": x})
    asked = "SELECT k, COUNT(*) AS n, SUM(x) AS s FROM data GROUP BY k"
    rows = exact(source, asked, schema=schema)
    assert [(row["n"], row["s"]) for row in rows] == [(2, 2.0), (4, 10.0)]


def test_ids_that_are_no_utf8_are_nobody_in_parquet(tmp_path):
    def count(*ids):
        ends = np.cumsum([0, *map(len, ids)]).astype(np.int32)
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(ids))]
        table = pa.table({"id": pa.Array.from_buffers(pa.string(), len(ids), buffers)})
        pq.write_table(table, tmp_path / "data.parquet")
        asked = "SELECT COUNT(DISTINCT id) AS n FROM data"
        return number(tmp_path / "data.parquet", asked, unit=dp.person("id", rows=1))

    assert count(b"ann", b"\xff", b"\xfe", b"?") == count(b"ann", b"\xff") == 1


def collated(rows):
    connection = duckdb.connect()
    connection.execute("CREATE TABLE data (k VARCHAR COLLATE NOCASE)")
    connection.executemany("INSERT INTO data VALUES (?)", [[row] for row in rows])
    return connection


def test_a_collation_of_a_column_merges_no_keys():
    schema = dp.Schema(columns={"k": dp.keys(["a"])})
    counts = [
        number(collated(rows), "SELECT k, COUNT(*) AS n FROM data GROUP BY k", schema=schema)
        for rows in (["a"] * 9, ["A", *["a"] * 9])
    ]
    assert abs(counts[0] - counts[1]) <= 1


def test_a_collation_of_a_column_other_than_the_id_joins_no_other_people():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE visits (id VARCHAR, name VARCHAR)")
    connection.execute("CREATE TABLE people (id VARCHAR, name VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO visits VALUES ('1', 'bob'), ('2', 'BOB'), ('3', 'Bob')")
    asked = f"{JOINED[: JOINED.index('USING')]}ON visits.id = people.id AND "
    asked += "visits.name = people.name"
    without = number(connection, asked, unit=PERSON)
    connection.execute("INSERT INTO people VALUES ('1', 'BOB')")
    assert number(connection, asked, unit=PERSON) - without <= 1


def test_where_rows_are_units_a_union_counts_no_row_twice():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE data AS SELECT 1 AS k")
    connection.execute("CREATE VIEW recent AS FROM data")
    asked = "SELECT COUNT(*) AS n FROM (SELECT k FROM data UNION ALL SELECT k FROM recent) AS rows"
    with pytest.raises(dp.UnsupportedQuery, match="may contain the same row"):
        number(connection, asked)


def test_a_person_called_zero_stays_one_person_in_a_union():
    source = people_and_visits([0.0, -0.0], pa.array([], pa.int64()))
    asked = "SELECT COUNT(*) AS n FROM (SELECT id FROM people UNION ALL SELECT id FROM visits) AS u"
    assert number(source, asked, unit=dp.person("id", rows=1)) <= 1


ONE_ROW = dp.Schema(
    tables={
        "data": dp.Schema(columns={"k": dp.column("float")}),
        "codes": dp.Schema(columns={"k": dp.column("int")}, public=True),
    }
)


def test_where_rows_are_units_a_float_finds_one_whole_number():
    source = {
        "data": pa.table({"k": [float(2**62)]}),
        "codes": pa.table({"k": [2**62 + i for i in range(-200, 200)]}),
    }
    asked = "SELECT COUNT(*) AS n FROM data JOIN codes USING (k)"
    assert number(source, asked, schema=ONE_ROW) <= 1


def test_where_rows_are_units_a_collation_finds_one_key():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE data (k VARCHAR COLLATE NOCASE)")
    connection.execute("CREATE TABLE codes (k VARCHAR)")
    connection.execute("INSERT INTO data VALUES ('a'); INSERT INTO codes VALUES ('a'), ('A')")
    text = {"k": dp.column("text")}
    schema = dp.Schema(
        tables={"data": dp.Schema(columns=text), "codes": dp.Schema(columns=text, public=True)}
    )
    asked = "SELECT COUNT(*) AS n FROM data JOIN codes USING (k)"
    assert number(connection, asked, schema=schema) <= 1


def test_text_that_is_no_text_does_not_replace_a_group_on_spark(spark):
    def count(others):
        made = f"SELECT unhex('ff') AS b FROM range(100){others}"
        frame = spark.sql(f"SELECT CAST(b AS STRING) AS k FROM ({made})")
        return sum(r["n"] for r in exact(frame, "SELECT k, COUNT(*) AS n FROM data GROUP BY k"))

    assert abs(count("") - count(" UNION ALL SELECT unhex('fe')")) <= 1
