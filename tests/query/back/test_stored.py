"""Rows that DuckDB stores: short types, and the same numbers as in long ones."""

import duckdb
import pyarrow as pa
import pytest
from tests.query.executing import execute

import deniable as dp
from deniable.curator import open as open_curator
from deniable.query.aggregates import Measure
from deniable.query.backends import engine_for
from deniable.query.backends.engine import needed
from deniable.query.compile import nodes as sql
from deniable.query.compile.duckdb import DuckDB
from deniable.query.execute import compiled_for

BORDERS = sorted(
    {s * 2**b + d for s in (-1, 1) for b in (7, 8, 15, 16, 31, 32) for d in (-1, 0, 1)}
)
LISTS = {
    "odd letters": ["", " ", "a'b", 'a"b', "é", "e\u0301", "a\\b", "a,b", "A", "a", "\U0001f600"],
    "one": ["a"],
    "a byte's worth": [f"k{i}" for i in range(255)],
    "more than a byte's worth": [f"k{i}" for i in range(257)],
    "too long for an ENUM": [f"{i}" * 100 for i in range(100, 200)],
    "numbers": [-128, 0, 127],
    "far numbers": [-(2**63), 3, 2**63 - 1],
    "numbers beyond a byte": [0, 256],
}


@pytest.mark.parametrize("low", [each for each in BORDERS if each <= 0] + [0, 1])
def test_a_narrow_number_is_the_same_number(low):
    for high in (each for each in BORDERS if each >= low):
        made = DuckDB().write(DuckDB().narrow(sql.name("v"), low, high))
        asked = f"SELECT {made} FROM (VALUES ({low}::BIGINT), ({high}), (NULL)) AS t(v)"
        assert duckdb.sql(asked).fetchall() == [(low,), (high,), (None,)]


@pytest.mark.parametrize("values", LISTS.values(), ids=LISTS)
@pytest.mark.parametrize("grouping", ["g", "ROLLUP (g)"])
def test_weighted_sums_by_any_list_of_keys(values, grouping):
    """Three people with two, four and one rows per key, and rows whose key is not on the list."""
    kind = "text" if isinstance(values[0], str) else "int"
    off = ["off the list", None] if kind == "text" else [2**40, -129, None]
    people = [(1, 2, values[:1]), (2, 4, values[-1:]), (3, 1, off)]
    rows = [(p, g, 7 * p) for p, times, keys in people for g in keys for _ in range(times)]
    ids, keys, numbers = zip(*rows, strict=True)
    typed = pa.array(keys, pa.string() if kind == "text" else pa.int64())
    table = pa.table({"id": pa.array(ids), "g": typed, "y": pa.array(numbers)})
    session, plan = asked(table, dp.keys(values), grouping)
    found = execute(plan, tables=session.tables)
    cells = {name: dict(zip(found.groups, n, strict=True)) for name, n in found.numbers.items()}
    summed = next(t for t in plan.tallies if t.measure is Measure.SUM)
    count, total = cells[plan.tallies[0].name], cells[summed.name]
    wanted = dict.fromkeys(values, 0)
    wanted[values[0]] += 2 * 2**20
    wanted[values[-1]] += 2 * 2**20  # four rows, weighed as two
    centre = int(summed.centre)
    for value in values:
        assert count[(value,)] == wanted[value]
    both = sum(total[(value,)] for value in dict.fromkeys([values[0], values[-1]]))
    assert both == 2 * 2**20 * (7 - centre) + 2 * 2**20 * (14 - centre)


def asked(source, keys, grouping):
    facts = {"id": dp.column("int"), "g": keys, "y": dp.bounds(0, 100, type="int")}
    session = open_curator(
        source,
        unit=dp.person("id", rows=2),
        budget=dp.epsilon(100, delta=1e-6),
        schema=dp.Schema(columns=facts),
        name="data",
    )
    text = f"SELECT g, COUNT(*) AS n, SUM(y) AS s, AVG(y) AS m FROM data GROUP BY {grouping}"
    return session, session.sql(text).integers


def test_a_stored_row_is_short():
    """A person, one of a hundred keys, and three numbers below 256: 8 + 1 + 3 bytes."""
    rows = pa.table({"id": [1], "g": ["k1"], "y": [1]})
    session, plan = asked(rows, dp.keys([f"k{i}" for i in range(100)]), "g")
    read = needed(plan.question.relation, session.tables)
    with engine_for(read)(read) as engine:
        (statement,) = compiled_for(plan, engine, secret="s")
        head = statement.text[: statement.text.index(', "persons" AS')]
        described = engine._connection.execute(f'DESCRIBE {head} SELECT * FROM "rows"').fetchall()
    types = {name: kind for name, kind, *_ in described}
    assert types.pop("p") == "BIGINT"
    assert types.pop("k0").startswith("ENUM")
    assert set(types.values()) <= {"TINYINT", "UTINYINT"}, types


# ---- large files


def people_file(tmp_path, *, rows):
    """Ids of 50,000 people, in no order that would compress."""
    path = tmp_path / f"people{rows}.parquet"
    columns = "(hash(i) % 50000)::BIGINT AS id, hash(i) AS x"
    duckdb.execute(f"COPY (SELECT {columns} FROM range({rows}) t(i)) TO '{path}'")
    return path


def grouping_of(tables):
    """How DuckDB would add up by id when it is asked through our engine."""
    from deniable.query.backends.duckdb import DuckDB as Engine

    with Engine(list(tables.values())) as engine:
        source = engine.dialect.write(engine.stored()["people"].source)
        asked = f"EXPLAIN SELECT id, COUNT(*) FROM {source} GROUP BY id"
        return str(engine.run([asked])).lower()


@pytest.mark.parametrize(("rows", "quick"), [(1_000_000, True), (10_000, False)])
def test_people_in_large_files_are_found_without_hashing(tmp_path, rows, quick):
    path = people_file(tmp_path, rows=rows)
    s = dp.open(path, unit=dp.person("id", rows=2), budget=dp.epsilon(1.0), name="people")
    assert ("perfect hash group by" in grouping_of(s.tables)) is quick


def test_a_connection_of_the_user_keeps_its_settings(tmp_path):
    path = people_file(tmp_path, rows=1_000_000)
    with duckdb.connect() as mine:
        mine.execute(f"CREATE TABLE people AS FROM '{path}'")
        setting = "SELECT current_setting('perfect_ht_threshold')"
        before = mine.execute(setting).fetchall()
        s = dp.open(mine, unit=dp.person("id", rows=2), budget=dp.epsilon(1.0))
        grouping_of(s.tables)
        s.sql("SELECT COUNT(*) FROM people").release(spend=dp.epsilon(1.0))
        assert mine.execute(setting).fetchall() == before
