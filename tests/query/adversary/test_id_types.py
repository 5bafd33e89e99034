"""Where tables meet, ids that are equal are one person's whatever their types, or are refused."""

import itertools

import duckdb
import pandas as pd
import pytest

import deniable as dp

from .exact import number

ONE = dp.person("id", rows=1)
UNION = "SELECT COUNT(*) AS n FROM (SELECT id FROM a UNION ALL SELECT id FROM b) AS u"
AGAIN = UNION.replace("FROM b)", "FROM b UNION ALL SELECT id FROM a)")
JOIN = "SELECT COUNT(*) AS n FROM a JOIN b USING (id)"
NUMBERS = ["1", "0.5", "0.00001", "-7", str(2**24), str(2**53), str(2**53 + 2), "1e20", str(2**-20)]
MOMENTS = ["'2020-01-01'", "'2020-01-01 00:00:00.5'"]
WORDS = ["'6f9619ff-8b86-d011-b42d-00c04fc964ff'", "'1'", "'a'"]
DUCKDB = {
    **dict.fromkeys(["SMALLINT", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE"], NUMBERS),
    **dict.fromkeys(["DECIMAL(30, 0)", "DECIMAL(38, 15)", "BOOLEAN"], NUMBERS),
    **dict.fromkeys(["DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_NS", "TIMESTAMP_S"], MOMENTS),
    **dict.fromkeys(["VARCHAR", "UUID", "BLOB"], WORDS),
}
POSTGRES = {
    **dict.fromkeys(
        ["smallint", "bigint", "real", "float8", "numeric", "numeric(30, 15)"], NUMBERS
    ),
    **dict.fromkeys(["date", "timestamp", "timestamptz"], MOMENTS),
    **dict.fromkeys(["text", "uuid", "varchar(40)", "char(40)", "name"], WORDS),
}


def pairs(kinds):
    return list(itertools.combinations(kinds, 2))


def counted_or_refused(source, asked, **options):
    """An answer; None if the question is refused before anything is spent."""
    try:
        return number(source, asked, unit=ONE, **options)
    except dp.UnsupportedQuery:
        pass
    session = dp.open(source, unit=ONE, budget=dp.epsilon(1), **options)
    with pytest.raises(dp.UnsupportedQuery) as caught:
        session.sql(asked).release(spend=dp.epsilon(1))
    assert caught.value.fix
    assert session.spent.epsilon == 0
    return None


def is_bounded(source, **options):
    return all((counted_or_refused(source, q, **options) or 0) <= 1 for q in (UNION, AGAIN, JOIN))


@pytest.mark.parametrize(("one", "other"), pairs(DUCKDB))
def test_equal_ids_of_two_types_are_one_person_in_duckdb(one, other):
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE a (id {one}); CREATE TABLE b (id {other})")
    for value in DUCKDB[one]:
        connection.execute("DELETE FROM a; DELETE FROM b")
        try:
            connection.execute(f"INSERT INTO a VALUES (CAST({value} AS {one}))")
            connection.execute(f"INSERT INTO b VALUES (CAST({value} AS {other}))")
            ((equal,),) = connection.execute("SELECT a.id = b.id FROM a, b").fetchall()
        except duckdb.Error:  # not a value of both types, or types that are never equal
            continue
        assert not equal or is_bounded(connection)


@pytest.mark.parametrize(("one", "other"), pairs(POSTGRES))
def test_equal_ids_of_two_types_are_one_person_in_postgres(server, one, other):
    import psycopg

    schema = dp.Schema(tables={"a": dp.Schema(), "b": dp.Schema()})
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS a, b")
        connection.execute(f"CREATE TABLE a (id {one}); CREATE TABLE b (id {other})")
        for value in POSTGRES[one]:
            connection.execute("DELETE FROM a; DELETE FROM b")
            try:
                connection.execute(f"INSERT INTO a VALUES ({value})")
                connection.execute(f"INSERT INTO b VALUES ({value})")
                asked = "SELECT a.id = b.id FROM a, b"
                equal = "uuid" in (one, other) or connection.execute(asked).fetchall() == [(True,)]
            except psycopg.Error:
                continue
            assert not equal or is_bounded(server, schema=schema)
        connection.execute("DROP TABLE a, b")


@pytest.mark.parametrize("other", ["text", "varchar(40)", "uuid"])
def test_a_uuid_is_text_beside_other_text_in_postgres(server, other):
    import psycopg

    schema = dp.Schema(tables={"a": dp.Schema(), "b": dp.Schema()})
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS a, b")
        connection.execute(f"CREATE TABLE a (id uuid); CREATE TABLE b (id {other})")
        connection.execute(f"INSERT INTO a VALUES ({WORDS[0]}); INSERT INTO b VALUES ({WORDS[0]})")
    for asked in (JOIN, UNION):
        assert number(server, asked, unit=ONE, schema=schema) == 1


def test_floats_to_which_other_whole_numbers_are_rounded_are_nobody():
    start = 1_700_000_000_000_000_000
    frame = pd.DataFrame({"id": [*(start + i for i in range(9)), None, 7]})
    assert frame["id"].dtype == float
    asked = "SELECT COUNT(DISTINCT id) AS n FROM data"
    assert number(frame, asked, unit=ONE) == 1
    assert number(frame.astype({"id": "Int64"}), asked, unit=ONE) <= 10
