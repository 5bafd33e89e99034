"""A question is paid for once, whatever happens to the process that answers it."""

import json
import os
import signal
import threading
from pathlib import Path

import pytest

import deniable as dp
from deniable.server.jobs.asking import Ask, Asking, Conflict
from deniable.server.jobs.workers import Died
from deniable.server.views import Views

SQL = "SELECT COUNT(*) AS n FROM visits"


def ask_of(house, key="key-00001", sql=SQL, spend=0.1, name="ann", **more):
    person = house.accounts.find(name) or house.accounts.add(name)
    if house.ledgers["people"].standing(name) is None:
        house.ledgers["people"].share(name, amount=dp.epsilon(2.0))
    body = {"sql": sql, "spend": {"epsilon": spend}, "within": None, "size": None, **more}
    return Ask(person=person, key=key, people="people", body=body)


def charges(house, name="ann"):
    return [e for e in house.ledgers["people"].entries if e.kind == "charge" and e.asker == name]


def test_the_same_key_is_the_same_answer_and_one_charge(house):
    home = house(processes=True)
    asking = Asking(home)
    first, again = asking.ask(ask_of(home)), asking.ask(ask_of(home))
    assert first.state == again.state == "stored"
    assert first.release == again.release
    assert len(charges(home)) == 1


def test_the_same_key_with_another_question_is_a_conflict_whatever_differs(house):
    home = house()
    asking = Asking(home)
    asking.ask(ask_of(home))
    for other in ({"spend": 0.2}, {"sql": SQL + " WHERE age > 3"}, {"purpose": "x"}, {"size": 3.0}):
        with pytest.raises(Conflict):
            asking.ask(ask_of(home, **other))
    assert len(charges(home)) == 1


def test_keys_belong_to_their_asker(house):
    home = house()
    asking = Asking(home)
    asking.ask(ask_of(home))
    asking.ask(ask_of(home, name="bob", sql=SQL + " WHERE age > 3"))
    assert len(charges(home)) == len(charges(home, "bob")) == 1


def test_what_is_refused_costs_nothing_and_frees_its_key(house):
    home = house()
    asking = Asking(home)
    refused = asking.ask(ask_of(home, sql="SELECT * FROM visits"))
    assert refused.state == "refused"
    assert refused.error["code"] == "DP310"
    too_much = asking.ask(ask_of(home, spend=5.0))
    assert too_much.error["code"] == "DP201"
    assert not charges(home)
    assert asking.ask(ask_of(home)).state == "stored"


def die_at(step, how):
    """Kills this process at a step of writing the charge's line."""

    def kill(reached):
        if reached == step:
            signal.signal(how, signal.SIG_DFL) if how == signal.SIGALRM else None
            os.kill(os.getpid(), how)

    return kill


STATES = {
    "checked": ("refused", 0, False),  # before the line is written: nothing was spent
    "committed": ("lost", 1, True),  # charged, and no answer: lost, and the asker is stopped
}


@pytest.mark.parametrize("step", STATES)
def test_a_worker_killed_at_a_state_leaves_the_truth(house, step, monkeypatch):
    state, count, stopped = STATES[step]
    home = house()
    asking = Asking(home)
    monkeypatch.setattr(home.workers.all[0], "do", dying(home, step))
    outcome = asking.ask(ask_of(home))
    monkeypatch.undo()
    assert (outcome.state, len(charges(home))) == (state, count)
    assert ("ann" in home.ledgers["people"].halts().stopped) == stopped
    again = asking.ask(ask_of(home))
    if stopped:
        assert again == outcome  # said to be lost, never drawn again
        other = asking.ask(ask_of(home, key="key-00002", sql=SQL + " WHERE age > 9"))
        assert other.error["code"] == "DP602"
        assert len(charges(home)) == count
        (failure,) = home.ledgers["people"].failures()
        assert "ended with code -9" in failure.detail
        home.ledgers["people"].resume("ann")
        assert asking.ask(ask_of(home, key="key-00003")).state == "stored"
    else:
        assert again.state == "stored"
        assert len(charges(home)) == 1


def dying(home, step, how=signal.SIGKILL):
    """Do a task in a forked process that is killed at a step, as a worker would be."""

    def do(task):
        child = os.fork()
        if child == 0:
            try:
                from deniable.ledger.stores.store import watching
                from deniable.server.jobs.work import Room

                places = {name: home._place(name) for name in home.groups}
                room = Room(home.groups, places)
                room._session("people", "ann")
                with watching(die_at(step, how)):
                    room.do(task)
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        raise Died(os.waitstatus_to_exitcode(status))

    return do


def test_a_server_killed_after_the_answer_was_stored_in_the_ledger_gives_it_again(house):
    home = house()
    asking = Asking(home)
    first = asking.ask(ask_of(home))
    home.database.rows("UPDATE asks SET state = 'reserved', result = NULL, lease = 0")
    again = asking.ask(ask_of(home))
    assert [each["cells"] for each in again.release["answers"].values()] == [
        each["cells"] for each in first.release["answers"].values()
    ]
    assert len(charges(home)) == 1


