"""The risk report: the curator's alone, in the background, about people and not about rows."""

import time
from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.server.curating import risk
from deniable.server.folder import read

from .conftest import SCHEMA, fill

PATH = "/curator/tables/visits/risk"


def waited(curator):
    end = time.monotonic() + 300
    while (found := curator.get(PATH + ".json").json())["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.1)
    return found


def test_a_report_is_made_in_the_background_and_read_by_the_curator_alone(site):
    curator = site.browser()
    refused = curator.post(PATH, data={"action": "begin"})
    assert refused.status_code == 400
    assert "columns that others may know" in refused.text
    begun = curator.post(PATH, data={"quasi:age": "yes", "quasi:city": "yes", "action": "begin"})
    assert begun.status_code == 303
    assert "Cancel" in curator.get(PATH).text or waited(curator)
    found = waited(curator)["report"]
    assert found["people"] == 100  # who have 200 rows
    assert found["counted"] == {"rows": 200, "people": 100, "above": 0}
    assert "Ways to publish" in curator.get(PATH).text
    site.analyst("nosy")
    for path in (PATH, PATH + ".json"):
        assert site.browser("nosy").get(path).status_code == 403
    assert curator.get(PATH).headers["cache-control"] == "no-store"
    curator.post(PATH, data={"action": "drop"})
    assert curator.get(PATH + ".json").json()["state"] == "none"


def test_a_report_can_be_cancelled(site, monkeypatch):
    curator = site.browser()
    curator.post(PATH, data={"quasi:age": "yes", "action": "begin"})
    curator.post(PATH, data={"action": "drop"})
    assert curator.get(PATH + ".json").json()["state"] == "none"


def until(true):
    end = time.monotonic() + 300
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_every_server_process_finds_follows_and_ends_a_report(house, monkeypatch):
    """Two processes share a database: the curator's next request may reach either."""
    here = risk.Reports(house())
    there = risk.Reports(here._house)  # it shares nothing with the other but the database
    here.begin("visits", quasi=["age", "city"], sensitive=None)
    assert there.of("visits") is not None
    with pytest.raises(dp.BadParameter, match="another report"):
        there.begin("visits", quasi=["age"], sensitive=None)
    until(lambda: not there.of("visits").running)
    assert there.of("visits") == here.of("visits")
    assert there.of("visits").record["people"] == 100
    there.drop("visits")
    assert here.of("visits") is None
    monkeypatch.setattr(risk, "_BEAT", 0.05)
    here.begin("visits", quasi=["age", "city"], sensitive=None)
    there.drop("visits")
    until(lambda: not here._stops)  # its process was ended from there
    assert here.of("visits") is None


def test_a_report_whose_server_is_gone_does_not_run_for_ever(house, monkeypatch):
    here = risk.Reports(house())
    never = SimpleNamespace(Thread=lambda **_: SimpleNamespace(start=lambda: None))
    monkeypatch.setattr(risk, "threading", never)
    here.begin("visits", quasi=["age"], sensitive=None)
    assert here.of("visits").running
    monkeypatch.setattr(risk, "now", lambda: time.time() + 60)
    assert here.of("visits").problem == risk.GONE
    here.begin("visits", quasi=["age"], sensitive=None)  # and another may be made
    assert here.of("visits").running


def test_people_with_many_rows_are_counted_once_and_those_without_consent_never(tmp_path):
    schema = (
        SCHEMA.replace("size = 100", 'consent = "agreed"') + '\n[columns.agreed]\ntype = "bool"\n'
    )
    folder = fill(tmp_path, schema=schema)
    rows = [(i // 3, 20 + i % 7, "Oslo", i < 30) for i in range(60)]
    lines = ["id,age,city,agreed", *(",".join(map(str, row)) for row in rows)]
    (folder / "visits.csv").write_text("\n".join(lines) + "\n")
    group = read(folder, budget=dp.epsilon(1))["people"]
    found = risk.made(group=group, table="visits", quasi=["age", "id"], sensitive=None)
    assert found["counted"] == {"rows": 30, "people": 10, "above": 10}  # rows = 2 count
    assert found["people"] == 10
    assert "id" not in found["quasi"]


@pytest.mark.parametrize("wrong", [["nobody"], ["id"], []])
def test_columns_are_checked_before_rows_are_read(tmp_path, wrong):
    group = read(fill(tmp_path), budget=dp.epsilon(1))["people"]
    group.sources["visits"].unlink()
    with pytest.raises(dp.BadParameter):
        risk.check(group, "visits", wrong, None)
