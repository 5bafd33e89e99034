"""Ids that an engine holds equal are one person: by one rule everywhere, or refused as the person.

A person writes their id in several ways; each spelling with a bound of its own would be too many.
"""

import datetime as dt
import decimal
import fractions

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deniable as dp
from deniable.session.identity import check, identifies
from deniable.session.tables import TableOutline

from .exact import exact, number

ONE = dp.person("id", rows=1, groups=1)
COUNT = "SELECT COUNT(*) AS n FROM data"
KEYS = "SELECT k, COUNT(*) AS n FROM data GROUP BY k"
PEOPLE = "SELECT COUNT(DISTINCT id) AS n FROM data"


def bounded_or_refused(source, **options):
    """Whether the column was refused; if not, all rows together weigh as one person's do."""
    try:
        people = number(source, PEOPLE, unit=ONE, **options)
    except dp.BadParameter as error:
        return "cannot identify people" in str(error) and bool(error.fix)
    assert people == 1
    assert number(source, COUNT, unit=ONE, **options) <= 1
    twice = "SELECT COUNT(*) AS n FROM data a JOIN data b USING (id)"
    assert number(source, twice, unit=ONE, **options) <= 1
    union = f"{COUNT.replace('data', '(SELECT id FROM data UNION ALL SELECT id FROM data) AS u')}"
    assert number(source, union, unit=ONE, **options) <= 1
    return False


DUCKDB = {
    "VARCHAR COLLATE NOCASE": ["'Bob'", "'BOB'", "'bob'"],
    "VARCHAR COLLATE NOACCENT": ["'é'", "'e'"],
    "INTERVAL": ["'1 month'", "'30 days'"],
    "JSON": ["'1'", "'1.0'"],
    "STRUCT(a DOUBLE)": ["{'a': 0.0}", "{'a': -0.0}"],
    "DOUBLE[]": ["[0.0]", "[-0.0]"],
    "DOUBLE": ["0.0", "'-0.0'"],
    "FLOAT": ["0.0", "'-0.0'"],
    "DECIMAL(9, 2)": ["1.0", "1.00"],
    "TIMESTAMPTZ": ["'2020-01-01 00:00:00+00'", "'2020-01-01 01:00:00+01'"],
    "TIMESTAMP_NS": ["'2020-01-01'", "'2020-01-01 00:00:00'"],
    "UUID": [f"'{'A' * 8}-{'A' * 4}-{'A' * 4}-{'A' * 4}-{'A' * 12}'", f"'{'a' * 32}'"],
    "BOOLEAN": ["'t'", "'true'"],
    "HUGEINT": ["1", "01"],
    "TIME WITH TIME ZONE": ["'12:00:00+00'", "'13:00:00+01'"],
}


@pytest.mark.parametrize("kind", DUCKDB)
@pytest.mark.parametrize("held", ["table", "view", "relation"])
def test_spellings_of_one_id_in_duckdb(kind, held):
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE base (id {kind})")
    for spelling in DUCKDB[kind]:
        connection.execute(f"INSERT INTO base VALUES ({spelling})")
    if held == "table":
        connection.execute("ALTER TABLE base RENAME TO data")
    else:
        connection.execute("CREATE VIEW data AS FROM base")
    source = connection.sql("SELECT id FROM base") if held == "relation" else connection
    expected = any(word in kind for word in ("COLLATE", "INTERVAL", "JSON", "(a", "[]", "ZONE"))
    assert bounded_or_refused(source, name="data") == expected


POSTGRES = {
    "citext": ["'Bob'", "'BOB'", "'bob'"],
    "folded": ["'Bob'", "'BOB'"],
    "jsonb": ["'1'", "'1.0'"],
    "interval": ["'1 day'", "'24 hours'"],
    "text COLLATE blind": ["'Bob'", "'BOB'"],
    "numeric": ["1.0", "1.00"],
    "char(5)": ["'a'", "'a  '"],
    "double precision": ["0.0", "'-0.0'"],
    "real": ["'0'", "'-0.0'"],
    "timestamptz": ["'2020-01-01 00:00:00+00'", "'2020-01-01 01:00:00+01'"],
    "uuid": [f"'{'A' * 32}'", f"'{'a' * 32}'"],
    "numeric[]": ["'{1.0}'", "'{1.00}'"],
    "mood": ["'sad'", "'sad'"],
    "whole": ["1", "01"],
    "varchar(9)": ["'a'", "'a'"],
    'text COLLATE "C"': ["'a'", "'a'"],
}
REFUSED = {"citext", "folded", "jsonb", "interval", "text COLLATE blind", "numeric[]"}


