"""What strangers, other pages and hostile text may not do."""

import asyncio
import json
import re
import time
from contextlib import suppress
from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.server.accounts import Accounts, Person
from deniable.server.jobs.asking import Ask, Asking
from deniable.server.jobs.door import Door
from deniable.server.jobs.pace import step_after
from deniable.server.views import Views

from .conftest import fill

SQL = "SELECT COUNT(*) AS n FROM visits"
BODY = {"sql": SQL, "spend": {"epsilon": 0.01}}


# ---- who


PAGES = ("/tables", "/tables/visits", "/ask", "/ledger", "/curator", "/answers/abcdefgh")


@pytest.mark.parametrize("path", [p + twin for p in PAGES for twin in ("", ".json")])
def test_strangers_see_no_page_that_is_not_public(site, path):
    with site.plain() as stranger:
        assert stranger.get(path).status_code in (303, 401, 404)


def test_analysts_may_do_nothing_that_is_the_curators(site):
    with site.api(site.analyst("nosy")) as nosy:
        for path in ("/curator", "/curator.json"):
            assert nosy.get(path).status_code == 403
        for path in ("people", "people/nosy/rotate", "people/nosy/freeze", "people/nosy/resume"):
            assert nosy.post(f"/api/{path}", json={"name": "x"}).status_code == 403
        assert nosy.post("/curator/people", data={"name": "x"}).status_code == 403


def test_a_token_is_stored_as_a_keyed_hash_and_rotation_ends_the_old_one(site):
    token = site.analyst("turner")
    stored = json.dumps(site.house.database.rows("SELECT * FROM credentials"))
    assert token not in stored
    fresh = site.house.accounts.rotate(site.house.accounts.find("turner"))
    assert site.api(token).get("/tables.json").status_code == 401
    assert site.api(fresh).get("/tables.json").status_code == 200


def test_a_one_time_link_survives_being_looked_at_and_is_used_up_by_a_post(site):
    person = site.house.accounts.add("guest")
    link = site.house.accounts.issue(person, "link")
    with site.plain(headers={"origin": site.url}) as guest:
        for _ in range(3):
            assert guest.get(f"/join/{link}").status_code == 200
        entered = guest.post(f"/join/{link}")
        assert entered.status_code == 303
        cookie = entered.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert guest.post(f"/join/{link}").status_code == 404
        assert guest.get("/tables").status_code == 200
        guest.post("/sign-out")
        assert guest.get("/tables").status_code == 303


@pytest.mark.parametrize("https", [True, False])
def test_cookies_are_secure_where_browsers_come_by_https(house, https):
    from deniable.server.pages.accounts import _entered

    home = house(https=https)
    state = SimpleNamespace(application=SimpleNamespace(house=home))
    request = SimpleNamespace(app=SimpleNamespace(state=state))
    cookie = _entered(request, home.accounts.curator()).headers["set-cookie"].lower()
    assert ("secure" in cookie) == https
    assert cookie.startswith("__host-") == https


def test_a_new_link_ends_the_one_before(house):
    accounts = house().accounts
    ann = accounts.add("ann")
    first, second = accounts.issue(ann, "link"), accounts.issue(ann, "link")
    assert accounts.consume(first) is None
    assert accounts.consume(second) == ann


def test_expired_secrets_open_nothing(house, monkeypatch):
    accounts = house().accounts
    ann = accounts.add("ann")
    link, session = accounts.issue(ann, "link"), accounts.issue(ann, "session")
    monkeypatch.setattr("deniable.server.accounts.now", lambda: time.time() + 8 * 86400)
    assert accounts.whose(link, "link") is accounts.whose(session, "session") is None


def test_a_secret_of_one_kind_is_none_of_another(house):
    accounts = house().accounts
    token = accounts.issue(accounts.add("ann"), "token")
    assert accounts.whose(token, "session") is accounts.whose(token, "link") is None


def test_another_database_knows_no_token_of_this_one(house, tmp_path):
    from deniable.server.database import SqliteDatabase

    here = house().accounts
    there = Accounts(SqliteDatabase(tmp_path / "other.db"))
    assert here._hashed("x") != there._hashed("x")


def test_names_that_look_alike_are_refused(house):
    accounts = house().accounts
    accounts.add("Ann")
    for other in ("Ann", "ann", "ＡNN", " ann", "a\u200bnn", "a/nn", "50%", ".", ".."):
        with pytest.raises(dp.BadParameter):
            accounts.add(other)


# ---- from where


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil", "[::1]evil", "127.0.0.1:x/"],
)
def test_a_host_name_that_is_not_ours_is_refused(site, host):
    with site.plain(headers={"host": host}) as rebound:
        assert rebound.get("/public").status_code in (400, 421)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "origin": "self"},
        {},
    ],
)
def test_a_form_on_another_page_changes_nothing(site, headers):
    with site.browser() as browser:
        browser.headers.pop("origin")
        sent = {n: site.url if v == "self" else v for n, v in headers.items()}
        before = len(site.house.accounts.people())
        for path in ("/curator/people", "/api/people", "/ask", "/sign-out"):
            assert browser.post(path, data={"name": "forged"}, headers=sent).status_code == 403
        assert len(site.house.accounts.people()) == before


