"""Back-ups are consistent and private; a restored older ledger gives nobody budget back."""

import shutil

import pytest

import deniable as dp
from deniable.server.backups import back_up, restore
from deniable.server.curating import registering
from deniable.server.jobs.asking import Asking

from .test_asking import SQL, ask_of


def test_the_newest_copy_can_be_restored_and_an_older_one_stays_closed(house, tmp_path):
    home = house()
    asking = Asking(home)
    asking.ask(ask_of(home))
    older, newest = tmp_path / "older", tmp_path / "newest"
    back_up(home.settings, older)
    asking.ask(ask_of(home, key="key-00002", sql=SQL + " WHERE age > 50"))
    copies = back_up(home.settings, newest)
    assert {path.name for path in copies} == {"people.ledger", "server.db"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in copies)
    with pytest.raises(dp.BadParameter, match="holds ledgers already"):
        restore(home.settings, newest)
    home.close()
    for source, closed in ((older, True), (newest, False)):
        shutil.rmtree(home.settings.state)
        restore(home.settings, source)
        again = house(folder=home.settings.folder)
        assert ("people" in again.closed) == closed
        if not closed:
            assert Asking(again).ask(ask_of(again)).state == "stored"
            assert again.ledgers["people"].spent.epsilon == pytest.approx(0.2)
        again.close()


def test_a_copy_has_neither_passwords_nor_risk_reports(house, tmp_path):
    home = house()
    Asking(home).ask(ask_of(home))
    for i in range(50):
        registering.keep(home, f"postgresql://u:hunter-{i}@host/db")
        home.database.rows(
            "INSERT INTO reports (name, attempt, said, record, began, lease) "
            "VALUES (?, '', '', ?, 0, 0)",
            *(f"table{i}", "hunted " * 1000),
        )
    copies = back_up(home.settings, tmp_path / "copy")
    assert not [path for path in (tmp_path / "copy").iterdir() if b"hunte" in path.read_bytes()]
    assert {path.name for path in copies} == {p.name for p in (tmp_path / "copy").iterdir()}
    assert len(home.database.rows("SELECT 1 FROM addresses")) == 50
    home.close()
    shutil.rmtree(home.settings.state)
    restore(home.settings, tmp_path / "copy")
    again = house(folder=home.settings.folder)
    assert Asking(again).ask(ask_of(again)).state == "stored"


def test_an_agent_is_an_analyst_with_tools(site):
    import asyncio

    from deniable.server.agents import tools

    served = tools(site.connect("agent", 1.0))

    async def call(name, **arguments):
        return (await served.call_tool(name, arguments)).structured_content

    listed = asyncio.run(call("list_tables"))
    assert listed["tables"]["visits"]["protects"]
    question = {"sql": SQL, "epsilon": 0.25}
    assert asyncio.run(call("explain", **question))["cost"]["epsilon"] == 0.25
    first = asyncio.run(call("ask", **question, key="agent-0001"))
    again = asyncio.run(call("ask", **question, key="agent-0001"))
    assert first["rows"] == again["rows"]
    assert again["left"]["epsilon"] == pytest.approx(0.75)
    with pytest.raises(Exception, match="DP201"):
        asyncio.run(call("ask", sql=SQL + " WHERE age > 7", epsilon=3.0, key="agent-0002"))
