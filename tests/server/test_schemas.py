"""The schema editor: lint with fixes, a review, revisions; what was promised cannot be edited."""

import re
import shutil

import pytest

import deniable as dp
from deniable.schema import Schema
from deniable.server.curating import schemas
from deniable.server.house import House

from .conftest import SCHEMA, fill, settings_of

BARE = SCHEMA.replace("bounds = [0, 120]\n", "").replace('missing = "drop"\n', "")


@pytest.fixture
def bare(serve_house, tmp_path):
    """A server whose schema lacks the bounds of `age`."""
    folder = fill(tmp_path / "tables", schema=BARE)
    settings = settings_of(folder, tmp_path / "anchors", workers=1)
    site = serve_house(House(settings, budget=dp.epsilon(10.0)))
    yield site
    while site.opened:
        site.opened.pop().close()


PATH = "/curator/tables/visits/schema"


def fields(page):
    """The form of a page as a browser would send it."""
    found = dict(re.findall(r'<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"', page))
    found |= dict(re.findall(r'<textarea[^>]*name="([^"]+)"[^>]*>([^<]*)', page))
    for name, options in re.findall(r'<select[^>]*name="([^"]+)">(.*?)</select>', page):
        chosen = re.search(r"<option selected>([^<]*)", options)
        found[name] = chosen[1] if chosen else ""
    return found


def test_consent_is_stated_with_the_first_edit_of_a_csv(serve_house, tmp_path):
    """Otherwise people who did not agree would be counted until the second."""
    text = SCHEMA.replace('keys = ["Oslo", "Bergen"]', 'type = "text"')
    folder = fill(tmp_path / "tables", schema=text)
    (folder / "visits.csv").write_text("id,age,city\n" + "1,50,true\n2,60,false\n" * 3)
    settings = settings_of(folder, tmp_path / "anchors", workers=1)
    site = serve_house(House(settings, budget=dp.epsilon(10.0)))
    curator = site.browser()
    page = curator.get(PATH).text
    assert "who agreed" in page
    typed = curator.post(PATH, data=fields(page) | {"type-2": "bool"}).text
    assert "who agreed" not in typed
    review = curator.post(PATH, data=fields(typed) | {"consent": "city"}).text
    assert "no longer counted" in review
    curator.post(PATH, data=fields(review) | {"action": "save"})
    saved = Schema.from_toml(site.house.groups["people"].files["visits"])
    assert (saved.consent, saved.version) == ("city", "schema 2")
    curator.close()


def test_lint_proposes_a_fix_that_fills_the_form_and_saving_it_lets_the_question_through(bare):
    ask = {"sql": "SELECT SUM(age) AS total FROM visits", "spend": {"epsilon": 1.0}}
    api = bare.api(bare.analyst("ann", share=2.0))
    assert api.post("/api/explain", json=ask).json()["code"] == "DP102"
    curator = bare.browser()
    page = curator.get(PATH).text
    assert "no bounds" in page
    button = re.search(r'value="(fix-\d+-0)">Fill in 0 to 100', page)[1]
    filled = curator.post(PATH, data=fields(page) | {"action": button}).text
    typed = fields(filled)
    assert (typed["low-1"], typed["high-1"]) == ("0", "100")
    assert Schema.from_toml(bare.house.groups["people"].files["visits"]).version is None
    review = curator.post(PATH, data=typed | {"high-1": "120", "action": "save"}).text
    assert "Save as schema 2" in review  # saving without a review is a review
    saved = curator.post(PATH, data=fields(review) | {"action": "save"}, follow_redirects=True)
    assert "Saved as schema 2" in saved.text
    assert api.post("/api/explain", json=ask).status_code == 200
    found = api.post("/api/ask", json=ask, headers={"idempotency-key": "k" * 8}).json()
    assert found["release"]["provenance"]["data_version"] == "visits schema 2"
    assert any("schema 2" in (e.what or "") for e in bare.house.ledgers["people"].entries)


