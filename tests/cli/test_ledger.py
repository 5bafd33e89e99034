"""ledger: what was spent, checked against tampering and against a tail cut off."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

COUNT = "SELECT COUNT(*) AS n FROM people"


def test_it_shows_what_was_spent_and_left(described, say, read):
    say("ask", COUNT, "--spend", "0.25")
    found = read("ledger")
    assert found["spent"]["epsilon"] == 0.25
    assert found["left"]["epsilon"] == pytest.approx(0.75)
    assert [entry["kind"] for entry in found["entries"]] == ["charge", "answer"]
    said = say("ledger").stdout
    assert "spent     ε 0.25 of ε 1" in said
    assert COUNT in said


def test_it_verifies(described, say, read):
    say("ask", COUNT, "--spend", "0.25")
    assert "verified: 2 lines" in say("ledger", "--verify").stderr
    assert read("ledger", "--verify")["verified"]["sequence"] == 2


def test_a_changed_line_is_found(described, say):
    say("ask", COUNT, "--spend", "0.25")
    with sqlite3.connect("people.ledger") as file:
        (table,) = [
            name
            for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if "line" in {column[1] for column in file.execute(f"PRAGMA table_info({name})")}
        ]
        for (trigger,) in file.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            file.execute(f"DROP TRIGGER {trigger}")
        file.execute(f"UPDATE {table} SET line = replace(line, '0.25', '0.05') WHERE sequence = 1")
    assert "error[DP501]" in say("ledger", "--verify", code=1).stderr


def test_a_tail_cut_off_shows_against_a_head_kept_elsewhere(described, say):
    shutil.copy("people.ledger", "before.ledger")
    say("ask", COUNT, "--spend", "0.25")
    Path("head.json").write_text(say("ledger", "--head").stdout)
    assert json.loads(Path("head.json").read_text())["sequence"] == 2
    say("ledger", "--anchor", "head.json")
    said = say("ledger", "--ledger", "before.ledger", "--anchor", "head.json", code=1)
    assert "error[DP501]" in said.stderr


def test_a_head_that_is_none_is_refused(described, say):
    Path("head.json").write_text("[]")
    assert "error[DP111]" in say("ledger", "--anchor", "head.json", code=1).stderr


def test_without_a_ledger_it_says_how_to_start_one(people, say):
    say("init", "people.parquet", "--unit", "row")
    assert "--budget 1" in say("ledger", code=1).stderr
