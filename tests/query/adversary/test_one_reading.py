"""Sources that show other rows whenever they are read: what one person adds stays within its bound.

There is one person in the table, so the cells are that person's contribution.
"""

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.query.executing import execute

import deniable as dp
from deniable.curator import open as open_curator
from deniable.query.aggregates import Measure
from deniable.query.backends import engine_for
from deniable.query.backends.engine import needed
from deniable.query.execute import compiled_for

ROWS, TIMES = 400, 6
COLUMNS = "1 AS id, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END AS g, "
COLUMNS += "'k' || i AS h, 10.0 * i AS x, i % 50 AS y"
FACTS = dp.Schema(
    columns={
        "id": dp.column("int"),
        "g": dp.keys(["a", "b"]),
        "h": dp.column("text"),
        "x": dp.bounds(0.0, 10.0, type="float"),
        "y": dp.bounds(0, 50, type="int"),
    }
)
UNIT = dp.person("id", rows=2, groups=2)
ASKED = {
    "sums": "SELECT COUNT(*) AS n, SUM(x) AS s, AVG(y) AS m FROM data",
    "by key": "SELECT g, COUNT(*) AS n, SUM(x) AS s, VARIANCE(y) AS v FROM data GROUP BY g",
    "private key": "SELECT h, COUNT(*) AS n, SUM(x) AS s FROM data GROUP BY h",
    "rollup": "SELECT g, COUNT(*) AS n, SUM(x) AS s FROM data GROUP BY ROLLUP (g)",
    "median": "SELECT g, MEDIAN(y) AS m FROM data GROUP BY g",
    "one median": "SELECT MEDIAN(y) AS m FROM data",
    "distinct": "SELECT g, COUNT(DISTINCT y) AS n FROM data GROUP BY g",
    "persons": "SELECT g, COUNT(DISTINCT id) AS n FROM data GROUP BY g",
    "join": "SELECT a.g, COUNT(*) AS n, SUM(b.x) AS s FROM data a JOIN data b USING (id) "
    "GROUP BY a.g",
    "union": "SELECT g, COUNT(*) AS n FROM (SELECT id, g FROM data UNION ALL SELECT id, g FROM "
    "data) AS u GROUP BY g",
    "per person": "SELECT AVG(LEAST(t, 9)) AS m FROM (SELECT id, COUNT(*) AS t FROM data "
    "GROUP BY id) AS u",
}
SCANS = {"join": 2, "union": 2}


def check_bounds(source, sql, times=TIMES):
    session = open_curator(
        source, unit=UNIT, budget=dp.epsilon(100, delta=1e-6), schema=FACTS, name="data"
    )
    plan = session.sql(sql).integers
    seen = set()
    for _ in range(times):
        found = execute(plan, tables=session.tables)
        for tally in [*plan.tallies, *([plan.selection] if plan.selection else [])]:
            histogram = tally.measure is Measure.HISTOGRAM
            cells = (found.histograms if histogram else found.numbers)[tally.name].ravel()
            assert sum(map(abs, map(int, cells))) <= tally.moves.l1, tally
            seen.add(tuple(cells))
    return seen


def duckdb_view(condition):
    connection = duckdb.connect()
    connection.execute("CREATE SEQUENCE turn")
    connection.execute(f"CREATE TABLE base AS SELECT i, {COLUMNS} FROM range({ROWS}) AS t(i)")
    connection.execute(f"CREATE VIEW data AS SELECT id, g, h, x, y FROM base {condition}")
    return connection


DUCKDB = {
    "random rows": "WHERE random() < 0.1",
    "a random number of rows": f"WHERE i <= (SELECT 2 + {ROWS} * random())",
    "a sample": "USING SAMPLE 10% (bernoulli)",
    "a counter": f"WHERE nextval('turn') % {2 * ROWS} < {ROWS + 4}",
}


