"""Build the site: gather the pages, generate the reference, write notebooks, and render.

    script/docs              into build/site
    script/docs FOLDER       into another folder

Pages are copied to a working folder, where links are made to fit the site; the stored pages stay as
they read in the repository.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import interfaces
import notebooks
import reference

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PROJECT = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)

CONFIG = """[project]
site_name = "deniable"
site_description = "Differential privacy in Python"
docs_dir = "pages"
site_dir = "site"
use_directory_urls = false
copyright = "Apache-2.0"
nav = {nav}

[project.theme]
font = false
icon.logo = "lucide/shield"
features = [
  "navigation.tabs", "navigation.top", "navigation.indexes", "content.code.copy",
  "search.highlight",
]

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle = {{ icon = "lucide/moon", name = "Dark" }}

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle = {{ icon = "lucide/sun", name = "Light" }}

[project.markdown_extensions.tables]
[project.markdown_extensions.sane_lists]
[project.markdown_extensions.toc]
permalink = true
[project.markdown_extensions.pymdownx.highlight]
[project.markdown_extensions.pymdownx.superfences]
"""


def main(target: Path) -> int:
    """Gather, render, and put the result in place; what the renderer warns about is an error."""
    with tempfile.TemporaryDirectory(prefix="docs-") as work:  # builds may run side by side
        return build(Path(work), target)


def build(work: Path, target: Path) -> int:
    """Build in one folder, and copy what was rendered to another."""
    pages = work / "pages"
    gather(pages)
    (work / "zensical.toml").write_text(CONFIG.format(nav=written(navigation(pages))), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"],
        cwd=work, check=False, capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"},
    )  # fmt: skip
    sys.stderr.write(done.stderr)
    if done.returncode or "Warning" in done.stdout + done.stderr:
        sys.stderr.write(done.stdout)
        return 1
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(work / "site", target)
    sys.stdout.write(f"built {len(list(target.rglob('*.html')))} pages in {target}\n")
    return 0


def gather(pages: Path) -> None:
    """Every page and picture of the site, with links that fit."""
    shutil.copytree(DOCS, pages, ignore=shutil.ignore_patterns("site", "__pycache__"))
    (pages / "README.md").rename(pages / "contents.md")
    for name in ("README.md", *PROJECT):
        shutil.copy(ROOT / name, pages / name)
    for page in pages.rglob("*.md"):
        page.write_text(adapted(page, pages), encoding="utf-8")
    for page in list(pages.rglob("README.md")):
        page.rename(page.with_name("index.md"))
    made = {f"reference/{name}": text for name, text in reference.pages().items()}
    made["reference/command-line.md"] = interfaces.command_line()
    made["reference/http.md"] = interfaces.http()
    for name, text in made.items():
        path = Path(os.path.normpath(pages / name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    books = pages / "notebooks"
    books.mkdir(exist_ok=True)
    for page in sorted((DOCS / "tour").glob("[0-9]*.md")):
        (books / f"{page.stem}.ipynb").write_text(notebooks.notebook(page), encoding="utf-8")


def adapted(page: Path, pages: Path) -> str:
    """A page's text with its links as the site needs them."""
    text = page.read_text(encoding="utf-8")
    kept = FENCED.findall(text)
    rest = FENCED.split(text)
    here = page.parent.relative_to(pages)
    parts = [LINK.sub(lambda found: link(found, here, top=page.name), part) for part in rest]
    joined = parts[0] + "".join(code + part for code, part in zip(kept, parts[1:], strict=True))
    if here == Path("tour") and page.name[0].isdigit():
        joined += f"\n\n[This page as a notebook](../notebooks/{page.stem}.ipynb)\n"
    return joined


def link(found: re.Match[str], here: Path, *, top: str) -> str:
    """A link within the site; one to a file that is not on it becomes its name."""
    picture, text, target, place = found.groups()
    if "://" in target or target.startswith("mailto:"):
        return found[0]
    of_project = here == Path() and top in ("README.md", *PROJECT)
    start = Path() if of_project else Path("docs") / here
    full = Path(os.path.normpath(start / target))
    if full == Path("src/deniable/mechanisms/__init__.py"):
        full = Path("docs/reference/mechanisms/README.md")
    if (ROOT / full).is_dir():
        full = full / "README.md"
    if full.parts[0] == "docs":
        inside = full.relative_to("docs")
    elif str(full) in ("README.md", *PROJECT):
        inside = full
    else:
        return f"`{full}`" if text.startswith("`") else text
    if inside == Path("README.md") and full.parts[0] == "docs":
        inside = Path("contents.md")
    to = os.path.relpath(inside, here).replace("README.md", "index.md")
    return f"{picture}[{text}]({to}{place or ''})"


def navigation(pages: Path) -> list[object]:
    """The pages by chapter, in the order of their names except where reading has an order."""

    def chapter(folder: str, first: tuple[str, ...] = ()) -> list[object]:
        names = sorted(p.name for p in (pages / folder).glob("*.md"))
        order = [n for n in ("index.md", *first) if n in names]
        return [f"{folder}/{name}" for name in [*order, *(n for n in names if n not in order)]]

    return [
        {"Home": ["index.md", "contents.md", *PROJECT]},
        {"Tutorials": chapter("tutorials", ("first-answer.md", "curator.md", "analyst.md"))},
        {"Tour": chapter("tour")},
        {"Guides": chapter("guides", ("open-a-session.md", "ask-in-sql.md"))},
        {"Background": [*chapter("explain"), {"Decisions": chapter("decisions")}]},
        {
            "Reference": [
                *chapter("reference"),
                {"Mechanisms": chapter("reference/mechanisms")},
                {"Python": chapter("reference/api")},
                {"Errors": chapter("errors")},
            ]
        },
    ]


def written(nav: object) -> str:
    """Lists, texts and small tables as TOML."""
    if isinstance(nav, list):
        return "[" + ", ".join(written(each) for each in nav) + "]"
    if isinstance(nav, dict):
        return "{" + ", ".join(f'"{k}" = {written(v)}' for k, v in nav.items()) + "}"
    return f'"{nav}"'


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build" / "site"))
