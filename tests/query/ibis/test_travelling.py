"""Columns that travel: only those needed, only when paid for, and no value stops them."""

import dataclasses
import sqlite3

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.query.back.test_moving import FACTS, PERSON, check, questions
from tests.query.ibis import ibis_engines as engines
from tests.query.ibis.ibis_tables import ibis
from tests.query.whole.asking import without_noise

import deniable as dp
from deniable.errors import BadParameter, DataFailure
from deniable.session import sources
from deniable.session.sources import ibis_rows as reading
from deniable.session.sources.ibis_tables import IbisTable

_ = ibis._
UNIT = dp.person("u", rows=2)
# Ibis 12 asks pandas 3 for an option that is going away.
pytestmark = pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")


def asked(source, text, **options):
    """The rows of an answer without noise, and the session."""
    session = dp.open(source, **{"unit": UNIT, "budget": dp.epsilon(10), **options})
    with without_noise():
        return session.sql(text).release(spend=dp.epsilon(1)).rows(), session


def sqlite(script):
    connection = ibis.sqlite.connect()
    connection.con.executescript(script)
    return connection


# ---- what is fetched, and when


@pytest.fixture
def taken(monkeypatch):
    """The columns of each table that is fetched."""
    columns = []

    honest = IbisTable.rows

    def watching(self):
        columns.append(list(self.types))
        found = honest(self)
        assert list(found.schema.names) == columns[-1]
        return found

    monkeypatch.setattr(IbisTable, "rows", watching)
    return columns


@pytest.mark.parametrize("make", [engines.polars, engines.sqlite, engines.datafusion])
def test_only_the_columns_of_the_question_travel(make, taken):
    connection = make(engines.TABLES)
    session = engines.opened({name: connection.table(name) for name in engines.TABLES})
    with without_noise():
        session.sql("SELECT AVG(age) AS a FROM people WHERE city = 'Oslo'").release(
            spend=dp.epsilon(1)
        )
        session.sql(
            "SELECT region, COUNT(*) AS n FROM visits JOIN zips ON visits.zip = zips.zip "
            "GROUP BY region"
        ).release(spend=dp.epsilon(1))
    assert [sorted(columns) for columns in taken] == [
        ["age", "city", "user_id"],
        ["user_id", "zip"],
        ["region", "zip"],
    ]


def test_rows_that_are_units_are_counted_by_one_column(taken):
    connection = engines.polars({"zips": engines.ZIPS})
    rows, _session = asked(connection, "SELECT COUNT(*) AS n FROM zips", unit=dp.rows())
    assert round(rows[0]["n"]) == 2
    assert taken == [["zip"]]


def test_lazy_frames_and_relations_are_cut_down_as_well():
    import duckdb

    read = []
    frame = pl.LazyFrame({"u": [1, 2], "x": [1, 2], "y": [3, 4]}).with_columns(
        z=pl.col("y").map_batches(lambda column: read.append("y") or column, return_dtype=pl.Int64)
    )
    assert round(asked(frame, "SELECT COUNT(x) AS n FROM data")[0][0]["n"]) == 2
    assert read == []
    relation = duckdb.connect().sql("SELECT 1 AS u, 2 AS \"x y\", error('read') AS z")
    assert round(asked(relation, 'SELECT COUNT("x y") AS n FROM data')[0][0]["n"]) == 1


def test_nothing_is_read_before_it_is_paid_for():
    def fail(column):
        raise RuntimeError("a secret")

    people = pl.LazyFrame({"u": [1], "x": [2]}).with_columns(
        pl.col("x").map_batches(fail, return_dtype=pl.Int64)
    )
    connection = ibis.polars.connect({"people": people})
    options = {"unit": UNIT, "budget": dp.epsilon(10)}
    for source in (connection, connection.table("people"), connection.table("people").limit(3)):
        session = dp.open(source, name=None, **options)
        (name,) = session.tables
        query = session.sql(f"SELECT COUNT(x) AS n FROM {name}")
        query.explain(spend=dp.epsilon(1))
        with pytest.raises(DataFailure) as failure:
            query.release(spend=dp.epsilon(1))
        assert "secret" not in str(failure.value)
        assert session.spent.epsilon == 1


def test_opening_an_sqlite_table_reads_none_of_its_rows():
    """Ibis itself looks at the first row if a column declares no type."""
    connection = sqlite("CREATE TABLE people (u INTEGER, x); INSERT INTO people VALUES (1, 'a')")
    read = set()

    def watch(action, table, *_):
        if action == sqlite3.SQLITE_READ:
            read.add(table)
        return sqlite3.SQLITE_OK

    connection.con.set_authorizer(watch)
    options = {"unit": UNIT, "budget": dp.epsilon(10)}
    assert dp.open(connection, **options).tables["people"].unread == ("x",)
    assert "people" not in read
    table = connection.table("people")
    assert "people" in read
    read.clear()
    assert dp.open(table, **options).tables["people"].unread == ("x",)
    assert "people" not in read
    ran = []
    connection.con.set_trace_callback(ran.append)
    assert dp.open(table.filter(_.u > 0), **options).tables["data"].unread == ("u", "x")
    assert ran
    assert all("EXPLAIN" in text for text in ran if '"people"' in text)  # a program, not run


