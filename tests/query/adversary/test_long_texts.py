"""A text of any length stops no question."""

import psycopg
import pytest

import deniable as dp

from .exact import number

LENGTH = 270_000_000  # LOWER and regular expressions take four bytes of a letter, and 1 GiB at most
ASKED = [
    "WHERE LOWER(name) = 'bob'",
    "WHERE name ILIKE '%b%'",
    "WHERE name LIKE 'b%b'",
    "WHERE TRIM(name) = 'bob'",
    "WHERE LENGTH(name) = 3",
    "WHERE SUBSTR(name, 1, 2) = 'bo'",
    "WHERE name || name = 'bobbob'",
    "WHERE number > 0",
]
SCHEMA = dp.Schema(tables={"long": dp.Schema(columns={"number": dp.bounds(0, 10)})})


@pytest.fixture(scope="module")
def long(server):
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE TABLE long (id int, name text, number text)")
        connection.execute("INSERT INTO long VALUES (1, 'bob', '1')")
        connection.execute(
            f"INSERT INTO long VALUES (2, repeat('b', {LENGTH}), repeat('1', {LENGTH}))"
        )
        yield server
        connection.execute("DROP TABLE long")


@pytest.mark.slow
@pytest.mark.parametrize("where", ASKED)
def test_one_long_text_stops_no_question_in_postgres(long, where):
    asked = f"SELECT COUNT(*) AS n FROM long {where}"
    assert number(long, asked, unit=dp.person("id", rows=1), schema=SCHEMA) in (1, 2)
