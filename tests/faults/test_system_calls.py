"""Whichever system call of a ledger fails, and however: nothing is lost, uncharged or overspent."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(3600)  # thousands of processes: a busy machine may take its time
@pytest.mark.skipif(sys.platform == "win32", reason="runs in forked processes")
def test_every_system_call_of_every_operation_may_fail():
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.failing"],
        cwd=ROOT, check=False, capture_output=True, text=True, timeout=3500,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["runs"] > 2000
    assert report["kill killed"] > 400
    assert report["EIO failed"] > 200
    assert report["short done"] > 50, "what was written short is written to the end"
