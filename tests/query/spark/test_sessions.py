"""Our settings are ours and the user's theirs, also at the same time; nothing is left behind."""

import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import DataFailure
from deniable.query.backends import engine_for
from deniable.query.backends.spark import SETTINGS, Spark
from deniable.session.sources import tables

from .keeping import SCHEMA, TABLES, exactly, in_spark, opened

HOSTILE = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "Pacific/Auckland",
    "spark.sql.caseSensitive": "true",
    "spark.sql.crossJoin.enabled": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.parser.quotedRegexColumnNames": "true",
    "spark.sql.variable.substitute": "true",
    "spark.sql.legacy.ctePrecedencePolicy": "LEGACY",
    "spark.sql.legacy.decimal.retainFractionDigitsOnTruncate": "true",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
}
VISITS = dp.Schema(tables={"visits": SCHEMA.tables["visits"]})
TEXT = (
    "SELECT town, COUNT(*) AS n, AVG(age) AS a, SUM(COALESCE(hour(at), 0)) AS h FROM visits "
    "WHERE CAST(job AS INTEGER) IS NULL GROUP BY town"
)


@pytest.fixture(params=["classic", "connect"])
def user(request, spark):
    """A session of the user's own on the shared cluster; on Connect too."""
    if request.param == "classic":
        yield spark.newSession()
        return
    session = request.getfixturevalue("connect").newSession()
    yield session
    session.client.release_session()
    session.client.close()


def table_of(frame, name="data"):
    (table,) = tables(frame, schema=None, unit=dp.rows(), name=name).values()
    return table


def left_behind(session):
    """Views of ours; other tests share the cluster."""
    names = [t.name for t in session.catalog.listTables("global_temp")]
    return [name for name in names if name.startswith("deniable_")]


def wanted():
    return exactly(opened({"visits": TABLES["visits"]}, "persons", VISITS), TEXT)


def test_every_setting_is_the_opposite_in_the_hostile_session(spark):
    assert HOSTILE.keys() == SETTINGS.keys()
    assert not set(HOSTILE.items()) & set(SETTINGS.items())
    assert all(spark.conf.isModifiable(name) for name in SETTINGS)


@pytest.mark.filterwarnings("ignore:The SQL config")
def test_a_users_settings_change_no_answer_and_are_left_alone(user):
    frame = in_spark(user, TABLES["visits"])
    for name, value in HOSTILE.items():
        user.conf.set(name, value)
    before = user.conf.getAll
    assert exactly(opened({"visits": frame}, "persons", VISITS), TEXT) == wanted()
    assert user.conf.getAll == before
    assert left_behind(user) == []


def test_what_a_user_set_later_holds_for_us_and_what_we_pin_is_pinned(user):
    user.conf.set("spark.sql.shuffle.partitions", "3")
    user.conf.set("fs.store.key", "of the user")
    with Spark([table_of(user.range(3))]) as engine:
        found = engine._spark.conf.get
        assert found("spark.sql.shuffle.partitions") == "3"
        assert found("fs.store.key") == "of the user"
        assert {name: found(name) for name in SETTINGS} == SETTINGS
        assert user.conf.get("spark.sql.session.timeZone") == "America/New_York"


def test_a_frame_means_what_it_meant_where_it_was_made(user):
    """Midnight in New York, as text in the user's frame and as a moment; ours are in UTC."""
    frame = user.sql(
        "SELECT TIMESTAMP'2020-01-01 00:00:00' AS at, '2020-01-01 00:00:00' AS said"
    ).selectExpr("at", "CAST(at AS STRING) AS text", "CAST(said AS TIMESTAMP) AS cast", "said")
    user.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    remote = (
        "connect" in type(user).__module__
    )  # there a frame is a question, understood when it is put
    with Spark([table_of(frame)]) as engine:
        (view,) = engine._views.values()
        asked = [
            "CAST(CAST(at AS TIMESTAMP_NTZ) AS STRING)",
            "text",
            "CAST(CAST(cast AS TIMESTAMP_NTZ) AS STRING)",
            "CAST(CAST(said AS TIMESTAMP) AS STRING)",
            "CAST(text AS INT)",
        ]
        ((row,),) = engine.run([f"SELECT {', '.join(asked)} FROM {view}"])
    midnight = "2020-01-01 00:00:00"
    there = "2019-12-31 15:00:00" if remote else "2020-01-01 05:00:00"
    assert row == (there, midnight, there, midnight, None)


def test_two_threads_ask_while_the_user_works(spark):
    user = spark.newSession()
    user.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    frame = in_spark(user, TABLES["visits"])

    def ask(_):
        return exactly(opened({"visits": frame}, "persons", VISITS), TEXT)

    def work():
        text = "SELECT current_timezone() AS zone, TRY_CAST('x' AS INT) AS x"
        return {tuple(user.sql(text).collect()[0]) for _ in range(30)}

    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(ask, place) for place in (1, 2)]
        worked = pool.submit(work)
        answers = [each.result() for each in asked]
    assert answers == [wanted(), wanted()]
    assert worked.result() == {("Asia/Tokyo", None)}
    assert left_behind(user) == []


def test_a_question_that_fails_leaves_nothing_behind(user):
    folder = tempfile.mkdtemp(prefix="spark-")
    frame = in_spark(user, pa.table({"x": [1, 2, 3]}))
    frame.write.mode("overwrite").parquet(folder)
    session = opened(user.read.parquet(folder), "rows", None)
    shutil.rmtree(folder)
    with pytest.raises(DataFailure):
        session.sql("SELECT COUNT(*) AS n FROM data").release(spend=dp.epsilon(1.0))
    assert left_behind(user) == []


def test_a_table_that_cannot_be_handed_over_leaves_nothing_behind(spark, monkeypatch):
    good, bad = (table_of(spark.range(3), name) for name in ("good", "bad"))
    monkeypatch.setattr(Spark, "_handed_over", _second_fails(Spark._handed_over))
    dropped = []
    monkeypatch.setattr(Spark, "close", lambda self: dropped.extend(self._views.values()))
    with pytest.raises(ZeroDivisionError):
        Spark([good, bad])
    assert len(dropped) == 1
    assert left_behind(spark) == []


def _second_fails(handed_over):
    def once(self, frame):
        if self._views:
            raise ZeroDivisionError
        return handed_over(self, frame)

    return once


def test_the_users_session_stays_the_active_one(spark):
    from pyspark.sql import SparkSession

    with Spark([table_of(spark.range(3))]) as engine:
        engine.frame("SELECT 1").collect()
        assert SparkSession.getActiveSession()._jsparkSession.equals(spark._jsparkSession)
    assert SparkSession.builder.getOrCreate() is spark


def test_tables_of_two_sessions_of_one_cluster_can_be_joined(spark):
    one, other = spark.newSession(), spark.newSession()
    towns = {"visits": in_spark(one, TABLES["visits"]), "towns": in_spark(other, TABLES["towns"])}
    schema = dp.Schema(tables={name: SCHEMA.tables[name] for name in towns})
    text = "SELECT region, COUNT(*) AS n FROM visits JOIN towns USING (town) GROUP BY region"
    here = {name: TABLES[name] for name in towns}
    found, wanted = (exactly(opened(t, "rows", schema), text) for t in (towns, here))
    assert found == wanted


def test_tables_of_two_clusters_cannot(spark, connect):
    """A classic session and a Connect session are two, even where one server has both."""
    both = [table_of(spark.range(3), "one"), table_of(connect.range(3), "other")]
    with pytest.raises(dp.UnsupportedQuery, match="two places"):
        engine_for(both)