def test_a_stale_form_does_not_overwrite_what_another_saved(bare):
    curator = bare.browser()
    first = fields(curator.get(PATH).text) | {"low-1": "0", "high-1": "99"}
    second = fields(curator.get(PATH).text) | {"size": "200"}
    for typed, status in ((first, 303), (second, 409)):
        review = fields(curator.post(PATH, data=typed).text)
        assert curator.post(PATH, data=review | {"action": "save"}).status_code == status


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ({"low-1": "9", "high-1": ""}, "both bounds or none"),
        ({"low-1": "9", "high-1": "3"}, "low must be below high"),
        ({"low-1": "x", "high-1": "3"}, "must be a whole number"),
        ({"type-1": "file"}, "one of int"),
        ({"keys-2": "Oslo\nOslo"}, "listed twice"),
        ({"missing-2": "Rome"}, "not among the keys"),
        ({"size": "-3"}, "whole number"),
        ({"type-0": "float", "low-0": "1e400", "high-0": "2"}, "`id`"),
    ],
)
def test_what_cannot_be_read_is_said_and_nothing_is_written(site, typed, says):
    curator = site.browser()
    path = site.house.groups["people"].files["visits"]
    before = path.read_text()
    answer = curator.post(PATH, data=fields(curator.get(PATH).text) | typed | {"action": "review"})
    assert answer.status_code == 400
    assert says in answer.text.replace("&#39;", "'")
    assert path.read_text() == before


def test_a_revision_counts_on(tmp_path):
    version = None
    for number in range(2, 6):
        version = schemas.next_revision(version)
        assert version == f"schema {number}"


def test_consent_once_asked_for_cannot_be_taken_back():
    columns = {"agreed": dp.column("bool"), "age": dp.bounds(0, 9)}
    old = dp.Schema(columns=columns, consent="agreed")
    with pytest.raises(dp.BadParameter, match="cannot be taken back"):
        schemas.changes(old, schemas.read(old, {"consent": ""}))
    added = schemas.changes(dp.Schema(columns=columns), old)
    assert "no longer counted" in added[0]


def test_a_form_states_what_the_schema_states():
    """Every kind of column survives the way to a form and back."""
    import datetime as dt

    day = dt.date(2024, 5, 6)
    facts = dp.Schema(
        columns={
            "a": dp.bounds(-1.5, 2.25e300),
            "b": dp.bounds(0, 7, type="int", missing=3),
            "c": dp.keys(["x", "y z"], missing="x"),
            "d": dp.keys([1, 2]),
            "e": dp.bounds(day, dt.date(2025, 1, 1), type="date"),
            "f": dp.column("bool"),
            "g": dp.column("timestamp", missing=dt.datetime.fromisoformat("2024-01-02T03:04:05")),
            "h": dp.keys([True, False]),
        },
        size=1000,
        consent="f",
    )
    assert schemas.read(facts, schemas.typed_in(facts)) == facts


def test_another_server_process_takes_up_what_was_saved(house, tmp_path):
    """Also a consent column: rows without consent must not be read anywhere afterwards."""
    first = house(budget=10.0)
    second = House(first.settings, budget=dp.epsilon(10.0))
    try:
        editing = schemas.begin(first, "visits")
        new = schemas.read(editing.facts, {"high-1": "90"})
        schemas.save(first, editing, new, base=editing.base, who="curator")
        assert second.groups["people"].schema.tables["visits"]["age"].high == 120
        second.refresh()
        assert second.groups["people"].schema.tables["visits"]["age"].high == 90
    finally:
        second.close()


def test_facts_are_checked_against_the_stored_columns_before_they_are_written(house):
    home = house()
    home.groups["people"].sources["visits"].write_text("id,city\n1,Oslo\n")
    editing = schemas.begin(home, "visits")
    new = schemas.read(editing.facts, {"high-1": "90"})
    with pytest.raises(dp.DeniableError, match="age"):
        schemas.save(home, editing, new, base=editing.base, who="curator")
    assert editing.path.read_text() == editing.text