def test_a_question_in_plain_text_is_refused(site):
    with site.browser() as browser:
        answer = browser.post(
            "/api/explain", content=json.dumps(BODY), headers={"content-type": "text/plain"}
        )
        assert answer.status_code == 422


def test_every_page_has_a_strict_policy_and_is_neither_cached_tagged_nor_compressed(site):
    with site.browser(**{"accept-encoding": "gzip, br"}) as browser:
        for path in ("/tables", "/ledger", "/curator", "/public", "/tables.json", "/limits"):
            headers = browser.get(path).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert headers["cache-control"] == "no-store"
            assert not {"etag", "last-modified", "content-encoding", "server"} & set(headers)
            text = browser.get(path).text
            assert not re.search(r"\sstyle=|\son\w+=|<script(?! src=\"/static)", text)
            assert not re.search(r'(?:src|href|action)="(?:https?:)?//', text)


# ---- how much


def test_a_long_body_and_a_long_question_are_refused(site):
    with site.api(site.analyst("talker")) as talker:
        long = {"sql": "x" * 70_000, "spend": {"epsilon": 0.1}}
        assert talker.post("/api/explain", json=long).status_code == 413
        long["sql"] = "x" * 11_000
        assert talker.post("/api/explain", json=long).status_code == 422


def test_rates_are_limited_per_person(house):
    from deniable.server.guard import limits

    home = house()
    for _ in range(3):
        limits.count(home.database, "ann", "ask", most=3)
    with pytest.raises(limits.TooMany):
        limits.count(home.database, "ann", "ask", most=3)
    limits.count(home.database, "bob", "ask", most=3)
    limits.count(home.database, "ann", "price", most=3)


def test_a_new_minute_has_new_requests(house, monkeypatch):
    from deniable.server.guard import limits

    home = house()
    limits.count(home.database, "ann", "ask", most=1)
    monkeypatch.setattr("deniable.server.guard.limits.now", lambda: time.time() + 61)
    limits.count(home.database, "ann", "ask", most=1)


# ---- what text may do

HOSTILE = ["<img src=x onerror=alert(1)>", "=1+1", "+SUM(A1)", "@cmd", '"><script>', "\x1b[2J"]


def test_hostile_text_is_inert_in_pages_and_in_csv(site):
    """Keys from a schema reach pages and files as text, whatever they look like."""
    from deniable.server.pages.answers import inert

    for text in HOSTILE:
        shown = str(inert(text))
        assert shown[:1] not in ("=", "+", "-", "@")
        assert "\x1b" not in shown
    with site.browser() as browser:
        for text in HOSTILE:
            page = browser.post("/ask", data={"sql": text, "figure": "0.1", "nonce": "x"}).text
            assert "<img" not in page
            assert '"><script>' not in page
        page = browser.get("/ask", params={"sql": HOSTILE[0], "table": HOSTILE[0]}).text
        assert "<img" not in page


def test_errors_of_the_server_itself_name_no_file_to_analysts(site, monkeypatch):
    secret = {"code": "DP501", "title": "/srv/secret.ledger cannot be used", "cost": "nothing"}
    with site.api(site.analyst("prober")) as prober:
        for said in ({"refused": secret}, {"fault": "Traceback /srv/secret"}):
            for planner in site.house.planners.all:
                monkeypatch.setattr(planner, "do", lambda task, said=said: said)
            answer = prober.post("/api/explain", json=BODY)
            assert answer.status_code == 503
            assert "secret" not in answer.text
    assert "secret" in json.dumps(site.house.logged())


# ---- rows


def test_prices_and_pages_need_no_rows(house):
    """Without its file a table is still priced; a question is refused before it is charged."""
    home = house()
    asking, curator = Asking(home), home.accounts.curator()
    door = Door(home, asking)
    before = door.explain(curator, BODY)
    for path in home.groups["people"].sources.values():
        path.unlink()
    assert door.explain(curator, BODY) == before
    assert Views(home, asking).table("visits", curator)["columns"]
    outcome = asking.ask(Ask(person=curator, key="gone-file", people="people", body=BODY))
    assert outcome.state == "refused"
    assert not list(home.ledgers["people"].entries)


def test_a_price_is_the_same_with_and_without_any_one_person(house, tmp_path):
    from .conftest import ROWS

    plans = []
    for name, rows in (("with", ROWS), ("without", ROWS[2:]), ("empty", [])):
        home = house(folder=fill(tmp_path / name, rows=rows))
        person = home.accounts.curator()
        plans.append(Door(home, Asking(home)).explain(person, BODY))
    assert plans[0] == plans[1] == plans[2]


def test_a_stored_answer_of_another_analyst_looks_as_if_it_were_new(house):
    from .test_asking import ask_of

    home = house()
    asking = Asking(home)
    shapes = []
    for name, sql in (("ann", SQL), ("bob", SQL), ("cy", SQL + " WHERE age > 50")):
        outcome = asking.ask(ask_of(home, name=name, sql=sql))
        release = outcome.release
        shapes.append((sorted(release), release["free"], release["charged"], release["loss"]))
        assert release["provenance"]["entry"] is None
    assert shapes[0] == shapes[1] == shapes[2]