@pytest.mark.parametrize("sql", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("condition", DUCKDB.values(), ids=DUCKDB)
def test_a_duckdb_view_that_changes(condition, sql):
    check_bounds(duckdb_view(condition), sql)


POSTGRES = {
    "a random number of rows": f"WHERE i <= (SELECT 2 + {ROWS} * random())",
    "a sample": "TABLESAMPLE BERNOULLI (10)",
    "the time": "WHERE i <= extract(microseconds FROM clock_timestamp())::int % 50",
}


@pytest.fixture(params=POSTGRES, ids=str)
def moving_postgres(request, server):
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS moving CASCADE; CREATE SCHEMA moving")
        connection.execute("SET search_path TO moving")
        made = f"CREATE TABLE base AS SELECT i, {COLUMNS} FROM generate_series(0, {ROWS}) AS t(i)"
        connection.execute(made)
        condition = POSTGRES[request.param]
        connection.execute(f"CREATE VIEW data AS SELECT id, g, h, x, y FROM base {condition}")
        yield connection


@pytest.mark.parametrize("sql", ASKED.values(), ids=ASKED)
def test_a_postgres_view_that_changes(moving_postgres, sql):
    check_bounds(moving_postgres, sql)


class Changing:
    """An Arrow dataset whose scans alternate between one row and all."""

    def __init__(self):
        rows = duckdb.sql(f"SELECT {COLUMNS} FROM range({ROWS}) AS t(i)").to_arrow_table()
        self.rows, self.turn = rows, 0
        self.schema = rows.schema

    def scanner(self, columns=None, **_):
        import pyarrow.dataset

        self.turn += 1
        few = self.rows.slice(0, 2 if self.turn % 2 else ROWS)
        return pyarrow.dataset.dataset(few).scanner(columns=columns)


Changing.__module__ = "pyarrow.made_up"


@pytest.mark.parametrize("sql", ASKED.values(), ids=ASKED)
def test_an_arrow_dataset_that_changes(sql):
    check_bounds(Changing(), sql)


def test_the_views_do_change():
    """Else none of this could fail."""
    connection = duckdb_view(DUCKDB["a random number of rows"])
    assert len(check_bounds(connection, ASKED["sums"])) > 1


# ---- what the engines plan to do


def plans_of(source, sql, explain):
    """How the engine says it will run each statement of a question."""
    session = open_curator(
        source, unit=UNIT, budget=dp.epsilon(100, delta=1e-6), schema=FACTS, name="data"
    )
    plan = session.sql(sql).integers
    read = needed(plan.question.relation, session.tables)
    with engine_for(read)(read) as engine:
        return [explain(engine, each.text) for each in compiled_for(plan, engine, secret="s")]


def explained(engine, text):
    return "\n".join(row[-1] for row in engine.run([f"EXPLAIN {text}"])[0])


def spark_explained(engine, text):
    (row,) = engine._spark.sql(f"EXPLAIN {text}").collect()
    return row[0]


@pytest.fixture
def rows():
    return duckdb.sql(f"SELECT {COLUMNS} FROM range({ROWS}) AS t(i)").to_arrow_table()


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_duckdb_reads_a_file_once(tmp_path, rows, ending, asked):
    """A file may be replaced at any moment."""
    path = tmp_path / f"data.{ending}"
    if ending == "csv":
        rows.to_pandas().to_csv(path, index=False)
    else:
        pq.write_table(rows, path)
    for plan in plans_of(path, ASKED[asked], explained):
        read = plan.lower().count("function: read_")
        assert 1 <= read <= SCANS.get(asked, 1), plan


@pytest.mark.parametrize("asked", ASKED)
def test_postgres_reads_a_table_once(server, asked):
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS once CASCADE; CREATE SCHEMA once")
        connection.execute("SET search_path TO once")
        made = f"CREATE TABLE data AS SELECT {COLUMNS} FROM generate_series(0, {ROWS}) AS t(i)"
        connection.execute(made)
        for plan in plans_of(connection, ASKED[asked], explained):
            assert 1 <= plan.count("Scan on data") <= SCANS.get(asked, 1), plan


@pytest.mark.slow
@pytest.mark.parametrize("asked", ASKED)
def test_spark_reads_a_file_once(spark, tmp_path, rows, asked):
    pq.write_table(rows, tmp_path / "data.parquet")
    frame = spark.read.parquet(str(tmp_path / "data.parquet"))
    for plan in plans_of(frame, ASKED[asked], spark_explained):
        assert 1 <= plan.count("FileScan") <= SCANS.get(asked, 1), plan


@pytest.mark.slow
def test_a_spark_frame_that_changes(spark, tmp_path, rows):
    """By Java's randomness: Spark repeats that of rand() when it reads again."""
    pq.write_table(pa.concat_tables([rows] * 5), tmp_path / "data.parquet")
    frame = spark.read.parquet(str(tmp_path / "data.parquet"))
    frame = frame.where("CAST(reflect('java.lang.Math', 'random') AS DOUBLE) < 0.3")
    for asked in ("sums", "by key"):
        assert len(check_bounds(frame, ASKED[asked], times=3)) > 1
