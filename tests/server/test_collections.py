"""Collections end to end: a curator begins one, people report, everyone sees estimates with ±."""

import itertools
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import deniable as dp
from deniable import local
from deniable.errors import BadParameter, BudgetExceeded, NotReady
from deniable.local.collection import new_ticket, submission
from deniable.server.collections import routes
from deniable.server.collections.store import Collections, Facts, protocol_of
from deniable.server.database import PostgresDatabase, SqliteDatabase

DRINKS = local.Direct(categories=["tea", "coffee", "water"], epsilon=8.0)
_numbers = itertools.count()


@pytest.fixture(params=["sqlite", "postgres"])
def database(request, tmp_path):
    if request.param == "sqlite":
        made = SqliteDatabase(tmp_path / "server.db")
    else:
        import psycopg

        server = request.getfixturevalue("server")
        name = f"collections_{next(_numbers)}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        made = PostgresDatabase(re.sub(r"/postgres(?=\?|$)", f"/{name}", server))
    yield made
    made.close()


def begun(database, protocol=DRINKS, **facts):
    store = Collections(database)
    store.create(
        Facts(**{"name": "drinks", "title": "Drinks", "purpose": "to know", "batch": 10} | facts,
              protocol=protocol)
    )  # fmt: skip
    return store, store.find("drinks")


def sent(protocol, value, name="drinks", with_ticket=None):
    return submission(protocol, name, protocol.encode(value), ticket=with_ticket or new_ticket())


def test_reports_are_stored_once_and_estimated_in_batches(database):
    store, facts = begun(database)
    bodies = [sent(DRINKS, "tea") for _ in range(9)]
    for body in bodies:
        assert store.accept(facts, body) == {"stored": 1, "duplicates": 0}
        assert store.accept(facts, body) == {"stored": 0, "duplicates": 1}
    assert store.estimate(facts) is None  # nine are no batch
    store.accept(facts, sent(DRINKS, "tea"))
    first = store.estimate(facts)
    assert first["people"] == 10
    for _ in range(9):
        store.accept(facts, sent(DRINKS, "water"))
        assert store.estimate(facts) == first  # no estimate shows a single report
    store.accept(facts, sent(DRINKS, "water"))
    assert store.estimate(facts)["people"] == 20


def test_readers_who_wait_for_the_first_batch_do_not_count_it_again(database, monkeypatch):
    store, facts = begun(database)
    for _ in range(10):
        store.accept(facts, sent(DRINKS, "tea"))
    count, counts, together = store._publish, [], threading.Barrier(6)

    def slow(*asked):
        counts.append(asked)
        time.sleep(0.2)  # the others wait at the lock meanwhile
        count(*asked)

    standing = store._standing

    def at_once(name):
        found = standing(name)
        if threading.current_thread().name not in seen:
            seen.add(threading.current_thread().name)
            together.wait()  # all have seen that a batch is due
        return found

    seen = set()
    monkeypatch.setattr(store, "_publish", slow)
    monkeypatch.setattr(store, "_standing", at_once)
    with ThreadPoolExecutor(6) as readers:
        found = list(readers.map(lambda _: store.estimate(facts), range(6)))
    assert len(counts) == 1
    assert [each["people"] for each in found] == [10] * 6


def test_nobody_waits_for_ever_while_another_counts(tmp_path, monkeypatch):
    """Otherwise a few dozen readers of a large collection would keep every thread of the server."""
    store, facts = begun(SqliteDatabase(tmp_path / "server.db"))
    store.accept(facts, b"".join(sent(DRINKS, "tea") for _ in range(10)))
    monkeypatch.setattr("deniable.server.collections.store._PATIENCE", 0.01)
    with store._counting.setdefault("drinks", threading.Lock()):
        assert store.estimate(facts) is None
    assert store.estimate(facts)["people"] == 10


