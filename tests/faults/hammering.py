"""Eight processes spend from one ledger as fast as they can: python hammering.py WHERE.

Half of them have a share of 1/8, the others compete for the rest. Every charge is 1/128 of the
ceiling, exactly, so exactly 128 charges fit. Prints how many each got.
"""

import json
import os
import sys

import deniable as dp
from deniable.ledger import open_ledger

ROWS = dp.rows()
BUDGET = dp.epsilon(1.0)
PIECE = dp.Laplace(scale=128.0)
PROCESSES = 8


def spend(where, who):
    """Charge and answer until refused; the exit code tells how often it was admitted."""
    ledger, admitted = open_ledger(where), 0
    try:
        while True:
            question = ledger.fingerprint([who, admitted])
            ledger.answer(ledger.charge(PIECE, unit=ROWS, asker=who, question=question), admitted)
            admitted += 1
    except dp.BudgetExceeded:
        os._exit(admitted)


def hammer(where):
    """Start them all at once, from a ledger that does not exist yet."""
    with open_ledger(where, budget=BUDGET, unit=ROWS) as ledger:
        for n in range(0, PROCESSES, 2):
            ledger.share(f"asker {n}", amount=dp.epsilon(1 / 8))
    children = {}
    for n in range(PROCESSES):
        pid = os.fork()
        if pid == 0:
            try:
                spend(where, f"asker {n}")
            finally:
                os._exit(255)
        children[pid] = f"asker {n}"
    got = {}
    for pid, who in children.items():
        got[who] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with open_ledger(where) as ledger:
        ledger.verify()
        answers = sum(entry.kind == "answer" for entry in ledger.entries)
        spent = ledger.spent.epsilon_at()
    return {"got": got, "answers": answers, "spent": spent}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(hammer(*sys.argv[1:])))
