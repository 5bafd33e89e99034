"""A session opened on a database answers as one opened on a file does."""

import psycopg
import pytest

import deniable as dp

SCHEMA = dp.Schema(columns={"age": dp.bounds(0, 100, type="int"), "city": dp.keys(["a", "b"])})
TEXT = "SELECT city, COUNT(*) AS n, SUM(age) AS total FROM people GROUP BY city ORDER BY city"


@pytest.fixture
def people(server):
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS people")
        connection.execute("CREATE TABLE people (age integer, city text)")
        rows = [(age % 100, "ab"[age % 2]) for age in range(1000)]
        connection.cursor().executemany("INSERT INTO people VALUES (%s, %s)", rows)
    return server


def answers(source):
    s = dp.open(source, unit=dp.rows(), budget=dp.epsilon(2000.0), schema=SCHEMA, name="people")
    return s.sql(TEXT).release(spend=dp.epsilon(1000.0)).rows()


def check(rows):
    assert [row["city"] for row in rows] == ["a", "b"]
    assert [row["n"] for row in rows] == [500, 500]
    assert rows[0]["total"] == pytest.approx(24_500, abs=3)


def test_a_postgres_address_is_a_source(people):
    check(answers(people))


def test_a_postgres_connection_is_a_source_and_is_left_as_it_was(people):
    with psycopg.connect(people) as connection:
        check(answers(connection))
        assert connection.info.transaction_status == 0


def test_an_address_where_nobody_answers_is_said_before_anything_is_spent():
    with pytest.raises(dp.BadParameter, match="cannot connect to Postgres"):
        dp.open("postgresql://127.0.0.1:1/none", unit=dp.rows(), budget=dp.epsilon(1.0))