@pytest.mark.parametrize("kind", POSTGRES)
def test_spellings_of_one_id_in_postgres(server, kind):
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS ids CASCADE; CREATE SCHEMA ids")
        connection.execute("SET search_path TO ids, public")
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS citext SCHEMA public")
        except psycopg.Error:
            if kind in ("citext", "folded"):
                pytest.skip("this server has no citext")
        else:
            connection.execute("CREATE DOMAIN folded AS citext")
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN whole AS int")
        try:
            connection.execute(
                "CREATE COLLATION blind "
                "(provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
            )
        except psycopg.Error:
            if "blind" in kind:
                pytest.skip("this server has no ICU")
        connection.execute(f"CREATE TABLE data (id {kind})")
        for spelling in POSTGRES[kind]:
            connection.execute(f"INSERT INTO data VALUES ({spelling})")
        assert bounded_or_refused(connection) == (kind in REFUSED)


SPARK = {
    "STRING COLLATE UTF8_LCASE": ("'Bob'", "'BOB'"),
    "STRING COLLATE UNICODE_CI": ("'Bob'", "'BOB'"),
    "INTERVAL DAY TO SECOND": ("'1 0:0:0'", "'0 24:0:0'"),
    "DOUBLE": ("0.0D", "-0.0D"),
    "DECIMAL(9, 2)": ("1.0", "1.00"),
    "STRING": ("'a'", "'a'"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SPARK)
def test_spellings_of_one_id_on_spark(spark, kind):
    one, other = SPARK[kind]
    made = [f"SELECT CAST({value} AS {kind}) AS id" for value in (one, other)]
    frame = spark.sql(" UNION ALL ".join(made))
    refused = "COLLATE" in kind or "INTERVAL" in kind
    assert bounded_or_refused(frame) == refused


OBJECTS = pd.DataFrame({"id": pd.Series([1, 1.0, decimal.Decimal(1)], dtype=object)})
FRAMES = {
    "pandas period": (pd.DataFrame({"id": [pd.Timedelta("1D"), pd.Timedelta("24h")]}), True),
    "pandas category": (pd.DataFrame({"id": pd.Categorical(["a", "a"])}), False),
    "pandas objects": (OBJECTS, False),
    "polars": (pl.DataFrame({"id": [[0.0], [-0.0]]}), True),
    "arrow struct": (pa.table({"id": [{"a": 0.0}, {"a": -0.0}]}), True),
    "arrow duration": (pa.table({"id": [dt.timedelta(days=1), dt.timedelta(hours=24)]}), True),
    "arrow dictionary": (pa.table({"id": pa.array(["a", "a"]).dictionary_encode()}), False),
    "arrow whole": (pa.table({"id": pa.array([7, 7]).dictionary_encode()}), False),
    "arrow binary": (pa.table({"id": pa.array([b"a", b"a"])}), False),
}


@pytest.mark.parametrize("name", FRAMES)
def test_spellings_of_one_id_in_frames(name):
    frame, refused = FRAMES[name]
    assert bounded_or_refused(frame) == refused


@pytest.mark.parametrize(
    ("kind", "spellings"),
    [
        ("int", ["7", "07", "+7", "007"]),
        ("float", ["7", "7.0", "7e0", "007.00"]),
        ("date", ["2020-01-02", "2020-01-02"]),
    ],
)
def test_the_type_that_the_schema_states_decides_what_an_id_in_a_csv_is(tmp_path, kind, spellings):
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["id", *spellings, ""]))
    schema = dp.Schema(columns={"id": dp.column(kind)})
    assert not bounded_or_refused(path, schema=schema)
    as_text = dp.Schema(columns={"id": dp.column("text")})
    assert number(path, PEOPLE, unit=ONE, schema=as_text) == len(set(spellings))


