"""Who says nothing is not waited for, and who is refused locks nobody out."""

import socket

import pytest

import deniable as dp
from deniable.server.app import create
from deniable.server.guard.connections import Prompt
from deniable.server.guard.security import HEADERS
from deniable.server.house import House
from deniable.server.views import Views

from .conftest import fill, settings_of

WHOLE = b"GET /health.json HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
BODY = (
    b"POST /api/explain HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    b"content-length: 20\r\n\r\n{"
)


@pytest.fixture
def impatient(serve_house, tmp_path, monkeypatch):
    """A server that waits for no request longer than a moment, and answers later than that."""
    monkeypatch.setattr(Prompt, "patience", 0.5)
    times = {"steps": (2.0, 30.0), "arrival": 0.5}
    settings = settings_of(fill(tmp_path / "tables"), tmp_path / "anchors", workers=1, **times)
    return serve_house(House(settings, budget=dp.epsilon(10.0)))


def read(site, *parts):
    """What the server says until it closes the connection."""
    host, port = site.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=120) as connection:
        for part in parts:
            connection.sendall(part)
        found = b""
        while more := connection.recv(65536):
            found += more
        return found


@pytest.mark.parametrize("sent", [b"", b"GET /public HT", WHOLE[:-2]])
def test_a_request_that_does_not_come_is_not_waited_for(impatient, sent):
    assert read(impatient, sent) == b""


@pytest.mark.parametrize("rest", [b"", WHOLE[:20]])
def test_nor_is_a_second_one_on_the_same_connection(impatient, rest):
    assert read(impatient, WHOLE + rest).count(b"HTTP/1.1 200 OK") == 1


def test_a_body_that_does_not_come_is_refused(impatient):
    assert read(impatient, BODY).split()[1].startswith(b"4")


def test_an_answer_may_take_longer_than_a_request(impatient):
    c = impatient.connect("ann")
    assert c.sql("SELECT COUNT(*) AS n FROM visits").release(spend=dp.epsilon(0.1)).rows()
    c.close()


# ---- refusals


@pytest.mark.parametrize("path", ["/tables", "/tables.json"])
def test_faults_and_refusals_have_the_same_headers_as_pages(site, monkeypatch, path):
    def fault(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(Views, "tables", fault)
    answers = [
        site.api(site.analyst("headers")).get(path),
        site.plain(headers={"host": "evil.example"}).get(path),
        site.plain(headers={"origin": "https://evil.example"}).post("/sign-in"),
    ]
    assert [each.status_code for each in answers] == [500, 421, 403]
    for answer in answers:
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS


def test_who_has_a_secret_is_let_in_however_often_others_fail(house):
    from starlette.testclient import TestClient

    home = house(sign_ins=3)
    ann = home.accounts.add("ann")
    token, link = (home.accounts.issue(ann, kind) for kind in ("token", "link"))
    client = TestClient(create(home), base_url="http://127.0.0.1", follow_redirects=False)
    failed = [client.post("/sign-in", data={"token": f"{i}"}).status_code for i in range(5)]
    assert failed == [403, 403, 403, 429, 429]
    assert client.post("/join/wrong").status_code == 429
    assert client.post("/sign-in", data={"token": token}).status_code == 303
    client.cookies.clear()
    assert client.post(f"/join/{link}").status_code == 303


def test_a_name_that_has_an_account_is_said(site):
    curator = site.browser()
    for known in (False, True):
        page = curator.post("/curator/people", data={"name": "twice", "share": "0.1"}).text
        assert ("An account with this name already" in page) == known
    token = site.house.accounts.issue(site.house.accounts.curator(), "token")
    added = site.api(token).post("/api/people", json={"name": "twice", "share": {"epsilon": 0.1}})
    assert "An account with this name already" in added.json()["note"]
