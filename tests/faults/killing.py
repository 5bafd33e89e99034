"""Kill a process that charges a ledger, again and again, and look at what is left.

    python killing.py WHERE random KILLS      at random instants
    python killing.py WHERE early KILLS       the same for a twin that believes too early
    python killing.py WHERE steps             at every named step

Runs as a process of its own, since forking is safe only where no other threads run. Prints what it
found as one JSON object; any broken promise is an AssertionError.
"""

import json
import mmap
import os
import random
import signal
import struct
import sys
import time
from collections import Counter

import deniable as dp
from deniable.ledger import open_ledger
from deniable.ledger.stores.store import STEPS, watching

ROWS = dp.rows()
BUDGET = dp.epsilon(1e6)
SMALL = dp.Laplace(scale=64.0)
INSIDE = {"begun", "checked", "appended"}
PLACES = ("outside", *STEPS)

# What a child was doing, and the last line that it was told is durable: seen by the parent after
# the kill, because the page is shared.
SHARED = mmap.mmap(-1, 16)


def child(where, who, early):
    """Charge and answer until killed; if `early`, believe a line that is only written."""
    ledger = open_ledger(where, budget=BUDGET, unit=ROWS)

    def at(step):
        if early and step == "appended":
            SHARED[8:16] = struct.pack("q", last_told() + 1)
        SHARED[0] = PLACES.index(step)

    with watching(at):
        for n in range(10**9):
            question = ledger.fingerprint([who, n])
            paid = ledger.charge(SMALL, unit=ROWS, asker=who, question=question)
            told(paid)
            told(ledger.answer(paid, n))


def told(entry):
    SHARED[0] = 0
    SHARED[8:16] = struct.pack("q", entry.sequence)


def last_told():
    return struct.unpack("q", SHARED[8:16])[0]


def start(target, *arguments):
    SHARED[:] = bytes(16)
    pid = os.fork()
    if pid == 0:
        try:
            target(*arguments)
        finally:
            os._exit(1)
    return pid


def kill_at_random(where, kills, *, early):
    """Each kill falls somewhere in a charge or an answer; what a child was told must be there."""
    luck, fell = random.Random(7), Counter()
    for turn in range(kills):
        pid = start(child, where, f"child {turn}", early)
        patience = time.monotonic() + 200
        while last_told() == 0:
            assert time.monotonic() < patience, "the child never charged"
            time.sleep(0.0005)
        time.sleep(luck.uniform(0, 0.006))
        os.kill(pid, signal.SIGKILL)
        assert os.waitpid(pid, 0)[1] == signal.SIGKILL
        fell[PLACES[SHARED[0]]] += 1
        with open_ledger(where) as ledger:
            assert_kept(ledger, f"child {turn}")
            if turn % 50 == 0:
                ledger.verify()
    with open_ledger(where) as ledger:
        head = ledger.verify()
        assert_answers_have_charges(ledger)
    inside = sum(fell[step] for step in INSIDE)
    return {"kills": kills, "inside": inside, "fell": fell, "lines": head.sequence}


def assert_kept(ledger, who):
    """The last line that the dead child was told of is there; at most one more is."""
    told_of, there = last_told(), len(ledger.entries)
    assert there >= told_of, f"told of line {told_of}, found {there}"
    assert there <= told_of + 1, f"told of line {told_of}, found {there}"
    entry = ledger.entries[told_of - 1]
    mine = entry.asker == who or entry.kind == "answer"
    assert mine, f"told of line {told_of}, which is somebody else's"


def assert_answers_have_charges(ledger):
    charges = {e.sequence: e.question for e in ledger.entries if e.kind == "charge"}
    for entry in ledger.entries:
        assert entry.kind != "answer" or charges[entry.charge] == entry.question


def kill_at_steps(where):
    """Before `committed` nothing was spent; at it, the charge stands and has no answer."""
    found = {}
    for kind in ("charge", "answer"):
        for step in STEPS:
            with open_ledger(where, budget=BUDGET, unit=ROWS) as ledger:
                question, before = ledger.fingerprint([kind, step]), len(ledger.entries)
            pid = start(dies_at, where, kind, step)
            assert os.waitpid(pid, 0)[1] == signal.SIGKILL
            with open_ledger(where) as ledger:
                head = ledger.verify()
                found[f"{kind} {step}"] = head.sequence - before
                answered = ledger.recall(question) is not None
            assert answered == (kind == "answer" and step == "committed")
    return found


def dies_at(where, kind, step):
    ledger = open_ledger(where)
    now = []

    def at(reached):
        if now == [kind] and reached == step:
            os.kill(os.getpid(), signal.SIGKILL)

    with watching(at):
        now[:] = ["charge"]
        paid = ledger.charge(SMALL, unit=ROWS, question=ledger.fingerprint([kind, step]))
        now[:] = ["answer"]
        ledger.answer(paid, 1)


if __name__ == "__main__":
    _, where, how, *more = sys.argv
    open_ledger(where, budget=BUDGET, unit=ROWS).close()
    if how == "steps":
        report = kill_at_steps(where)
    else:
        report = kill_at_random(where, int(more[0]), early=how == "early")
    sys.stdout.write(json.dumps(report))
