"""The site builds without a warning, holds together, and loads nothing from elsewhere."""

import ast
import html
import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))

import notebooks  # noqa: E402  the builder is not installed
import reference  # noqa: E402

pytestmark = pytest.mark.xdist_group("site")  # one build for all of them


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder with the built site."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run(
        [ROOT / "script" / "docs", folder], capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "arning" not in done.stdout + done.stderr
    assert len(list(folder.rglob("*.html"))) > 100  # or nothing below would be looked at
    assert len(list(folder.rglob("*.ipynb"))) > 10
    return folder


def links(page: Path) -> list[str]:
    """Targets of everything that a page links to or loads."""
    return [html.unescape(t) for t in re.findall(r'(?:href|src)="([^"]*)"', page.read_text())]


def test_every_link_of_the_site_leads_somewhere(site):
    broken = []
    for page in site.rglob("*.html"):
        for target in links(page):
            path, _, place = target.partition("#")
            if (
                "://" in target
                or target.startswith(("data:", "mailto:"))
                or page.name == "404.html"
            ):
                continue
            aim = (page.parent / path).resolve() if path else page
            aim = aim / "index.html" if aim.is_dir() else aim
            missing = not aim.exists() or (
                place and aim.suffix == ".html" and f'id="{place}"' not in aim.read_text()
            )
            if missing and place != "__skip":
                broken.append(f"{page.relative_to(site)}: {target}")
    assert not broken


def test_nothing_is_loaded_from_elsewhere(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|img|link|iframe)[^>]*(?:src|href)="(https?:[^"]*)"', page.read_text()
        )
        assert not loaded, page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?https?:|@import", sheet.read_text()), sheet


def test_every_mechanism_and_error_code_has_a_page(site):
    from deniable import DeniableError, mechanisms

    for name in set(mechanisms.__all__) - {"Mechanism", "Step"}:
        text = (site / "reference" / "mechanisms" / f"{reference.slug(name)}.html").read_text()
        assert "Privacy" in text, name
    codes = set(re.findall(r'"(DP\d+)"', (ROOT / "src" / "deniable" / "errors.py").read_text()))
    codes.discard(DeniableError.code)  # of the class above all of them
    assert codes
    assert all((site / "errors" / f"{code}.html").exists() for code in codes)


@pytest.mark.parametrize("page", ["command-line", "http", "schema", "sql", "ledger-format"])
def test_every_interface_has_a_page(site, page):
    assert (site / "reference" / f"{page}.html").stat().st_size > 5_000


def test_commands_and_paths_are_those_of_the_programs(site):
    commands = (site / "reference" / "command-line.html").read_text()
    assert all(
        f"deniable {name}" in commands for name in ("ask", "explain", "ledger share", "synth")
    )
    assert "POST /api/ask" in (site / "reference" / "http.html").read_text()


def test_words_can_be_searched(site):
    assert "permute and flip" in (site / "search.json").read_text().lower()


def test_every_page_of_the_tour_is_a_notebook(site):
    pages = sorted((ROOT / "docs" / "tour").glob("[0-9]*.md"))
    books = sorted((site / "notebooks").glob("*.ipynb"))
    assert [book.stem for book in books] == [page.stem for page in pages]
    for path in books:
        book = json.loads(path.read_text())
        code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
        assert len(code) > 2
        for cell in code:
            ast.parse("".join(cell["source"]))


def test_a_notebook_has_code_without_prompts_and_outputs_and_shows_pictures():
    code = ">>> x = 1\n>>> if x:\n...     x\n1\n>>> x\n1\n"
    assert notebooks.program(code) == "x = 1\nif x:\n    x\nx\n"
    assert notebooks.program("x = 1\n") == "x = 1\n"
    drawn = notebooks.program('ax.figure.savefig("a.png", dpi=90)\n')
    assert drawn.endswith('display(Image("a.png"))\n')


def test_links_in_a_notebook_fit_its_place_in_the_site(site):
    text = "![A bell](pictures/a.png) [next](04-properties.md) [guide](../guides/ask-in-sql.md)"
    assert notebooks.words(text) == (
        "*A bell* [next](04-properties.ipynb) [guide](../guides/ask-in-sql.html)\n"
    )
    for book in (site / "notebooks").glob("*.ipynb"):
        cells = json.loads(book.read_text())["cells"]
        text = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        targets = [t for t in re.findall(r"\]\(([^)#\s]+)\)", text) if "://" not in t]
        assert not [t for t in targets if not (book.parent / t).exists()], book.name


@pytest.mark.parametrize("package", reference.PACKAGES)
def test_the_reference_finds_every_public_class_and_function(package):
    found = {named.name for named in reference.public(package)}
    module = importlib.import_module(package)
    wanted = {
        name
        for name in getattr(module, "__all__", found)
        if (inspect.isroutine(it := getattr(module, name)) or inspect.isclass(it))
        and name != "Session"  # another name of Curator
    }
    assert wanted == found
