"""A process killed at any instant loses at most budget; the ledger opens and its chain holds."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
DURABLE = pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)


def start(script, place, *arguments):
    command = [sys.executable, str(HERE / script), str(place), *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=240)


def run(script, place, *arguments):
    done = start(script, place, *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@DURABLE
def test_200_kills_at_random_instants_lose_nothing_that_was_acknowledged(place, capsys):
    report = run("killing.py", place, "random", "200")
    with capsys.disabled():
        words = f"\n  {report['kills']} kills, {report['inside']} inside a transaction"
        sys.stdout.write(f"{words}: {report['fell']}\n")
    assert report["kills"] == 200
    assert report["inside"] >= 20, "the kills must hit what they are meant to hit"
    assert report["lines"] >= 200


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_twin_that_acknowledges_before_the_line_is_durable_is_caught(place):
    done = start("killing.py", place, "early", "50")
    assert done.returncode != 0
    assert "AssertionError: told of line" in done.stderr


@DURABLE
def test_killed_at_every_named_step_a_charge_is_there_or_not_and_never_half(place):
    lines = run("killing.py", place, "steps")
    assert lines == {
        "charge begun": 0, "charge checked": 0, "charge appended": 0, "charge committed": 1,
        "answer begun": 1, "answer checked": 1, "answer appended": 1, "answer committed": 2,
    }  # fmt: skip


@DURABLE
def test_eight_processes_spend_exactly_what_fits(place):
    report = run("hammering.py", place)
    got = report["got"]
    assert sum(got.values()) == report["answers"] == 128
    assert report["spent"] == 1.0
    assert [got[f"asker {n}"] for n in range(0, 8, 2)] == [16] * 4, "shares are used in full"