@pytest.mark.parametrize(
    ("work", "step"),
    [(0, 0.5), (0.49, 0.5), (0.5, 0.5), (0.51, 2), (7.9, 8), (29, 30), (31, 60), (60, 90)],
)
def test_answers_leave_at_public_steps(work, step):
    """Whatever the work took, the whole time is one of the steps, or a multiple of the last."""
    assert step_after(work, (0.5, 2.0, 8.0, 30.0)) == step


def test_also_a_refusal_waits_for_its_step(house, monkeypatch):
    waited = []

    async def pad(start):
        waited.append("at the door")

    home = house()
    door, curator = Door(home, Asking(home)), home.accounts.curator()
    monkeypatch.setattr(door, "pad", pad)
    monkeypatch.setattr("deniable.server.jobs.pace.Pace.wait", lambda _: waited.append("at work"))
    frozen = Person(name="curator", role="curator", frozen=True)
    for who, key in ((curator, "some-key"), (frozen, "late-key")):
        with suppress(dp.NotReady):
            asked = asyncio.run(door.ask(who, key, {"sql": "nonsense", "spend": None}))
            assert asked.state == "refused"
    assert waited == ["at work", "at the door"]


# ---- budgets


def test_a_file_registered_twice_has_one_budget_whatever_it_is_called(house, tmp_path):
    folder = fill(tmp_path / "tables")
    house(folder=folder).close()
    fill(folder, name="copy")
    (folder / "server.toml").write_text('[other]\nbudget = {epsilon = 9}\ntables = ["copy"]\n')
    with pytest.raises(dp.BadParameter, match="registered in the group `people`"):
        house(folder=folder)
    (folder / "server.toml").write_text('[other]\nbudget = {epsilon = 9}\ntables = ["visits"]\n')
    (folder / "copy.toml").unlink()
    (folder / "copy.csv").unlink()
    with pytest.raises(dp.BadParameter, match="registered in the group `people`"):
        house(folder=folder)


def test_a_changed_unit_or_budget_is_not_a_fresh_one(house, tmp_path):
    from .conftest import SCHEMA

    folder = fill(tmp_path / "tables")
    house(folder=folder).close()
    with pytest.raises(dp.DeniableError):
        house(folder=folder, budget=99.0)
    (folder / "visits.toml").write_text(SCHEMA.replace("rows = 2", "rows = 1"))
    with pytest.raises(dp.DeniableError):
        house(folder=folder)


def test_tables_about_the_same_people_share_one_ceiling(house, tmp_path):
    folder = fill(tmp_path / "tables")
    fill(folder, name="stays", rows=[(1, 2, "Oslo")])
    home = house(folder=folder, budget=1.0)
    assert set(home.tables()) == {"visits", "stays"}
    asking, curator = Asking(home), home.accounts.curator()
    states = []
    for number, table in enumerate(["visits", "stays", "visits"]):
        body = {"sql": f"SELECT COUNT(*) AS n{number} FROM {table}", "spend": {"epsilon": 0.4}}
        ask = Ask(person=curator, key=f"key-{number}", people="people", body=body)
        states.append(asking.ask(ask).state)
    assert states == ["stored", "stored", "refused"]


def test_a_restored_back_up_closes_the_group(house, tmp_path):
    from .test_asking import ask_of

    home = house()
    asking = Asking(home)
    asking.ask(ask_of(home))
    ledger = home.settings.state / "people.ledger"
    yesterday = ledger.read_bytes()
    asking.ask(ask_of(home, key="key-00002", sql=SQL + " WHERE age > 50"))
    home.close()
    ledger.write_bytes(yesterday)
    restored = house(folder=home.settings.folder)
    assert "people" in restored.closed
    with pytest.raises(dp.NotReady, match="older copy"):
        Asking(restored).ask(ask_of(restored, key="key-00003"))
    for number in range(9):  # lines of other kinds do not make up for those that are missing
        restored.ledgers["people"].share(f"new {number}", amount=dp.epsilon(0.1))
        restored.anchor("people")
    restored.close()
    assert "people" in house(folder=home.settings.folder).closed


def test_state_is_for_its_owner_alone(house):
    home = house()
    assert home.settings.state.stat().st_mode & 0o777 == 0o700
    for path in home.settings.state.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("charset", ["undefined", "punycode", "unicode_escape", "utf-8"])
@pytest.mark.parametrize("path", ["/sign-in", "/ask", "/ask/named", "/curator/register"])
def test_no_form_in_an_encoding_of_the_senders_choice_is_a_fault(site, path, charset):
    part = 'Content-Disposition: form-data; name="nonce"\r\n\r\n\\ud800'
    kind = f"multipart/form-data; boundary=B; charset={charset}"
    sent = {"content": f"--B\r\n{part}\r\n--B--\r\n", "headers": {"content-type": kind}}
    assert site.browser().post(path, **sent).status_code == 415
    assert not [each for each in site.house.logged(20) if "Unicode" in str(each)]