# ---- SQLite, where anything can be anywhere

HOLDS = "CREATE TABLE people (u INTEGER, x INTEGER, w REAL, s TEXT, d DATE, b BOOLEAN);"
GOOD = (
    "INSERT INTO people VALUES (1, 5, 0.5, 'a', '2020-02-29', 1), (2, 7, 2, 'b', '1999-12-31', 0);"
)
ODD = [
    "('x', 5, 0.5, 'a', '2020-02-29', 1)",
    "(1.5, 5, 0.5, 'a', '2020-02-29', 1)",
    "(x'00', 5, 0.5, 'a', '2020-02-29', 1)",
    "(NULL, 5, 0.5, 'a', '2020-02-29', 1)",
    "(3, 'five', 'half', x'ff', 'someday', 'perhaps')",
    "(3, 5.5, x'', CAST(x'ff' AS TEXT), 2459000.5, 9e999)",
    "(3, 1e300, NULL, CAST(x'610062' AS TEXT), x'', NULL)",
]
TYPED = dp.Schema(
    columns={
        "x": dp.bounds(0, 10, type="int"),
        "w": dp.bounds(0.0, 1.0),
        "s": dp.keys(["a", "b"]),
    }
)
ALL = """SELECT s, COUNT(*) AS n, COUNT(x) AS x, SUM(x) AS sum, SUM(w) AS w, COUNT(d) AS d,
COUNT(*) FILTER (WHERE b) AS b FROM people GROUP BY s"""


@pytest.mark.parametrize("row", ODD)
def test_an_odd_value_in_sqlite_is_missing_and_stops_nothing(row):
    connection = sqlite(HOLDS + GOOD)
    before, _session = asked(connection, ALL, schema=TYPED)
    connection.con.execute(f"INSERT INTO people VALUES {row}")
    after, session = asked(connection, ALL, schema=TYPED)
    assert session.failures == []
    assert after == before


def test_ibis_itself_would_stop_at_an_odd_value():
    """Why SQLite has a reader of its own."""
    connection = sqlite(HOLDS + GOOD + f"INSERT INTO people VALUES {ODD[4]}")
    with pytest.raises(pa.ArrowInvalid):
        connection.table("people").select("x").to_pyarrow()


def test_ids_beyond_the_floats_stay_apart_in_sqlite():
    """Ibis's way, through pandas, merges them as soon as one id is missing."""
    connection = sqlite(
        f"CREATE TABLE people (u INTEGER, g TEXT);"
        f"INSERT INTO people VALUES ({2**53}, 'a'), ({2**53 + 1}, 'a'), (NULL, 'a')"
    )
    rows, _session = asked(connection, "SELECT COUNT(DISTINCT u) AS n FROM people")
    assert round(rows[0]["n"]) == 2


VALUES = st.sampled_from([None, 0, 1, 2**53 + 1, -(2**63), 0.5, 3.0, -0.0, 1e300, b"a", b"\xff"])


@given(st.lists(VALUES), st.sampled_from(["int", "float", "text", None]))
def test_values_are_read_one_by_one_or_together_alike(values, kind):
    stored, own, read = reading._rule(pa, kind, "UTF-8")
    one_by_one = [read(value) for value in values]
    assert repr(reading._array(pa, values, stored, own, read).to_pylist()) == repr(one_by_one)


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_text_of_sqlite_is_read_as_it_is_encoded(encoding):
    script = f"PRAGMA encoding = '{encoding}'; CREATE TABLE people (u TEXT, s TEXT);"
    connection = sqlite(script + "INSERT INTO people VALUES ('é', 'Ålesund'), ('è', 'Oslo')")
    schema = dp.Schema(columns={"s": dp.keys(["Ålesund", "Oslo"])})
    rows, _session = asked(
        connection, "SELECT s, COUNT(*) AS n FROM people GROUP BY s", schema=schema
    )
    assert [round(row["n"]) for row in rows] == [1, 1]


def test_converters_and_factories_of_a_connection_do_not_matter():
    def fail(_value):
        raise ValueError("a secret")

    sqlite3.register_converter("moment", fail)
    try:
        plain = sqlite3.connect(":memory:", detect_types=sqlite3.PARSE_DECLTYPES)
        plain.executescript("CREATE TABLE people (u INTEGER, m MOMENT)")
        plain.execute("INSERT INTO people VALUES (1, 'x')")
        connection = ibis.sqlite.from_connection(plain)
        schema = dp.Schema(columns={"m": dp.column("text")})
        session = dp.open(connection, unit=UNIT, budget=dp.epsilon(10), schema={"people": schema})
        plain.row_factory = lambda cursor, row: fail(row)
        with without_noise():
            query = session.sql("SELECT COUNT(m) AS n FROM people")
            rows = query.release(spend=dp.epsilon(1)).rows()
        assert round(rows[0]["n"]) == 1
    finally:
        del sqlite3.converters["MOMENT"]


