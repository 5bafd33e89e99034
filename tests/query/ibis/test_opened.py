"""What Ibis leads to when a session is opened, and what is said where it leads nowhere."""

import datetime as dt

import pyarrow.parquet as pq
import pytest
from tests.query.ibis import ibis_engines as engines
from tests.query.ibis.ibis_tables import ibis
from tests.query.whole.asking import without_noise

import deniable as dp
from deniable.errors import BadParameter, UnknownName, UnsupportedQuery
from deniable.query.backends import engine_for

_ = ibis._
OPTIONS = {"unit": engines.UNIT, "budget": dp.epsilon(100)}
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


@pytest.fixture(scope="module")
def postgres(server):
    connection = engines.postgres(engines.TABLES, server)
    yield connection
    connection.disconnect()


def kinds(source, **options):
    return {name: t.source.kind for name, t in dp.open(source, **OPTIONS | options).tables.items()}


def test_engines_that_we_speak_are_asked_by_us(postgres):
    three = {"schema": engines.FACTS}
    assert set(kinds(engines.duckdb(engines.TABLES), **three).values()) == {"duckdb"}
    assert kinds(engines.duckdb(engines.TABLES).table("visits")) == {"visits": "duckdb"}
    assert set(kinds(postgres, **three).values()) == {"postgres"}
    assert kinds(postgres.table("visits")) == {"visits": "postgres"}


def test_spark_is_asked_by_us(spark, tmp_path):
    connection = engines.pyspark(engines.TABLES, spark, tmp_path)
    people = connection.table("people")
    assert kinds(people) == {"people": "spark"}
    assert kinds(people.filter(_.age > 3)) == {"data": "spark"}
    assert kinds(connection, name="visits") == {"visits": "spark"}
    zips = ibis.memtable(engines.ZIPS)
    with pytest.raises(BadParameter, match="mixes Spark with a table in memory"):
        kinds(people.join(zips, people.city == zips.zip))


def test_the_columns_of_all_others_travel():
    for make in (engines.polars, engines.sqlite):
        connection = make(engines.TABLES)
        assert set(kinds(connection, schema=engines.FACTS).values()) == {"ibis"}
        assert kinds(connection.table("people")) == {"people": "ibis"}
        assert kinds(connection.table("people").filter(_.age > 3)) == {"data": "ibis"}
    assert kinds(engines.datafusion(engines.TABLES).table("people")) == {"people": "ibis"}
    assert kinds(engines.duckdb(engines.TABLES).table("people").limit(3)) == {"data": "ibis"}


def test_a_table_in_another_schema_of_duckdb_is_that_one():
    connection = engines.duckdb({"people": engines.PEOPLE})
    connection.con.execute("CREATE SCHEMA other; CREATE TABLE other.people AS FROM people LIMIT 2")
    s = dp.open(connection.table("people", database="other"), **OPTIONS)
    with without_noise():
        found = s.sql("SELECT COUNT(*) AS n FROM people").release(spend=dp.epsilon(1))
    assert round(found.rows()[0]["n"]) == 2


def test_files_that_ibis_reads_with_duckdb_are_tables(tmp_path):
    """They are views that DuckDB shows to that connection alone."""
    pq.write_table(engines.PEOPLE, tmp_path / "people.parquet")
    connection = ibis.duckdb.connect()
    people = connection.read_parquet(tmp_path / "people.parquet", table_name="people")
    unnamed = connection.read_parquet(tmp_path / "people.parquet")
    connection.con.execute("CREATE TABLE visits AS SELECT 1 AS user_id")
    assert kinds(people) == {"people": "ibis"}
    assert kinds(unnamed) == {"data": "ibis"}
    assert kinds(connection) == {"people": "ibis", "visits": "duckdb"}
    s = dp.open(connection, **OPTIONS)
    with without_noise():
        text = "SELECT COUNT(*) AS n FROM people JOIN visits ON people.user_id = visits.user_id"
        found = s.sql(text).release(spend=dp.epsilon(1))
        again = s.query(people.count().name("n")).release(spend=dp.epsilon(1))
    assert [round(r.rows()[0]["n"]) for r in (found, again)] == [1, 9]


