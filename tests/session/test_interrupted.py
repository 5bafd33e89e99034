"""Ctrl-C anywhere in a question: the process, the ledger and the secret stay as they should."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("interrupting_signals.py")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("scenario", "places"), [("release", 1500), ("failure", 1000)])
def test_ctrl_c_at_every_place_leaves_everything_in_order(scenario, places):
    path = os.pathsep.join(each for each in sys.path if each)
    done = subprocess.run(
        [sys.executable, SCRIPT, scenario],
        env=os.environ | {"DENIABLE_TESTING": "1", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["wrong"] == {}
    assert found["places"] > places
