"""A computation that forks: one charge pays for one draw, and memory is not spent twice."""

import os

import pyarrow as pa
import pytest

import deniable as dp
from deniable.sampling import source

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
ONE = dp.Laplace(scale=10.0)


def opened(**more):
    budget = dp.epsilon(1.0)
    return dp.open(pa.table({"x": [1]}), unit=dp.rows(), budget=budget, **more)


def in_child(run):
    """What a function gives in a forked child, as text."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, str(run()).encode())
        except BaseException as error:
            os.write(write, type(error).__name__.encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read) as file:
        return file.read()


def test_a_computation_that_forks_answers_in_one_process_only(tmp_path):
    session, parent = opened(ledger=tmp_path / "ledger.db"), os.getpid()
    read, write = os.pipe()
    forked = []

    def forking():
        forked.append(os.fork())
        return 3

    try:
        found = session.release(ONE.on(dp.Sensitive(forking, l1=1)), question="q")
        said = f"answered {found.value}"
    except dp.DeniableError as error:
        said = error.code
    if os.getpid() != parent:
        os.write(write, said.encode())
        os._exit(0)
    os.waitpid(forked[0], 0)
    os.close(write)
    with os.fdopen(read) as file:
        assert file.read() == "DP601"
    assert said.startswith("answered")
    first, *others = [entry.kind for entry in session.ledger.entries]
    assert (first, sorted(others)) == ("charge", ["answer", "stop"])  # in the order of a race


def test_a_child_with_its_parents_number_is_another_process(monkeypatch):
    """As in a new namespace of process numbers, where the first child is number 1, too."""
    session = opened()
    handle = session.open(dp.SparseVector(epsilon=0.1, answers=1))
    number = os.getpid()
    monkeypatch.setattr("os.getpid", lambda: number)

    def asks():
        return session.release(ONE.on(dp.Sensitive(lambda: 3, l1=1))).value

    def asks_again():
        return session.release(handle.on(dp.Sensitive(lambda: 3, l1=1))).value

    assert in_child(asks) == "LedgerFailure"
    assert in_child(asks_again) == "LedgerFailure"
    assert in_child(source.this_process) != str(source.this_process())
    assert asks() is not None
