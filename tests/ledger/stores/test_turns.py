"""A ledger's file may be opened and closed by anything in a process that charges."""

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import deniable as dp
from deniable.ledger import open_ledger
from deniable.ledger.stores.store import watching
from deniable.ledger.stores.turns import FileTurn

ROWS = dp.rows()
HALF = dp.Laplace(scale=2.0)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such locks")

CHILD = """
import sys, deniable as dp
from deniable.ledger import open_ledger
try:
    with open_ledger(sys.argv[1], patience=0.2) as ledger:
        print("charged", ledger.charge(dp.Laplace(scale=2.0), unit=dp.rows()).sequence)
except dp.LedgerFailure as error:
    print(error.what)
"""


def charge_elsewhere(path):
    """What another process gets when it charges one half."""
    command = [sys.executable, "-c", CHILD, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def copied(ledger, path):
    shutil.copyfile(path, f"{path}.copy")


def hashed(ledger, path):
    Path(path).read_bytes()


def exported(ledger, path):
    with pytest.raises(dp.BadParameter):
        ledger.to_jsonl(path)


def opened_again(ledger, path):
    """By a thread that waits for its turn and gives up."""
    with pytest.raises(dp.LedgerFailure, match="locked for too long"):
        open_ledger(path, patience=0.05)


@LINUX
@pytest.mark.parametrize("slip", [copied, hashed, exported, opened_again])
def test_nobody_else_charges_while_a_charge_is_written_whatever_closes_the_file(tmp_path, slip):
    """SQLite's own locks are gone from the moment on at which any descriptor is closed."""
    path, written, go_on = tmp_path / "ledger.db", threading.Event(), threading.Event()
    ledger = open_ledger(path, budget=dp.epsilon(1.0), unit=ROWS)

    def pause(step):
        if step == "appended":
            written.set()
            assert go_on.wait(100)

    def pay():
        with watching(pause):
            ledger.charge(HALF, unit=ROWS, what="of this process")

    writer = threading.Thread(target=pay)
    writer.start()
    assert written.wait(100)
    try:
        slip(ledger, path)
        assert "locked for too long" in charge_elsewhere(path)
    finally:
        go_on.set()
        writer.join()
    assert charge_elsewhere(path) == "charged 2"
    ledger.verify()
    assert [entry.what for entry in ledger.entries] == ["of this process", ""]
    with pytest.raises(dp.BudgetExceeded):
        ledger.charge(HALF, unit=ROWS)


@LINUX
def test_readers_share_a_turn_and_a_writer_has_it_alone(tmp_path):
    path = tmp_path / "file"
    path.touch()
    one, two, three = (FileTurn(path) for _ in range(3))
    assert one.take(alone=False, patience=0)
    assert two.take(alone=False, patience=0)
    assert not three.take(alone=True, patience=0.01)
    one.leave()
    assert not three.take(alone=True, patience=0)
    two.close()
    assert three.take(alone=True, patience=0)
    assert not one.take(alone=False, patience=0)
    three.close()
    three.close()
    assert one.take(alone=True, patience=0)


@LINUX
def test_a_turn_that_nobody_holds_any_more_is_left(tmp_path):
    path = tmp_path / "file"
    path.touch()
    turn = FileTurn(path)
    assert turn.take(alone=True, patience=0)
    del turn
    assert FileTurn(path).take(alone=True, patience=0)


FORKED = """
import os, sys, time
from pathlib import Path
from deniable.ledger.stores.turns import FileTurn
turn = FileTurn(Path(sys.argv[1]))
assert turn.take(alone=True, patience=0)
if os.fork() == 0:
    sys.stdin.read()  # outlives its parent
    os._exit(0)
os._exit(1)  # as if killed
"""


@LINUX
def test_a_forked_child_does_not_keep_the_turn_of_a_parent_that_died(tmp_path):
    path = tmp_path / "file"
    path.touch()
    child = subprocess.Popen([sys.executable, "-c", FORKED, str(path)], stdin=subprocess.PIPE)
    assert child.wait() == 1
    assert FileTurn(path).take(alone=True, patience=5)
    child.communicate()


def test_a_file_that_may_only_be_read_or_is_gone_takes_no_turn_and_does_no_harm(tmp_path):
    turn = FileTurn(tmp_path / "missing")
    assert turn.take(alone=True, patience=0)
    turn.leave()
    turn.close()
