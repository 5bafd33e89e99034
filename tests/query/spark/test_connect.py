"""Spark Connect: the same questions by way of a server, on the same cluster."""

import pytest

import deniable as dp

from .keeping import SCHEMA, TABLES, exactly, in_spark, opened

ASKED = [
    "SELECT town, COUNT(*) AS n, SUM(age) AS s, AVG(pay) AS a FROM visits GROUP BY town",
    "SELECT job, DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM visits GROUP BY job, m",
    "SELECT AVG(LEAST(s, 300)) AS a FROM (SELECT id, SUM(amount) AS s FROM bills GROUP BY id) AS b",
    "SELECT region, SUM(age) AS s FROM visits JOIN towns USING (town) GROUP BY region",
]


@pytest.fixture(scope="module")
def places(connect):
    there = {name: in_spark(connect, table) for name, table in TABLES.items()}
    return [opened(source, "persons", SCHEMA) for source in (there, TABLES)]


@pytest.mark.parametrize("text", ASKED)
def test_a_server_finds_the_same(places, text):
    found, wanted = (exactly(session, text) for session in places)
    assert found == wanted


def test_an_answer_is_released(connect):
    frame = in_spark(connect, TABLES["visits"])
    session = dp.open(frame, unit=dp.rows(), budget=dp.epsilon(100.0))
    release = session.sql("SELECT COUNT(*) AS n FROM data").release(spend=dp.epsilon(20.0))
    assert release.value == pytest.approx(TABLES["visits"].num_rows, abs=3)


def test_our_session_on_the_server_is_closed_and_the_users_is_not(connect):
    from deniable.query.backends.spark import Spark
    from deniable.session.sources import tables

    (table,) = tables(connect.range(3), schema=None, unit=dp.rows(), name="data").values()
    with Spark([table]) as engine:
        ours = engine._spark.client
        assert ours._session_id != connect.client._session_id
    assert ours.is_closed
    assert connect.range(4).count() == 4
