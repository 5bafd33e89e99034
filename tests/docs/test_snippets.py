"""Every snippet in the docs runs, and every link leads somewhere."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]
FENCE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def run(page: Path, folder: Path) -> None:
    """All snippets of a page as one program; `>>>` lines are checked against their output."""
    space: dict[str, object] = {"__name__": "__main__"}
    for number, code in enumerate(FENCE.findall(page.read_text()), 1):
        where = f"{page.name}[{number}]"
        if ">>>" in code:
            test = doctest.DocTestParser().get_doctest(code, space, where, str(page), 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            runner.run(test, clear_globs=False)
            assert runner.summarize(verbose=False).failed == 0, where
            space = test.globs
        else:
            exec(compile(code, where, "exec"), space)


CODE = [p for p in PAGES if "```python" in p.read_text()]
ON_SPARK = [p for p in CODE if "import SparkSession" in p.read_text()]


@pytest.mark.parametrize("page", ON_SPARK, ids=name)
def test_every_snippet_on_spark_runs(spark, page: Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(page, tmp_path)


@pytest.mark.parametrize("page", [p for p in CODE if p not in ON_SPARK], ids=name)
def test_every_snippet_runs(page: Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    run(page, tmp_path)


def test_the_readme_runs_a_second_time_beside_the_ledger_of_the_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        run(ROOT / "README.md", tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_somewhere(page: Path):
    targets = [t for t in LINK.findall(page.read_text()) if "://" not in t]
    assert not [t for t in targets if not (page.parent / t).exists()]


def test_a_wrong_snippet_would_be_seen(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n3\n```\n")
    with pytest.raises(AssertionError):
        run(page, tmp_path)
