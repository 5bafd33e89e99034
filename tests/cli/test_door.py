"""Exit codes, which stream says what, what is loaded, and what a machine without Typer is told."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from deniable.errors import BadParameter

COUNT = "SELECT COUNT(*) AS n FROM people"
ANSI = "\x1b["


def shell(*arguments: str, code: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "deniable", *arguments],
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONUTF8": "1", **environment},
        check=False,
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    return done


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["init", "people.parquet", "--unit", "row", "--force"], "next: deniable check"),
        (["set", "people.age", "--bounds", "0", "99"], ""),
        (["check"], "next: deniable try"),
        (["try", COUNT], "made-up rows"),
        (["explain", COUNT], "next: deniable ask"),
        (["ask", COUNT, "--spend", "0.1"], ""),
        (["bounds", "people.income", "--spend", "0.1"], "next: deniable set"),
        (["ledger", "--verify"], "verified"),
        (["audit", "math:isfinite", "--epsilon", "1", "--samples", "1000"], "running math:"),
        (["doctor"], ""),
    ],
    ids=lambda part: part[0] if isinstance(part, list) else "",
)
def test_answers_go_to_stdout_and_talk_to_stderr(described, arguments, told):
    done = shell(*arguments, "--json")
    json.loads(done.stdout)
    assert told in done.stderr
    assert ANSI not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["init", "nothing.parquet", "--unit", "row"],
        ["set", "people.nothing", "--bounds", "0", "1"],
        ["check", "--schema", "nothing.toml"],
        ["try", "SELECT nothing"],
        ["explain", "SELECT nothing"],
        ["ask", COUNT, "--spend", "99"],
        ["bounds", "people.city", "--spend", "0.1"],
        ["ledger", "--ledger", "nothing.ledger"],
        ["audit", "nothing:f", "--epsilon", "1"],
    ],
    ids=lambda part: part[0],
)
def test_what_is_refused_ends_with_1_and_the_template_on_stderr(described, say, arguments):
    said = say(*arguments, code=1)
    assert said.stdout == ""
    assert said.stderr.startswith("error[DP")
    assert "Traceback" not in said.stderr


def test_a_real_process_refuses_in_the_same_way(described):
    done = shell("ask", COUNT, "--spend", "99", code=1)
    assert done.stdout == ""
    assert done.stderr.startswith("error[DP201]")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["ledger", "--verify"], 0),
        (["ledger", "--json"], 0),
        (["ask", COUNT, "--spend", "0.1", "--csv"], 0),
        (["ask", COUNT, "--spend", "99"], 1),
        (["ask", COUNT, "--spend", "99", "--json"], 1),
        (["demo", "hospitals"], 0),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else "",
)
def test_a_command_whose_reader_has_left_ends_as_it_would_have(described, arguments, code):
    reads, writes = os.pipe()
    os.close(reads)
    command = [sys.executable, "-m", "deniable", *arguments]
    for stderr in (subprocess.PIPE, writes):
        done = subprocess.run(command, stdout=writes, stderr=stderr, check=False)
        assert done.returncode == code, done.stderr
        assert b"Traceback" not in (done.stderr or b"")
        assert b"Exception ignored" not in (done.stderr or b"")
    os.close(writes)


@pytest.mark.parametrize("arguments", [["frob"], ["ask"], ["check", "--frob"], ["set"]])
def test_what_is_not_understood_ends_with_2(described, say, arguments):
    assert say(*arguments, code=2).stdout == ""


def test_a_claim_that_is_refuted_ends_with_1(folder, say):
    said = say("audit", "math:sin", "--epsilon", "1", "--samples", "1000", code=1)
    assert said.stdout.startswith("Violated")


def test_help_loads_nothing_heavy(folder):
    heavy = ["numpy", "scipy", "duckdb", "sqlglot", "pandas", "matplotlib"]
    code = (
        "import sys; from deniable.cli import main; main(['--help']); "
        f"print([m for m in {heavy} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr.strip() == b"[]"


def test_colour_is_for_terminals_and_not_under_no_color(monkeypatch):
    from deniable.cli import talk

    class Terminal:
        encoding = "utf-8"

        def __init__(self):
            self.text = ""

        def write(self, text):
            self.text += text

        def flush(self):
            pass

        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm-256color")
    for setting, coloured in (("", True), ("1", False)):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setenv("NO_COLOR", setting)
        talk.say("no", style="bold red")
        assert ("31m" in terminal.text) is coloured


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_the_extra_it_says_how_to_install_it(folder, package):
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from deniable.cli import main; sys.exit(main(['check']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error[DP701]")
    assert 'pip install "deniable[cli]"' in done.stderr


def test_alone_it_names_the_next_step(folder, say):
    assert "deniable demo" in say().stdout
    Path("people.csv").write_text("age\n1\n")
    assert "deniable init people.csv --header" in say().stdout
    say("init", "people.csv", "--header", "--unit", "row")
    assert "deniable check" in say().stdout
    say("ask", COUNT, "--spend", "0.1", "--budget", "1")
    assert "deniable ledger" in say().stdout


def test_it_tells_its_version(folder, say):
    import deniable

    assert say("--version").stdout.strip() == f"deniable {deniable.__version__}"


def test_the_doctor_looks_at_every_extra_and_at_java(folder, say, read, monkeypatch):
    from deniable.cli.commands import doctor

    listed = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    offered = listed["project"]["optional-dependencies"]
    names = {
        extra: {re.match(r"[\w-]+", need)[0] for need in needs} - {"deniable"}
        for extra, needs in offered.items()
        if extra not in ("all", "dev")
    }
    found = read("doctor")
    assert {extra: set(versions) for extra, versions in found["extras"].items()} == names
    assert "java" in found
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "polars" else "1.2")
    monkeypatch.setenv("JAVA_HOME", str(folder))
    told = say("doctor").stdout
    assert "frames      pandas 1.2, pyarrow 1.2, polars missing: pip install " in told
    assert 'missing: pip install "deniable[frames]"' in told
    assert "java        missing, for Spark: install Java 17" in told
    assert {re.match(r"\S+ +", line).end() for line in told.splitlines()} == {12}  # one column


def test_the_doctor_finds_a_source_that_repeats_itself(folder, say, read, monkeypatch):
    import numpy as np

    from deniable.cli.commands import doctor
    from deniable.sampling import Source, using

    assert read("doctor")["good"]

    class Stuck(Source):
        def words(self, count):
            return np.full(count, 7, dtype=np.uint64)

    class Biased(Source):
        def words(self, count):
            # the highest bit is never set
            return np.random.default_rng(1).integers(2**63, size=count, dtype=np.uint64)

    for bad, word in ((Stuck(), "repeats"), (Biased(), "biased")):
        with using(bad):
            assert word in doctor._random()


def test_a_fault_of_ours_looks_like_one(folder, say, monkeypatch):
    monkeypatch.setattr("deniable.cli.start.start", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        raise say(code=1).exception


@pytest.mark.parametrize("watched", [True, False])
def test_no_text_of_an_answer_is_a_command_to_the_terminal(capsys, monkeypatch, watched):
    from deniable.cli import talk

    hostile = "a\x1b]0;title\x07\x9b2J\rb\tc\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: watched)
    talk.answer(hostile, {}, json=False)
    talk.answer("", {"a": hostile}, json=True)
    talk.say(hostile)
    for json_ in (True, False):
        talk.refused(BadParameter(hostile), json=json_)
    talk.answer("", {}, json=False, csv=hostile if watched else "")
    out, err = capsys.readouterr()
    assert not {*"\x1b\x07\x9b\r"} & {*out, *err}
    assert "a]0;title2Jb" in out
    talk.answer("", {}, json=False, csv=hostile)
    assert (capsys.readouterr().out == hostile) != watched  # a file has each cell as it is