# ---- fresh sign-in

FRESH = [
    ("GET", PATH),
    ("GET", PATH + ".json"),
    ("POST", PATH),
    ("POST", "/curator/people"),
    ("POST", "/curator/people/ann/rotate"),
    ("POST", "/curator/people/ann/resume"),
    ("POST", "/api/people/ann/rotate"),
    ("POST", "/api/people/ann/resume"),
    ("POST", "/api/people/ann/freeze"),
]


@pytest.mark.parametrize("header", [None, "", "x", "Basic x", "Bearerx"])
@pytest.mark.parametrize(("method", "path"), FRESH)
def test_dangerous_pages_want_a_curator_who_has_just_signed_in(
    site, method, path, header, monkeypatch
):
    """Whoever a cookie signs in is as fresh as that cookie, whatever header is sent beside it."""
    curator = site.browser(**({} if header is None else {"authorization": header}))
    monkeypatch.setattr(site.house.accounts, "since", lambda _: 3600.0)
    answer = curator.request(method, path)
    if path.startswith("/api") or path.endswith(".json"):
        assert answer.status_code == 401
    else:
        assert answer.headers["location"].startswith("/sign-in?to=/curator")


def test_signing_in_again_leads_back_and_never_elsewhere(site):
    token = site.house.accounts.issue(site.house.accounts.curator(), "token")
    browser = site.plain(headers={"origin": site.url})
    for to, goes in ((PATH, PATH), ("//evil.example", "/curator"), ("https://evil", "/curator")):
        answer = browser.post("/sign-in", data={"token": token, "to": to})
        assert answer.headers["location"] == goes
        assert "evil" not in browser.get("/sign-in", params={"to": to}).text


def test_causes_are_hidden_from_a_browser_left_open(site, monkeypatch):
    site.analyst("unlucky", share=0.5)
    ledger = site.house.ledgers["people"]
    charge = ledger.charge(dp.Laplace(scale=100.0), unit=ledger.unit, asker="unlucky")
    ledger.stop(charge, cause="row 17 is odd")
    curator = site.browser()
    assert "row 17" in curator.get("/curator.json").text
    with monkeypatch.context() as patch:
        patch.setattr(site.house.accounts, "since", lambda _: 3600.0)
        for path in ("/curator", "/curator.json"):
            assert "row 17" not in curator.get(path).text
    ledger.passed_over("unlucky")


def test_an_analyst_sees_no_schema_form(site):
    site.analyst("nosy")
    assert site.browser("nosy").get(PATH).status_code == 403
    assert site.plain().get(PATH).headers["location"] == "/sign-in"


def test_a_long_body_is_not_read_from_strangers(site):
    body = b"a=" + b"x" * 900_000
    kind = {"content-type": "application/x-www-form-urlencoded", "origin": site.url}
    assert site.plain(headers=kind).post(PATH, content=body).status_code == 401
    assert site.plain(headers=kind).post("/sign-in", content=body).status_code == 413


def test_a_new_link_for_the_curator_is_printed_while_the_server_runs(house):
    from deniable.server.serving import curators_link

    home = house()
    link = curators_link(home.settings)
    assert home.accounts.whose(link, "link").role == "curator"
    shutil.rmtree(home.settings.state)
    with pytest.raises(dp.BadParameter, match="no server has been started"):
        curators_link(home.settings)


def test_a_missing_fact_is_mended_where_one_can(bare):
    """The curator is led to the schema; an analyst is not told to write Python or a command."""
    bare.analyst("ann", share=2.0)
    form = {"sql": "SELECT SUM(age) AS total FROM visits", "figure": "0.1", "table": "visits"}
    curators = bare.browser().post("/ask", data=form).text
    assert 'href="/curator/tables/visits/schema"' in curators
    theirs = bare.browser("ann").post("/ask", data=form).text
    assert "ask the curator to state it" in theirs
    assert "dp.Schema" not in theirs
    assert "deniable set" not in theirs
