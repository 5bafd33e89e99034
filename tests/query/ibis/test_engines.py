"""The same questions have the same answers wherever Ibis finds the tables."""

import contextlib

import pytest
from tests.query.ibis import ibis_engines as engines
from tests.query.ibis.ibis_tables import ibis
from tests.query.whole.asking import without_noise

import deniable as dp
from deniable.errors import NotReady

_ = ibis._
# Ibis 12 calls DuckDB 2 by names that are going away.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM people",
    "SELECT COUNT(age) AS n, COUNT(income) AS m, COUNT(DISTINCT user_id) AS u FROM people",
    "SELECT city, COUNT(*) AS n, SUM(income) AS s, AVG(age) AS a FROM people GROUP BY city",
    "SELECT MEDIAN(age) AS a, VAR_POP(income) AS v FROM people",
    "SELECT MIN(income) AS a, MAX(income) AS b FROM people",
    "SELECT member, COUNT(*) AS n FROM people GROUP BY member",
    "SELECT COUNT(*) AS n FROM people WHERE born >= DATE '1984-02-28'",
    "SELECT COUNT(*) AS n FROM people WHERE seen < TIMESTAMP '2024-02-29 05:59:59.25'",
    "SELECT EXTRACT(month FROM seen) AS m, COUNT(*) AS n FROM people GROUP BY m",
    "SELECT COUNT(*) AS n FROM people WHERE LOWER(city) LIKE 'o%' OR income > 90",
    "SELECT SUM(CASE WHEN age BETWEEN 18 AND 60 THEN 1 ELSE 0 END) AS n FROM people",
    "SELECT zip, COUNT(*) AS n FROM visits GROUP BY zip",
    "SELECT SUM(cost) AS s, COUNT(DISTINCT zip) AS z FROM visits",
    "SELECT region, SUM(cost) AS s FROM visits JOIN zips ON visits.zip = zips.zip GROUP BY region",
    """SELECT city, SUM(cost) AS s FROM people JOIN visits ON people.user_id = visits.user_id
    GROUP BY city""",
    """SELECT AVG(most) AS a FROM
    (SELECT user_id, MAX(cost) AS most FROM visits GROUP BY user_id) AS each""",
]
MADE = {name: getattr(engines, name) for name in ("polars", "sqlite", "datafusion", "duckdb")}
FEW = slice(2, 15, 4)  # each question is several jobs on Spark


@pytest.fixture(scope="module")
def connections():
    """The tables in each engine, made once."""
    made = {}
    yield made
    if "postgres" in made:
        made["postgres"].disconnect()


@pytest.fixture(params=[*MADE, "postgres", "spark"])
def connection(request, connections, tmp_path_factory):
    name = request.param
    if name not in connections:
        if name in MADE:
            connections[name] = MADE[name](engines.TABLES)
        elif name == "postgres":
            address = request.getfixturevalue("server")
            connections[name] = engines.postgres(engines.TABLES, address)
        else:
            spark, folder = request.getfixturevalue("spark"), tmp_path_factory.mktemp("spark")
            connections[name] = engines.pyspark(engines.TABLES, spark, folder)
    return connections[name]


def tables_of(connection):
    """The connection; of DataFusion its tables, since Ibis 12 cannot list those of version 55."""
    if connection.name != "datafusion":
        return connection
    return {name: connection.table(name) for name in engines.TABLES}


def answers(session, questions):
    with without_noise():
        return [session.sql(text).release(spend=dp.epsilon(1)).rows() for text in questions]


def same(found, expected):
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.keys() == theirs.keys()
        for name, value in ours.items():
            other = theirs[name]
            if isinstance(value, float):
                assert value == pytest.approx(other, rel=1e-12, nan_ok=True), name
            else:
                assert value == other, name


@pytest.fixture(scope="module")
def expected():
    return answers(engines.opened(engines.TABLES), QUESTIONS)


