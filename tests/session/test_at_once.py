"""Threads and processes at once: a question is charged once, and a computation charges nothing."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import deniable as dp
from deniable.ledger import open_ledger
from deniable.session import Session

ROWS = dp.rows()
HALF = dp.Laplace(scale=2.0)


def session(where=None):
    ledger = open_ledger(where, budget=dp.epsilon(10.0), unit=ROWS)
    return Session(tables={}, schema=None, ledger=ledger)


def value(compute, **options):
    return dp.Sensitive(compute, l1=1, **options)


@pytest.mark.parametrize("shared", [True, False])
def test_a_question_asked_by_several_threads_at_once_is_charged_once(tmp_path, shared):
    path = tmp_path / "ledger.db"
    first = session(path)
    sessions = [first if shared else session(path) for _ in range(6)]
    together = threading.Barrier(6)

    def ask(s):
        together.wait()
        return s.release(HALF.on(value(lambda: 3)), question="how many?").value

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(ask, sessions))
    assert len(set(answers)) == 1
    assert [e.kind for e in first.ledger.entries] == ["charge", "answer"]


def test_a_question_that_failed_under_one_thread_is_paid_again_by_the_next():
    s = session()
    step = HALF.on(value(lambda: 1 / 0))
    with pytest.raises(dp.DataFailure):
        s.release(step, question="how many?")
    s.resume()
    s.release(HALF.on(value(lambda: 3)), question="how many?")
    assert [e.kind for e in s.ledger.entries] == ["charge", "stop", "resume", "charge", "answer"]


ASK = """
import sys, deniable as dp
from deniable.ledger import open_ledger
from deniable.session import Session
s = Session(tables={}, schema=None, ledger=open_ledger(sys.argv[1]))
step = dp.Laplace(scale=2.0).on(dp.Sensitive(lambda: 3, l1=1))
print(s.release(step, question="how many?").value)
"""


def test_an_answer_that_another_process_stored_meanwhile_is_found_and_not_paid(tmp_path):
    """The other process asks and answers between this one's look and its charge."""
    path = tmp_path / "ledger.db"
    s, said = session(path), []

    class Ready:
        def __enter__(self):
            command = [sys.executable, "-c", ASK, str(path)]
            done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=240)
            said.append(float(done.stdout))

        def __exit__(self, *_):
            return None

    found = s.release(HALF.on(value(lambda: 3, ready=[Ready()])), question="how many?")
    assert found.value == said[0]
    assert [e.kind for e in s.ledger.entries] == ["charge", "answer"]


def inside(s, start, question=None):
    """Ask within a computation, from a thread that it starts; what came of it."""
    seen = []

    def ask():
        try:
            s.release(HALF.on(value(lambda: 1)), question=question)
        except dp.BadParameter as refused:
            seen.append(refused)

    def compute():
        start(ask)
        return 3

    s.release(HALF.on(value(compute)))
    return seen


def directly(ask):
    ask()


def joined(ask):
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()


def pooled(ask):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(ask).result()


def nested(ask):
    joined(lambda: joined(ask))


STARTS = [directly, joined, pooled, nested]


@pytest.mark.parametrize("start", STARTS)
def test_nothing_is_charged_inside_a_computation(start):
    s = session()
    (refused,) = inside(s, start)
    assert "while a value is computed" in refused.what
    assert len(s.ledger.entries) == 1


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("asker", ["ann", None])
def test_no_stored_answer_is_shown_inside_a_computation(start, asker):
    """A share would pay for it, and whether it does would depend on rows."""
    s = session()
    s.ledger.share("ann", amount=dp.epsilon(3.0))
    s.release(HALF.on(value(lambda: 1)), question="stored")
    asking = s if asker is None else s.for_(asker)
    (refused,) = inside(asking, start, "stored")
    assert "while a value is computed" in refused.what
    assert [e.kind for e in s.ledger.entries] == ["share", "charge", "answer", "charge"]


def test_a_thread_started_inside_cannot_charge_after_the_computation_either():
    s, over, seen = session(), threading.Event(), []

    def ask():
        over.wait()
        try:
            s.release(HALF.on(value(lambda: 1)))
        except dp.BadParameter as refused:
            seen.append(refused)

    thread = threading.Thread(target=ask)
    s.release(HALF.on(value(lambda: thread.start() or 3)))
    over.set()
    thread.join()
    assert len(seen) == 1
    assert len(s.ledger.entries) == 1


def test_a_thread_started_elsewhere_may_charge_while_a_value_is_computed():
    s, started, done = session(), threading.Event(), threading.Event()

    def slow():
        started.set()
        done.wait()
        return 3

    one = threading.Thread(target=lambda: s.release(HALF.on(value(slow))))
    one.start()
    started.wait()
    other = threading.Thread(target=lambda: s.release(HALF.on(value(lambda: 1))))
    other.start()
    other.join()
    done.set()
    one.join()
    assert [e.kind for e in s.ledger.entries] == ["charge", "charge"]
