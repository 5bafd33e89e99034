"""Threads, forks and copies: one ceiling, one use of each draw."""

import multiprocessing
import os
import pickle
import threading

import pytest
from tests.session.opened import EIGHTH, secret, session

import deniable as dp
from deniable.errors import (
    BadParameter,
    BudgetExceeded,
    HiddenValue,
    LedgerFailure,
)
from deniable.ledger import open_ledger


def test_threads_share_one_ceiling():
    s, refused = session(dp.epsilon(1.0)), []

    def ask():
        for _ in range(5):
            try:
                s.release(EIGHTH.on(secret(1.0)))
            except BudgetExceeded:
                refused.append(1)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(s.ledger.entries) == 8
    assert len(refused) == 32


def test_threads_share_one_opened_mechanism():
    s, answers = session(), []
    handle = s.open(20 * EIGHTH)

    def ask():
        for _ in range(10):
            try:
                answers.append(s.release(handle.on(secret(0.0))).value)
            except BadParameter:
                return

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 20


def _child(s, handle, pipe):
    said = []
    for step in (EIGHTH.on(secret(1.0)), handle.on(secret(1.0))):
        try:
            s.release(step)
            said.append("released")
        except LedgerFailure as error:
            said.append(error.what)
    pipe.send(said)


@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_neither_spends_twice_nor_reuses_noise(tmp_path, durable):
    s = session(ledger=tmp_path / "ledger.db" if durable else None)
    handle = s.open(2 * EIGHTH)
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=_child, args=(s, handle, there))
    child.start()
    alone, opened = here.recv()
    child.join()
    assert "another process" in opened
    if durable:
        assert alone == "released"
        assert s.spent == 3 * dp.epsilon(0.125)
    else:
        assert "another process" in alone


def test_a_session_cannot_be_copied():
    with pytest.raises(HiddenValue):
        pickle.dumps(session())


def _killed(path):
    s = session(ledger=path)
    s.release(EIGHTH.on(dp.Sensitive(lambda: os._exit(9), l1=1)), question="how many")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_that_dies_while_computing_has_paid(tmp_path):
    path = tmp_path / "ledger.db"
    session(ledger=path).close()
    child = multiprocessing.get_context("fork").Process(target=_killed, args=(path,))
    child.start()
    child.join()
    assert child.exitcode == 9
    s = session(ledger=open_ledger(path, patience=0.1))
    assert s.spent == dp.epsilon(0.125)
    assert not s.release(EIGHTH.on(secret(1)), question="how many").free