def test_every_question_has_the_answer_that_it_has_over_frames(connection, expected):
    session = engines.opened(tables_of(connection))
    few = FEW if connection.name == "pyspark" else slice(None)
    for found, known in zip(answers(session, QUESTIONS[few]), expected[few], strict=True):
        same(found, known)
    assert session.failures == []


def test_expressions_speak_of_the_tables_that_were_opened(connection):
    """What one writes: a connection, a session on one of its tables, a question about that."""
    people = connection.table("people")
    s = dp.open(people, unit=engines.UNIT, budget=dp.epsilon(100), schema=engines.FACTS["people"])
    question = people.filter(_.age > 30).group_by("city").agg(n=_.count(), age=_.age.mean())
    with without_noise():
        found = s.query(question).release(spend=dp.epsilon(1))
    text = "SELECT city, COUNT(*) AS n, AVG(age) AS age FROM people WHERE age > 30 GROUP BY city"
    assert repr(s.query(question).question) == repr(s.sql(text).question)
    assert {row["city"]: round(row["n"]) for row in found.rows()} == {
        "Oslo": 1,
        "Bergen": 3,
        "Ålesund": 0,
    }


def test_a_table_under_another_name_is_still_the_one_that_was_opened(connection):
    people = connection.table("people")
    options = {"unit": engines.UNIT, "budget": dp.epsilon(100)}
    s = dp.open(people, name="folk", schema=engines.FACTS["people"], **options)
    assert list(s.tables) == ["folk"]
    with without_noise():
        ours = s.query(people.age.sum().name("a")).release(spend=dp.epsilon(1)).rows()
        theirs = s.sql("SELECT SUM(age) AS a FROM folk").release(spend=dp.epsilon(1)).rows()
    same(ours, theirs)


def test_an_expression_is_a_table_of_its_own(connection):
    """The curator's filter comes first, like a view; questions are about what it leaves."""
    if connection.name == "postgres":
        pytest.skip("on Postgres an expression is asked as a view")
    adults = connection.table("people").filter(_.age >= 18).mutate(old=_.age > 50)
    options = {"unit": engines.UNIT, "budget": dp.epsilon(100)}
    facts = dp.Schema(columns={"age": dp.bounds(0, 125, type="int"), "old": dp.column("bool")})
    s = dp.open(adults, name="adults", schema=facts, **options)
    with without_noise():
        found = s.sql("SELECT old, COUNT(*) AS n FROM adults GROUP BY old").release(
            spend=dp.epsilon(1)
        )
        again = s.query(adults.group_by("old").agg(n=_.count())).release(spend=dp.epsilon(1))
    assert {row["old"]: round(row["n"]) for row in found.rows()} == {False: 3, True: 4}
    same(again.rows(), found.rows())


def test_what_an_engine_says_of_a_failure_reaches_nobody(connection):
    """The table goes away after it was opened: one opaque error, and nothing is paid."""
    if connection.name == "datafusion":
        connection = engines.datafusion({"gone": engines.VISITS})
    elif connection.name == "pyspark":
        pytest.skip("a Spark frame keeps its plan: the view it was made of may go")
    else:
        _made(connection)
    s = dp.open(connection.table("gone"), unit=engines.UNIT, budget=dp.epsilon(10))
    _drop(connection)
    with pytest.raises(NotReady) as failure:
        s.sql("SELECT COUNT(*) AS n FROM gone").release(spend=dp.epsilon(1))
    assert failure.value.__cause__ is failure.value.__context__ is None
    assert s.spent.epsilon == 0
    assert not s.failures


def _made(connection):
    match connection.name:
        case "polars":
            import polars as pl

            connection._add_table("gone", pl.from_arrow(engines.VISITS))
        case _:
            with contextlib.closing(connection.con.cursor()) as cursor:
                cursor.execute("CREATE TABLE gone AS SELECT * FROM visits")


def _drop(connection):
    match connection.name:
        case "polars":
            connection.drop_table("gone")
        case "datafusion":
            connection.con.deregister_table("gone")
        case _:
            with contextlib.closing(connection.con.cursor()) as cursor:
                cursor.execute("DROP TABLE gone")
