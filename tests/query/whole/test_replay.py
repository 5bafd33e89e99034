"""Whole queries replayed on neighbouring data: what moves is within what was declared, exactly."""

import itertools
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pytest

import deniable as dp
from deniable.audit import replay
from deniable.curator import Curator
from deniable.curator import open as open_curator
from deniable.session.sources.postgres_tables import PostgresTable

QUESTIONS = (
    "SELECT g, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a, STDDEV(x) AS d FROM data GROUP BY g",
    "SELECT g, MEDIAN(x) AS m, MAX(x) AS top FROM data GROUP BY g",
    "SELECT AVG(x) AS a, COUNT(DISTINCT g) AS k FROM data WHERE x > 2",
    "SELECT c, COUNT(*) AS n, AVG(x) AS a FROM data GROUP BY c",
)
SCHEMA = dp.Schema(columns={"g": dp.keys([0, 1, 2]), "x": dp.bounds(0, 10), "c": dp.column("text")})


def people(rows_of_one, *, generator):
    """Twenty people with a few rows each, and one with as many as said."""
    ids = [i for i in range(20) for _ in range(int(generator.integers(1, 6)))] + [99] * rows_of_one
    count = len(ids)
    x = generator.normal(5, 20, count)
    x[-1:] = np.nan
    return pa.table(
        {
            "id": ids,
            "g": generator.integers(0, 4, count),
            "x": x,
            "c": [f"c{i}" for i in generator.integers(0, 5, count)],
        }
    )


def opened(source, unit):
    """A session over a frame."""
    budget = dp.epsilon(100, delta=1e-6)
    return open_curator(source, unit=unit, budget=budget, schema=SCHEMA)


_numbers = itertools.count()


def _written(address, source):
    """The name of a table with these rows."""
    import psycopg

    name = f"replayed_{next(_numbers)}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {name} (id bigint, g bigint, x float8, c text)")
        with connection.cursor().copy(f"COPY {name} FROM STDIN") as copy:
            for row in source.to_pylist():
                copy.write_row(list(row.values()))
    return name


@pytest.fixture(params=["frame", "postgres"])
def opening(request):
    """Sessions over frames, and over the same rows on a server."""
    if request.param == "frame":
        return opened
    address = request.getfixturevalue("server")

    def on_server(source, unit):
        known = opened(source, unit)
        held = PostgresTable(held=address, inner=_written(address, source))
        table = replace(known.tables["data"], source=held)
        return Curator(tables={"data": table}, schema=known.schema, ledger=known.ledger)

    return on_server


def program(unit, opening):
    def run(source):
        session = opening(source, unit)
        for sql in QUESTIONS:
            session.sql(sql).release(spend=dp.epsilon(0.5, delta=1e-7))
        session.histogram("x", bins=4, spend=dp.epsilon(0.5))
        session.bounds("x", spend=dp.epsilon(0.5))

    return run


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 40])
def test_a_person_who_leaves_moves_no_more_than_was_declared(rows, opening):
    unit = dp.person("id", rows=3, groups=2)
    first = people(rows, generator=np.random.default_rng(rows))
    second = first.filter(pa.compute.not_equal(first["id"], 99))
    found = replay(program(unit, opening), first, second)
    assert found.ok, found
    assert found.moved > 0


@pytest.mark.slow
def test_a_row_that_leaves_moves_no_more_than_was_declared(opening):
    first = people(1, generator=np.random.default_rng(5))
    found = replay(program(dp.rows(), opening), first, first.slice(0, first.num_rows - 2))
    # Two rows left: this must be seen, or the check would be worth nothing.
    assert not found.ok
    found = replay(program(dp.rows(), opening), first, first.slice(0, first.num_rows - 1))
    assert found.ok, found
