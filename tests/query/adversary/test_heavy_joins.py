"""One person's many rows in both tables of a join: pairs stay few, and within the bound."""

import duckdb
import psycopg
import pytest
from tests.query.executing import execute

import deniable as dp
from deniable.query.aggregates import Measure
from deniable.query.integers import KEPT_OF_BOTH, WEIGHT

FACTS = dp.Schema(
    tables={
        "a": dp.Schema(
            columns={
                "id": dp.column("text"),
                "j": dp.column("int"),
                "x": dp.bounds(0, 9),
                "g": dp.keys(["u", "v"]),
            }
        ),
        "b": dp.Schema(
            columns={"id": dp.column("text"), "j": dp.column("int"), "y": dp.bounds(0, 9)}
        ),
    }
)
NAMES = {"a": "id string, j bigint, x bigint, g string", "b": "id string, j bigint, y bigint"}
OTHERS = 40
GROUPS = "CASE WHEN i % 10 < 3 THEN 'u' ELSE 'v' END"


def filled(execute, series, heavy, *, others=OTHERS):
    """Tables a and b: one person with so many rows in each, and ordinary people."""
    for table, rows, last in (("a", heavy[0], f", {GROUPS}"), ("b", heavy[1], "")):
        columns = "id text, j bigint, x bigint, g text" if last else "id text, j bigint, y bigint"
        execute(f"CREATE TABLE {table} ({columns})")
        for person, count in (("'heavy'", rows), (f"'p' || (i % {OTHERS})", 3 * others)):
            made = f"SELECT {person}, i, i % 10{last} FROM {series(count)}"
            execute(f"INSERT INTO {table} {made}")


def in_duckdb(heavy, *, others=OTHERS, **config):
    connection = duckdb.connect(config=config)
    filled(connection.execute, lambda n: f"range({n}) AS t(i)", heavy, others=others)
    return connection


def cells(source, sql, rows):
    """What the engine finds, without noise, by tally."""
    unit = dp.person("id", rows=rows, groups=2)
    session = dp.open(source, unit=unit, budget=dp.epsilon(9, delta=1e-6), schema=FACTS)
    plan = session.sql(sql).integers
    found = execute(plan, tables=session.tables)
    named = {tally: found.numbers.get(tally.name) for tally in plan.tallies}
    return {
        tally: list(map(int, (found.histograms[tally.name] if held is None else held).ravel()))
        for tally, held in named.items()
    }


def of_one(source, sql, rows):
    ((number,),) = cells(source, sql, rows).values()
    return number


# ---- time and memory


@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN"])
def test_a_person_with_20000_rows_on_each_side_fits_in_little_memory(kind):
    """The pairs would be 4·10⁸; the engine may not write to disk either."""
    little = {"memory_limit": "500MB", "temp_directory": ""}
    source = in_duckdb((20_000, 20_000), **little)
    asked = f"SELECT g, SUM(x) AS s, COUNT(*) AS n FROM a {kind} b USING (id) GROUP BY g"
    found = cells(source, asked, rows=20)
    assert all(len(numbers) == 2 for numbers in found.values())


# ---- bounds

ASKED = {
    "sums": "SELECT COUNT(*) AS n, SUM(x) AS s, AVG(y) AS m FROM a JOIN b USING (id)",
    "left": "SELECT g, COUNT(*) AS n, SUM(y) AS s FROM a LEFT JOIN b USING (id) GROUP BY g",
    "by key": "SELECT g, SUM(x) AS s, VARIANCE(y) AS v FROM a JOIN b USING (id) GROUP BY g",
    "more keys": "SELECT g, COUNT(*) AS n FROM a JOIN b ON a.id = b.id AND x = y GROUP BY g",
    "median": "SELECT MEDIAN(y) AS m FROM a JOIN b USING (id)",
    "distinct": "SELECT g, COUNT(DISTINCT y) AS n FROM a JOIN b USING (id) GROUP BY g",
    "persons": "SELECT g, COUNT(DISTINCT a.id) AS n FROM a JOIN b USING (id) GROUP BY g",
    "three": "SELECT COUNT(*) AS n FROM a JOIN b USING (id) JOIN b AS c USING (id)",
    "per person": "SELECT AVG(LEAST(t, 9)) AS m FROM (SELECT a.id, COUNT(*) AS t FROM a JOIN b "
    "USING (id) GROUP BY a.id) AS u",
}
HEAVY = (1_700, 1_300)


def moved(one, other, asked, rows):
    """By how much each tally differs between two sources, beside how much it may."""
    first, second = cells(one, asked, rows), cells(other, asked, rows)
    for tally in first:
        pairs = zip(first[tally], second[tally], strict=True)
        yield tally, sum(abs(a - b) for a, b in pairs)


@pytest.mark.parametrize("rows", [1, 20, 1_100])
@pytest.mark.parametrize("asked", ASKED.values(), ids=list(ASKED))
def test_a_heavy_person_moves_no_answer_by_more_than_the_bound(asked, rows):
    with_them, without = in_duckdb(HEAVY), in_duckdb((0, 0))
    found = list(moved(with_them, without, asked, rows))
    for tally, distance in found:
        assert distance <= tally.moves.l1, tally
    assert any(distance for _, distance in found) or asked == ASKED["distinct"]