def test_names_are_looked_up_in_the_schema_of_the_connection(postgres, server):
    """Of two tables called alike, the one that Ibis sees: our own connection looks there, too."""
    other = engines.postgres({"people": engines.PEOPLE.slice(0, 2)}, server)
    place = other.con.execute("SELECT current_schema()").fetchone()[0]
    sessions = {
        "its own": dp.open(other.table("people"), **OPTIONS),
        "by name": dp.open(postgres.table("people", database=place), **OPTIONS),
        "all": dp.open(other, **OPTIONS),
        "without Ibis": dp.open(other.con, **OPTIONS),
    }
    other.disconnect()
    for s in sessions.values():
        with without_noise():
            found = s.sql("SELECT COUNT(*) AS n FROM people").release(spend=dp.epsilon(1))
        assert round(found.rows()[0]["n"]) == 2


def test_an_expression_on_postgres_is_asked_as_a_view(postgres):
    adults = postgres.table("people").filter(_.age >= 18)
    with pytest.raises(BadParameter, match="opened as a view") as refusal:
        kinds(adults)
    assert 'create_view("adults", expression)' in str(refusal.value)
    postgres.create_view("adults", adults)
    s = dp.open(postgres.table("adults"), **OPTIONS)
    with without_noise():
        found = s.sql("SELECT COUNT(*) AS n FROM adults").release(spend=dp.epsilon(1))
    assert round(found.rows()[0]["n"]) == 7


def test_days_that_no_calendar_of_python_has_stop_nothing(postgres):
    """psycopg cannot read them: it is not asked to."""
    postgres.con.execute("CREATE TABLE IF NOT EXISTS odd (user_id bigint, d date)")
    postgres.con.execute(
        "INSERT INTO odd VALUES (1, 'infinity'), (2, '-infinity'), (3, '4713-01-01 BC')"
    )
    postgres.con.execute("INSERT INTO odd VALUES (4, %s)", (dt.date(2020, 1, 1),))
    s = dp.open(postgres.table("odd"), **OPTIONS)
    with without_noise():
        found = s.sql("SELECT COUNT(d) AS n FROM odd").release(spend=dp.epsilon(1))
    assert round(found.rows()[0]["n"]) == 1


# ---- mistakes


def test_a_table_that_is_bound_to_nothing_is_told_so():
    unbound = ibis.table({"user_id": "int64"}, name="people")
    for source in (unbound, unbound.filter(_.user_id > 1)):
        with pytest.raises(BadParameter, match="not bound to a connection") as refusal:
            kinds(source)
        assert 'connection.table("people")' in str(refusal.value)


@pytest.mark.parametrize("make", [engines.polars, engines.sqlite, engines.duckdb])
def test_a_connection_without_tables_is_told_so(make):
    with pytest.raises(BadParameter, match="no tables"):
        kinds(make({}))


def test_a_table_that_was_dropped_before_is_told_by_name(postgres):
    for make in (engines.sqlite, engines.duckdb, lambda _: postgres):
        connection = make({"people": engines.PEOPLE})
        connection.con.execute("CREATE TABLE gone AS SELECT * FROM people")
        table = connection.table("gone")
        connection.con.execute("DROP TABLE gone")
        with pytest.raises(UnknownName, match="gone"):
            kinds(table)
    with pytest.raises(UnknownName, match="nobody"):
        kinds(engines.polars({"people": engines.PEOPLE}), name="nobody")


def test_a_column_and_a_number_are_no_tables():
    people = engines.polars({"people": engines.PEOPLE}).table("people")
    for source in (people.age, people.age.sum()):
        with pytest.raises(BadParameter, match="not a table"):
            kinds(source)


def test_an_expression_about_two_connections_is_two_tables():
    people = engines.polars({"people": engines.PEOPLE}).table("people")
    visits = engines.sqlite({"visits": engines.VISITS}).table("visits")
    with pytest.raises(BadParameter, match="several connections") as refusal:
        kinds(people.join(visits, "user_id"))
    assert "first.table" in str(refusal.value)


def test_engines_whose_clients_stop_at_a_value_are_refused():
    from ibis.expr.operations import DatabaseTable

    class Backend:
        name = "trino"

    table = DatabaseTable("people", ibis.schema({"user_id": "int64"}), Backend()).to_expr()
    with pytest.raises(BadParameter, match="trino is not supported through Ibis") as refusal:
        kinds(table)
    assert "to_parquet" in str(refusal.value)


def test_tables_of_a_server_and_of_this_machine_are_not_read_together(postgres):
    mixed = {"people": postgres.table("people"), "visits": engines.VISITS}
    with pytest.raises(UnsupportedQuery, match="together"):
        engine_for(list(dp.open(mixed, **OPTIONS).tables.values()))