def test_floats_that_other_whole_numbers_are_rounded_to_are_nobody(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(f"id\n{2**53}\n{2**53 + 1}\n")
    assert number(path, PEOPLE, unit=ONE, schema=dp.Schema(columns={"id": dp.column("float")})) == 0


def test_letters_that_only_look_alike_are_two_people():
    source = pa.table({"id": ["é", "e\u0301"]})
    assert number(source, PEOPLE, unit=ONE) == 2


PRIVATE = {
    "VARCHAR COLLATE NOCASE": ["'Bob'", "'BOB'", "'bob'"],
    "DOUBLE": ["0.0", "'-0.0'"],
    "INTERVAL": ["'1 month'", "'30 days'"],
    "JSON": ["'1'", "'1.0'"],
    "DECIMAL(9, 2)": ["1.0", "1.00"],
    "TIMESTAMPTZ": ["'2020-01-01 00:00:00+00'", "'2020-01-01 01:00:00+01'"],
}


@pytest.mark.parametrize("kind", PRIVATE)
def test_a_person_is_in_no_more_private_groups_than_declared_however_keys_are_spelled(kind):
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE data (id INT, k {kind})")
    for spelling in PRIVATE[kind]:
        connection.execute(f"INSERT INTO data VALUES (1, {spelling})")
    stated = "timestamp" if kind == "TIMESTAMPTZ" else "text"
    schema = dp.Schema(columns={"k": dp.column(stated)})
    unit = dp.person("id", rows=9, groups=1)
    assert len(exact(connection, KEYS, unit=unit, schema=schema)) == 1


def test_an_id_whose_type_is_changed_after_opening_is_not_read():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE data (id VARCHAR)")
    session = dp.open(connection, unit=ONE, budget=dp.epsilon(1))
    connection.execute("DROP TABLE data; CREATE TABLE data (id VARCHAR COLLATE NOCASE)")
    with pytest.raises(dp.DeniableError):
        session.sql(COUNT).release(spend=dp.epsilon(0.1))


@pytest.mark.parametrize("kind", ["VARCHAR COLLATE other", "BIT", "MAP(INTEGER, INTEGER)", "xml"])
def test_types_that_nobody_thought_of_are_refused(kind):
    assert not identifies(kind)


D, F = decimal.Decimal, fractions.Fraction
HOUR = dt.timezone(dt.timedelta(hours=1))
SPELLINGS = {
    "decimals": [D("0.1"), D("0.10"), D("1E-1"), F(1, 10)],
    "halves": [0.5, D("0.50"), F(1, 2), np.float32(0.5), np.float16(0.5), np.longdouble(0.5)],
    "singles": [np.float32(0.1), float(np.float32(0.1)), D(float(np.float32(0.1)))],
    "whole": [1, True, np.True_, 1.0, D("1.00"), F(1), np.int8(1), np.uint64(1), np.float32(1)],
    "long": [2**70, 2.0**70, D(2**70), D(2**70) * D("1.0")],
    "longer": [10**400, D("1E+400"), D("10E+399")],
    "large": [1e300, int(1e300), D(1e300)],
    "small": [2.0**-1074, D(2.0**-1074), F(1, 2**1074)],
    "endless": [float("inf"), D("Infinity"), np.float32("inf")],
    "zero": [0, -0.0, D("-0.00"), F(0)],
    "moments": [
        dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
        dt.datetime(2020, 1, 1, 1, tzinfo=HOUR),
        pd.Timestamp("2020-01-01 01:00", tz=HOUR),
    ],
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_one_value_in_many_types_is_one_person_in_a_column_of_objects(name):
    values = SPELLINGS[name]
    assert len(set(values)) == 1
    frame = pd.DataFrame({"id": pd.Series(values, dtype=object)})
    assert number(frame, COUNT, unit=ONE) <= 1


def test_values_that_differ_are_different_people_in_a_column_of_objects():
    values = [0.1, D("0.1"), np.float32(0.1), D("0.3"), 0.3, 2**53, 2**53 + 1, D("0.01"), -0.1]
    frame = pd.DataFrame({"id": pd.Series(values, dtype=object)})
    assert number(frame, COUNT, unit=ONE) == len(set(values))


@pytest.mark.parametrize("spelling", ["", "jsonb", "STRUCT(a DOUBLE)"])
def test_a_type_that_nobody_can_tell_identifies_nobody(spelling):
    """Also one that an engine does not name at all, as SQLite may."""
    outline = TableOutline(name="t", types={"id": None}, source=None, spelled={"id": spelling})
    with pytest.raises(dp.BadParameter, match="cannot identify people"):
        check(outline, "id")
