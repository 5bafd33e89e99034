"""Every workload on every engine: the exact numbers before noise are those of DuckDB.

A workload is run on two engines with the same rows under record and replay, which freezes the noise
and measures how far each value that would get noise moved: not at all.
"""

import pandas as pd
import psycopg
import pytest
from tests.statistics.every_workload import FIRST, PERSON, ROWS, SCHEMA, WORKLOADS, visits

import deniable as dp
from deniable.audit import replay


def _to_postgres(server, table):
    kinds = "who bigint, age bigint, sex text, city text, pay float8, day date, at timestamp"
    rows = table.astype(object).where(table.notna(), None).to_numpy().tolist()
    with psycopg.connect(server, autocommit=True) as connection, connection.cursor() as cursor:
        connection.execute("DROP TABLE IF EXISTS data")
        connection.execute(f"CREATE TABLE data ({kinds}, page text)")
        cursor.executemany(f"INSERT INTO data VALUES ({', '.join(['%s'] * 8)})", rows)


@pytest.fixture(scope="module", params=["postgres", "spark"])
def place(request):
    """The same rows in another engine."""
    if request.param == "postgres":
        server = request.getfixturevalue("server")
        _to_postgres(server, visits())
        yield server
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("DROP TABLE data")
        return
    session = request.getfixturevalue("spark")
    table = visits()
    table["at"] = pd.Series(table["at"].dt.to_pydatetime(), dtype=object)
    rows = table.astype(object).where(table.notna(), None).to_numpy().tolist()
    kinds = "who long, age long, sex string, city string, pay double, day date, at timestamp_ntz"
    yield {"data": session.createDataFrame(rows, f"{kinds}, page string")}


def moves(name, unit, first, second):
    """How far each value that gets noise moves between two sources."""

    def program(source):
        budget = dp.epsilon(3.0, delta=1e-5)
        return WORKLOADS[name](dp.open(source, unit=unit, budget=budget, schema=SCHEMA))

    found = replay(program, first, second)
    assert found.ok, str(found)
    assert not found.ended, found.ended
    assert not found.failed
    return [moved.moved for _, moved in found.measured]


@pytest.mark.parametrize("unit", [ROWS, PERSON], ids=["rows", "person"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_the_exact_numbers_are_those_of_duckdb(place, name, unit):
    found = moves(name, unit, {"data": visits()}, place)
    assert found
    assert set(found) == {0}


@pytest.mark.parametrize("name", WORKLOADS)
def test_one_row_less_is_noticed(name):
    table = visits()
    counted = table.pay.notna() & table.age.between(1, 98) & (table.day == FIRST.date())
    inside = table[counted].index[0]
    assert max(moves(name, ROWS, {"data": table}, {"data": table.drop(index=inside)})) > 0
