"""Several processes that ask the same question at once: one pays, whatever becomes of it."""

import datetime as dt
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.ledger import answers, open_ledger
from deniable.session import Session

ROWS = dp.rows()
HALF = dp.Laplace(scale=2.0)
LONG = 3600.0  # nobody waits so long: a test that did would be ended

# Tells by files how far it is, and computes when it is let: no test depends on who is faster.
ASK = """
import sys, time, deniable as dp
from pathlib import Path
from deniable.ledger import open_ledger
from deniable.ledger.stores.store import watching
from deniable.session import Session

where, folder, name, asker, patience = sys.argv[1:]

def there(what):
    return Path(folder) / f"{name}.{what}"

def compute():
    there("computing").touch()
    while not there("go").exists():
        time.sleep(0.01)
    return 3 if there("go").read_text() != "fail" else 1 / 0

ledger = open_ledger(where, patience=float(patience))
s = Session(tables={}, schema=None, ledger=ledger, asker=asker or None)
there("ready").touch()
while not there("ask").exists():
    time.sleep(0.01)
with watching(lambda step: there(step).open("a").write(".")):
    print(s.release(dp.Laplace(scale=2.0).on(dp.Sensitive(compute, l1=1)), question="q").value)
"""


class Process:
    """One that asks the question."""

    def __init__(self, place, folder, name, *, asker="", patience=LONG):
        self._there = lambda what: folder / f"{name}.{what}"
        command = [sys.executable, "-c", ASK, place, folder, name, asker, patience]
        self.run = subprocess.Popen(
            list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def reached(self, what):
        while not self._there(what).exists():
            assert self.run.poll() is None, self.run.stderr.read()
            time.sleep(0.01)
        return self

    def ask(self):
        self._there("ask").touch()
        return self

    def times(self, step):
        return len(self._there(step).read_text())

    def go(self, how="well"):
        self._there("go.new").write_text(how)
        self._there("go.new").rename(self._there("go"))

    def computed(self):
        return self._there("computing").exists()

    def said(self):
        out, err = self.run.communicate(timeout=240)
        return out.strip() or err


@pytest.fixture
def start(place, tmp_path, fresh):
    """Starts processes that ask; none outlives the test."""
    ledger, started = fresh(budget=dp.epsilon(10.0)), []

    def begin(name, **options):
        started.append(Process(place, tmp_path, name, **options))
        return started[-1]

    begin.ledger = ledger
    yield begin
    for process in started:
        process.run.kill()
        process.run.communicate()


on_disk = pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)


def kinds(ledger):
    return [entry.kind for entry in ledger.entries]


@on_disk
def test_processes_that_ask_at_once_pay_once(start):
    first = start("first").ask().reached("computing")
    others = [start(f"other {n}").ask() for n in range(2)]
    for other in others:
        other.reached("begun")  # in its turn at the ledger, where it sees the first one's charge
    first.go()
    assert len({process.said() for process in (first, *others)}) == 1
    assert not any(other.computed() for other in others)
    assert kinds(start.ledger) == ["charge", "answer"]
    start.ledger.verify()


@on_disk
def test_if_the_first_is_killed_the_second_pays_for_itself(start):
    second = start("second", patience=20).reached("ready")
    first = start("first").ask().reached("computing")
    second.ask().reached("begun")
    first.run.kill()
    second.go()
    assert float(second.said()) is not None
    assert second.computed()
    assert second.times("begun") == 3, "it looked, and waited; then it paid, and stored the answer"
    assert kinds(start.ledger) == ["charge", "charge", "answer"]
    start.ledger.verify()


@on_disk
def test_if_the_first_fails_the_next_asker_pays_and_does_not_wait(start):
    first = start("first").ask().reached("computing")
    second = start("second", asker="ann").ask().reached("begun")
    same = start("same").ask().reached("begun")
    first.go("fail")
    second.go()
    assert "DP" in first.said()
    assert float(second.said()) is not None
    assert "stopped" in same.said()
    assert kinds(start.ledger) == ["charge", "stop", "charge", "answer"]


# ---- the rule, in one process: a charge that this session did not make is another's


def session(path, patience):
    ledger = open_ledger(path, budget=dp.epsilon(10.0), unit=ROWS, patience=patience)
    return Session(tables={}, schema=None, ledger=ledger)


def ask(s):
    return s.release(HALF.on(dp.Sensitive(lambda: 3, l1=1)), question="q", table="")


def pending(s):
    """A charge of another's for the question, without its answer."""
    question = s.fingerprint(HALF, question="q", table="")
    return s._ledger.charge(HALF, unit=ROWS, question=question)


def clock(monkeypatch, shift):
    """Another machine's clock differs from ours by so much; None: ours stands still."""
    begin = dt.datetime.now(dt.UTC)

    class Clock(dt.datetime):
        @classmethod
        def now(cls, tz=None):
            return begin if shift is None else dt.datetime.now(tz) + shift

    monkeypatch.setattr(answers, "dt", SimpleNamespace(datetime=Clock, UTC=dt.UTC))


@pytest.mark.parametrize("days", [-1, 1, 10_000])
def test_a_charge_of_another_time_is_not_waited_for(tmp_path, monkeypatch, days):
    s = session(tmp_path / "ledger.db", LONG)
    pending(s)
    clock(monkeypatch, dt.timedelta(days=days))
    assert not ask(s).free
    assert kinds(s.ledger) == ["charge", "charge", "answer"]


def test_a_clock_that_stands_still_ends_the_patience_all_the_same(tmp_path, monkeypatch):
    s = session(tmp_path / "ledger.db", 0.2)
    clock(monkeypatch, None)
    pending(s)
    ask(s)
    assert kinds(s.ledger) == ["charge", "charge", "answer"]


def test_a_question_that_was_interrupted_here_is_not_waited_for(tmp_path):
    s = session(tmp_path / "ledger.db", LONG)

    def interrupted():
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        s.release(HALF.on(dp.Sensitive(interrupted, l1=1)), question="q")
    ask(session(tmp_path / "ledger.db", LONG))
    assert kinds(s.ledger) == ["charge", "charge", "answer"]


def test_an_answer_that_comes_is_charged_to_the_share_of_who_waited(tmp_path, monkeypatch):
    s = session(tmp_path / "ledger.db", LONG)
    s._ledger.share("ann", amount=dp.epsilon(1.0))
    paid = pending(s)
    first = []

    def answered(_):  # instead of sleeping, the other process answers
        if not first:
            release = ask(session(tmp_path / "other.db", LONG))
            first.append(release.value)
            s._ledger.answer(paid, release.to_dict())

    clock = SimpleNamespace(sleep=answered, monotonic=time.monotonic)
    monkeypatch.setattr(answers, "time", clock)
    mine = ask(s.for_("ann"))
    assert mine.value == first[0]
    assert s._ledger.standing("ann").used.epsilon == 0.5
    assert kinds(s.ledger) == ["share", "charge", "answer", "charge"]
    assert s._ledger.head().total.epsilon == 0.5, "free for the ceiling"