def test_postgres_keeps_the_same_rows(server):
    asked = [ASKED["by key"], ASKED["left"], ASKED["more keys"]]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS a, b")
        filled(connection.execute, lambda n: f"generate_series(0, {n} - 1) AS t(i)", HEAVY)
    here = in_duckdb(HEAVY)
    try:
        for sql in asked:
            for rows in (20, 1_100):
                theirs, ours = cells(server, sql, rows), cells(here, sql, rows)
                assert list(theirs.values()) == list(ours.values())
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS a, b")


def test_spark_keeps_the_same_rows(spark):
    here = in_duckdb(HEAVY)
    there = {
        name: spark.createDataFrame(here.table(name).fetchall(), NAMES[name]) for name in NAMES
    }
    for sql in (ASKED["left"], ASKED["more keys"]):
        for rows in (20, 1_100):
            theirs, ours = cells(there, sql, rows), cells(here, sql, rows)
            assert list(theirs.values()) == list(ours.values())


# ---- who is not heavy loses nothing


@pytest.mark.parametrize(
    ("heavy", "rows"),
    [((1, 12_000), 12_000), ((3_000, 1), 3_000), ((30, 40), 1_200), ((300, 300), 90_000)],
)
def test_whoever_has_no_more_joined_rows_than_the_unit_allows_keeps_all(heavy, rows):
    source = in_duckdb(heavy, others=0)
    counted = of_one(source, "SELECT COUNT(*) AS n FROM a JOIN b USING (id)", rows)
    assert counted == heavy[0] * heavy[1] * WEIGHT


@pytest.mark.parametrize("rows", [20, 5_000])
def test_rows_that_meet_one_row_each_are_all_joined(rows):
    source = in_duckdb((5_000, 5_000), others=0)
    asked = "SELECT COUNT(*) AS n FROM a JOIN b USING (id, j)"
    weight = min(WEIGHT, rows * WEIGHT // 5_000)
    assert of_one(source, asked, rows) == 5_000 * weight


@pytest.mark.parametrize("rows", [20, 1_100])
def test_the_rows_of_a_heavy_person_are_represented_evenly(rows):
    """Three rows of ten are in the first group, on whichever side they are."""
    source = in_duckdb((5_000, 2_500), others=0)
    asked = "SELECT g, COUNT(*) AS n FROM a JOIN b USING (id) GROUP BY g"
    ((first, second),) = cells(source, asked, rows).values()
    assert first / (first + second) == pytest.approx(0.3, abs=2 / KEPT_OF_BOTH)
    pairs = KEPT_OF_BOTH**2
    assert first + second == pairs * (rows * WEIGHT // pairs)


@pytest.mark.parametrize("heavy", [(200, 9_000), (9_000, 200), (257, 256), (256, 10_000)])
def test_whoever_has_many_rows_in_one_table_only_keeps_the_rare_ones(heavy):
    """A row is joined before it is filtered: of a sample, too few could be left."""
    source = in_duckdb(heavy, others=0)
    asked = "SELECT COUNT(*) AS n FROM a JOIN b USING (id) WHERE a.j = 7 AND b.j = 11"
    assert of_one(source, asked, rows=1) == WEIGHT


@pytest.mark.parametrize("heavy", [(3_000, 3_000), (12_000, 300), (300, 3_000), (3_000, 1)])
def test_a_left_join_makes_no_row_unmatched(heavy):
    source = in_duckdb(heavy, others=0)
    asked = "SELECT COUNT(*) AS n FROM a LEFT JOIN b USING (id) WHERE b.y IS NULL"
    assert of_one(source, asked, rows=20) == 0


def test_a_left_join_keeps_who_is_not_in_the_other_table():
    source = in_duckdb((3_000, 0), others=0)
    asked = "SELECT COUNT(*) AS n FROM a LEFT JOIN b USING (id) WHERE b.y IS NULL"
    assert of_one(source, asked, rows=3_000) == 3_000 * WEIGHT


# ---- the plan


def steps(sql, rows=20):
    unit = dp.person("id", rows=rows)
    session = dp.open(in_duckdb((1, 1)), unit=unit, budget=dp.epsilon(1), schema=FACTS)
    return str(session.sql(sql).explain(spend=dp.epsilon(0.5)))


def test_the_plan_says_how_many_rows_are_joined():
    asked = "SELECT COUNT(*) AS n FROM a JOIN b USING (id)"
    assert "keeps at most 10,000 rows per person" in steps(asked)
    assert "more than 256 in both tables, each keeps 256, evenly" in steps(asked)
    assert "keeps at most 90,000 rows per person" in steps(asked, rows=90_000)
    assert "more than 300 in both tables, each keeps 300, evenly" in steps(asked, rows=90_000)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM a WHERE id IN (SELECT id FROM b)",
        "SELECT COUNT(*) AS n FROM a JOIN (SELECT id FROM b GROUP BY id) AS u USING (id)",
    ],
)
def test_a_join_that_cannot_multiply_rows_is_left_alone(sql):
    assert "before the join" not in steps(sql)
    assert of_one(in_duckdb((3_000, 3_000), others=0), sql, rows=3_000) == 3_000 * WEIGHT


def test_measures_of_all_kinds_are_asked():
    source = in_duckdb((2, 2))
    seen = {tally.measure for sql in ASKED.values() for tally in cells(source, sql, rows=2)}
    assert seen == set(Measure)
