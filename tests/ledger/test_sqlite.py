"""What can go wrong with a file: full disks, read-only files, locks, forks, meddling."""

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import deniable as dp
from deniable.ledger import open_ledger

ROWS = dp.rows()
TENTH = dp.Laplace(scale=10.0)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path):
    with open_ledger(path, budget=dp.epsilon(1e6), unit=ROWS, patience=0.3) as opened:
        yield opened


def test_every_charge_is_flushed_to_the_disk(ledger):
    connection = ledger._store._one.get()
    settings = {
        name: connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "fullfsync")
    }
    assert settings == {"journal_mode": "delete", "synchronous": 3, "fullfsync": 1}


def test_nothing_is_charged_while_another_program_keeps_a_write_ahead_log(ledger, path):
    """Else the newest charges would be missing from a copy of the file."""
    ledger.charge(TENTH, unit=ROWS)
    other = sqlite3.connect(path, isolation_level=None)
    assert other.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    other.execute("SELECT * FROM entries").fetchall()
    for _ in range(2):
        with pytest.raises(dp.LedgerFailure, match=r"cannot be used: (another|others)"):
            ledger.charge(TENTH, unit=ROWS)
    with pytest.raises(dp.LedgerFailure, match=r"cannot be used: (another|others)"):
        _ = ledger.spent
    other.close()
    ledger.charge(TENTH, unit=ROWS)
    copy = shutil.copy(path, path.with_name("copy.db"))
    with open_ledger(copy) as copied:
        assert copied.head() == ledger.head()


@pytest.mark.parametrize(
    "change", ["UPDATE entries SET line = 'x'", "DELETE FROM entries", "DELETE FROM secret"]
)
def test_lines_cannot_be_changed_by_a_slip(ledger, path, change):
    with sqlite3.connect(path) as other, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        other.execute(change)
    other.close()


def test_a_lock_held_too_long_is_told_and_costs_nothing(ledger, path):
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(dp.LedgerFailure, match="locked for too long") as failed:
        ledger.charge(TENTH, unit=ROWS)
    other.execute("ROLLBACK")
    other.close()
    assert failed.value.cost == "nothing was spent"
    assert ledger.charge(TENTH, unit=ROWS).sequence == 1


def test_a_reader_in_the_way_of_a_commit_costs_nothing(ledger, path):
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM entries").fetchone()
    with pytest.raises(dp.LedgerFailure, match="locked for too long") as failed:
        ledger.charge(TENTH, unit=ROWS)
    assert failed.value.cost == "nothing was spent"
    other.execute("COMMIT")
    other.close()
    assert ledger.charge(TENTH, unit=ROWS).sequence == 1


CHARGE_UNTIL_IT_FAILS = """
import sys, deniable as dp
from deniable.ledger import open_ledger
ledger = open_ledger(sys.argv[1], budget=dp.epsilon(1e6), unit=dp.rows())
admitted = 0
try:
    while admitted < 2000:
        ledger.charge(dp.Laplace(scale=10.0), unit=dp.rows(), what="x" * 200)
        admitted += 1
except dp.LedgerFailure as error:
    print(admitted, error.code, error.cost, sep="|")
    print(error, file=sys.stderr)
"""


def until_it_fails(path, **options):
    done = subprocess.run(
        [sys.executable, "-c", CHARGE_UNTIL_IT_FAILS, str(path)],
        capture_output=True, text=True, timeout=240, check=True, **options,
    )  # fmt: skip
    admitted, code, cost = done.stdout.strip().split("|")
    return int(admitted), code, cost, done.stderr


def limit_file_size():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))


def test_a_file_that_can_grow_no_more_costs_nothing_and_stays_whole(path):
    admitted, code, cost, text = until_it_fails(path, preexec_fn=limit_file_size)
    assert (code, cost) == ("DP501", "nothing was spent")
    assert "cannot be used: the disk" in text
    with open_ledger(path) as ledger:
        assert ledger.verify().sequence == admitted > 10


def test_a_full_disk_costs_nothing_and_the_ledger_stays_whole(tmp_path):
    disk = tmp_path / "tiny"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("mounting a small disk needs root; the limit on file size is tested anyway")
    try:
        admitted, code, cost, text = until_it_fails(disk / "ledger.db")
        assert (code, cost) == ("DP501", "nothing was spent")
        assert "the disk" in text
        with open_ledger(disk / "ledger.db") as ledger:
            assert ledger.verify().sequence == admitted > 10
    finally:
        subprocess.run(["umount", str(disk)], check=True)


READ_BUT_NOT_CHARGE = """
import os, sys, deniable as dp
from deniable.ledger import open_ledger
laplace = dp.Laplace(scale=10.0)
open_ledger(None, budget=dp.epsilon(1.0), unit=dp.rows()).verify()
import deniable.ledger.stores.sqlite   # nobody may not be able to read our modules
if os.geteuid() == 0:
    os.setuid(65534)                   # root may write anything; nobody may not
ledger = open_ledger(sys.argv[1])
assert ledger.verify().sequence == 1
try:
    ledger.charge(laplace, unit=dp.rows())
except dp.LedgerFailure as error:
    print(error)
"""


def test_a_read_only_file_can_be_read_and_not_charged():
    with tempfile.TemporaryDirectory() as name:
        folder, path = Path(name), Path(name) / "ledger.db"
        with open_ledger(path, budget=dp.epsilon(1.0), unit=ROWS) as ledger:
            ledger.charge(TENTH, unit=ROWS)
        path.chmod(0o444)
        folder.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", READ_BUT_NOT_CHARGE, str(path)],
            check=False, capture_output=True, text=True, timeout=240,
        )  # fmt: skip
        folder.chmod(0o755)
        assert done.returncode == 0, done.stderr
        assert "may only be read" in done.stdout
        assert "cost: nothing was spent" in done.stdout


FORK = """
import os, sys, deniable as dp
from deniable.ledger import open_ledger
where = None if sys.argv[1] == "memory" else sys.argv[1]
ledger = open_ledger(where, budget=dp.epsilon(1.0), unit=dp.rows())
ledger.charge(dp.Laplace(scale=2.0), unit=dp.rows())
if os.fork() == 0:
    try:
        ledger.charge(dp.Laplace(scale=2.0), unit=dp.rows())
    except dp.LedgerFailure as error:
        print(error.what)
    sys.exit()
os.wait()
try:
    ledger.charge(dp.Laplace(scale=2.0), unit=dp.rows())
except dp.BudgetExceeded:
    print("exceeded")
print(ledger.verify().sequence)
"""


def test_a_forked_child_spends_from_the_same_ceiling_or_not_at_all(place):
    command = [sys.executable, "-c", FORK, str(place or "memory")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    if place is None:
        refused = "a ledger in memory cannot be shared with another process"
        assert done.stdout.splitlines() == [refused, "2"]
    else:
        assert done.stdout.splitlines() == ["exceeded", "2"]
