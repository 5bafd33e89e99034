"""Nobody waits for what one other person has sent, however much that is."""

import threading
import time

import pytest

import deniable as dp
from deniable.server.jobs.asking import WAITING, Asking
from deniable.server.jobs.door import Door
from deniable.server.jobs.kinds import KINDS
from deniable.server.jobs.outcomes import crowded, is_own
from deniable.server.jobs.turns import Turns

from .test_asking import SQL, ask_of, charges

FIT = {"kind": "fit", "estimator": "KMeans", "features": ["age"]}


def test_each_person_has_one_turn_at_a_time_and_others_have_theirs():
    turns = Turns(most=3)
    with turns.of("ann", patience=0):
        assert turns._present["ann"] == 1
        with pytest.raises(dp.NotReady, match="still being answered"), turns.of("ann", patience=0):
            pytest.fail("ann has her turn")
        with pytest.raises(dp.NotReady, match="still being answered"), turns.of("ann", patience=-2):
            pytest.fail("her patience is at an end")
        with turns.of("bob", patience=-1):
            pass
    for _ in range(4):  # a turn comes back, whatever happens in it
        with pytest.raises(KeyError), turns.of("ann", patience=0):
            raise KeyError


def test_so_many_of_one_person_wait_and_no_more():
    turns, inside, go = Turns(most=3), [], threading.Event()

    def wait():
        with turns.of("ann", patience=300):
            inside.append(1)
            go.wait()

    threads = [threading.Thread(target=wait, daemon=True) for _ in range(3)]
    for each in threads:
        each.start()
    while turns._present["ann"] < 3 and all(each.is_alive() for each in threads):
        time.sleep(0.001)
    with pytest.raises(dp.NotReady, match="too many") as caught, turns.of("ann", patience=0):
        pytest.fail("three are here")
    assert caught.value.status == 429
    with turns.of("bob", patience=0):
        go.set()
    for each in threads:
        each.join()
    assert len(inside) == 3
    with turns.of("ann", patience=0):
        pass


def test_an_asker_is_told_that_they_have_too_many_waiting():
    assert is_own(crowded().to_json())


def test_long_questions_of_some_do_not_keep_others_waiting(house, monkeypatch):
    """With two workers, of two fits one waits; a query of somebody else is answered meanwhile."""
    home = house(workers=2)
    asking, begun, go = Asking(home), [], threading.Event()
    for worker in home.workers.all:
        do = worker.do

        def slow(task, do=do):
            if task.get("ask"):
                begun.append(task["asker"])
                go.wait()
            return do(task)

        monkeypatch.setattr(worker, "do", slow)
    fits = [ask_of(home, name=name, sql=None, ask=FIT) for name in ("ann", "bob")]
    assert all(each.long for each in fits)
    threads = [threading.Thread(target=asking.ask, args=(each,)) for each in fits]
    for each in threads:
        each.start()
    while not begun:
        time.sleep(0.001)
    assert asking.ask(ask_of(home, name="cleo")).state == "stored"
    assert (
        asking.ask(ask_of(home, name="cleo", key="key-00002", sql=SQL + " WHERE age > 30")).error
        is None
    )
    assert len(begun) == 1
    go.set()
    for each in threads:
        each.join()
    assert sorted(begun) == ["ann", "bob"]
    assert len(charges(home, "cleo")) == 2


def test_what_is_long_follows_from_the_kind_of_a_question_alone(house):
    home = house()
    assert not ask_of(home).long
    for kind, made in KINDS.items():
        assert ask_of(home, ask={"kind": kind}).long == (made.patience > 1)
    assert any(made.patience > 1 for made in KINDS.values())


def test_a_question_waits_as_long_as_the_questions_before_it_may_take(house):
    """The lease of a queued question covers its wait: else another server would settle it."""
    home, leases = house(), {}
    asking = Asking(home)
    for key, ask in (("key-00001", None), ("key-00002", FIT)):
        assert asking.enqueue(ask_of(home, key=key, sql=None if ask else SQL, ask=ask)) is None
        ((leases[key],),) = home.database.rows(
            "SELECT lease - created FROM asks WHERE key = ?", key
        )
    assert leases["key-00002"] > home.settings.deadline * KINDS["fit"].patience
    assert 60 < leases["key-00001"] < 80


def test_prices_of_one_person_wait_for_each_other_and_made_up_rows_leave_a_planner_free(
    house, monkeypatch
):
    home = house()
    asking = Asking(home)
    door, begun, go = Door(home, asking), [], threading.Event()
    for planner in home.planners.all:
        do = planner.do

        def slow(task, do=do):
            begun.append(task["kind"])
            if task["kind"] == "try":
                go.wait()
            return do(task)

        monkeypatch.setattr(planner, "do", slow)
    people = [ask_of(home, name=name) for name in ("ann", "bob", "cleo")]
    threads = [
        threading.Thread(target=door.rehearse, args=(each.person, each.body))
        for each in (people[0], people[0], people[1])
    ]
    for each in threads:
        each.start()
    while not begun:
        time.sleep(0.001)
    assert door.explain(people[2].person, people[2].body)["cost"]["epsilon"] == 0.1
    assert begun == ["try", "explain"]
    go.set()
    for each in threads:
        each.join()
    assert begun == ["try", "explain", "try", "try"]


def test_a_person_who_asks_more_than_may_wait_is_refused_for_free(house):
    home = house()
    asking = Asking(home)
    asks = [ask_of(home, key=f"key-{i:05}", spend=0.01) for i in range(WAITING + 1)]
    outcomes, threads = [], [threading.Thread(target=asking.ask, args=(a,)) for a in asks[:-1]]
    with home.workers.one(patience=0):  # nobody can work
        for each in threads:
            each.start()
        while asking._turns._present["ann"] < WAITING:
            time.sleep(0.001)
        with pytest.raises(dp.NotReady, match="too many"):
            asking.ask(asks[-1])
        outcomes.append(asking.look(asks[-1].person, asks[-1].key))
    for each in threads:
        each.join()
    assert [each.state for each in outcomes] == ["refused"]
    assert asking.ask(asks[-1]).state == "stored"  # its key is free again
