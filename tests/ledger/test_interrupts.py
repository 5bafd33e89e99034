"""Ctrl-C at any line of a ledger's code is KeyboardInterrupt, and the ledger stays usable."""

import gc
import sys
import threading
from pathlib import Path

import pytest
from tests.interrupting import Interrupt, alone

import deniable as dp
from deniable.ledger import Ledger, open_ledger

ROWS = dp.rows()
SMALL = dp.Laplace(scale=2.0**20)
LEDGER = str(Path(sys.modules[Ledger.__module__].__file__).parent)
PLACES = pytest.mark.parametrize("place", ["memory", "sqlite", "postgres"], indirect=True)


def interrupted(run, at, prepared):
    """Run something and interrupt it; the place where it was, or None if it came to its end."""
    interrupt = Interrupt((LEDGER,), at=at)
    gc.disable()  # what an earlier test left is not closed in here
    try:
        alone(lambda: interrupt.during(lambda: run(prepared)))
    except KeyboardInterrupt:
        assert interrupt.where is not None
    finally:
        gc.enable()
    return interrupt.where


def each_line(run, check, *, prepare=lambda: None):
    """Interrupt at each line in turn, until one run is not interrupted."""
    at, where = 1, "start"
    while where is not None:
        where = interrupted(run, at, prepare())
        try:
            check()
        except BaseException as error:
            raise AssertionError(f"after an interrupt at {where}") from error
        at += 1
    assert at > 20, "there are lines to interrupt"


def asked(ledger):
    """A charge of an asker whom nobody has stopped yet."""
    question, name = ledger.fingerprint("a"), f"asker {ledger.head().sequence}"
    return ledger.charge(SMALL, unit=ROWS, asker=name, question=question)


def stopped(ledger):
    return ledger.stop(asked(ledger), cause="a cause").asker


# What is done first, and what is interrupted then.
OPERATIONS = {
    "charge": (id, lambda ledger, _: ledger.charge(SMALL, unit=ROWS, asker="ann")),
    "answer": (asked, lambda ledger, paid: ledger.answer(paid, 7)),
    "recall": (id, lambda ledger, _: ledger.recall(ledger.fingerprint("q"), asker="ann")),
    "share": (id, lambda ledger, _: ledger.share("zoe", amount=dp.epsilon(2.0**-20))),
    "stop": (asked, lambda ledger, paid: ledger.stop(paid, cause="a cause")),
    "resume": (stopped, lambda ledger, asker: ledger.resume(asker)),
    "verify": (id, lambda ledger, _: ledger.verify()),
}


@PLACES
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_ledger_interrupted_at_any_line_stays_usable(fresh, name):
    ledger = fresh(budget=dp.epsilon(1.0))
    ledger.share("ann", amount=dp.epsilon(0.25))
    paid = ledger.charge(SMALL, unit=ROWS, question=ledger.fingerprint("q"))
    ledger.answer(paid, 42)

    def check():
        noted = ledger.note("still usable")
        assert ledger.head().sequence == noted.sequence
        assert ledger.recall(ledger.fingerprint("q")).value == 42

    prepare, run = OPERATIONS[name]
    each_line(lambda prepared: run(ledger, prepared), check, prepare=lambda: prepare(ledger))
    elsewhere(ledger.head)
    ledger.verify()
    charges = [e for e in ledger.entries if e.kind == "charge" and e.repeats is None]
    assert ledger.head().total.epsilon == len(charges) * 2.0**-20


def elsewhere(run):
    """Another thread can go on too: no lock was left behind."""
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)  # a guard against hanging, and not a measurement
    assert not thread.is_alive()


# An interrupt in close() itself leaves the connection to the garbage collector, which says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
def test_opening_may_be_interrupted_at_any_line(place):
    def check():
        with open_ledger(place, budget=dp.epsilon(1.0), unit=ROWS) as ledger:
            ledger.note("opened")
            ledger.verify()

    each_line(lambda _: open_ledger(place, budget=dp.epsilon(1.0), unit=ROWS).close(), check)