def test_a_column_without_a_type_is_read_as_the_schema_says():
    connection = sqlite(
        "CREATE TABLE given (u INTEGER, age);"
        "INSERT INTO given VALUES (1, 30), (2, '40'), (3, 'x');"
        "CREATE VIEW people AS SELECT u, age, age + 1 AS later FROM given"
    )
    text = "SELECT SUM(later) AS n FROM people"
    with pytest.raises(BadParameter, match="the type of `later`"):
        asked(connection, text, name="people")
    facts = dp.Schema(columns={"later": dp.bounds(0, 100, type="int")})
    rows, _session = asked(connection, text, schema={"people": facts})
    assert round(rows[0]["n"]) == 31 + 41 + 1
    expression = connection.table("people").filter(_.u > 1)
    session = dp.open(expression, unit=UNIT, budget=dp.epsilon(10))
    assert session.tables["data"].unread == ("u", "age", "later")


# ---- together with other sources


def test_tables_of_ibis_are_joined_with_frames_and_files(tmp_path):
    pq.write_table(engines.ZIPS, tmp_path / "zips.parquet")
    people = engines.sqlite({"people": engines.PEOPLE}).table("people")
    mixed = {
        "people": people,
        "visits": engines.polars({"visits": engines.VISITS}).table("visits"),
        "zips": tmp_path / "zips.parquet",
    }
    text = """SELECT city, COUNT(*) AS n FROM people
        JOIN visits ON people.user_id = visits.user_id GROUP BY city"""
    regions = """SELECT region, SUM(cost) AS s FROM visits
        JOIN zips ON visits.zip = zips.zip GROUP BY region"""
    with without_noise():
        for question in (text, regions):
            ours, theirs = (
                engines.opened(source).sql(question).release(spend=dp.epsilon(1)).rows()
                for source in (mixed, engines.TABLES)
            )
            assert ours == theirs


def test_tables_in_memory_are_the_frames_they_are_made_of():
    """What pandas says of types depends on rows; Ibis would believe it."""
    frame = engines.PEOPLE.to_pandas()
    assert (
        dp.open(ibis.memtable(frame), unit=engines.UNIT, budget=dp.epsilon(1))
        .tables["data"]
        .columns["age"]
        .type
        == "float"
    )
    adults = ibis.memtable(frame).filter(_.age > 17)
    session = dp.open(adults, unit=engines.UNIT, budget=dp.epsilon(1))
    assert set(session.tables["data"].unread) == set(frame.columns)
    arrow = ibis.memtable(engines.PEOPLE)
    session = dp.open(arrow, unit=engines.UNIT, budget=dp.epsilon(1000))
    with without_noise():
        found = session.query(arrow.count().name("n")).release(spend=dp.epsilon(1))
    assert round(found.rows()[0]["n"]) == 9


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
@pytest.mark.parametrize("make", [engines.polars, engines.sqlite, engines.duckdb])
def test_an_expression_may_mention_a_table_in_memory(make):
    visits = make({"visits": engines.VISITS}).table("visits")
    joined = visits.join(ibis.memtable(pl.from_arrow(engines.ZIPS)), "zip")
    schema = dp.Schema(columns={"region": dp.keys(["east", "west"])})
    text = "SELECT region, COUNT(*) AS n FROM data GROUP BY region"
    rows, session = asked(joined, text, unit=engines.UNIT, schema=schema)
    assert session.failures == []
    assert [row["n"] for row in rows] == [2, 3]


def test_columns_that_are_called_like_methods_are_columns():
    frame = pl.DataFrame({"u": [1, 2], "list_tables": [1, 2], "schema": [1, 2]})
    table = ibis.polars.connect({"people": frame}).table("people")
    rows, _session = asked(table, 'SELECT COUNT("list_tables") AS n, COUNT("schema") FROM people')
    assert round(rows[0]["n"]) == 2


# ---- the heart of soundness


@dataclasses.dataclass(frozen=True)
class Held:
    """Holds rows where Ibis finds them."""

    make: object

    def table(self, name, rows, facts):
        arrow = pa.table(
            {c: pa.array([row.get(c) for row in rows], KINDS[f.type]) for c, f in facts.items()}
        )
        connection = self.make({name: arrow})
        found = sources.tables(
            connection.table(name), schema=dp.Schema(columns=facts), unit=dp.rows(), name=None
        )
        assert found[name].source.kind == "ibis"
        return found[name]


KINDS = {"int": pa.int64(), "float": pa.float64(), "text": pa.string()}


@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(questions(), st.lists(PERSON, max_size=3), PERSON, PERSON)
def test_one_unit_moves_nothing_further_than_declared_from_sqlite(asked, others, one, another):
    check(Held(engines.sqlite), asked, others, one, another)


@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(questions(), st.lists(PERSON, max_size=3), PERSON, PERSON)
def test_nor_from_polars(asked, others, one, another):
    check(Held(engines.polars), asked, others, one, another)


assert set(KINDS) >= {fact.type for fact in FACTS.values()}
