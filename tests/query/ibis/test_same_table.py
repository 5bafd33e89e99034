"""An expression is about the table that was opened, not about another of its name."""

import duckdb
import pandas as pd
import polars as pl
import pytest
from tests.query.ibis.ibis_tables import ibis

import deniable as dp

# Ibis 12 asks DuckDB 2 for types by a call that is on its way out.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

PEOPLE = pd.DataFrame({"user_id": [1, 2, 3]})


def ibis_duckdb():
    connection = ibis.duckdb.connect()
    connection.con.execute("CREATE TABLE people AS SELECT * FROM range(3) AS t(user_id)")
    return connection


def ibis_polars():
    return ibis.polars.connect({"people": pl.DataFrame({"user_id": [1, 2, 3]})})


def ibis_sqlite():
    connection = ibis.sqlite.connect()
    connection.con.execute("CREATE TABLE people (user_id INTEGER)")
    return connection


def opened(source):
    return dp.open(source, unit=dp.rows(), budget=dp.epsilon(10), name="people")


def plan(session, table):
    return session.query(table.count()).explain(spend=dp.epsilon(0.1))


MADE = {"duckdb": ibis_duckdb, "polars": ibis_polars, "sqlite": ibis_sqlite}


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("by", ["connection", "table"])
def test_a_table_of_another_connection_is_refused(kind, by):
    mine, other = MADE[kind](), MADE[kind]()
    session = opened(mine if by == "connection" else mine.table("people"))
    assert plan(session, mine.table("people"))
    with pytest.raises(dp.UnsupportedQuery, match="is not the `people` of this session"):
        plan(session, other.table("people"))


@pytest.mark.parametrize("kind", MADE)
def test_a_table_of_a_connection_is_not_a_frame_of_its_name(kind):
    session = opened(PEOPLE)
    with pytest.raises(dp.UnsupportedQuery, match="is not the `people` of this session"):
        plan(session, MADE[kind]().table("people"))
    assert plan(session, ibis.table({"user_id": "int64"}, name="people"))


def test_a_table_of_another_schema_is_refused():
    connection = duckdb.connect()
    for command in (
        "CREATE TABLE people AS SELECT 1 AS user_id",
        "CREATE SCHEMA other",
        "CREATE TABLE other.people AS SELECT 1 AS user_id",
    ):
        connection.execute(command)
    session, through = opened(connection), ibis.duckdb.from_connection(connection)
    assert plan(session, through.table("people"))
    assert plan(session, through.table("people", database="main"))
    with pytest.raises(dp.UnsupportedQuery, match="is not the `people`"):
        plan(session, through.table("people", database="other"))
    connection.execute("USE other")
    with pytest.raises(dp.UnsupportedQuery, match="is not the `people`"):
        plan(session, through.table("people"))


def test_postgres_tables_are_the_same_by_database_and_schema(server):
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS apart CASCADE; CREATE SCHEMA apart")
        connection.execute("DROP TABLE IF EXISTS people CASCADE")
        for name in ("people", "apart.people"):
            connection.execute(f"CREATE TABLE {name} (user_id int)")
    with psycopg.connect(server, autocommit=True) as connection:
        through = ibis.postgres.from_connection(connection)
        session = opened(server)
        assert plan(session, through.table("people"))
        with pytest.raises(dp.UnsupportedQuery, match="is not the `people`"):
            plan(session, through.table("people", database="apart"))
