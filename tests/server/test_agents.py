"""Agents are analysts with tools; what can be asked by name can be tried, and drawn from."""

import asyncio
import csv
import io

import pytest

import deniable as dp
from deniable.server.agents import tools
from deniable.server.house import House

from .conftest import fill, settings_of
from .test_kinds import BY_CITY


@pytest.fixture
def client(site):
    ledger = site.house.ledgers["people"]
    if ledger.standing("kim") is None:
        ledger.share("kim", amount=dp.epsilon(400.0, delta=1e-8))
    return site.connect("kim", share=None)


def test_agents_are_told_every_kind(client):
    found = asyncio.run(tools(client).list_tools())
    assert {"list_kinds", "explain_named", "ask_named"} <= {each.name for each in found}
    named = {"kind": "hierarchy", "parameters": {"columns": ["city"]}, "epsilon": 0.1}
    served = tools(client)
    plan = asyncio.run(served.call_tool("explain_named", named)).structured_content
    assert plan["cost"]["epsilon"] == 0.1
    answer = asyncio.run(served.call_tool("ask_named", named | {"key": "agent-key-1"}))
    assert "Oslo" in answer.structured_content["answer"]


def test_an_agent_names_the_purpose_of_any_question(house, tmp_path, serve_house):
    folder = fill(tmp_path / "tables")
    (folder / "server.toml").write_text('[people]\ntables = ["visits"]\npurposes = ["care"]\n')
    settings = settings_of(folder, tmp_path / "anchors", workers=1)
    with serve_house(House(settings, budget=dp.epsilon(9.0))).connect("agent") as client:
        served = tools(client)
        sql = {"sql": BY_CITY, "epsilon": 0.1}
        named = {"kind": "hierarchy", "parameters": {"columns": ["city"]}, "epsilon": 0.1}
        for tool, asked in (("ask", sql), ("ask_named", named)):
            with pytest.raises(Exception, match="purposes"):
                asyncio.run(served.call_tool(tool, asked | {"key": f"{tool}-0001"}))
            told = asked | {"key": f"{tool}-0002", "purpose": "care"}
            assert asyncio.run(served.call_tool(tool, told)).structured_content["left"]


@pytest.mark.parametrize(
    "wrong", [{"epsilon": -1.0}, {"kind": "nothing"}, {"parameters": {"kind": "fit", "x": 1}}]
)
@pytest.mark.parametrize("tool", ["explain_named", "ask_named"])
def test_an_agent_is_told_what_is_wrong(client, tool, wrong):
    named = {"kind": "hierarchy", "parameters": {"columns": ["city"]}, "epsilon": 0.1}
    key = {"key": "wrong-0001"} if tool == "ask_named" else {}
    with pytest.raises(Exception, match="DP111"):
        asyncio.run(tools(client).call_tool(tool, named | key | wrong))


@pytest.mark.parametrize("asked", [{"kind": "ranges", "column": "age", "bins": 4},
                                   {"kind": "synthesize", "columns": ["city"]},
                                   {"kind": "choose", "sql": BY_CITY}])  # fmt: skip
def test_a_question_by_name_can_be_tried_on_made_up_rows(client, asked):
    left = client.left
    tried = client.named(**asked).rehearse(spend=dp.epsilon(0.5))
    assert "made up" in (getattr(tried, "release", tried)).free or asked["kind"] == "synthesize"
    assert client.left == left


def test_rows_are_drawn_in_parts_that_differ(site, client, monkeypatch):
    from deniable.server.api import answers

    client.named("synthesize", columns=["age"]).release(spend=dp.epsilon(0.5), key="parts-00001")
    token = client._connection._http.headers["authorization"].removeprefix("Bearer ")
    get = site.api(token).get

    def drawn(part, **options):
        monkeypatch.setattr(answers, "_PART", part)
        found = get("/api/answers/parts-00001/rows", params={"seed": 5, **options})
        return list(csv.reader(io.StringIO(found.text)))

    whole, parts = drawn(20_000, n=900), drawn(300, n=900)
    assert whole[0] == parts[0] == ["age"]
    assert len(whole) == len(parts) == 901
    assert whole[1:] == drawn(20_000, n=900)[1:]
    assert parts[1:301] == drawn(20_000, n=300)[1:]
    assert parts[1:301] != parts[301:601] != parts[601:]
    assert drawn(300, n=0) == [["age"]]
