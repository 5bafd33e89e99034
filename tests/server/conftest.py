"""A server on a small table, on a free port of this machine, and people who may ask it."""

import re
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx2
import pytest
import uvicorn

import deniable as dp
from deniable.server.app import create
from deniable.server.guard.connections import Prompt
from deniable.server.house import House
from deniable.server.jobs.work import Room, said
from deniable.server.serving import made

SCHEMA = """\
size = 100

[unit]
column = "id"
rows = 2
relation = "add_remove"

[columns.id]
type = "int"

[columns.age]
type = "int"
bounds = [0, 120]
missing = "drop"

[columns.city]
keys = ["Oslo", "Bergen"]
"""

ROWS = [(i // 2, 20 + i % 60, "Oslo" if i % 3 else "Bergen") for i in range(200)]


def fill(folder: Path, *, name="visits", rows=ROWS, schema=SCHEMA) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.toml").write_text(schema)
    lines = ["id,age,city", *(",".join(map(str, row)) for row in rows)]
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return folder


def settings_of(folder: Path, anchors: Path, **options):
    quick = {
        "steps": (0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 20.0),
        "asks": 10**6,
        "prices": 10**6,
        "sign_ins": 10**6,
    }
    return replace(made(folder), anchors=anchors, **(quick | options))


@dataclass
class Site:
    house: House
    url: str
    opened: list = field(default_factory=list)

    def browser(self, person="curator", **headers):
        """A client with a browser's manners, signed in."""
        accounts = self.house.accounts
        who = accounts.curator() if person == "curator" else accounts.find(person)
        cookies = {"deniable": accounts.issue(who, "session")}
        return self.plain(headers={"origin": self.url, **headers}, cookies=cookies)

    def plain(self, **options):
        self.opened.append(httpx2.Client(base_url=self.url, timeout=300, **options))
        return self.opened[-1]

    def analyst(self, name, share=1.0):
        """Somebody new with a share; their token."""
        accounts = self.house.accounts
        person = accounts.find(name) or accounts.add(name)
        if share:
            ledger = next(iter(self.house.ledgers.values()))
            ledger.share(name, amount=dp.epsilon(share))
        return accounts.issue(person, "token")

    def connect(self, name, share=1.0):
        self.opened.append(dp.connect(self.url, token=self.analyst(name, share)))
        return self.opened[-1]

    def api(self, token):
        return self.plain(headers={"authorization": f"Bearer {token}"})


@pytest.fixture(scope="session")
def serve_house():
    """Serves a house on a free port until the tests end."""
    running = []

    def serve(house: House) -> Site:
        config = uvicorn.Config(
            create(house), http=Prompt, port=0, log_level="critical", access_log=False
        )
        config.server_header = False
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        running.append((server, thread))
        return Site(house=house, url=f"http://127.0.0.1:{port}")

    yield serve
    for server, thread in running:
        server.should_exit = True
        thread.join(30)


@pytest.fixture
def site(shared):
    """The shared server; connections are closed after each test."""
    yield shared
    while shared.opened:
        shared.opened.pop().close()


@pytest.fixture(scope="session")
def shared(serve_house, tmp_path_factory):
    """One server for most tests: a large budget, so that they do not disturb each other."""
    folder = fill(tmp_path_factory.mktemp("tables"))
    settings = settings_of(folder, tmp_path_factory.mktemp("anchors"), workers=1)
    return serve_house(House(settings, budget=dp.epsilon(1000.0, delta=1e-7)))


@pytest.fixture
def house(tmp_path):
    """A house of its own, without a web server; its work is done in this process, unless asked."""
    opened = []

    def open_it(*, budget=10.0, folder=None, processes=False, **options):
        home = folder or fill(tmp_path / "tables")
        settings = settings_of(home, tmp_path / "anchors", **({"workers": 1} | options))
        home = House(settings, budget=None if budget is None else dp.epsilon(budget))
        opened.append(home)
        if not processes:
            room = Room(home.groups, {name: home._place(name) for name in home.groups})
            for worker in (*home.workers.all, *home.planners.all):
                worker.do = lambda task: said(room, task)
        return home

    yield open_it
    for each in opened:
        each.close()


def links(text):
    return re.findall(r'(?:href|action|src)="([^"]+)"', text)
