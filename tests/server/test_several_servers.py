"""Two servers on one Postgres database; servers that are killed and started again."""

import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace

import httpx2
import psutil
import pytest

import deniable as dp
from deniable.ledger import open_ledger
from deniable.server.jobs.asking import Ask, Asking, Conflict

from .conftest import fill

SQL = "SELECT COUNT(*) AS n FROM visits"
_numbers = itertools.count()


@pytest.fixture
def database(server):
    """A database of its own on the test server."""
    import psycopg

    name = f"site_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return re.sub(r"/postgres(?=\?|$)", f"/{name}", server)


@pytest.fixture
def two(house, database, tmp_path):
    folder = fill(tmp_path / "tables")
    return [house(folder=folder, budget=1.0, database=database) for _ in range(2)]


def ask(home, key, spend=0.1, sql=SQL):
    body = {"sql": sql, "spend": {"epsilon": spend}}
    return Ask(person=home.accounts.curator(), key=key, people="people", body=body)


def charges(home):
    return [e for e in home.ledgers["people"].entries if e.kind == "charge"]


def test_accounts_and_answers_are_shared(two):
    first, second = two
    token = first.accounts.issue(first.accounts.add("ann"), "token")
    assert second.accounts.whose(token, "token").name == "ann"
    here = Asking(first).ask(ask(first, "key-00001"))
    there = Asking(second).ask(ask(second, "key-00001"))
    assert here.release == there.release
    assert len(charges(first)) == 1


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_texts_that_a_database_cannot_hold_are_refused(house, request, kind, text):
    options = {"database": request.getfixturevalue("database")} if kind == "postgres" else {}
    home = house(budget=1.0, **options)
    asking, question = Asking(home), ask(home, "key-00001")
    with pytest.raises(dp.BadParameter, match="whole characters"):
        asking.ask(replace(question, body={**question.body, "purpose": text}))
    with suppress(dp.BadParameter):  # as a local session says it, or by the database
        sql = {"sql": f"{SQL} WHERE city = '{text}'"}
        assert asking.ask(replace(question, key="key-00002", body={**question.body, **sql}))
    with pytest.raises(dp.BadParameter):
        home.accounts.add(text)
    assert asking.ask(question).state == "stored"


def test_one_key_at_two_servers_at_once_is_one_charge_and_the_ceiling_holds(two):
    outcomes = []

    def asks(home, number):
        for key in range(4):
            sql = f"{SQL} WHERE age > {key}"
            try:
                outcomes.append(Asking(home).ask(ask(home, f"key-{key:05}", 0.3, sql)).state)
            except Conflict:
                outcomes.append("conflict")

    threads = [threading.Thread(target=asks, args=(h, n)) for n, h in enumerate(two)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(charges(two[0])) == 3  # 0.9 of 1.0; a fourth would pass the ceiling
    assert "stored" in outcomes
    assert two[0].ledgers["people"].spent.epsilon <= 1.0
    two[1].ledgers["people"].verify()


def test_a_question_of_a_dead_server_is_settled_by_another(two):
    first, second = two
    dead = Asking(first)
    lost = ask(first, "key-dead")
    dead.enqueue(lost)
    dead._reserve(lost)
    first.ledgers["people"].charge(dp.Laplace(scale=10.0), unit=first.groups["people"].unit)
    first.database.rows("UPDATE asks SET lease = 0")
    assert Asking(second).ask(ask(second, "key-dead")).state == "lost"
    assert None in second.ledgers["people"].halts().stopped
    refused = Asking(second).ask(ask(second, "key-next", sql=SQL + " WHERE age > 3"))
    assert refused.error["code"] == "DP602"


def started(folder, anchors, *more):
    """A server at any free port: its process, its port, and the curator's link."""
    command = [sys.executable, "-m", "deniable", "serve", str(folder), "--budget", "5", *more]
    environment = os.environ | {"DENIABLE_ANCHORS": str(anchors), "PYTHONUTF8": "1"}
    running = subprocess.Popen(
        [*command, "--port", "0", "--steps", "0.05,0.2,0.5,1,2,5"],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    running.stderr.readline()
    link = running.stderr.readline().strip().rsplit("/", 1)[1]
    return running, listening(running), link


@pytest.mark.slow
def test_a_server_killed_in_the_middle_loses_nothing_and_charges_once(tmp_path):
    """kill -9 of the whole server while it is asked: every answer was charged, each key once."""
    folder, anchors = fill(tmp_path / "tables"), tmp_path / "anchors"
    running, port, link = started(folder, anchors)
    url = f"http://127.0.0.1:{port}"
    answered = {}
    with httpx2.Client(base_url=url, timeout=300, headers={"origin": url}) as curator:
        _until(lambda: curator.post(f"/join/{link}").status_code == 303)
        token = curator.post("/api/people/curator/rotate").json()["token"]
    with httpx2.Client(
        base_url=url, timeout=300, headers={"authorization": f"Bearer {token}"}
    ) as program:

        def send(number):
            body = {"sql": f"{SQL} WHERE age > {number}", "spend": {"epsilon": 0.1}}
            answer = program.post(
                "/api/ask", json=body, headers={"idempotency-key": f"key-{number:05}"}
            )
            if answer.status_code == 200:
                answered[number] = answer.json()["release"]["answers"]
            return answer

        send(0)
        killer = threading.Timer(0.03, lambda: os.killpg(running.pid, signal.SIGKILL))
        killer.start()
        for number in range(1, 10):
            try:
                send(number)
            except httpx2.HTTPError:
                break
        killer.join()
        running.wait()
        running.stderr.close()
        running, port, _ = started(folder, anchors)
        program.base_url = f"http://127.0.0.1:{port}"
        try:
            _until(lambda: program.get("/health.json").status_code == 200)
            before = dict(answered)
            for number in before:
                send(number)
            assert answered == before  # the same answers, not drawn again
        finally:
            os.killpg(running.pid, signal.SIGTERM)
            running.wait(300)
            running.stderr.close()
    with open_ledger(folder / ".deniable" / "people.ledger") as ledger:
        ledger.verify()
        paid = [e.what for e in ledger.entries if e.kind == "charge"]
        assert len(paid) == len(set(paid))
        for number in answered:
            assert any(f"age > {number}" in (what or "") for what in paid)


def listening(running):
    """The port at which a process listens, once it does."""

    def ports():
        assert running.poll() is None, "the server ended"
        found = psutil.Process(running.pid).net_connections("tcp")
        return [each.laddr.port for each in found if each.status == psutil.CONN_LISTEN]

    _until(ports)
    return ports()[0]


def _until(done, patience=300):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        try:
            if done():
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.1)
    raise AssertionError("the server did not come up")
