"""A process forks while its threads ask: the child asks on, and waits for nobody that is gone."""

import os
import signal
import sqlite3
import threading
import time
import warnings

import pyarrow as pa
import pytest

import deniable as dp
from deniable.ledger import open_ledger
from deniable.ledger.stores import sql

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are of POSIX"),
    pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning"),
]

ROWS = dp.rows()
LONGEST = 300  # seconds: a child that hangs is ended, and the test fails


def step(compute):
    return dp.Laplace(scale=10.0).on(dp.Sensitive(compute, l1=1))


def forked(act):
    """Start a child that does this; how it is waited for."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(LONGEST)
        code = 1
        try:
            code = 0 if act() else 2
        finally:
            os._exit(code)
    return lambda: os.waitpid(child, 0)[1]


@pytest.fixture
def computing():
    """Starts a thread that computes a value until the test lets it go on."""
    inside, go, threads = threading.Event(), threading.Event(), []

    def slow():
        inside.set()
        go.wait(LONGEST)
        return 1

    def start(s, question):
        asks = threading.Thread(target=lambda: s.release(step(slow), question=question))
        threads.append(asks)
        asks.start()
        inside.wait(LONGEST)
        return go

    yield start
    go.set()
    for each in threads:
        each.join()


@pytest.mark.parametrize("question", ["the same", "another", None])
def test_a_child_asks_while_a_thread_of_its_parent_computes(tmp_path, computing, question):
    table = pa.table({"x": [1]})
    s = dp.open(table, unit=ROWS, budget=dp.epsilon(4.0), ledger=tmp_path / "a.db")
    go = computing(s, "the same")
    wait = forked(lambda: s.release(step(lambda: 1), question=question).loss == dp.epsilon(0.1))
    go.set()
    assert wait() == 0
    s.ledger.verify()


def test_a_child_reads_a_ledger_in_memory_whoever_had_it_locked():
    s = dp.open(pa.table({"x": [1]}), unit=ROWS, budget=dp.epsilon(4.0))
    s.release(step(lambda: 1))
    inside, go = threading.Event(), threading.Event()
    look = lambda _: inside.set() or go.wait(LONGEST)  # noqa: E731
    reads = threading.Thread(target=lambda: s._ledger._store.read(look))
    reads.start()
    inside.wait(LONGEST)
    wait = forked(lambda: s.spent == dp.epsilon(0.1))
    go.set()
    reads.join()
    assert wait() == 0


def test_a_child_is_warned_as_ever(computing):
    s = dp.open(pa.table({"x": [1]}), unit=ROWS, budget=dp.epsilon(4.0))
    before = list(warnings.filters)
    computing(s, "q")
    assert forked(lambda: list(warnings.filters) == before)() == 0


def test_no_connection_is_opened_while_a_process_forks(tmp_path, monkeypatch):
    """A thread would hold locks of SQLite then, which nobody opens in the child."""
    ledger = open_ledger(tmp_path / "a.db", budget=dp.epsilon(1.0), unit=ROWS)
    connecting, real = threading.Event(), sqlite3.connect

    def connect(*args, **options):
        connecting.set()
        return real(*args, **options)

    def keep_busy(_):
        busy.set()
        end = time.monotonic() + LONGEST
        while not sql._held:  # until the fork below has begun, and waits for us
            assert time.monotonic() < end
            time.sleep(0.01)
        opens.start()
        assert not connecting.wait(0.3)

    def open_another():
        open_ledger(tmp_path / "b.db", budget=dp.epsilon(1.0), unit=ROWS).close()

    busy, opens = threading.Event(), threading.Thread(target=open_another)
    works = threading.Thread(target=lambda: ledger._store.read(keep_busy))
    monkeypatch.setattr(sqlite3, "connect", connect)
    works.start()
    busy.wait(LONGEST)
    wait = forked(lambda: not connecting.is_set())
    assert wait() == 0
    works.join()
    opens.join()
    assert connecting.is_set()
    ledger.close()
