"""Tables on a Spark cluster, served through Spark Connect: registered, priced and asked."""

import contextlib

import pytest

import deniable as dp
from deniable.server.curating import registering, risk
from deniable.server.folder import read
from deniable.server.house import House
from deniable.server.jobs.asking import Asking
from deniable.server.jobs.work import Room, said

from .conftest import ROWS, SCHEMA, settings_of
from .test_asking import ask_of

FIELDS = {"table": "visits", "new_group": "people", "unit": "column:id", "rows": "2",
          "epsilon": "9"}  # fmt: skip


@pytest.fixture
def cluster(connect, spark, tmp_path):
    """The address of a cluster whose catalog has a table over a folder of Parquet files."""
    rows = spark.createDataFrame(ROWS, "id int, age int, city string")
    rows.coalesce(1).write.parquet(str(tmp_path / "parquet"))
    for name in ("visits", "twin"):
        spark.sql(f"DROP TABLE IF EXISTS {name}")
        spark.sql(f"CREATE TABLE {name} USING parquet LOCATION '{tmp_path / 'parquet'}'")
    yield f"sc://{connect.client._builder.endpoint}"
    for name in ("visits", "twin"):
        spark.sql(f"DROP TABLE {name}")


@contextlib.contextmanager
def served(folder, anchors):
    home = House(settings_of(folder, anchors, workers=1))
    try:
        yield home
    finally:
        home.close()


def test_a_table_on_a_cluster_is_registered_priced_and_asked(cluster, tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "unused.csv").write_text("x\n1\n")
    with served(folder, tmp_path / "anchors") as home:
        typed = FIELDS | {"address": cluster}
        where = registering.place(home, typed)
        found = registering.columns(home, where, header=False)
        assert {name: column.type for name, column in found.items()} == {
            "id": "int", "age": "int", "city": "text"}  # fmt: skip
        assert registering.register(home, where, found, typed) == "people"
        (folder / "visits.toml").write_text(SCHEMA)
        home.reload()
        room = Room(home.groups, {name: home._place(name) for name in home.groups})
        for worker in (*home.workers.all, *home.planners.all):
            worker.do = lambda task: said(room, task)
        ask = ask_of(home, spend=1.0)
        outcome = Asking(home).ask(ask)
        assert outcome.state == "stored", outcome.error
        (answer,) = outcome.release["answers"].values()
        # Laplace noise of scale 2 passes 80 with probability below 1e-17
        assert answer["cells"][0] == pytest.approx(200, abs=80)
        assert home.ledgers["people"].standing("ann").used.epsilon == pytest.approx(1.0)
        with pytest.raises(dp.BadParameter, match="on a cluster"):
            risk.check(home.groups["people"], "visits", ["age"], None)
        twin = typed | {"table": "twin", "new_group": "fresh"}
        place = registering.place(home, twin)
        with pytest.raises(dp.BadParameter, match="registered in the group"):
            registering.register(home, place, found, twin)
        assert set(home.groups) == {"people"}


def test_a_cluster_that_is_away_is_said_without_its_address(spark):
    where = registering.Place(table="visits", source="sc://127.0.0.1:1/;token=hunter-2")
    with pytest.raises(dp.BadParameter, match="does not answer") as caught:
        registering.columns(None, where, header=False)
    assert "hunter" not in str(caught.value)


def test_a_folder_may_name_a_cluster(tmp_path):
    (tmp_path / "visits.toml").write_text(SCHEMA)
    (tmp_path / "server.toml").write_text(
        '[people]\nsource = "sc://host:15002"\ntables = ["visits"]\n'
    )
    assert read(tmp_path, budget=dp.epsilon(1.0))["people"].source == "sc://host:15002"
