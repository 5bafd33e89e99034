"""`deniable serve` and `deniable ask --server`, as typed."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from deniable.cli import main

from .conftest import fill
from .test_several_servers import listening

SQL = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"


@pytest.fixture
def token(site, monkeypatch):
    monkeypatch.setenv("DENIABLE_TOKEN", site.analyst("typist", share=1.0))


def test_ask_a_server_prices_first_and_spends_when_told(site, token, capsys):
    assert main(["ask", SQL, "--server", site.url]) == 0
    assert "nothing was spent" in capsys.readouterr().err
    assert main(["ask", SQL, "--server", site.url, "--spend", "0.5", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [row["city"] for row in answer["rows"]] == ["Oslo", "Bergen"]
    assert main(["ask", SQL, "--server", site.url, "--within", "50"]) == 0
    assert "left: ε" in capsys.readouterr().err


def test_ask_a_server_without_a_token_says_where_it_goes(site, monkeypatch, capsys):
    monkeypatch.delenv("DENIABLE_TOKEN", raising=False)
    assert main(["ask", SQL, "--server", site.url]) == 1
    assert "DENIABLE_TOKEN" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--steps", "now"], "steps"),
        (["--steps", "5,1"], "rising order"),
        (["--ledger", "a.db"], "postgresql://"),
        (["--budget", "much"], "budget"),
        ([], "no budget was given"),
    ],
)
def test_serve_refuses_what_it_cannot_serve(tmp_path, capsys, wrong, said):
    code = 2 if wrong == ["--budget", "much"] else 1  # not an amount: a usage error
    assert main(["serve", str(fill(tmp_path / "tables")), *wrong]) == code
    assert said in capsys.readouterr().err


def test_serve_refuses_a_folder_without_tables(tmp_path, capsys):
    assert main(["serve", str(tmp_path), "--budget", "1"]) == 1
    assert "there are no tables in" in capsys.readouterr().err


def test_serve_says_that_a_file_is_no_folder_and_which_folder_is_meant(tmp_path, capsys):
    fill(tmp_path / "tables")
    assert main(["serve", str(tmp_path / "tables" / "visits.csv"), "--budget", "1"]) == 1
    said = capsys.readouterr().err
    assert "visits.csv is a file" in said
    assert f"deniable serve {tmp_path / 'tables'}\n" in said


def test_serve_prints_a_link_and_ends_cleanly(tmp_path):
    fill(tmp_path / "tables")
    command = [sys.executable, "-m", "deniable", "serve", str(tmp_path / "tables")]
    environment = os.environ | {"DENIABLE_ANCHORS": str(tmp_path / "anchors"), "PYTHONUTF8": "1"}
    with subprocess.Popen(
        [*command, "--budget", "1", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as running:
        assert "serving visits" in running.stderr.readline()
        assert re.search(r"/join/[0-9a-f]{64}$", running.stderr.readline().strip())
        listening(running)
        running.send_signal(signal.SIGINT)
        running.wait(300)
        assert "Traceback" not in running.stderr.read()