def test_a_server_killed_while_a_question_was_charged_stops_its_asker_when_it_comes_back(house):
    home = house()
    asking = Asking(home)
    ask = ask_of(home)
    assert asking.enqueue(ask) is None
    asking._reserve(ask)
    home.ledgers["people"].charge(
        dp.Laplace(scale=10.0), unit=home.groups["people"].unit, asker="ann"
    )
    with pytest.raises(Conflict, match="still being answered"):
        asking.ask(ask)
    home.database.rows("UPDATE asks SET lease = 0")
    outcome = asking.ask(ask)
    assert outcome.state == "lost"
    assert "ann" in home.ledgers["people"].halts().stopped


def test_the_curator_sees_what_a_dead_server_left_behind(house):
    home = house()
    asking = Asking(home)
    ask = ask_of(home)
    asking.enqueue(ask)
    asking._reserve(ask)
    home.ledgers["people"].charge(
        dp.Laplace(scale=10.0), unit=home.groups["people"].unit, asker="ann"
    )
    assert not Views(home, asking).curator()["failures"]  # its lease has not run out
    home.database.rows("UPDATE asks SET lease = 0")
    (failure,) = Views(home, asking).curator()["failures"]
    assert failure["asker"] == "ann"


def test_a_queued_question_of_a_dead_server_is_free_again(house):
    home = house()
    asking = Asking(home)
    asking.enqueue(ask_of(home))
    home.database.rows("UPDATE asks SET lease = 0")
    assert asking.ask(ask_of(home)).state == "stored"


def test_a_question_is_cancelled_before_it_is_charged_and_not_after(house):
    home = house()
    asking = Asking(home)
    ask = ask_of(home)
    asking.enqueue(ask)
    assert asking.cancel(ask.person, ask.key)
    with pytest.raises(dp.NotReady, match="cancelled"):
        asking.run(ask)
    assert not charges(home)
    asking.ask(ask)
    assert not asking.cancel(ask.person, ask.key)
    assert len(charges(home)) == 1


def test_a_deadline_passed_after_the_charge_is_a_failure_with_that_cause(house, monkeypatch):
    home = house()
    monkeypatch.setattr(home.workers.all[0], "do", dying(home, "committed", signal.SIGALRM))
    assert Asking(home).ask(ask_of(home)).state == "lost"
    (failure,) = home.ledgers["people"].failures()
    assert "longer than the deadline" in failure.detail


def test_a_worker_ends_itself_at_its_deadline_and_is_replaced(house):
    home = house(processes=True)
    worker = home.workers.all[0]
    with pytest.raises(Died) as died:
        worker.do({"kind": "ready", "deadline": 1e-3})
    assert died.value.code == -signal.SIGALRM
    assert worker.do({"kind": "ready"}) == {"ok": [""]}


def test_a_worker_cannot_use_more_memory_than_its_limit(house):
    home = house(processes=True, memory=400 << 20)
    assert home.workers.all[0].do({"kind": "ready"}) == {"ok": [""]}
    limits = Path(f"/proc/{home.workers.all[0].pid}/limits").read_text()
    assert str(400 << 20) in limits


def test_a_fault_of_a_worker_is_the_curators_to_see(house, monkeypatch):
    home = house()
    asking = Asking(home)
    monkeypatch.setattr(home.workers.all[0], "do", lambda task: {"fault": "secret 4711"})
    outcome = asking.ask(ask_of(home))
    assert outcome.state == "refused"
    assert "4711" not in json.dumps(outcome.error)


def test_many_at_once_with_one_key_are_one_charge(house, monkeypatch):
    home = house()
    asking = Asking(home)
    asking.ask(ask_of(home, key="key-warm", sql=SQL + " WHERE age > 1"))
    states = []

    def one():
        try:
            states.append(asking.ask(ask_of(home)).state)
        except Conflict:
            states.append("conflict")

    threads = [threading.Thread(target=one) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(charges(home)) == 2
    assert set(states) <= {"stored", "conflict"}
    assert "stored" in states


def test_a_purpose_is_asked_for_where_the_curator_states_some(house, tmp_path):
    from .conftest import fill

    folder = fill(tmp_path / "tables")
    (folder / "server.toml").write_text(
        '[people]\nbudget = {epsilon = 3}\npurposes = ["planning"]\nmost = {epsilon = 0.5}\n'
    )
    home = house(folder=folder, budget=None)
    asking = Asking(home)
    for purpose in (None, "marketing"):
        with pytest.raises(dp.BadParameter, match="purposes"):
            asking.ask(ask_of(home, purpose=purpose))
    assert asking.ask(ask_of(home, purpose="planning")).state == "stored"
    dear = asking.ask(ask_of(home, key="key-dear", spend=0.6, purpose="planning"))
    assert "one question may cost" in dear.error["title"]
    assert len(charges(home)) == 1


def test_who_is_frozen_cannot_ask(house):
    home = house()
    ask = ask_of(home)
    home.accounts.freeze("ann", frozen=True)
    frozen = Ask(person=home.accounts.find("ann"), key=ask.key, people="people", body=ask.body)
    with pytest.raises(dp.NotReady, match="frozen"):
        Asking(home).ask(frozen)
