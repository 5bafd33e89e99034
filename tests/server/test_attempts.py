"""Neither looking, queueing, cancelling nor pausing tells or changes what a question came to."""

import itertools
import threading
import time
from contextlib import suppress

import pytest

import deniable as dp
from deniable.server.app import Application
from deniable.server.database import now
from deniable.server.jobs.asking import GRACE, Asking, Conflict

from .conftest import fill
from .test_asking import SQL, ask_of, charges


def begun(act):
    thread = threading.Thread(target=act)
    thread.start()
    return thread


def until(done, patience=300):
    end = time.monotonic() + patience
    while not done():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.005)


def looks(app, ask):
    """What every door tells of a question's answer."""
    person, curator = ask.person, app.house.accounts.curator()
    try:
        again = app.asking.enqueue(ask_of(app.house, key=ask.key)) is not None
    except Conflict:
        again = False
    return {
        "job": app.job(person, ask.key).release is not None,
        "again": again,
        "own answers": bool(app.asking.known.answered(person=person)),
        "ledger": bool(app.views.ledger(person)["answers"]),
        "the curator's ledger": bool(app.views.ledger(curator)["answers"]),
        "public": bool(app.views.public()["groups"][0]["releases"]),
    }


def test_no_door_tells_an_answer_before_its_step(house, tmp_path):
    for step in (3.0, 30.0, 300.0):  # a busy machine may look too late: then again, at leisure
        folder = fill(tmp_path / f"tables{step}")
        (folder / "server.toml").write_text('[people]\ntables = ["visits"]\npublish = true\n')
        home = house(folder=folder, steps=(step,))
        app, ask = Application(home), ask_of(home)
        asked = begun(lambda app=app, ask=ask: app.asking.ask(ask))
        until(lambda home=home: home.database.rows("SELECT 1 FROM asks WHERE result IS NOT NULL"))
        early = looks(app, ask)
        ((visible,),) = home.database.rows("SELECT visible FROM asks")
        in_time = time.time() < visible
        asked.join()
        assert all(looks(app, ask).values())
        if in_time:
            break
    assert not any(early.values()), early


def test_a_question_begins_when_the_step_of_the_one_before_has_come(house, tmp_path):
    """Also at another server, and in another group: the ends tell nothing about the work."""
    home, other = (house(folder=fill(tmp_path / "tables"), steps=(0.3,)) for _ in range(2))
    servers = [Asking(home), Asking(other)]
    asks = [ask_of(home, key=f"key-{n:05}", sql=f"{SQL} WHERE age > {n}") for n in range(4)]
    ended = []

    def one(number):
        servers[number % 2].ask(asks[number])
        ended.append(time.time())

    for thread in [begun(lambda n=n: one(n)) for n in range(4)]:
        thread.join()
    ends = sorted(v for (v,) in home.database.rows("SELECT visible FROM asks"))
    gaps = [later - earlier for earlier, later in itertools.pairwise(ends)]
    assert min(gaps) >= 0.3 - 1e-6
    assert all(when >= end for when, end in zip(sorted(ended), ends, strict=True))


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("other", [{"spend": 0.3}, {"sql": SQL + " WHERE age > 30"}, {}])
def test_a_cancelled_question_is_never_charged_though_its_key_is_used_again(house, other, times):
    home = house()
    asking, outcomes = Asking(home), []

    def run(ask):
        with suppress(dp.NotReady):
            outcomes.append(asking.run(ask))

    threads = []
    with home.workers.one(patience=5):  # nobody can work
        for _ in range(times):
            cancelled = ask_of(home, spend=0.7)
            assert asking.enqueue(cancelled) is None
            threads.append(begun(lambda ask=cancelled: run(ask)))
            assert asking.cancel(cancelled.person, cancelled.key)
        wanted = ask_of(home, **other)
        assert asking.enqueue(wanted) is None
        threads.append(begun(lambda: run(wanted)))
    for thread in threads:
        thread.join()
    (outcome,) = outcomes
    assert outcome.release["loss"]["epsilon"] == wanted.body["spend"]["epsilon"]
    assert len(charges(home)) == 1
    assert asking.look(wanted.person, wanted.key).release == outcome.release
    assert asking.ask(ask_of(home, **other)).release == outcome.release


