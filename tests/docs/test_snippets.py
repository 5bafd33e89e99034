"""Every snippet in the docs runs, and every link leads somewhere."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from deniable.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]
FENCE = re.compile(r"^```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def run(page: Path, folder: Path) -> None:
    """All snippets of a page as one program; `>>>` lines are checked against their output.

    Lines of shell blocks that start with `deniable` are run in between.
    """
    space: dict[str, object] = {"__name__": "__main__"}
    for number, (kind, code) in enumerate(FENCE.findall(page.read_text()), 1):
        where = f"{page.name}[{number}]"
        if kind == "sh":
            for line in code.splitlines():
                command(line)
        elif ">>>" in code:
            test = doctest.DocTestParser().get_doctest(code, space, where, str(page), 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            runner.run(test, clear_globs=False)
            assert runner.summarize(verbose=False).failed == 0, where
            space = test.globs
        else:
            exec(compile(code, where, "exec"), space)


def command(line: str) -> None:
    """Run our own command as a reader would; what is not ours (pip, python) is left alone."""
    program, *arguments = shlex.split(line) or [""]
    if program == "deniable":
        assert main(arguments) == 0, line


CODE = [p for p in PAGES if "```python" in p.read_text()]
ON_SPARK = [p for p in CODE if "import SparkSession" in p.read_text()]


@pytest.mark.parametrize("page", ON_SPARK, ids=name)
def test_every_snippet_on_spark_runs(spark, page: Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(page, tmp_path)


README = ROOT / "README.md"  # run twice below


@pytest.mark.parametrize("page", [p for p in CODE if p not in [*ON_SPARK, README]], ids=name)
def test_every_snippet_runs(page: Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    run(page, tmp_path)


def test_the_readme_runs_a_second_time_beside_the_ledger_of_the_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for _ in range(2):
        run(README, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_somewhere(page: Path):
    targets = [t for t in LINK.findall(page.read_text()) if "://" not in t]
    assert not [t for t in targets if not (page.parent / t).exists()]


def test_a_wrong_snippet_would_be_seen(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n3\n```\n")
    with pytest.raises(AssertionError):
        run(page, tmp_path)


def test_a_command_that_fails_would_be_seen(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("```sh\npip install deniable\ndeniable ask nonsense\n```\n")
    with pytest.raises(AssertionError, match="nonsense"):
        run(page, tmp_path)