def test_no_query_shows_in_which_order_reports_arrived(tmp_path):
    """SQLite would number the rows; the same holds for a file that was made before."""
    database = SqliteDatabase(tmp_path / "server.db")
    store, facts = begun(database)
    bodies = [sent(DRINKS, "tea") for _ in range(40)]
    for body in bodies[:20]:
        store.accept(facts, body)
    with database.transaction() as run:  # as before this migration
        run("CREATE TABLE old (collection TEXT, ticket BYTEA, report BYTEA)")
        run("INSERT INTO old SELECT * FROM collection_reports ORDER BY random()")
        run("DROP TABLE collection_reports")
        run("ALTER TABLE old RENAME TO collection_reports")
        run("DELETE FROM migrations WHERE name = '005_arrival.sqlite'")
    database.migrate()
    for body in bodies:
        store.accept(facts, body)
    assert store._standing("drinks")[0] == 40
    with pytest.raises(dp.DeniableError), database.transaction() as run:
        run("SELECT rowid FROM collection_reports")
    found = [row[0] for row in database.rows("SELECT ticket FROM collection_reports")]
    assert found == sorted(found)
    assert len(found) == 40
    database.close()


def test_another_process_knows_what_was_reported(database):
    store, facts = begun(database)
    body = sent(DRINKS, "tea")
    store.accept(facts, body)
    again = Collections(database)
    assert again.find("drinks") == facts
    assert again.accept(facts, body)["duplicates"] == 1


def test_a_report_that_comes_eight_times_at_once_is_stored_once(database):
    store, facts = begun(database)
    bodies = [sent(DRINKS, "tea") for _ in range(6)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda body: store.accept(facts, body), bodies * 8))
    assert sum(each["stored"] for each in found) == len(bodies)
    assert sum(each["duplicates"] for each in found) == 7 * len(bodies)
    assert store._standing("drinks")[0] == len(bodies)


def test_several_submissions_are_stored_all_or_none(database):
    store, facts = begun(database)
    good = [sent(DRINKS, "tea") for _ in range(12)]
    foreign = sent(local.Direct(categories=["tea", "coffee", "water"], epsilon=7.0), "tea")
    with pytest.raises(BadParameter):
        store.accept(facts, b"".join([*good, foreign]))
    assert store.estimate(facts) is None
    assert store.accept(facts, b"".join([*good, good[0]])) == {"stored": 12, "duplicates": 1}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"x",
        b"\0" * 33,
        sent(DRINKS, "tea")[:-1],
        sent(DRINKS, "tea") + b"\0",
        sent(DRINKS, "tea", name="others"),
        sent(local.Direct(categories=["tea", "coffee", "water"], epsilon=7.999), "tea"),
        sent(local.Direct(categories=["tea", "coffee", "milk"], epsilon=8.0), "tea"),
        sent(local.Hadamard(categories=["tea", "coffee", "water"], epsilon=8.0), "tea"),
        sent(DRINKS, "tea")[:-1] + b"\x07",  # of no category
    ],
    ids=range(10),
)
def test_what_is_no_report_of_this_collection_is_refused(tmp_path, body):
    store, facts = begun(SqliteDatabase(tmp_path / "server.db"))
    with pytest.raises(BadParameter):
        store.accept(facts, body)
    assert store._standing("drinks")[0] == 0


def test_a_ticket_counts_once_and_only_issued_ones_where_they_are(database):
    store, facts = begun(database, tickets="issued")
    with pytest.raises(BadParameter, match="not issued"):
        store.accept(facts, sent(DRINKS, "tea"))
    (one,) = map(bytes.fromhex, store.issue("drinks", 1))
    body = sent(DRINKS, "tea", with_ticket=one)
    assert store.accept(facts, body)["stored"] == 1
    other = next(
        b for b in (sent(DRINKS, c, with_ticket=one) for c in ["coffee"] * 99) if b != body
    )
    with pytest.raises(BadParameter, match="used before"):
        store.accept(facts, other)


def test_a_stored_report_that_is_damaged_is_not_counted_as_another(tmp_path):
    database = SqliteDatabase(tmp_path / "server.db")
    store, facts = begun(database)
    store.accept(facts, b"".join(sent(DRINKS, "tea") for _ in range(12)))
    database.rows("UPDATE collection_reports SET report = zeroblob(length(report))")
    with pytest.raises(NotReady, match="damaged"):
        store.estimate(facts)


