"""Flip every bit of a small ledger, one at a time, and try to overspend what is left of it.

    python flipping.py              all of them (about 10 minutes)
    python flipping.py 40 7         of each 40 bits the one that is 7th

Whatever a flipped bit does, no charge passes the ceiling or a share, no stopped asker is charged,
no stored answer is another one, and every error is one of ours. Prints what it found as one JSON
object.
"""

import json
import os
import sqlite3
import sys
import tempfile
from collections import Counter
from pathlib import Path

import deniable as dp
from deniable.ledger import books, open_ledger

ROWS = dp.rows()
ANSWERS = {"a": [1, 2, 3], "b": {"n": 10342.5}, "c": "text"}
MEMORY_DISK = Path("/dev/shm")  # where there is one: flushing is not what is tested here


def costing(epsilon):
    return dp.Laplace(scale=1 / epsilon)


def template(path):
    """A ledger with every kind of line: ann has 1/4 left of her share, everyone else 1/4."""
    with sqlite3.connect(path) as raw:
        raw.execute("PRAGMA page_size = 512")
        raw.execute("VACUUM")
    raw.close()
    path.chmod(0o600)
    with open_ledger(path, budget=dp.epsilon(1.0), unit=ROWS) as ledger:
        fill(ledger)
    return path.read_bytes()


def fill(ledger):
    ledger.share("ann", amount=dp.epsilon(0.5))
    ledger.note("small")
    for (text, value), asker in zip(ANSWERS.items(), (None, "ann", "bob"), strict=True):
        question = ledger.fingerprint(text)
        paid = ledger.charge(costing(1 / 8), unit=ROWS, asker=asker, question=question, what=text)
        ledger.answer(paid, value)
    ledger.recall(ledger.fingerprint("a"), asker="ann")
    ledger.stop(ledger.charge(costing(1 / 64), unit=ROWS, asker="eve"), cause="a cause")
    ledger.note("the end")
    ledger.verify()
    assert ledger.standing("ann").used.epsilon == 1 / 4
    assert ledger.head().total.epsilon == 3 / 8 + 1 / 64


def attack(path):
    """Try everything on a damaged ledger; raises AssertionError if a promise is broken."""
    try:
        ledger = open_ledger(path, patience=0.05)
    except dp.LedgerFailure:
        return "not opened"
    with ledger:
        found = [attempt(ledger) for attempt in ATTEMPTS]
    return "refused" if "failed" in found else "unharmed"


def allowed(run):
    """Run something that may be done; a failure of the ledger is fine."""

    def attempt(ledger):
        try:
            run(ledger)
        except dp.LedgerFailure:
            return "failed"
        return "done"

    return attempt


def forbidden(epsilon, asker, error):
    def attempt(ledger):
        try:
            ledger.charge(costing(epsilon), unit=ROWS, asker=asker)
        except error:
            return "done"
        except dp.LedgerFailure:
            return "failed"
        raise AssertionError(f"{asker} was charged {epsilon}")

    return attempt


def answers_again(ledger):
    for text, value in ANSWERS.items():
        for asker in (None, "bob"):
            found = ledger.recall(ledger.fingerprint(text), asker=asker)
            assert found is None or found.value == value, f"{text} was answered {found.value}"
    assert ledger.recall(ledger.fingerprint("never asked")) is None


def figures(ledger):
    assert ledger.budget == dp.epsilon(1.0)
    assert ledger.spent.epsilon_at() >= 3 / 8 + 1 / 64
    assert ledger.left.epsilon_at() <= 1 / 4
    assert ledger.standing("ann").used.epsilon >= 1 / 4


def read_all(ledger):
    repr(ledger), ledger._repr_html_(), ledger.shares(), str(ledger.failures())
    list(ledger.entries), ledger.to_jsonl()


ATTEMPTS = [
    allowed(figures),
    forbidden(3 / 8, "ann", dp.BudgetExceeded),
    forbidden(3 / 8, None, dp.BudgetExceeded),
    forbidden(3 / 8, "zoe", dp.BudgetExceeded),
    forbidden(1 / 64, "eve", dp.AskerStopped),
    allowed(answers_again),
    allowed(read_all),
    allowed(lambda ledger: ledger.charge(costing(1 / 4), unit=ROWS, asker="ann")),
    allowed(lambda ledger: ledger.verify()),
]


def flip_all(step=1, first=0):
    """Flip each bit of a copy in turn; the ledger looks shares up instead of walking all lines."""
    books.TAIL = 3
    found, wrong = Counter(), {}
    with tempfile.TemporaryDirectory(dir=MEMORY_DISK if MEMORY_DISK.is_dir() else None) as folder:
        path = Path(folder) / "ledger.db"
        whole = template(path)
        for place in range(first, 8 * len(whole), step):
            damaged = bytearray(whole)
            damaged[place // 8] ^= 1 << place % 8
            for rest in Path(folder).iterdir():
                rest.unlink()
            path.write_bytes(damaged)
            os.utime(path)
            try:
                found[attack(path)] += 1
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                wrong[place] = f"{type(error).__name__}: {error}"
    return {"bits": 8 * len(whole), "flipped": sum(found.values()) + len(wrong), **found} | {
        "wrong": wrong
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(flip_all(*map(int, sys.argv[1:]))))
