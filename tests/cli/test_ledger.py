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


def test_what_delta_is_left_for_is_said(people, say):
    say("init", "people.parquet", "--unit", "row", "--budget", "3,1e-7")
    kept = "2.5e-08 is left for private group selection, 7.5e-08 is reserved for Gaussian noise"
    assert f"left      ε 3\nof δ      {kept}\n" in say("ledger").stdout
    said = say("ask", "SELECT COUNT(*) AS n FROM people", "--spend", "1")
    assert said.stderr.endswith(f"left: ε 2 of ε 3, δ 1e-07\nof δ: {kept}\n")


def test_a_failure_is_shown_to_the_curator_and_resumed(described, say, read, spoil):
    spoil("people.parquet")
    average = "SELECT AVG(age) AS age FROM people"
    assert "deniable ledger resume" in say("ask", average, "--spend", "0.1", code=1).stderr
    assert "failures  stopped: the curator" in say("ledger").stdout
    found = read("ledger")
    assert found["stopped"] == [{"asker": None, "failures": 1}]
    assert [entry["kind"] for entry in found["entries"]] == ["charge", "stop"]
    assert say("ask", COUNT, "--spend", "0.1", code=1).stderr.startswith("error[DP602]")
    assert "--yes" in say("ledger", "resume", code=1).stderr
    assert "ledger resume\n      the curator is stopped" in say().stdout
    said = say("ledger", "resume", "--yes")
    assert "question  SELECT AVG(age)" in said.stdout
    assert "Traceback" in said.stdout
    assert "line 3: the curator can ask again" in said.stderr
    assert "resumed once after 1 failure" in say("ledger").stdout
    assert read("ledger")["resumptions"] == 1
    assert "nobody is stopped" in say("ledger", "resume", code=1).stderr
    say("ledger", "--verify")


def test_a_share_is_reserved_spent_and_shown(described, say, read):
    assert (
        "added to the share of ann: ε = 0.5"
        in say("ledger", "share", "ann", "--amount", "0.5").stdout
    )
    said = say("ask", COUNT, "--spend", "0.25", "--asker", "ann")
    assert "spent ε 0.25" in said.stdout
    assert said.stderr.endswith("left in ann's share of ε 0.5: ε 0.25\n")
    assert "shares    ann spent ε 0.25 of ε 0.5" in say("ledger").stdout
    assert read("ledger")["left"]["epsilon"] == pytest.approx(0.5)
    assert read("explain", COUNT, "--spend", "0.2", "--asker", "ann")["left"]["epsilon"] < 0.06
    assert "--asker ann" in say("explain", COUNT, "--spend", "0.2", "--asker", "ann").stderr
    said = say("ask", COUNT, "--spend", "0.3", "--asker", "ann", code=1).stderr
    assert "ε 0.25 is left of your share" in said
    for name in ("bob", "ann "):
        said = say("ask", COUNT, "--spend", "0.1", "--asker", name, code=1).stderr
        assert said.startswith(("error[DP201]: bob has no share", "error[DP111]"))
    assert "error[DP201]" in say("ledger", "share", "bob", "--amount", "0.6", code=1).stderr


def test_every_line_says_who_asked_and_a_share_whose_it_is(described, say):
    for name in ("ann", "bob"):
        say("ledger", "share", name, "--amount", "0.3")
        say("ask", COUNT, "--spend", "0.2", "--asker", name)
    say("ask", "SELECT COUNT(*) AS m FROM people", "--spend", "0.1")
    table = [line.split("│") for line in say("ledger").stdout.splitlines() if "│" in line]
    head, *rows = [[cell.strip() for cell in line[1:-1]] for line in table]
    found = [dict(zip(head, row, strict=True)) for row in rows]
    told = [(row["kind"], row["asker"], row["price"]) for row in found if row["kind"] != "answer"]
    assert told == [
        ("share", "ann", "ε 0.3"),
        ("charge", "ann", "ε 0.2"),
        ("share", "bob", "ε 0.3"),
        ("charge", "bob", "ε 0.2"),
        ("charge", "the curator", "ε 0.1"),
    ]
    assert all(row["what"] for row in found if row["kind"] != "answer")


def test_an_analyst_is_shown_their_own_lines_and_share(described, say, read):
    for name in ("ann", "bob"):
        say("ledger", "share", name, "--amount", "0.3")
        say("ask", COUNT, "--spend", "0.125", "--asker", name)
    said = say("ledger", "--asker", "ann").stdout
    assert "spent     ε 0.125 of ε 0.3, reserved" in said
    assert "left      ε 0.17" in said
    assert "bob" not in said
    found = read("ledger", "--asker", "bob")
    assert [entry["kind"] for entry in found["entries"]] == ["share", "charge"]
    assert found["share"]["epsilon"] == 0.3
    assert found["left"]["epsilon"] == pytest.approx(0.175)
    assert "ann" not in json.dumps(found)


@pytest.mark.parametrize("whole", ["--verify", "--head"])
def test_what_is_about_the_whole_ledger_is_not_shown_for_one_analyst(described, say, whole):
    say("ledger", "share", "ann", "--amount", "0.3")
    assert "error[DP111]" in say("ledger", whole, "--asker", "ann", code=1).stderr


def test_an_analyst_without_a_share_is_shown_nothing(described, say):
    say("ledger", "share", "ann", "--amount", "0.3")
    assert "bob has no share" in say("ledger", "--asker", "bob", code=1).stderr