def test_a_closed_collection_takes_nothing_more(database):
    store, facts = begun(database)
    store.close("drinks")
    with pytest.raises(NotReady):
        store.accept(facts, sent(DRINKS, "tea"))


PROTOCOLS = [
    (local.Mean(epsilon=4.0, low=0, high=10), 5.0),
    (local.Vector(dimension=2, epsilon=4.0), [0.6, 0.8]),
    (local.Ranges(epsilon=4.0, low=0, high=8, cells=4), 3.0),
    (local.HeavyHitters(bits=16, epsilon=4.0), 7),
    (local.Attributes(categories={"a": 2, "b": ["x", "y"]}, epsilon=4.0), {"a": 1, "b": "x"}),
    (local.Unary(categories=5, epsilon=2.0), 3),
    (local.Hashing(categories=5, epsilon=2.0), 3),
    (local.Subset(categories=5, epsilon=2.0), 3),
    (local.Projective(categories=5, epsilon=2.0), 3),
    (local.Sketch(categories=5, epsilon=2.0), 3),
    (local.Repeated(categories=5, epsilon=2.0, first=1.0), 3),
]


@pytest.mark.parametrize(("protocol", "value"), PROTOCOLS, ids=lambda p: getattr(p, "name", ""))
def test_every_protocol_can_be_collected(tmp_path, protocol, value):
    store, facts = begun(SqliteDatabase(tmp_path / "server.db"), protocol)
    assert facts.protocol == protocol == protocol_of(facts.record()["protocol"])
    people = 300 if protocol.name == "heavy_hitters" else 10
    store.accept(facts, b"".join(sent(protocol, value) for _ in range(people)))
    found = store.estimate(facts)
    assert found["people"] == people
    assert found["rows"]
    assert all(np.isfinite([row["value"], row["error"]]).all() for row in found["rows"])


# ---- over HTTP


def new(name, **facts):
    base = {"name": name, "title": "Drinks", "purpose": "to buy what people drink"}
    listed = {"categories": ["tea", "coffee"], "epsilon": 8.0, "batch": 10}
    return base | listed | facts


def test_a_collection_end_to_end_over_http(site, tmp_path):
    """40 clients at ε = 8: the estimate of 30 is within its ± at 1 − 1e-9, whose half-width is 2.5.

    A report is wrong with probability 3.4e-4, so 4 or more of 40 are with probability < 1e-9.
    """
    curator = site.browser()
    assert curator.post("/api/collections", json=new("drinks")).status_code == 200
    anyone = dp.connect(site.url)
    for i in range(40):
        drinks = anyone.collection("drinks", memory=tmp_path / f"{i}.db")
        value = "tea" if i < 30 else "coffee"
        assert drinks.submit(value).status == "stored"
        assert drinks.submit(value).status == "duplicate"  # also after a restart
        assert drinks.submit("coffee").status == "duplicate"  # and whatever is said later
    found = drinks.estimate()
    assert found["people"] == 40
    assert abs(found["rows"][0]["value"] - 30) < 4.5
    page = site.plain().get("/collections/drinks").text
    assert "<svg" in page
    assert "Estimated from 40 reports" in page
    assert site.plain().get("/collections/drinks.json").json()["estimate"] == found
    anyone.close()


def test_only_a_curator_begins_invites_and_closes(site):
    analyst = site.api(site.analyst("bea"))
    for send in (analyst, site.plain()):
        for path, body in [
            ("/api/collections", new("hers")),
            ("/api/collections/x/tickets", {"count": 1}),
            ("/api/collections/x/close", None),
            ("/collections", None),
        ]:
            assert send.post(path, json=body).status_code in (401, 403)


