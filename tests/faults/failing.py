"""Let each system call of a ledger's operations fail in each way, and look at what is left.

    python -m tests.faults.failing [OPERATION ...]

Each run is a process of its own that works on a copy of the same ledger; the fault strikes at its
n-th system call, for n = 1, 2, … until it strikes no more. Prints what it found as one JSON object;
a broken promise is an AssertionError.
"""

import json
import os
import pickle
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.faults.system_calls import KINDS, Fault

import deniable as dp
from deniable.ledger import open_ledger

ROWS = dp.rows()
BUDGET = dp.epsilon(1.0)
PATIENCE = 0.05
LINES = 6  # in the template
EIGHTH = dp.Laplace(scale=8.0)
MEMORY_DISK = Path("/dev/shm")  # a process that dies does not lose what the kernel has


def start(path):
    return open_ledger(path, budget=BUDGET, unit=ROWS, patience=PATIENCE).head().sequence


def charge(path):
    with open_ledger(path, patience=PATIENCE) as ledger:
        return ledger.charge(EIGHTH, unit=ROWS, question=ledger.fingerprint("new")).sequence


def long_charge(path):
    """Several pages, so that the file grows."""
    with open_ledger(path, patience=PATIENCE) as ledger:
        return ledger.charge(EIGHTH, unit=ROWS, what="long " * 4000).sequence


def last_eighth(path):
    with open_ledger(path, patience=PATIENCE) as ledger:
        return ledger.charge(EIGHTH, unit=ROWS, asker="ann").sequence


def answer(path):
    with open_ledger(path, patience=PATIENCE) as ledger:
        paid = next(e for e in ledger.entries if e.what == "unanswered")
        return ledger.answer(paid, 7).sequence


def repeat(path):
    with open_ledger(path, patience=PATIENCE) as ledger:
        assert ledger.recall(ledger.fingerprint("b"), asker="ann").value == 2
        return LINES + 1


def stop(path):
    with open_ledger(path, patience=PATIENCE) as ledger:
        paid = next(e for e in ledger.entries if e.what == "unanswered")
        return ledger.stop(paid, cause="a cause").sequence


OPERATIONS = {
    f.__name__: f for f in (start, charge, long_charge, last_eighth, answer, repeat, stop)
}


def template(path):
    """ann may spend one more eighth of her share; one charge has no answer yet."""
    with open_ledger(path, budget=BUDGET, unit=ROWS) as ledger:
        ledger.share("ann", amount=dp.epsilon(1 / 4))
        for text, asker in (("a", "ann"), ("b", None)):
            question = ledger.fingerprint(text)
            paid = ledger.charge(EIGHTH, unit=ROWS, asker=asker, question=question)
            ledger.answer(paid, 1 if text == "a" else 2)
        ledger.charge(EIGHTH, unit=ROWS, question=ledger.fingerprint("c"), what="unanswered")
    return path.read_bytes()


def one_run(operation, path, kind, at):
    """What a process that met this fault reported, and whether the fault struck."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writing, pickle.dumps(in_child(operation, path, Fault(kind, at))))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    status = os.waitpid(pid, 0)[1]
    if status == signal.SIGKILL:
        return "killed", None, True
    assert told, f"the process ended with {status}"
    return pickle.loads(told)


def in_child(operation, path, fault):
    fault.install()
    try:
        return "done", operation(path), fault.struck
    except dp.LedgerFailure as failure:
        return "failed", failure.cost, fault.struck
    except BaseException as error:
        return "wrong", f"{type(error).__name__} {error}", fault.struck


def check(path, before, outcome, detail):
    """What was told is there, what was not spent is not, and nothing passes a ceiling."""
    assert outcome != "wrong", detail
    with open_ledger(path, budget=BUDGET, unit=ROWS) as ledger:
        head = ledger.verify()
        new = head.sequence - before
        expected = {0, 1}  # killed, or unknown
        if outcome == "done":
            expected = {detail - before}
        elif detail == "nothing was spent":
            expected = {0}
        elif detail == "the line was kept and counts; no answer was released":
            expected = {1}
        assert new in expected, f"{outcome} ({detail}), and {new} lines were added"
        paid = sum(e.kind == "charge" and e.repeats is None for e in ledger.entries)
        assert head.total.epsilon == paid / 8
        standing = ledger.standing("ann")
        assert standing is None or standing.used.epsilon <= 1 / 4


def fail_everywhere(names):
    found = Counter()
    folder = tempfile.mkdtemp(dir=MEMORY_DISK if MEMORY_DISK.is_dir() else None)
    path = Path(folder) / "ledger.db"
    whole = template(path)
    for name in names:
        for kind in KINDS:
            at, struck = 1, True
            while struck:
                for rest in path.parent.iterdir():
                    rest.unlink()
                if name != "start":
                    path.write_bytes(whole)
                outcome, detail, struck = one_run(OPERATIONS[name], path, kind, at)
                try:
                    check(path, 0 if name == "start" else LINES, outcome, detail)
                except BaseException as error:
                    raise AssertionError(f"{name}, {kind} at call {at} ({struck})") from error
                found[f"{kind} {outcome}"] += 1
                at += 1
    return {"runs": sum(found.values()), **found}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(fail_everywhere(sys.argv[1:] or OPERATIONS)))
