"""Writing into a folder that is not there is refused with a fix, before anything is spent."""

import os
import shlex
import subprocess

import pandas as pd
import pytest
from typer.testing import CliRunner

import deniable as dp
from deniable import attacks
from deniable.cli import app
from deniable.errors import BadParameter

ROWS = pd.DataFrame({"age": [20, 30, 40] * 20, "sex": ["f", "m"] * 30})
SCHEMA = dp.Schema(
    columns={"age": dp.bounds(0, 100, type="int"), "sex": dp.keys(["f", "m"])}, unit=dp.rows()
)
WRITERS = {
    "synthetic table": (lambda s, path: made(s).save(path), "y.synthetic"),
    "answer": (lambda s, path: counted(s).to_csv(path), "n.csv"),
    "certificate": (lambda s, path: counted(s).certificate().to_html(path), "n.html"),
    "record": (lambda s, path: counted(s).certificate().to_json(path), "n.json"),
    "ledger": (lambda s, path: s.ledger.to_jsonl(path), "ledger.jsonl"),
    "schema": (lambda _, path: SCHEMA.to_toml(path), "people.toml"),
    "risk report": (lambda _, path: attacks.report(ROWS, quasi=["age"]).write(path), "risk.html"),
}


def made(session):
    return session.synthesize(["sex"], method="independent", spend=dp.epsilon(0.5))


def counted(session):
    return session.count(spend=dp.epsilon(0.1))


@pytest.fixture
def session():
    return dp.open(ROWS, unit=dp.rows(), budget=dp.epsilon(2.0), schema=SCHEMA)


@pytest.mark.parametrize("what", WRITERS)
def test_a_missing_folder_is_named_with_a_fix_that_works(session, tmp_path, what):
    write, name = WRITERS[what]
    path = tmp_path / "no such" / "folder" / name
    with pytest.raises(BadParameter) as caught:
        write(session, path)
    assert f"there is no folder {path.parent}" in str(caught.value)
    exec(caught.value.fix, {"os": os})
    write(session, path)
    assert path.is_file()


@pytest.mark.parametrize("what", WRITERS)
def test_a_folder_is_not_a_file(session, tmp_path, what):
    write, name = WRITERS[what]
    path = tmp_path / name
    path.mkdir()
    with pytest.raises(BadParameter, match="is a folder"):
        write(session, path)


@pytest.mark.parametrize(
    "command",
    [
        ["synth", "{}/y.csv", "--spend", "0.5"],
        ["synth", "{}/y.synthetic", "--spend", "0.5"],
        ["ask", "SELECT COUNT(*) AS n FROM people", "--spend", "0.5", "--failures", "{}/why.txt"],
        ["report", "people.csv", "--quasi", "age", "--out", "{}/risk.html"],
        ["init", "people.csv", "--header", "--unit", "row", "--schema", "{}/other.toml"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_commands_refuse_before_they_spend(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    ROWS.to_csv("people.csv", index=False)
    SCHEMA.to_toml("people.toml")
    typed = [part.format("not here") for part in command]
    more = [] if command[0] in ("report", "init") else ["--budget", "2", "--schema", "people.toml"]
    done = CliRunner().invoke(app.app, [*typed, *more])
    assert done.exit_code != 0
    assert "there is no folder not here" in done.stderr
    fix = next(line for line in done.stderr.split("\n") if "fix:" in line).split("fix:")[1]
    assert fix.strip() == "mkdir -p 'not here'"
    assert not (tmp_path / "people.ledger").exists()
    subprocess.run(shlex.split(fix), check=True)
    done = CliRunner().invoke(app.app, [*typed, *more])
    assert done.exit_code == 0, done.stderr