def test_an_estimate_that_is_not_public_is_shown_to_the_curator_alone(site):
    curator = site.browser()
    curator.post("/api/collections", json=new("secret", public=False))
    facts = site.plain().get("/api/collections/secret").json()
    protocol = local.from_dict(facts["protocol"])
    bodies = b"".join(sent(protocol, "tea", name="secret") for _ in range(10))
    assert site.plain().post("/api/collections/secret/reports", content=bodies).json() == {
        "stored": 10,
        "duplicates": 0,
    }
    hers = site.api(site.analyst("bea"))
    for other in (site.plain(), hers):
        seen = other.get("/collections/secret.json").json()
        assert seen["estimate"] is None
        assert "Only the curator" in other.get("/collections/secret").text
    assert curator.get("/collections/secret.json").json()["estimate"]["people"] == 10


def test_the_form_begins_a_collection(site):
    curator = site.browser()
    form = {"name": "by-form", "title": "A <b>title</b>", "purpose": "why", "epsilon": "1,5"}
    form |= {"categories": "yes\nno\n\n", "tickets": "open", "public": "yes"}
    answer = curator.post("/collections", data=form)
    assert answer.status_code == 303
    shown = site.plain().get("/collections/by-form").text
    assert "A &lt;b&gt;title&lt;/b&gt;" in shown
    assert site.plain().get("/api/collections/by-form").json()["epsilon"] == 1.5
    wrong = curator.post("/collections", data=form | {"name": "By Form"})
    assert wrong.status_code == 400
    assert "name" in wrong.text
    assert "by-form" in site.plain().get("/collections").text


def test_reports_are_limited_in_rate_and_size(site, monkeypatch):
    site.browser().post("/api/collections", json=new("limited"))
    anyone = site.plain()
    assert anyone.post("/api/collections/limited/reports", content=b"x" * 70_000).status_code == 413
    assert anyone.post("/api/collections/nothing/reports", content=b"x").status_code == 404
    monkeypatch.setattr(routes, "PER_MINUTE", 0)
    assert anyone.post("/api/collections/limited/reports", content=b"x").status_code == 429


def test_a_page_elsewhere_cannot_make_its_visitors_report(site):
    site.browser().post("/api/collections", json=new("visited"))
    elsewhere = site.plain(headers={"origin": "http://evil.example"})
    assert elsewhere.post("/api/collections/visited/reports", content=b"x").status_code == 403


def test_a_server_that_changes_its_mind_gets_no_second_report(site, tmp_path):
    """Another ε, or other categories, would be a second report about the same value."""
    curator = site.browser()
    memory = tmp_path / "me.db"
    curator.post("/api/collections", json=new("first"))
    curator.post("/api/collections", json=new("second", epsilon=7.0))
    with dp.connect(site.url) as c:
        c.collection("first", memory=memory).submit("tea")
        with pytest.raises(BudgetExceeded):
            c.collection("second", memory=memory).submit("tea")


def test_tickets_reach_people_and_count_once(site, tmp_path):
    curator = site.browser()
    curator.post("/api/collections", json=new("invited", tickets="issued"))
    (one,) = curator.post("/api/collections/invited/tickets", json={"count": 1}).json()["tickets"]
    with dp.connect(site.url) as c:
        with pytest.raises(BadParameter, match="not issued"):
            c.collection("invited", memory=tmp_path / "a.db").submit("tea")
        mine = c.collection("invited", memory=tmp_path / "b.db", ticket=one)
        assert mine.submit("tea").status == "stored"
        assert mine.submit("tea").status == "duplicate"
    assert one not in str(site.house.database.rows("SELECT * FROM collection_tickets"))


def test_repeated_reports_are_counted_each_and_cost_one_lifetime(site, tmp_path):
    protocol = local.Repeated(categories=["tea", "coffee"], epsilon=2.0, first=1.0)
    body = new("daily", protocol=protocol.to_dict()) | {"categories": None, "epsilon": None}
    assert site.browser().post("/api/collections", json=body).status_code == 200
    with dp.connect(site.url) as c:
        daily = c.collection("daily", memory=tmp_path / "me.db")
        assert {daily.submit("tea").status for _ in range(12)} == {"stored"}
        assert daily.estimate()["people"] == 12
    assert local.Client(protocol, memory=tmp_path / "me.db").spent == dp.epsilon(2.0)
