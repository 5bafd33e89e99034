"""The same three tables in every engine that Ibis reaches here."""

import datetime as dt
import itertools
import math
import warnings

import pyarrow as pa
from tests.query.ibis.ibis_tables import ibis

import deniable as dp

_numbers = itertools.count()

PEOPLE = pa.table(
    {
        "user_id": pa.array([1, 2, 3, 4, 5, None, 7, 2**53, 2**53 + 1, 2**53 + 1], pa.int64()),
        "age": pa.array([34, 51, None, 200, -7, 40, 29, 62, 18, 2**62], pa.int64()),
        "income": [100.5, math.nan, math.inf, -math.inf, None, 7.0, 0.25, 1e300, -0.0, 99.75],
        "city": ["Oslo", "Bergen", "oslo", None, "Oslo", "Oslo", "", "Bergen", "Ålesund", "Bergen"],
        "born": [
            None if year is None else dt.date(year, 2, 28)
            for year in (1990, 1973, None, 1, 9999, 1984, 1995, 1962, 2006, 1999)
        ],
        "seen": [
            None if hour is None else dt.datetime(2024, 2, 29, hour, 59, 59, 250_000)  # noqa: DTZ001
            for hour in (0, 12, None, 23, 1, 2, 3, 4, 5, 6)
        ],
        "member": [True, False, None, True, True, False, False, True, None, True],
    }
)
VISITS = pa.table(
    {
        "user_id": pa.array([1, 1, 1, 2, 2, 3, None, 7, 2**53, 2**53 + 1], pa.int64()),
        "cost": [10.0, 20.0, 30.5, 1.25, None, math.nan, 5.0, 49.0, 8.0, 8.0],
        "zip": ["0150", "5003", "0150", "0150", None, "9999", "0150", "5003", "'; --", "5003"],
    }
)
ZIPS = pa.table({"zip": ["0150", "5003"], "region": ["east", "west"]})
TABLES = {"people": PEOPLE, "visits": VISITS, "zips": ZIPS}
FACTS = {
    "people": dp.Schema(
        columns={
            "age": dp.bounds(0, 125, type="int"),
            "income": dp.bounds(0.0, 200.0),
            "city": dp.keys(["Oslo", "Bergen", "Ålesund"]),
        }
    ),
    "visits": dp.Schema(columns={"cost": dp.bounds(0.0, 50.0)}),
    "zips": dp.Schema(
        columns={"zip": dp.column("text"), "region": dp.keys(["east", "west"])},
        public=True,
    ),
}
UNIT = dp.person("user_id", rows=2, groups=2)


def opened(source, **options):
    """A session about the three tables; what to protect and what is public are the same."""
    given = {"unit": UNIT, "budget": dp.epsilon(1000, delta=1e-7), "schema": FACTS}
    return dp.open(source, **given | options)


# ---- each engine's connection, with tables in it


def polars(tables):
    import polars as pl

    return ibis.polars.connect({name: pl.from_arrow(table) for name, table in tables.items()})


_SQLITE = {"int64": "INTEGER", "double": "REAL", "string": "TEXT", "bool": "BOOLEAN"}
_SQLITE |= {"date32[day]": "DATE", "timestamp[us]": "TIMESTAMP"}


def sqlite(tables):
    connection = ibis.sqlite.connect()
    for name, table in tables.items():
        columns = ", ".join(f'"{f.name}" {_SQLITE[str(f.type)]}' for f in table.schema)
        connection.con.execute(f'CREATE TABLE "{name}" ({columns})')
        spots = ", ".join("?" * table.num_columns)
        rows = [
            tuple(str(v) if isinstance(v, dt.date) else v for v in row.values())
            for row in table.to_pylist()
        ]
        connection.con.executemany(f'INSERT INTO "{name}" VALUES ({spots})', rows)
    return connection


def datafusion(tables):
    """Ibis 12 registers functions in a way that DataFusion 55 does not know; none is needed."""
    import datafusion as engine
    from ibis.backends.datafusion import Backend

    context = engine.SessionContext(engine.SessionConfig().with_information_schema(True))
    for name, table in tables.items():
        context.from_arrow(table, name=name)
    before, Backend._register_builtin_udfs = Backend._register_builtin_udfs, lambda _: None
    try:
        connection = ibis.datafusion.connect(context)
    finally:
        Backend._register_builtin_udfs = before
    return connection


def duckdb(tables):
    import duckdb as engine

    connection = engine.connect()
    for name, table in tables.items():
        connection.register("given", table)
        connection.execute(f'CREATE TABLE "{name}" AS FROM given')
        connection.unregister("given")
    return ibis.duckdb.from_connection(connection)


_POSTGRES = {"int64": "bigint", "double": "double precision", "string": "text", "bool": "boolean"}
_POSTGRES |= {"date32[day]": "date", "timestamp[us]": "timestamp"}


def postgres(tables, server):
    """In a schema of its own, which the connection looks up names in."""
    import psycopg

    place = f'of ibis "{next(_numbers)}"'
    connection = psycopg.connect(server, autocommit=True)
    quoted = '"' + place.replace('"', '""') + '"'
    connection.execute(f"CREATE SCHEMA {quoted}")
    connection.execute(f"SET search_path TO {quoted}")
    for name, table in tables.items():
        columns = ", ".join(f'"{f.name}" {_POSTGRES[str(f.type)]}' for f in table.schema)
        connection.execute(f'CREATE TABLE "{name}" ({columns})')
        with connection.cursor().copy(f'COPY "{name}" FROM STDIN') as copy:
            for row in table.to_pylist():
                copy.write_row(list(row.values()))
    return ibis.postgres.from_connection(connection)


def pyspark(tables, spark, folder):
    import pyarrow.parquet as pq

    before = spark.conf.get("spark.sql.session.timeZone")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of Spark, about the version of pandas
        connection = ibis.pyspark.connect(spark)
    spark.conf.set("spark.sql.session.timeZone", before)
    for name, table in tables.items():
        path = f"{folder}/{name}-{next(_numbers)}.parquet"
        pq.write_table(table, path)
        spark.read.parquet(path).createOrReplaceTempView(name)
    return connection
