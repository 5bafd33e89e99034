"""Clones of a question buy nothing, and what is seen of one does not depend on any one person."""

import itertools
import re
import time

import pytest

import deniable as dp
from deniable.server.house import House
from deniable.server.jobs.asking import Asking
from deniable.server.jobs.work import Room, said

from .conftest import ROWS, fill, settings_of
from .test_asking import ask_of, charges

FILTERS = ["age > 30", "30 < age", "NOT age <= 30", "age >= 31", "age > 30 AND age > 30"]
COUNTS = ["COUNT(*)", "count(*)", "COUNT(1)", "SUM(1)"]
NAMES = ["n", "N", "many"]
SPACES = [" ", "  ", "\n", "\t", " /* again */ "]


def rewrites():
    """300 ways to ask one question: clones by which noise could be averaged away."""
    for where, count, name, space in itertools.product(FILTERS, COUNTS, NAMES, SPACES):
        yield f"SELECT {count} AS {name} FROM{space}visits WHERE {where}"


def test_300_rewrites_of_a_question_are_each_charged_or_given_the_stored_answer(house):
    home = house(budget=100.0)
    room = Room(home.groups, {"people": home._place("people")})
    questions = list(rewrites())
    assert len(questions) == 300
    seen = {}
    for sql in questions:
        task = {"kind": "ask", "people": "people", "asker": None, "sql": sql}
        told = said(room, task | {"spend": {"epsilon": 0.1}})
        if "refused" in told:
            assert told["refused"]["cost"] == "nothing was spent"
            continue
        release = told["ok"]
        values = [each["cells"] for each in release["answers"].values()]
        seen.setdefault(release["provenance"]["entry_hash"], []).append(values)
    charges = [e for e in home.ledgers["people"].entries if e.kind == "charge"]
    assert len(seen) == len(charges)  # a draw per charge, and no other
    assert all(each == draws[0] for draws in seen.values() for each in draws)
    assert home.ledgers["people"].spent.epsilon == pytest.approx(0.1 * len(charges))
    assert len(seen) < 300  # clones that differ in spelling alone are one question


HEAVY = [(7, 33, "Oslo")] * 500


@pytest.fixture
def neighbours(serve_house, tmp_path):
    """Two servers whose tables differ in one person, who has many rows."""
    sites = []
    for name, rows in (("without", ROWS), ("with", [*ROWS, *HEAVY])):
        folder = fill(tmp_path / name, rows=rows)
        settings = settings_of(folder, tmp_path / f"anchors-{name}", workers=1, steps=(3.0, 60.0))
        sites.append(serve_house(House(settings, budget=dp.epsilon(10.0))))
    yield sites
    for site in sites:
        while site.opened:
            site.opened.pop().close()


def watched(site):
    """What is seen of a background question before its answer, by what it is about."""
    api = site.api(site.analyst("ann", share=2.0))
    body = {"sql": "SELECT COUNT(*) AS n FROM visits", "spend": {"epsilon": 0.1}}
    headers = {"idempotency-key": "watched-1"}
    price = api.post("/api/explain", json=body).content
    begun = api.post("/api/jobs", json=body, headers=headers)
    stream, end = {"begun": begun.content}, time.monotonic() + 300
    while True:
        seen = {name: api.get(f"/{name}.json").content for name in ("health", "tables")}
        now = api.get("/api/jobs/watched-1")
        if now.json()["state"] not in ("queued", "running"):
            break  # its step may have ended while these were read
        stream |= seen | {now.json()["state"]: now.content}
        assert time.monotonic() < end
        time.sleep(0.02)
    shape = sorted(now.json()["release"]), list(now.json()["release"]["answers"])
    ledger = re.sub(r"\d{4}-\d\d-\d\d[ T][\d:]+|[0-9a-f]{64}", "", api.get("/ledger.json").text)
    return price, stream, shape, ledger


def test_prices_progress_health_and_ledgers_are_the_same_bytes_on_neighbouring_tables(neighbours):
    first, second = map(watched, neighbours)
    assert first[0] == second[0]
    # What is seen earlier or later within a step may be missed by one who polls, never differ.
    both = first[1].keys() & second[1].keys()
    assert {each: first[1][each] for each in both} == {each: second[1][each] for each in both}
    assert first[2:] == second[2:]


def test_that_rows_changed_is_not_told_unless_the_curator_declares_a_new_version(house, tmp_path):
    """A question asked again has its stored answer, also after somebody was added to the file."""
    home = house()
    asking, answers = Asking(home), []
    for key, rows in (("key-00001", ROWS), ("key-00002", [*ROWS, (999, 50, "Oslo")])):
        fill(tmp_path / "tables", rows=rows)
        home.reload()
        room = Room(home.groups, {"people": home._place("people")})
        for worker in home.workers.all:
            worker.do = lambda task, room=room: said(room, task)
        answers.append(asking.ask(ask_of(home, key=key)).release["answers"])
    assert answers[0] == answers[1]
    assert len(charges(home)) == 1
    assert not home.closed