def test_an_answer_that_comes_after_another_server_settled_is_not_filed(house):
    home = house()
    asking, ask = Asking(home), ask_of(home)
    do = home.workers.all[0].do

    def late(task):
        home.database.rows("UPDATE asks SET lease = 0")
        asking.settle_all()
        home.workers.all[0].do = do
        assert asking.enqueue(ask_of(home, spend=0.3)) is None  # the key is free again
        return do(task)

    home.workers.all[0].do = late
    assert asking.ask(ask).state == "refused"
    assert asking.look(ask.person, ask.key).state == "queued"


def test_a_worker_begins_nothing_past_the_lease(house):
    home = house(processes=True)
    task = {**ask_of(home).body, "kind": "ask", "people": "people", "asker": "ann"}
    said = home.workers.all[0].do(task | {"until": time.time() - 1})
    assert said["refused"]["cost"].startswith("nothing was")
    assert not charges(home)
    assert "ok" in home.workers.all[0].do(task | {"until": time.time() + 600})


@pytest.mark.parametrize("act", ["freeze", "rotate"])
def test_what_is_queued_is_cancelled_with_its_askers_rights(site, act):
    name = f"queued-{act}"
    curator = site.house.accounts.issue(site.house.accounts.curator(), "token")
    with site.api(site.analyst(name)) as http, site.api(curator) as boss:
        with site.house.workers.one(patience=60):
            body = {"sql": SQL, "spend": {"epsilon": 0.1}}
            http.post("/api/jobs", json=body, headers={"idempotency-key": "queued-01"})
            assert boss.post(f"/api/people/{name}/{act}").status_code == 200
        person = site.house.accounts.find(name)
        assert Asking(site.house).look(person, "queued-01").state == "refused"
        with site.house.workers.one(patience=60):
            assert not charges(site.house, name)


def test_who_was_frozen_in_the_queue_is_refused_at_their_turn(house):
    home = house()
    asking, ask = Asking(home), ask_of(home)
    asking.enqueue(ask)
    home.accounts.freeze("ann", frozen=True)
    with pytest.raises(dp.NotReady, match="frozen"):
        asking.run(ask)
    assert not charges(home)


def test_curators_cannot_freeze_themselves(site):
    curator = site.house.accounts.issue(site.house.accounts.curator(), "token")
    with site.api(curator) as boss:
        assert boss.post("/api/people/curator/freeze").status_code == 400


def test_a_queued_question_of_a_dead_server_ends(house):
    home = house()
    asking = Asking(home)
    looked, told = ask_of(home), ask_of(home, key="key-00002")
    for ask in (looked, told):
        asking.enqueue(ask)
    home.database.rows("UPDATE asks SET lease = 0")
    assert asking.look(looked.person, looked.key).state == "refused"
    asking.settle_all()
    assert asking.look(told.person, told.key).state == "refused"


def test_what_is_watched_does_not_tell_whether_the_answer_is_there_already(house, monkeypatch):
    home = house()
    app = Application(home)
    asked = ask_of(home)
    app.asking.ask(asked)
    most, turn = home.settings.deadline, now() - 4.5
    monkeypatch.setattr("deniable.server.app.now", lambda: turn + 4.5)
    home.database.rows("UPDATE asks SET visible = ?, lease = ?", turn + 100, turn + most + GRACE)
    there = app.progress(asked.person, asked.key)
    home.database.rows("UPDATE asks SET state = 'reserved', result = NULL, visible = 0")
    assert app.progress(asked.person, asked.key) == there
    assert (there["state"], there["seconds"], there["next"]) == ("running", 4, 5.0)
